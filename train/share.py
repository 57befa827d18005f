"""A process's share of the matches of an evaluation."""

from typing import NamedTuple

import numpy as np

import agents
from agents.base import Agent
from ddz_env.rules import RuleSet
from ddz_env.vector import deal_seeds
from eval.games import condense
from eval.match import play_deals, who_sits
from train.actors import end_without_parent


class Share(NamedTuple):
    """Deals of a match that one process plays."""

    opponent: str
    rules: RuleSet
    seed: int
    first: int
    last: int
    calls: bool
    """Whether the agents make the choices before the play themselves, instead of `greedy`."""


def play_share(agent: Agent, share: Share) -> np.ndarray:
    """The games of a share, `GAME[D, L]`."""
    rules = share.rules
    seeds = deal_seeds(share.seed, share.last)[share.first :]
    calls = None if share.calls or rules.auction == "none" else agents.load("greedy")
    other = agents.load(share.opponent, rules)
    states = play_deals(agent, other, rules, seeds, share.first, end_without_parent, calls)
    sides = who_sits(states.reshape(-1), rules, calls is not None).reshape(*states.shape, 3)
    return condense(states, rules, sides)
