"""How agents bid: the figures, the command, and agents split by phase."""

import json

import numpy as np
import pytest
from tables import many_positions

import agents
from ddz_env import PRESETS
from ddz_env.bots import landlord_chance
from ddz_env.state import Phase
from eval import bidding


def test_described_by_hand():
    """Ten hands, of which the five strongest say yes; and hands that all say the same."""
    strength = np.linspace(0.1, 1.0, 10)
    found = bidding.described(np.column_stack([strength, strength > 0.55]))
    assert found["asked"] == 10 and found["yes"] == 0.5
    assert found["tenths"] == [(pytest.approx(s), float(s > 0.55)) for s in strength]
    # ranks 1..10 against 3 and 8, five times each: covariance 6.25, deviations 2.872 and 2.5
    assert found["correlation"] == pytest.approx(6.25 / (8.25**0.5 * 2.5), abs=1e-6)
    assert found["correlation_of_tenths"] == pytest.approx(found["correlation"])
    mirrored = bidding.described(np.column_stack([strength, strength < 0.55]))
    assert mirrored["correlation"] == pytest.approx(-found["correlation"])
    alike = bidding.described(np.column_stack([strength, np.ones(10)]))
    assert alike["correlation"] is None and alike["yes"] == 1


def test_greedy_calls_its_estimate():
    """Greedy's calls follow the very estimate that hands are ranked by; random's don't."""
    greedy = bidding.answers(agents.load("greedy"), PRESETS["qq_classic"], 300, 1)
    found = bidding.described(greedy["call"])
    assert found["correlation"] > 0.25 and found["correlation_of_tenths"] > 0.7
    rates = bidding.answers(agents.load("random"), PRESETS["happy"], 300, 1)
    found = {name: bidding.described(answered) for name, answered in rates.items()}
    assert {"call", "rob", "double"} <= set(found)
    for row in found.values():
        assert 0.3 < row["yes"] < 0.8 and abs(row["correlation"]) < 0.15


def test_strength_is_that_of_the_hand():
    views, _ = many_positions("happy", num_envs=40, stops=(2,))
    for hand in views["hand"][:20]:
        assert -1 < landlord_chance(hand) < 2


def test_the_command(tmp_path, capsys):
    file = tmp_path / "found" / "bids.json"
    line = ["greedy", "--rules", "happy", "--deals", "40", "--json", str(file)]
    assert bidding.main(line) == 0
    data = json.loads(file.read_text())
    assert data["rules"] == "happy" and data["deals"] == 40
    assert set(data["questions"]) >= {"call", "rob", "double"}
    assert "rank r" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (["greedy", "--rules", "play_only"], "play_only"),
        (["greedy", "--deals", "0"], "--deals"),
        (["greedy", "--seed", "-1"], "seed"),
        (["nobody"], "nobody"),
        (["greedy", "--rules", "nowhere"], "nowhere"),
    ],
)
def test_bad_arguments(line, named, capsys, tmp_path):
    assert bidding.main([*line, "--json", str(tmp_path / "x" / "y.json")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and named in error and not (tmp_path / "x").exists()


@pytest.mark.parametrize("rules", ["happy", "happy_laizi"])
def test_a_split_agent_is_two_by_phase(rules):
    room = PRESETS[rules]
    views, legal = many_positions(rules, num_envs=80, stops=(1, 3, 6, 12, 30))
    split = agents.load("split:greedy+planner", room)
    calls, play = (agents.load(name, room).act(views, legal) for name in ("greedy", "planner"))
    playing = np.isin(views["phase"], (Phase.PLAY, Phase.FILL))
    assert 0.1 < playing.mean() < 0.95 and (calls != play)[playing].any()
    assert np.array_equal(split.act(views, legal), np.where(playing, play, calls))


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ("split", "CALLS"),
        ("split:greedy", "CALLS"),
        ("split:+greedy", "CALLS"),
        ("split:greedy+", "CALLS"),
        ("split:greedy+nobody", "nobody"),
        ("split:greedy+dmc:nothing.pt", "nothing.pt"),
    ],
)
def test_bad_splits(spec, named):
    with pytest.raises(agents.AgentError, match=named):
        agents.load(spec, PRESETS["happy"])


def test_a_split_whose_player_is_of_another_room():
    with pytest.raises(agents.AgentError, match="no weights for room nowhere"):
        agents.load("split:greedy+dmc", PRESETS["happy"].replace(name="nowhere"))
