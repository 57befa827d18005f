"""Targets of the chance of winning: results, or lambda-returns."""

import numpy as np
import pytest
import torch
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


def collected(room, nets, td_lambda):
    """The first samples of one seed: the same choices, whatever `td_lambda` is."""
    collector = Collector(PRESETS[room], 8, 5, np.random.default_rng(3), td_lambda=td_lambda)
    found = []
    while sum(map(len, found)) < 600:
        found.append(collector.step(nets, Behaviour(0.0, False)))
    return np.concatenate(found)


@pytest.mark.parametrize("room", ["play_only", "happy_laizi"])
def test_samples_have_their_targets(room):
    """Results for a lambda of 1, what is said next for 0, in between a mean; calls: results."""
    torch.manual_seed(0)
    nets = small_nets(room)
    ends, nexts, means = (collected(room, nets, td_lambda) for td_lambda in (1.0, 0.0, 0.7))
    results = results_of(ends["points"])
    assert np.array_equal(ends["target"], results)
    for name in ("net", "points"):  # the choices do not depend on the targets
        assert np.array_equal(ends[name], nexts[name]) and np.array_equal(ends[name], means[name])
    assert np.array_equal(means["target"][ends["net"] == 3], results[ends["net"] == 3])
    for role in range(3):
        own = ends["net"] == role
        result, said, target = results[own], nexts["target"][own], means["target"][own]
        last = said == result  # nothing was said after a seat's last choice
        assert last[-1] and 0.02 < last.mean() < 0.8
        assert np.array_equal(target[last], result[last])
        between = np.flatnonzero(~last)
        assert target[between] == pytest.approx(0.3 * said[between] + 0.7 * target[between + 1])
