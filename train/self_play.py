"""What every process of a DMC run does: plays with the newest weights, and its share of matches."""

from typing import Any

import numpy as np
import torch

from agents.dmc_net import make_nets
from agents.inputs import FACTS, Inputs, largest_piece
from agents.value_agent import ValueAgent, net_names
from ddz_env.listed import Bits, Legal
from ddz_env.rules import RuleSet
from train.actors import Player, Weights
from train.collect import Behaviour, Collector
from train.counts import added
from train.learner import DMCConfig
from train.samples import SAMPLE
from train.share import play_share


class SelfPlay(Player):
    """Plays the rooms of a run.

    Args:
        config: of the algorithm.
        rooms: the rooms, which share the games in flight.
        weights: the newest, of those that learn.
        average: the averaged ones, which are evaluated.
        objective: of the agent that is evaluated.
        seed: of everything random here.
        rank: number of this process.
    """

    def __init__(
        self,
        config: DMCConfig,
        rooms: tuple[RuleSet, ...],
        weights: Weights,
        average: Weights,
        objective: str,
        seed: int,
        rank: int,
    ) -> None:
        names, net = net_names(rooms), config.net
        self.nets, self._average = make_nets(net, names).eval(), make_nets(net, names).eval()
        self._weights, self._averages = weights, average
        self._version = -1
        self._rooms, self._config, self._rank = rooms, config, rank
        self._agent = ValueAgent(self._average, rooms, objective)
        self._former: dict[str, int] = {}
        self.collectors: list[Collector] = []
        self.restart(seed)
        self._probe()

    def _probe(self) -> None:
        """Score the longest list that can come up, so that memory fails now or never."""
        n = largest_piece()
        state = Bits(np.array([0, 1]), np.zeros(1, np.uint16))
        actions = Bits(np.arange(n + 1), np.zeros(n, np.uint16))
        legal = Legal(np.array([0, n]), np.zeros(n, np.int32))
        inputs = Inputs(state, legal, actions, np.zeros((n, FACTS), np.float32), np.full(1, -1))
        self.nets[0].score_lists(inputs)

    def restart(self, seed: int) -> None:
        """Begin new games, as a function of a seed alone."""
        self._former = self.counts
        key = np.random.SeedSequence([seed, self._rank])
        n, config = len(self._rooms), self._config
        sizes = [config.games * (k + 1) // n - config.games * k // n for k in range(n)]
        self.collectors = [
            Collector(
                room, max(size, 1), int(part.generate_state(1, np.uint64)[0] >> 1), rng,
                config.guests, config.guest_games, config.forks, config.td_lambda,
            )
            for room, size, part in zip(self._rooms, sizes, key.spawn(n), strict=True)
            for rng in [np.random.default_rng(part)]
        ]  # fmt: skip
        self._left = np.zeros(0, SAMPLE)

    @property
    def counts(self) -> dict[str, int]:
        """What happened in all rooms so far."""
        return added([self._former, *(collector.counts for collector in self.collectors)])

    def step(self, how: Behaviour) -> np.ndarray:
        """One decision in every game; samples that were finished."""
        self._version = self._weights.fetch(self.nets, self._version)
        with torch.no_grad():
            return np.concatenate([c.step(self.nets, how) for c in self.collectors])

    def play(self, out: np.ndarray, word: Any) -> dict[str, int]:
        """Fill a block by a `Behaviour`."""
        n = 0
        while True:
            part = self._left[: len(out) - n]
            out[n : n + len(part)] = part
            self._left = self._left[len(part) :]
            n += len(part)
            if n == len(out):
                return self.counts
            self._left = self.step(word)

    def evaluate(self, word: Any) -> Any:
        """Play shares of matches (`list[Share]`), `GAME[D, L]` of each; or restart (an int)."""
        if isinstance(word, int):
            return self.restart(word)
        self._averages.fetch(self._average, -1)
        return [play_share(self._agent, share) for share in word]
