"""Time of a learned agent's decision, beside DouZero's network: rows of `eval/speed.py`.

DouZero (Zha et al. 2021, `douzero/dmc/models.py`, version 1.1.0) runs an LSTM over the last five
rounds and six dense layers once for every legal play. Its landlord's network is rebuilt here from
these sizes with random weights, and timed without the features that it needs; ours is timed with
all that a decision takes.
"""

import importlib.util
from collections.abc import Callable
from itertools import pairwise

import numpy as np

import agents
from ddz_env.listed import Legal
from ddz_env.rules import PRESETS
from ddz_env.vector import VecEnv

PLAYS = 30
"""Legal plays of the decisions that are timed."""


def decisions_of(plays: int = PLAYS, number: int = 16) -> list[tuple[np.ndarray, Legal]]:
    """Decisions of random card play with so many legal plays each: `VIEW[1]` and their list."""
    env = VecEnv(256, "play_only", seed=3)
    found: list[tuple[np.ndarray, Legal]] = []
    while len(found) < number:
        legal = env.legal()
        for row in np.flatnonzero(np.diff(legal.offsets) == plays):
            found.append((env.views(np.array([row])), legal.take(np.array([row]))))
        env.step(env.sample())
    return found[:number]


def dmc_decision() -> Callable[[], int] | None:
    """The shipped agent decides alone, from view to choice; decisions made in one call."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    torch.set_num_threads(1)
    agent, asked = agents.load("dmc", PRESETS["play_only"]), decisions_of()

    def advance() -> int:
        for views, legal in asked:
            agent.act(views, legal)
        return len(asked)

    return advance


def douzero_network() -> Callable[[], int] | None:
    """DouZero's landlord's network values the plays of one decision."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch
    from torch import nn

    torch.set_num_threads(1)
    lstm = nn.LSTM(162, 128, batch_first=True)
    widths = [373 + 128, 512, 512, 512, 512, 512]
    layers = [layer for a, b in pairwise(widths) for layer in (nn.Linear(a, b), nn.ReLU())]
    dense = nn.Sequential(*layers, nn.Linear(512, 1))
    history, plays = torch.rand(PLAYS, 5, 162), torch.rand(PLAYS, 373)

    def advance() -> int:
        with torch.no_grad():
            steps, _ = lstm(history)
            dense(torch.cat([steps[:, -1], plays], dim=-1)).argmax()
        return 1

    return advance
