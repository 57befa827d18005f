"""Guests: other agents that take one side of some games of self-play.

A network that only ever meets itself knows little of positions that others bring about. A guest
plays the landlord or both farmers from the first play on; choices before the play stay with the
networks. Nothing is learned from what guests choose.
"""

import numpy as np

import agents
from ddz_env.listed import Legal
from ddz_env.rules import RuleSet
from ddz_env.state import Phase
from ddz_env.vector import VecEnv

_PLAY, _FILL = int(Phase.PLAY), int(Phase.FILL)


class Seating:
    """Which games have a guest, and on which side.

    Args:
        number: of guests that may come.
        share: of the games that have one.
        games: in flight.
        rng: who comes, and for which side.
    """

    def __init__(self, number: int, share: float, games: int, rng: np.random.Generator) -> None:
        self.number = number
        """Guests that may come to games that begin now."""
        self._share, self._rng = share, rng
        self._who = np.full(games, -1)
        self._landlord = np.zeros(games, bool)
        self.invite(np.arange(games))

    def invite(self, games: np.ndarray) -> None:
        """Draw the guests of games that begin, by number."""
        if not self.number:
            return
        n = len(games)
        here = self._rng.random(n) < self._share
        self._who[games] = np.where(here, self._rng.integers(0, self.number, n), -1)
        self._landlord[games] = self._rng.random(n) < 0.5

    def copy(self, models: np.ndarray, places: np.ndarray) -> None:
        """Let some games have the guests of others."""
        self._who[places], self._landlord[places] = self._who[models], self._landlord[models]

    def deciding(self, states: np.ndarray) -> np.ndarray:
        """The guest that is on turn in each game, `int64[B]`; -1 where none is."""
        playing = (states["phase"] == _PLAY) | (states["phase"] == _FILL)
        its_side = (states["turn"] == states["landlord"]) == self._landlord
        return np.where(playing & its_side, self._who, -1)


class Guests(Seating):
    """The guests of one room's games, agents of any kind.

    Args:
        names: specs of agents, with commas between; none if empty.
        share: of the games that have a guest.
        rules: the room.
        games: in flight.
        rng: who comes, and for which side.

    Raises:
        AgentError: a name that is no agent, or none for the room.
    """

    def __init__(
        self, names: str, share: float, rules: RuleSet, games: int, rng: np.random.Generator
    ) -> None:
        self.agents = [agents.load(name, rules) for name in names.split(",") if name]
        super().__init__(len(self.agents), share, games, rng)

    def act(self, env: VecEnv, legal: Legal, guest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What guests choose.

        Args:
            env: the games.
            legal: of all games.
            guest: who decides in each of them, -1 for nobody that is asked here.

        Returns:
            Games, and the id in each of them.
        """
        games, ids = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for k, agent in enumerate(self.agents):
            rows = np.flatnonzero(guest == k)
            if len(rows):
                games.append(rows)
                ids.append(agent.act(env.views(rows), legal.take(rows)))
        return np.concatenate(games), np.concatenate(ids)
