"""Networks that learn and their average, which plays: what the learners of all trainers share."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor, nn

from agents.base import AgentError
from agents.checkpoints import unpacked
from agents.dmc_net import NetConfig


def grown(name: str, small: Tensor, fresh: Tensor) -> Tensor:
    """A parameter with the values of a smaller network's, in the place of a fresh one.

    A linear layer's old outputs read nothing of its new inputs, so that they stay as they were; in
    a first layer (rows of ones) all inputs are old.
    """
    out = fresh.clone()
    if name.endswith(".weight"):
        out[: small.shape[0], small.shape[1] :] = 0.0
    out[tuple(slice(0, n) for n in small.shape)] = small
    return out


def check_sizes(found: Mapping[str, Any], net: NetConfig) -> None:
    """Check that networks can begin as others.

    Args:
        found: sizes of the others, as a checkpoint has them.
        net: sizes of the networks.

    Raises:
        AgentError: the others are larger, or read what these do not, or the reverse.
    """
    theirs, own, sizes = asdict(NetConfig()) | dict(found), asdict(net), ("hidden", "state", "head")
    larger = any(theirs[key] > own[key] for key in sizes)
    other = any(theirs[key] != own[key] for key in theirs if key not in sizes)
    if larger or other:
        raise AgentError(
            f"--init-from: networks of sizes {theirs}; give the same to the run's net options, or"
            " larger hidden, state and head"
        )


@torch.no_grad()
def average_in(average: nn.Module, nets: nn.Module, weight: float, count: int) -> None:
    """Average new weights in, for the time number `count`; young averages forget faster.

    Args:
        average: the average, changed.
        nets: the new weights.
        weight: of the former average.
        count: from 1.
    """
    share = 1 - min(weight, count / (count + 10))
    for mean, new in zip(average.parameters(), nets.parameters(), strict=True):
        mean.lerp_(new, share)


def begin_from(
    nets: nn.ModuleList, average: nn.ModuleList, data: dict[str, Any], net: NetConfig
) -> None:
    """Begin with a checkpoint's averaged weights, as far as it has the networks.

    Smaller networks are grown to the sizes of these: they say the same as before, and the new
    units begin to count as they learn.

    Args:
        nets: changed.
        average: changed.
        data: the checkpoint.
        net: sizes of `nets`.

    Raises:
        AgentError: networks that these can't begin as: `check_sizes`.
    """
    state = unpacked(data["average"])
    own = nets.state_dict()
    shared = sorted(set(state) & set(own))
    check_sizes(data["net"], net)
    own |= {name: grown(name, state[name], own[name]) for name in shared}
    nets.load_state_dict(own)
    average.load_state_dict(own)


class Averaged:
    """The networks, the average of their weights, and how often they were updated.

    Args:
        config: of the algorithm: `net`, `average` and `average_every` are used here.
        names: of the networks.
        seed: of their weights.
        device: where they learn.
        make: makes networks of (sizes, names).
    """

    def __init__(
        self,
        config: Any,
        names: tuple[str, ...],
        seed: int,
        device: str,
        make: Callable[[NetConfig, tuple[str, ...]], nn.ModuleList],
    ) -> None:
        torch.manual_seed(seed)
        self.config, self.names, self.seed = config, names, seed
        self.device = torch.device(device)
        self.nets = make(config.net, names).to(self.device)
        self.average = make(config.net, names).to(self.device)
        self.average.load_state_dict(self.nets.state_dict())
        self.updates = 0
        self.metrics: dict[str, float] = {}
        """Of the last update."""

    def updated(self) -> None:
        """Count an update; average the weights in when it is time."""
        self.updates += 1
        if self.updates % self.config.average_every == 0:
            count = self.updates // self.config.average_every
            average_in(self.average, self.nets, self.config.average, count)

    def begin_from(self, data: dict[str, Any]) -> None:
        """Begin with a checkpoint's averaged weights: the function `begin_from`."""
        begin_from(self.nets, self.average, data, self.config.net)

    def state_dict(self) -> dict[str, Any]:
        """Everything that a resumed run needs of the learner."""
        return {
            "nets": self.nets.state_dict(),
            "average": self.average.state_dict(),
            "updates": self.updates,
        }

    def load_state_dict(self, data: dict[str, Any]) -> None:
        """Go on from `state_dict`."""
        self.nets.load_state_dict(data["nets"])
        self.average.load_state_dict(data["average"])
        self.updates = data["updates"]
