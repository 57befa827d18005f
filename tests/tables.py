"""Positions in batches, for tests of agents, features and matches."""

import numpy as np

from ddz_env import VecEnv
from ddz_env.cards import count_cards, from_text
from ddz_env.catalogue import ACTIONS, TABLES, action_id
from ddz_env.features import MAX_STATE_BITS, encode_state
from ddz_env.state import Phase
from ddz_env.vector import Legal

NEED = ACTIONS["need"]
CATEGORY = ACTIONS["category"]


def positions(rules="play_only", num_envs=200, steps=60, seed=3):
    """Views and legal lists of many games at different points, reached by random play.

    Rows carry different numbers of deals, as those of a match do.
    """
    env = VecEnv(num_envs, rules, seed=seed)
    env.states["deal"] = np.arange(num_envs) + 1000 * seed
    for _ in range(steps):
        env.step(env.sample())
    return env.views(), copied(env.legal())


def many_positions(rules="play_only", num_envs=120, stops=(1, 7, 18, 33, 52, 80), seed=3):
    """The same at several stops on the way, one after another, as one batch."""
    parts = [positions(rules, num_envs, stop, seed + stop) for stop in stops]
    views = np.concatenate([views for views, _ in parts])
    sizes = np.concatenate([np.diff(legal.offsets) for _, legal in parts])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return views, Legal(offsets, np.concatenate([legal.ids for _, legal in parts]))


def features(view):
    """The ones of a view's features, in order."""
    bits = np.zeros(MAX_STATE_BITS, np.uint16)
    return sorted(bits[: encode_state(view, TABLES, bits, 0)].tolist())


def copied(legal):
    """A list that a later step of the batch doesn't overwrite."""
    return Legal(legal.offsets.copy(), legal.ids.copy())


def row_of(legal, i):
    """The ids of one row."""
    return legal.ids[legal.offsets[i] : legal.offsets[i + 1]]


def alone(agent, views, legal):
    """An agent's choices when every row is a batch of one."""
    rows = range(len(views))
    return np.concatenate([agent.act(views[i : i + 1], legal.take(np.array([i]))) for i in rows])


def position(hand, last=None, by=0, seat=1, landlord=0, passes=0):
    """A batch of one: a seat with this hand is to answer a play of seat `by`, or to lead."""
    env = VecEnv(1, "play_only", seed=8)
    state = env.states[0]
    state["landlord"], state["turn"], state["phase"] = landlord, seat, Phase.PLAY
    state["hands"][seat] = from_text(hand)
    if last is not None:
        action = action_id(last)
        state["last_seat"], state["last_action"], state["passes"] = by, action, passes
        state["last_cards"] = NEED[action]
    assert count_cards(int(env.views()[0]["hand"])) == len(hand)
    return env.views(), copied(env.legal())
