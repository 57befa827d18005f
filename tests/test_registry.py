"""Every agent that has a name: legal, repeatable, the same alone and in a batch, in every room."""

import numpy as np
import pytest
from tables import alone, many_positions, row_of

import agents
from agents.base import AgentError
from ddz_env import PRESETS

SPECS = {
    "random": "random:seed=5",
    "greedy": "greedy",
    "trustee": "trustee",
    "planner": "planner",
    "search": "search:playouts=8",
    "rlcard_rule": "rlcard_rule",
    "dmc": "dmc",
    "split": "split:greedy+trustee",
    "ppo": None,
    "onnx": None,
}
"""A spec of every name; None for those that need a file: tests/test_ppo.py, tests/test_onnx.py."""
TIES = {"dmc": 0.01}
"""Share of choices that rounding may decide otherwise in a batch: equal values to 1e-5."""


def test_every_name_is_here():
    assert set(SPECS) == set(agents.REGISTRY)


@pytest.mark.parametrize("room", PRESETS)
@pytest.mark.parametrize("name", [name for name, spec in SPECS.items() if spec])
def test_an_agent(name, room):
    rules = PRESETS[room]
    try:
        agent = agents.load(SPECS[name], rules)
    except AgentError as error:
        assert name == "dmc" and "weights" in str(error)  # none ship for this room
        return
    n = 3 if name == "search" else 12
    views, legal = many_positions(room, num_envs=n, stops=(0, 2, 5, 12, 30, 55))
    chosen = agent.act(views, legal)
    assert all(chosen[i] in row_of(legal, i) for i in range(len(views)))
    most = TIES.get(name, 0) * len(views)
    again = agents.load(SPECS[name], rules).act(views, legal)
    assert np.array_equal(again, chosen)
    assert (alone(agents.load(SPECS[name], rules), views, legal) != chosen).sum() <= most
    order = np.random.default_rng(0).permutation(len(views))
    assert (agent.act(views[order], legal.take(order)) != chosen[order]).sum() <= most


@pytest.mark.parametrize("name", agents.REGISTRY)
@pytest.mark.parametrize("argument", ["seed=-1", "seed=x", "no_such=1", "=", "seed"])
def test_a_bad_argument(name, argument):
    """One line that begins with the agent, whatever it knows of options."""
    with pytest.raises(AgentError) as caught:
        agents.load(f"{name}:{argument}", PRESETS["play_only"])
    assert "\n" not in str(caught.value) and str(caught.value).startswith(
        ("agent ", "checkpoint ", f"{name}: ")
    )
