"""PettingZoo parallel environment: all three agents act in each step; who is not asked waits."""

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from ddz_env.aec import AGENTS, METADATA, NO_IDS, Deals
from ddz_env.catalogue import CHOICES, action_text
from ddz_env.errors import DdzError, IllegalActionError
from ddz_env.game import Game
from ddz_env.rules import RuleSet

WAIT = CHOICES["wait"]

_WAIT_IDS = np.array([WAIT], np.int32)


class parallel_env(ParallelEnv[str, dict[str, np.ndarray], int]):
    """One deal an episode; the agents that are asked choose, the others `wait`.

    One agent is asked in each step, except where several choose at once (shows, doubles): these are
    asked in one step, and nobody sees another's choice before. Observations are those of `raw_env`,
    with `wait` as the only legal action of an agent that is not asked. `infos[agent]` has `asked`
    and `legal_actions` (`int32[n]`).

    Args:
        rules: a preset's name or a `RuleSet`.
        render_mode: `ansi` (the deal as text) or None.
        reward: `score`, `win` or `log_score`, as in `raw_env`.

    Attributes:
        game: the deal as a `Game`, None before the first reset.

    Raises:
        DdzError: an argument out of range, named.
    """

    metadata = METADATA

    def __init__(
        self,
        rules: str | RuleSet = "play_only",
        render_mode: str | None = None,
        reward: str = "score",
    ) -> None:
        self._deals = Deals(rules, render_mode, reward)
        self.rules, self.render_mode = self._deals.rules, render_mode
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces = self._deals.observation_spaces  # type: ignore[assignment]
        self.action_spaces = self._deals.action_spaces  # type: ignore[assignment]

    @property
    def game(self) -> Game | None:
        """The deal itself, None before the first reset."""
        return self._deals.game

    def observation_space(self, agent: str) -> spaces.Space:
        """The space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        """The space of an agent's actions, `Discrete(n_actions(rules))`."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, dict[str, np.ndarray]], dict[str, dict[str, Any]]]:
        """Deal a new game; seed and options are those of `raw_env.reset`.

        Returns:
            observations and infos by agent.

        Raises:
            DdzError: an argument out of range, named; the deal before is still there.
        """
        game = self._deals.start(seed, options)
        self.agents = list(AGENTS)
        return self._look(game)

    def _look(
        self, game: Game
    ) -> tuple[dict[str, dict[str, np.ndarray]], dict[str, dict[str, Any]]]:
        """Observations and infos of all agents."""
        observations, infos = {}, {}
        seats, ids = game.asked, game.legal_ids()
        for seat, agent in enumerate(AGENTS):
            asked = seat in seats
            legal = ids if asked else NO_IDS if game.over else _WAIT_IDS
            observations[agent] = self._deals.observation(game, seat, legal)
            infos[agent] = {"asked": asked, "legal_actions": legal}
        return observations, infos

    def step(
        self, actions: dict[str, int]
    ) -> tuple[
        dict[str, dict[str, np.ndarray]],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Make the choice of each agent that is asked; the others' must be `wait`.

        Args:
            actions: one id for each of the three agents.

        Returns:
            observations, rewards, terminations, truncations, infos by agent.

        Raises:
            IllegalActionError: an action missing or not legal now, its agent named, or the deal is
                over. Nothing has been changed.
        """
        game = self._deals.game
        if game is None or not self.agents:
            raise IllegalActionError("step: the deal is over; reset it first")
        if set(actions) != set(AGENTS):
            raise IllegalActionError(
                f"actions: expected one for each of {', '.join(AGENTS)}, got {sorted(actions)}"
            )
        seats = game.asked
        for seat, agent in enumerate(AGENTS):
            if seat not in seats and actions[agent] != WAIT:
                text = action_text(actions[agent])
                raise IllegalActionError(f"{text}: {agent} is not asked; expected wait")
        for seat in seats:
            try:
                game.check(actions[AGENTS[seat]])
            except DdzError as error:
                raise type(error)(f"{AGENTS[seat]}: {error}") from None
        for seat in seats:
            game.step(actions[AGENTS[seat]])
        observations, infos = self._look(game)
        rewards = self._deals.rewards(game) if game.over else [0.0] * 3
        if game.over:
            self.agents = []
        return (
            observations,
            dict(zip(AGENTS, rewards, strict=True)),
            dict.fromkeys(AGENTS, game.over),
            dict.fromkeys(AGENTS, False),
            infos,
        )

    def render(self) -> str | None:  # type: ignore[override]
        """The deal as text (`ansi`), all hands open."""
        return self._deals.render()

    def close(self) -> None:
        """Nothing to close."""
