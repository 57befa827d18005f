"""DMC on Ray: actors that play, the kill of one, and a whole run."""

import json
import os
import signal
import time

import numpy as np
import pytest
import torch
from test_rllib import start
from training_runs import TINY

from agents.dmc_net import NetConfig, make_nets
from agents.role_agent import ROLES
from ddz_env import PRESETS
from train.actors import Weights
from train.collect import Behaviour
from train.learner import DMCConfig
from train.self_play import SelfPlay
from train.share import Share

ray = pytest.importorskip("ray", reason="the extra rllib is not installed")
from train.ray_actors import RayActors  # noqa: E402

SMALL = NetConfig(hidden=24, state=16, head=8)


@pytest.fixture
def actors():
    config = DMCConfig(games=16, net=SMALL)
    torch.manual_seed(1)
    nets = make_nets(SMALL, ROLES)
    weights, average = Weights(nets), Weights(nets)
    arguments = config, (PRESETS["play_only"],), weights, average, "wp", 5
    with RayActors("local", 2, SelfPlay, arguments, 64, 2) as made:
        yield made


def gathered(actors, blocks, patience=120):
    """Samples of so many blocks."""
    found, end = [], time.monotonic() + patience
    while len(found) < blocks:
        actors.go(Behaviour(0.1, False))
        found += actors.collect(1.0)
        assert time.monotonic() < end, "nothing came"
    return found


def decisions(actors):
    return sum(counts.get("decisions", 0) for counts in actors.counts)


def test_blocks_come_and_a_dead_actor_costs_its_own(actors, monkeypatch):
    """Two actors play different games; one is killed, is made again, and plays on."""
    found = gathered(actors, 6)
    assert all(len(block.samples) == 64 and block.samples["points"].all() for block in found)
    assert len({block.samples.tobytes() for block in found}) == len(found)
    while not all(actors.counts):  # until both have begun
        found += gathered(actors, 1)
    played = decisions(actors)
    assert len(actors) == 2 and played > 0
    pids = ray.get(
        [player.__ray_call__.remote(lambda _: os.getpid()) for player in actors._players]
    )
    os.kill(pids[0], signal.SIGKILL)
    end = time.monotonic() + 120
    while not actors.lost:
        gathered(actors, 1)
        assert time.monotonic() < end, "its death was not noticed"
    assert decisions(actors) >= played
    actors.ask([7, 7])  # which the one that died answers too, once it is there again: new games
    assert actors.answers() == [None, None]
    (again,) = ray.get([actors._players[0].__ray_call__.remote(lambda _: os.getpid())])
    assert again != pids[0]
    more = gathered(actors, 6)
    old = {block.samples.tobytes() for block in found}
    assert not old & {block.samples.tobytes() for block in more}
    shares = [[Share("random", PRESETS["play_only"], 3, 0, 4, True)] for _ in range(2)]
    actors.ask(shares)
    one, two = actors.answers()
    assert len(one) == len(two) == 1 and np.array_equal(one[0], two[0]) and len(one[0]) == 4
    get, deaths = ray.get, iter(range(12))  # Ray takes its time to make one anew

    def late(call):
        if next(deaths, None) is not None:
            raise ray.exceptions.RayActorError
        return get(call)

    with monkeypatch.context() as patched:
        patched.setattr(ray, "get", late)
        patched.setattr("train.ray_actors.time.sleep", lambda seconds: None)
        actors.ask([8, 8])
        assert actors.answers() == [None, None]
        assert actors.lost >= 13


def test_a_run_on_ray(tmp_path):
    """To its end, with the evaluation of any other run."""
    line = ["--ray-address", "local", "--num-env-runners", 2, "--updates", 3]
    code, text = start(*line, "--out", tmp_path / "run", *TINY)
    assert code == 0, text
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert list(summary["evaluation"]) == ["random", "rlcard_rule", "greedy", "planner"]
    assert summary["updates"] == 3 and summary["decisions"] > 0
