"""What every process of a PPO run does: plays by the policy, and its share of matches."""

from typing import Any

import numpy as np
import torch

from agents.dmc_net import NetConfig
from agents.ppo import PolicyAgent, make_nets
from agents.role_agent import net_names
from ddz_env.rules import RuleSet
from train.actors import Player, Weights
from train.counts import added
from train.rollouts import Roller, Rollout, join
from train.share import play_share


class Policies(Player):
    """Plays the rooms of a run by drawing from the newest policy.

    Args:
        net: sizes of the networks.
        rooms: the rooms, which share the games in flight.
        games: in flight in this process.
        share: of the games in which an earlier policy takes one side.
        weights: the newest, of those that learn.
        average: the averaged ones, which are evaluated.
        league: earlier ones, as many as have been published.
        seed: of everything random here.
        rank: number of this process.
    """

    def __init__(
        self,
        net: NetConfig,
        rooms: tuple[RuleSet, ...],
        games: int,
        share: float,
        weights: Weights,
        average: Weights,
        league: list[Weights],
        seed: int,
        rank: int,
    ) -> None:
        names = net_names(rooms)
        self.nets, self._average, *self._former = (
            make_nets(net, names).eval() for _ in range(2 + len(league))
        )
        self._weights, self._averages, self._league = weights, average, league
        self._version, self._versions = -1, [-1] * len(league)
        self._rooms, self._rank = rooms, rank
        self._games, self._share = games, share
        self._agent = PolicyAgent(self._average, rooms)
        self._before: dict[str, int] = {}
        self.rollers: list[Roller] = []
        self.restart(seed)

    def restart(self, seed: int) -> None:
        """Begin new games, as a function of a seed alone."""
        self._before = self.counts
        key = np.random.SeedSequence([seed, self._rank])
        n = len(self._rooms)
        self.rollers = []
        for room, part in zip(self._rooms, key.spawn(n), strict=True):
            deals, rng = int(part.generate_state(1, np.uint64)[0] >> 1), np.random.default_rng(part)
            self.rollers.append(Roller(room, max(self._games // n, 1), deals, rng, self._share))

    @property
    def counts(self) -> dict[str, int]:
        """What happened in all rooms so far."""
        return added([self._before, *(roller.counts for roller in self.rollers)])

    def roll(self, choices: int) -> Rollout:
        """Whole games with at least so many choices in all."""
        self._version = self._weights.fetch(self.nets, self._version)
        for k, (weights, nets) in enumerate(zip(self._league, self._former, strict=True)):
            if weights.version:
                self._versions[k] = weights.fetch(nets, self._versions[k])
        former = [n for n, v in zip(self._former, self._versions, strict=True) if v > 0]
        with torch.no_grad():
            for roller in self.rollers:
                roller.seating.number = len(former)
                while roller.ready * len(self.rollers) < choices:
                    roller.step(self.nets, former)
            return join([roller.take() for roller in self.rollers])

    def evaluate(self, word: Any) -> Any:
        """Play shares of matches, `GAME[D, L]` of each; restart (an int); or roll (a float)."""
        if isinstance(word, int):
            return self.restart(word)
        if isinstance(word, float):
            return self.roll(int(word)), self.counts
        self._averages.fetch(self._average, -1)
        return [play_share(self._agent, share) for share in word]
