"""Learning with all hands in sight: the critic that takes out luck, and the guess of a hand."""

import copy
import dataclasses

import numpy as np
import pytest
import torch
from numpy.random import default_rng

from agents.dmc_net import NetConfig
from agents.inputs import FACTS
from agents.role_agent import ROLES
from ddz_env.cards import pack
from ddz_env.features import CARDS
from ddz_env.listed import Bits
from train.critic import HANDS, hands_matrix
from train.learner import DMCConfig, Learner
from train.samples import Batch, hands_of, results_of

SMALL = NetConfig(hidden=24, state=16, head=8)
CONFIG = DMCConfig(workers=1, batch=512, net=SMALL)
ACES, THREES = pack([11] * 4), pack([0] * 4)


def luck_batch(rng, n=512):
    """Deals of luck: holding aces, which the seat doesn't see, wins .85, threes .15; action 1 adds
    a tenth to either."""
    lucky, action = rng.random(n) < 0.5, rng.integers(0, 2, n)
    won = rng.random(n) < np.where(lucky, 0.8, 0.1) + 0.1 * action
    hands = np.zeros((n, HANDS), np.uint64)
    hands[:, 2] = np.where(lucky, ACES, THREES)
    return action, won, hands


def learned(config, make, steps, rng):
    """A learner after so many batches of one network, and its metrics averaged over the last."""
    learner, last = Learner(config, ROLES, 1), []
    for step in range(steps):
        batch = make(rng)
        learner.update([batch, None, None], 3e-3)
        if step >= steps - 20:
            last.append(dict(learner.metrics))
    return learner, {key: np.mean([m[key] for m in last]) for key in last[0]}


def batch_of(action, won, hands, state=None):
    n = len(action)
    one = np.arange(n + 1)
    state = np.zeros(n, np.uint16) if state is None else state.astype(np.uint16)
    points = torch.from_numpy(np.where(won, 2.0, -2.0).astype(np.float32))
    return Batch(
        Bits(one, state),
        Bits(one, (10 + action).astype(np.uint16)),
        torch.zeros(n, FACTS),
        points,
        results_of(points),
        hands_of(hands),
    )


def chances(learner):
    """The chance of each action, in the state of all."""
    net = learner.nets[0]
    with torch.no_grad():
        embedded = net.embed(Bits(np.arange(3), np.zeros(2, np.uint16)))
        actions = Bits(np.arange(3), np.array([10, 11], np.uint16))
        return net.score(embedded, actions, torch.zeros(2, FACTS))[:, 0].sigmoid().numpy()


@pytest.mark.parametrize("critic", [0, 16])
def test_luck_is_taken_out_and_choices_keep_their_worth(critic):
    """What the critic explains is luck alone: chances of both actions are those of the game."""
    config = dataclasses.replace(CONFIG, critic=critic)
    learner, metrics = learned(config, lambda rng: batch_of(*luck_batch(rng)), 300, default_rng(1))
    assert chances(learner) == pytest.approx([0.45, 0.55], abs=0.05)
    if critic:
        # Of the spread .25, .1225 is between the two hands.
        assert 0.35 < metrics["critic/explained_landlord"] < 0.6


def test_a_hand_that_shows_is_guessed():
    """The state tells which of two hands the next seat has: the guess becomes certain."""
    config = dataclasses.replace(CONFIG, belief=1.0)

    def make(rng):
        action, won, hands = luck_batch(rng)
        shown = rng.integers(0, 2, len(action))
        hands[:, 1] = np.where(shown, ACES, THREES)
        return batch_of(action, won, hands, shown)

    _, before = learned(config, make, 20, default_rng(2))
    _, after = learned(config, make, 300, default_rng(2))
    assert after["loss/belief_landlord"] < 0.05 * before["loss/belief_landlord"]


def test_hands_as_bits():
    """Of every set as many ones as cards; aces and threes are where the schema has them."""
    _, _, hands = luck_batch(default_rng(0), 30)
    bits = hands_of(hands)
    previous = hands_matrix(bits, 2)
    assert previous.shape == (30, CARDS) and previous.sum(dim=1).eq(4).all()
    assert torch.equal(previous[:, 44:48].sum(dim=1) == 4, torch.from_numpy(hands[:, 2] == ACES))
    assert not hands_matrix(bits, 1).any() and not hands_matrix(bits, 0).any()


@pytest.mark.parametrize("more", [{"critic": 8}, {"belief": 0.1}, {"critic": 8, "belief": 0.1}])
def test_a_learner_goes_on_with_them(more):
    """Saved and loaded, it takes the same steps."""
    config, rng = dataclasses.replace(CONFIG, **more), default_rng(3)
    one, other = Learner(config, ROLES, 1), Learner(config, ROLES, 2)
    one.update([batch_of(*luck_batch(rng)), None, None], 1e-3)
    other.load_state_dict(copy.deepcopy(one.state_dict()))
    batch = batch_of(*luck_batch(rng))
    for learner in (one, other):
        learner.update([batch, None, None], 1e-3)
    assert one.metrics == other.metrics
    for part in ("nets", "critics", "guessers"):
        mine, its = getattr(one, part).state_dict(), getattr(other, part).state_dict()
        assert mine.keys() == its.keys() and all(torch.equal(mine[k], its[k]) for k in mine)
