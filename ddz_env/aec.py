"""PettingZoo AEC environment: one deal an episode, three agents that act in turn."""

from operator import index
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from ddz_env import core
from ddz_env.checks import brief, flag
from ddz_env.deals import AGENTS, METADATA, NO_IDS, Dealer, Deals, forfeit_scores
from ddz_env.errors import DdzError, IllegalActionError, PlayError
from ddz_env.game import Game
from ddz_env.moves import MAX_LEGAL
from ddz_env.rules import RuleSet

_NEXT = {agent: (AGENTS[(i + 1) % 3], AGENTS[(i + 2) % 3]) for i, agent in enumerate(AGENTS)}


class raw_env(AECEnv[str, dict[str, Any], int]):
    """One deal an episode; the agent on turn chooses one of the action ids (`action_text`).

    An observation is `{"observation": ..., "action_mask": int8[n_actions]}`: the features of what
    the agent's own seat may know (`schema()`), and ones at its legal ids (all zero while another
    agent is on turn). `infos[agent]["legal_actions"]` lists the same ids, `int32[n]`. Rewards come
    once, at the end of the deal.

    Args:
        rules: a preset's name or a `RuleSet`.
        render_mode: `ansi` (text), `rgb_array` (a picture), `human` (a window) or None.
        reward: `score`, the points of the deal; `win`, 1 for the winning side and -1 for the other;
            or `log_score`, sign(s) * log2(1 + |s|) of the points s, in which a bomb counts about
            one more instead of twice as much. A void deal gives 0.
        obs: `dense`, one row `int8[schema().size]`, or `dict`, an array for each of its fields.
        illegal: what an illegal id does: `raise`, an `IllegalActionError` and nothing has changed;
            or `terminate`, the deal ends and the mover's side loses what is at stake
            (`deals.forfeit_scores`); `infos[agent]["illegal_action"]` is then the id.
        deal: `random`; `unshuffled`, the former deal's cards as they lie (`unshuffled.py`); or a
            callable that gives a deal for its key.
        legal_infos: whether infos list the legal ids. Their lengths differ, so False is for
            libraries that stack infos; the mask says the same.

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
        super().__init__()
        self._deals = Deals(rules, render_mode, reward, obs, illegal, deal)
        self.rules, self.render_mode = self._deals.rules, render_mode
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces = self._deals.observation_spaces  # type: ignore[assignment]
        self.action_spaces = self._deals.action_spaces  # type: ignore[assignment]
        self.state_space = self._deals.state_space
        self._ids = np.zeros(MAX_LEGAL, np.int32)
        self._advance = core.Advance(self._deals.rooms, self._ids)
        self._observations: dict[str, dict[str, Any]] = {}
        self._legal: dict[str, np.ndarray] = {}
        self._legal_infos = flag("legal_infos", legal_infos)

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

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game.

        Args:
            seed: the deal's key, as in `Game`. Without one the key is derived from the former
                deal's, and the next seat calls first where the room rotates; the first deal of all
                is then random.
            options: `first` and `deal` as in `Game`; or `game`, a `Game` of the room to go on with
                (`Game.from_position`), of which the environment plays a copy.

        Raises:
            DdzError: an argument out of range, named; the deal before is still there.
        """
        game = self._deals.start(seed, options)
        self._rows = game.rows
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self._skip_agent_selection = None
        self._ask(game.legal_ids())
        self._deals.show()

    def _ask(self, legal: np.ndarray) -> None:
        """Turn to the seat that is asked now; the others have no legal action."""
        self._observations = {}
        agent = self.agent_selection = AGENTS[self._rows["turn"][0]]
        one, two = _NEXT[agent]
        self._legal = {agent: legal}
        if self._legal_infos:
            self.infos = {
                agent: {"legal_actions": legal},
                one: {"legal_actions": NO_IDS},
                two: {"legal_actions": NO_IDS},
            }
        else:
            self.infos = {agent: {}, one: {}, two: {}}

    def observe(self, agent: str) -> dict[str, Any]:
        """What an agent sees now; the arrays stay as they are when the game goes on."""
        seen = self._observations.get(agent)
        if seen is None:
            game = self._deals.game
            if game is None:
                raise DdzError("observe: there is no deal; reset first")
            if agent not in AGENTS:
                raise DdzError(f"agent: expected one of {', '.join(AGENTS)}, got {brief(agent)}")
            legal = self._legal.get(agent, NO_IDS)
            seen = self._deals.observation(game, AGENTS.index(agent), legal)
            self._observations[agent] = seen
        return seen

    def state(self) -> np.ndarray:
        """What a centralised critic may see, `int8[state_space.shape]` (`schema("critic")`).

        The observation of the seat on turn and all hands; never for agents.
        """
        return self._deals.state()

    def step(self, action: int | None) -> None:  # type: ignore[override]
        """Choose for the agent on turn; None for an agent whose deal has ended.

        Raises:
            IllegalActionError: not legal now (with `illegal="raise"`), or nobody is left. Nothing
                has been changed.
            PlayError: no whole number.
        """
        if not self.agents:
            over = "there is no deal" if self._deals.game is None else "the deal is over"
            raise IllegalActionError(f"action {brief(action)}: {over}; reset it first")
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)  # type: ignore[arg-type]
            return
        try:
            choice = index(action)  # type: ignore[arg-type]
        except TypeError:
            raise PlayError(f"action {brief(action)}: expected one of the legal ids") from None
        # Beyond every id, but within what a kernel takes.
        n = self._advance(self._rows, min(max(choice, -1), 1 << 20))
        if n > 0:
            self._cumulative_rewards[agent] = 0.0
            self._ask(self._ids[:n].copy())
        elif n == 0:
            self._ask(NO_IDS)
            self._end(self._deals.game.scores)  # type: ignore[union-attr]
        else:
            self._refuse(agent, choice)
        if self._deals.live:
            self._deals.show()

    def _refuse(self, agent: str, choice: int) -> None:
        """What an illegal id does."""
        game = self._deals.game
        assert game is not None
        if self._deals.illegal == "raise":
            game.check(choice)
            raise AssertionError("a choice that was refused is legal")
        self._ask(NO_IDS)
        self.infos[agent]["illegal_action"] = choice
        self._end(forfeit_scores(game, AGENTS.index(agent)))

    def _end(self, scores: list[float]) -> None:
        """Hand out the rewards; each agent takes its own with its last `last`."""
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.rewards = dict(zip(AGENTS, self._deals.rewards(scores), strict=True))
        self.terminations = dict.fromkeys(AGENTS, True)
        self._accumulate_rewards()
        self._deads_step_first()

    def render(self) -> Any:
        """The deal, all hands open: text (`ansi`), `uint8[H, W, 3]` (`rgb_array`), None."""
        return self._deals.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self._deals.close()


def env(
    rules: str | RuleSet = "play_only",
    render_mode: str | None = None,
    reward: str = "score",
    obs: str = "dense",
    illegal: str = "raise",
    deal: str | Dealer = "random",
    legal_infos: bool = True,
) -> OrderEnforcingWrapper:
    """`raw_env` behind PettingZoo's check of the order of calls; the arguments are the same."""
    return OrderEnforcingWrapper(
        raw_env(rules, render_mode, reward, obs, illegal, deal, legal_infos)
    )
