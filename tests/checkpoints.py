"""Checkpoints of fresh networks, for tests that need a file and no training."""

from agents.dmc import NetConfig, header, make_nets
from agents.value_agent import net_names
from ddz_env import PRESETS
from train.common import save_checkpoint

TINY_NET = NetConfig(hidden=8, state=8, head=8)


def fresh(rules="play_only", net=TINY_NET, objective="wp", **more):
    """The content of a checkpoint."""
    rooms = tuple(PRESETS[name] for name in rules.split(","))
    nets = make_nets(net, net_names(rooms))
    return header(rooms, net, objective) | {"average": nets.state_dict()} | more


def save_fresh(path, rules="play_only", **more):
    """Write one; its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    save_checkpoint(path, fresh(rules, **more))
    return path
