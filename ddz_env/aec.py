"""PettingZoo AEC environment: one deal an episode, three agents that act in turn."""

import secrets
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from ddz_env.catalogue import TABLES, n_actions
from ddz_env.engine import next_seed
from ddz_env.errors import DdzError, IllegalActionError
from ddz_env.features import MAX_STATE_BITS, STATE_SIZE, dense, encode_state
from ddz_env.game import Game
from ddz_env.rules import RuleSet, get_rules

AGENTS: tuple[str, ...] = ("player_0", "player_1", "player_2")
"""The agent of each seat; seats are identities, roles are state."""
METADATA: dict[str, Any] = {"name": "ddz_v0", "render_modes": ["ansi"]}

NO_IDS = np.zeros(0, np.int32)


REWARDS = ("score", "win", "log_score")
"""What a deal may be rewarded with."""


class Deals:
    """What the PettingZoo faces share: deal after deal, observations, rewards.

    Args:
        rules: a preset's name or a `RuleSet`.
        render_mode: `ansi` or None.
        reward: `score`, the points of the deal; `win`, 1 for the winning side and -1 for the other;
            or `log_score`, sign(s) * log2(1 + |s|) of the points s, in which a bomb counts about
            one more instead of twice as much. A void deal gives 0.

    Attributes:
        rules: the rule set.
        game: the deal as a `Game`; None before the first `start`.
        observation_spaces: the space of each agent.
        action_spaces: the space of each agent.

    Raises:
        DdzError: an argument out of range, named.
    """

    def __init__(self, rules: str | RuleSet, render_mode: str | None, reward: str) -> None:
        self.rules = get_rules(rules)
        for name, value, allowed in (
            ("render_mode", render_mode, (None, "ansi")),
            ("reward", reward, REWARDS),
        ):
            if value not in allowed:
                options = ", ".join(str(option) for option in allowed)
                raise DdzError(f"{name}: expected one of {options}, got {value!r}")
        self.render_mode, self.reward = render_mode, reward
        self.game: Game | None = None
        self._seed = 0
        self._bits = np.zeros(MAX_STATE_BITS, np.uint16)
        n = self._n_actions = n_actions(self.rules)
        self.observation_spaces = {agent: _observation_space(n) for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(n) for agent in AGENTS}

    def start(self, seed: int | None, options: dict[str, Any] | None) -> Game:
        """Deal the next game; see `raw_env.reset`."""
        options = options or {}
        first = options.get("first")
        if seed is None and self.game is not None:
            seed = int(next_seed(np.uint64(self._seed)))
            if first is None and self.rules.first_caller == "rotates":
                first = (int(self.game.state["first"]) + 1) % 3
        elif seed is None:
            seed = secrets.randbits(63)
        self.game = Game(self.rules, seed, first, options.get("deal"))
        self._seed = seed
        return self.game

    def observation(self, game: Game, seat: int, legal: np.ndarray) -> dict[str, np.ndarray]:
        """A seat's own view as dense features, and the mask of these ids."""
        mask = np.zeros(self._n_actions, np.int8)
        mask[legal] = 1
        n = encode_state(game.view(seat), TABLES, self._bits, 0)
        return {"observation": dense(self._bits[:n], STATE_SIZE), "action_mask": mask}

    def rewards(self, game: Game) -> list[float]:
        """Each seat's reward of a finished deal."""
        scores = np.array(game.scores)
        if self.reward == "log_score":
            scores = np.sign(scores) * np.log2(1 + np.abs(scores))
        elif self.reward == "win":
            scores = np.sign(scores)
        return scores.tolist()

    def render(self) -> str | None:
        """The deal as text, all hands open; None without a render mode."""
        if self.render_mode is None:
            gymnasium.logger.warn("render: made without a render_mode; nothing is drawn")
            return None
        return str(self.game)


def _observation_space(n: int) -> spaces.Dict:
    """The space of one agent's observations, for `n` actions."""
    return spaces.Dict(
        {
            "observation": spaces.Box(0, 1, (STATE_SIZE,), np.int8),
            "action_mask": spaces.Box(0, 1, (n,), np.int8),
        }
    )


class raw_env(AECEnv[str, dict[str, np.ndarray], int]):
    """One deal an episode; the agent on turn chooses one of the action ids (`action_text`).

    An observation is `{"observation": int8[STATE_SIZE], "action_mask": int8[n_actions]}`: the
    features of what the agent's own seat may know, and ones at its legal ids (all zero while
    another agent is on turn). `infos[agent]["legal_actions"]` lists the same ids, `int32[n]`.
    Rewards come once, at the end of the deal.

    Args:
        rules: a preset's name or a `RuleSet`.
        render_mode: `ansi` (the deal as text) or None.
        reward: `score`, the points of the deal; `win`, 1 for the winning side and -1 for the other;
            or `log_score`, sign(s) * log2(1 + |s|) of the points s, in which a bomb counts about
            one more instead of twice as much. A void deal gives 0.

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
        super().__init__()
        self._deals = Deals(rules, render_mode, reward)
        self.rules, self.render_mode = self._deals.rules, render_mode
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces = self._deals.observation_spaces  # type: ignore[assignment]
        self.action_spaces = self._deals.action_spaces  # type: ignore[assignment]
        self._observations: dict[str, dict[str, np.ndarray]] = {}

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
            options: `first` and `deal` as in `Game`; others are ignored.

        Raises:
            DdzError: an argument out of range, named; the deal before is still there.
        """
        self._deals.start(seed, options)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self._skip_agent_selection = None
        self._ask()

    def _ask(self) -> None:
        """Turn to the seat that is asked now; the others have no legal action."""
        game = self._deals.game
        assert game is not None
        self._observations = {}
        self.agent_selection = AGENTS[game.seat]
        self.infos = {agent: {"legal_actions": NO_IDS} for agent in AGENTS}
        if not game.over:
            self.infos[self.agent_selection]["legal_actions"] = game.legal_ids()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What an agent sees now; the arrays stay as they are when the game goes on."""
        if agent not in self._observations:
            game = self._deals.game
            assert game is not None
            legal = self.infos[agent]["legal_actions"] if agent in self.infos else NO_IDS
            seat = AGENTS.index(agent)
            self._observations[agent] = self._deals.observation(game, seat, legal)
        return self._observations[agent]

    def step(self, action: int | None) -> None:  # type: ignore[override]
        """Choose for the agent on turn; None for an agent whose deal has ended.

        Raises:
            IllegalActionError: not legal now, or nobody is left. Nothing has been changed.
        """
        if not self.agents:
            raise IllegalActionError(f"action {action}: the deal is over; reset it first")
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)  # type: ignore[arg-type]
            return
        game = self._deals.game
        assert game is not None
        game.step(action)  # type: ignore[arg-type]
        self._cumulative_rewards[agent] = 0.0
        self._ask()
        if game.over:
            self.rewards = dict(zip(AGENTS, self._deals.rewards(game), strict=True))
            self.terminations = dict.fromkeys(AGENTS, True)
            self._accumulate_rewards()
            self._deads_step_first()

    def render(self) -> str | None:  # type: ignore[override]
        """The deal as text (`ansi`), all hands open."""
        return self._deals.render()

    def close(self) -> None:
        """Nothing to close."""


def env(
    rules: str | RuleSet = "play_only", render_mode: str | None = None, reward: str = "score"
) -> OrderEnforcingWrapper:
    """`raw_env` behind PettingZoo's check of the order of calls; the arguments are the same."""
    return OrderEnforcingWrapper(raw_env(rules, render_mode, reward))
