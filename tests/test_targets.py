"""Targets of the chance of winning: results, or lambda-returns."""

import numpy as np
import pytest
from test_dmc import small_nets

from ddz_env import PRESETS
from train.collect import Behaviour, Collector
from train.samples import results_of, traced

SEATS = np.array([0, 1, 2, 0, 0, 2], np.int8)
CHANCES = np.array([0.5, 0.4, 0.3, 0.6, 0.9, 0.2], np.float32)
RESULTS = np.array([1, 0, 0], np.float32)


def targets(td_lambda, random=()):
    out, flags = np.zeros(6, np.float32), np.zeros(6, bool)
    flags[list(random)] = True
    traced(SEATS, CHANCES, flags, RESULTS, td_lambda, out)
    return out


def test_known_answers():
    """Seat 0 chose three times: 1, then .9, then .6 lie behind its choices, the last one first."""
    assert targets(1.0) == pytest.approx([1, 0, 0, 1, 1, 0])
    assert targets(0.0) == pytest.approx([0.6, 0, 0.2, 0.9, 1, 0])
    middle = 0.5 * 0.9 + 0.5 * 1
    assert targets(0.5) == pytest.approx([0.5 * 0.6 + 0.5 * middle, 0, 0.1, middle, 1, 0])


def test_what_follows_a_random_choice_does_not_count():
    assert targets(0.5, random=[4]) == pytest.approx([0.5 * 0.6 + 0.5 * 0.9, 0, 0.1, 0.9, 1, 0])
    assert targets(0.9, random=[0, 1, 2]) == pytest.approx(targets(0.9))  # their own
    assert targets(1.0, random=[3]) == pytest.approx(RESULTS[SEATS])  # results alone


@pytest.mark.parametrize("room", ["play_only", "happy_laizi"])
@pytest.mark.parametrize("td_lambda", [1.0, 0.7])
def test_samples_have_their_targets(room, td_lambda):
    """Results for a lambda of 1 and for the last choices; in between chances; calls: results."""
    rng = np.random.default_rng(3)
    collector = Collector(PRESETS[room], 8, 5, rng, td_lambda=td_lambda)
    nets, found = small_nets(room), []
    while sum(map(len, found)) < 600:
        found.append(collector.step(nets, Behaviour(0.0, False)))
    samples = np.concatenate(found)
    results = results_of(samples["points"])
    before = samples["net"] == 3
    assert np.array_equal(samples["target"][before], results[before])
    between = (samples["target"] != results) & ~before
    assert ((samples["target"] >= 0) & (samples["target"] <= 1)).all()
    assert between.any() == (td_lambda < 1)
    if td_lambda < 1:
        assert 0.2 < between.mean() < 0.95
        won, lost = samples["target"][between & (results == 1)], results == 0
        assert won.mean() > samples["target"][between & lost].mean()
