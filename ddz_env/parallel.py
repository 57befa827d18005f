"""PettingZoo parallel environment: all three agents act in each step; who is not asked waits."""

from operator import index
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from ddz_env.catalogue import CHOICES, action_text
from ddz_env.checks import brief, flag
from ddz_env.core import Advance
from ddz_env.deals import AGENTS, METADATA, NO_IDS, Dealer, Deals, forfeit_scores
from ddz_env.errors import DdzError, IllegalActionError, PlayError
from ddz_env.game import Game
from ddz_env.moves import MAX_LEGAL
from ddz_env.rules import RuleSet

WAIT = CHOICES["wait"]

_WAIT_IDS = np.array([WAIT], np.int32)


class parallel_env(ParallelEnv[str, dict[str, Any], int]):
    """One deal an episode; the agents that are asked choose, the others `wait`.

    One agent is asked in each step, except where several choose at once (shows, doubles): these are
    asked in one step, and nobody sees another's choice before. Observations are those of `raw_env`,
    with `wait` as the only legal action of an agent that is not asked. `infos[agent]` has `asked`
    and `legal_actions` (`int32[n]`).

    Args:
        rules: a preset's name or a `RuleSet`.
        render_mode: `ansi`, `rgb_array`, `human` or None, as in `raw_env`.
        reward: `score`, `win` or `log_score`, as in `raw_env`.
        obs: `dense` or `dict`, as in `raw_env`.
        illegal: `raise` or `terminate`, as in `raw_env`; of several agents with illegal actions
            the first one's side loses.
        deal: `random`, `unshuffled` or a callable, as in `raw_env`.
        legal_infos: whether infos list the legal ids, as in `raw_env`.

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
        obs: str = "dense",
        illegal: str = "raise",
        deal: str | Dealer = "random",
        legal_infos: bool = True,
    ) -> None:
        self._deals = Deals(rules, render_mode, reward, obs, illegal, deal)
        self.rules, self.render_mode = self._deals.rules, render_mode
        self._ids = np.zeros(MAX_LEGAL, np.int32)
        self._advance = Advance(self._deals.rooms, self._ids)
        self._listed = 0
        self._seats: list[int] = []
        self._legal_infos = flag("legal_infos", legal_infos)
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces = self._deals.observation_spaces  # type: ignore[assignment]
        self.action_spaces = self._deals.action_spaces  # type: ignore[assignment]
        self.state_space = self._deals.state_space

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
    ) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
        """Deal a new game; seed and options are those of `raw_env.reset`.

        Returns:
            observations and infos by agent.

        Raises:
            DdzError: an argument out of range, named; the deal before is still there.
        """
        game = self._deals.start(seed, options)
        self.agents = list(AGENTS)
        self._deals.show()
        return self._look(game, game.legal_ids())

    def _look(
        self, game: Game, ids: np.ndarray
    ) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
        """Observations and infos of all agents, from what the asked ones may choose."""
        observations, infos = {}, {}
        seats = self._seats = game.asked
        for seat, agent in enumerate(AGENTS):
            asked = seat in seats
            legal = ids if asked else _WAIT_IDS if seats else NO_IDS
            observations[agent] = self._deals.observation(game, seat, legal)
            infos[agent] = {"asked": asked}
            if self._legal_infos:
                infos[agent]["legal_actions"] = legal
        return observations, infos

    def step(
        self, actions: dict[str, int]
    ) -> tuple[
        dict[str, dict[str, Any]],
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
            over = "there is no deal" if game is None else "the deal is over"
            raise IllegalActionError(f"step: {over}; reset it first")
        if not isinstance(actions, dict) or set(actions) != set(AGENTS):
            got = sorted(map(str, actions)) if isinstance(actions, dict) else repr(actions)
            raise IllegalActionError(f"actions: expected one for each of {', '.join(AGENTS)}, "
                                     f"got {got}")  # fmt: skip
        choices = [_whole(agent, actions[agent]) for agent in AGENTS]
        seats = self._seats
        # Where one seat is asked, which is nearly always, the check and the choice are one call.
        n = -1
        if len(seats) == 1 and all(choices[s] == WAIT for s in range(3) if s != seats[0]):
            n = self._advance(game.rows, min(max(choices[seats[0]], -1), 1 << 20))
        if n < 0:
            for seat, error in enumerate(self._errors(game, choices)):
                if error is not None and self._deals.illegal == "raise":
                    raise error
                if error is not None:
                    return self._terminate(game, seat, choices[seat])
            for seat in seats:
                n = self._advance(game.rows, choices[seat])
        self._listed = n
        self._deals.show()
        return self._result(game, game.scores if n == 0 else [0.0] * 3, n == 0)

    def _errors(self, game: Game, choices: list[int]) -> list[DdzError | None]:
        """Why each agent's choice is not legal; None where it is."""
        errors: list[DdzError | None] = []
        for seat, (agent, choice) in enumerate(zip(AGENTS, choices, strict=True)):
            error = None
            try:
                if seat in self._seats:
                    game.check(choice)
                elif choice != WAIT:
                    raise IllegalActionError(f"{action_text(choice)}: not asked; expected wait")
            except DdzError as why:
                error = type(why)(f"{agent}: {why}")
            errors.append(error)
        return errors

    def _terminate(self, game: Game, seat: int, choice: int) -> Any:
        """End the deal, which an agent's side loses by an illegal action."""
        result = self._result(game, forfeit_scores(game, seat), True)
        for info in result[4].values():
            info["asked"] = False
            if self._legal_infos:
                info["legal_actions"] = NO_IDS
        for seen in result[0].values():
            seen["action_mask"][:] = 0
        result[4][AGENTS[seat]]["illegal_action"] = choice
        return result

    def _result(self, game: Game, scores: list[float], over: bool) -> Any:
        """What `step` returns."""
        ids = NO_IDS if over else self._ids[: self._listed].copy()
        observations, infos = self._look(game, ids)
        rewards = self._deals.rewards(scores) if over else [0.0] * 3
        if over:
            self.agents = []
        return (
            observations,
            dict(zip(AGENTS, rewards, strict=True)),
            dict.fromkeys(AGENTS, over),
            dict.fromkeys(AGENTS, False),
            infos,
        )

    def state(self) -> np.ndarray:
        """What a centralised critic may see, `int8[state_space.shape]` (`schema("critic")`).

        The observation of the first seat that is asked and all hands; never for agents.
        """
        return self._deals.state()

    def render(self) -> Any:
        """The deal, all hands open: text (`ansi`), `uint8[H, W, 3]` (`rgb_array`), None."""
        return self._deals.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self._deals.close()


def _whole(agent: str, action: Any) -> int:
    """An agent's action as a Python number."""
    try:
        return index(action)
    except TypeError:
        raise PlayError(f"{agent}: action {brief(action)}: expected one of the legal ids") from None
