"""What the PettingZoo faces share: deal after deal, observations, rewards, illegal actions."""

import secrets
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from ddz_env._jit import records
from ddz_env.catalogue import TABLES, n_actions
from ddz_env.checks import brief
from ddz_env.dealing import Dealer, check_dealing
from ddz_env.engine import next_seed
from ddz_env.errors import DdzError
from ddz_env.features import CRITIC, CRITIC_BITS, OBSERVATION, STATE_SIZE
from ddz_env.game import Game
from ddz_env.render import RENDER_FPS, RENDER_MODES, Window, ansi, rgb_array
from ddz_env.row_kernels import dense_view
from ddz_env.rules import RuleSet, check_room, get_rules
from ddz_env.scoring import QUARTERS, multiplier, stakes
from ddz_env.view import VIEW

AGENTS: tuple[str, ...] = ("player_0", "player_1", "player_2")
"""The agent of each seat; seats are identities, roles are state."""
METADATA: dict[str, Any] = {
    "name": "ddz_v1",
    "render_modes": list(RENDER_MODES),
    "render_fps": RENDER_FPS,
    "is_parallelizable": False,
}

NO_IDS = np.zeros(0, np.int32)
NO_IDS.flags.writeable = False

REWARDS = ("score", "win", "log_score")
"""What a deal may be rewarded with."""
FORMS = ("dense", "dict")
"""Forms of observations."""
ILLEGAL = ("raise", "terminate")
"""What an illegal action does."""
OPTIONS = ("deal", "first", "game")
"""Options of `reset`."""


def check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Raise a `DdzError` unless the value is one of the allowed ones."""
    if not isinstance(value, (str, type(None))) or value not in allowed:
        options = ", ".join(str(option) for option in allowed)
        raise DdzError(f"{name}: expected one of {options}, got {brief(value)}")


def check_options(options: Any) -> dict[str, Any]:
    """The options of a `reset`, checked as far as names go."""
    if options is None:
        return {}
    if not isinstance(options, dict):
        raise DdzError(f"options: expected a dictionary, got {type(options).__name__}")
    for name in options:
        # PettingZoo's own `api_test` hands every environment {"options": 1}.
        if name not in OPTIONS and (name, options[name]) != ("options", 1):
            raise DdzError(f"options: expected some of {', '.join(OPTIONS)}, got {name!r}")
    return options


def reward_of(scores: "np.ndarray | list[float]", reward: str) -> np.ndarray:
    """Points as rewards: `score`, `win` or `log_score`; any shape."""
    points = np.asarray(scores, np.float64)
    if reward == "log_score":
        return np.sign(points) * np.log2(1 + np.abs(points))
    return np.sign(points) if reward == "win" else points


def forfeit_scores(game: Game, mover: int) -> list[float]:
    """Points of a deal that ends because a seat made an illegal action: its side has lost.

    The points are those of a deal with base (at least 1), multiplier and doubles as they stand,
    without a spring. Before there is a landlord the mover loses what a landlord would.
    """
    state, params = game.state, game.rules.params()
    lord = mover if game.landlord is None else game.landlord
    down, up = (lord + 1) % 3, (lord + 2) % 3
    points = max(int(state["base"]), 1) * int(multiplier(state, params))
    doubles = [int(state["doubles"][seat]) for seat in (lord, down, up)]
    amounts = stakes(points, *doubles, params)
    sign = -1 if mover == lord else 1
    scores = [0.0] * 3
    for seat, amount in zip((lord, down, up), amounts, strict=True):
        scores[seat] = sign * amount / QUARTERS
    return scores


class Deals:
    """Deal after deal of one room, observed by its seats.

    Args:
        rules: a preset's name or a `RuleSet`.
        render_mode: `ansi`, `rgb_array`, `human` or None.
        reward: `score`, the points of the deal; `win`, 1 for the winning side and -1 for the other;
            or `log_score`, sign(s) * log2(1 + |s|) of the points s, in which a bomb counts about
            one more instead of twice as much. A void deal gives 0.
        obs: `dense`, one row of numbers, or `dict`, an array for each field of the schema.
        illegal: `raise`, or `terminate`: the mover's side loses the deal (`forfeit_scores`).
        deal: `random`; `unshuffled`, the former deal's cards as they lie (`unshuffled.py`), except
            with a seed; or a callable that gives a deal for its key.

    Attributes:
        rules: the rule set.
        game: the deal as a `Game`; None before the first `start`.
        observation_spaces: the space of each agent.
        action_spaces: the space of each agent.
        state_space: the space of `state`.

    Raises:
        DdzError: an argument out of range, named.
    """

    def __init__(
        self,
        rules: str | RuleSet,
        render_mode: str | None,
        reward: str,
        obs: str,
        illegal: str,
        deal: str | Dealer,
    ) -> None:
        self.rules = get_rules(rules)
        check_choice("render_mode", render_mode, (None, *RENDER_MODES))
        check_choice("reward", reward, REWARDS)
        check_choice("obs", obs, FORMS)
        check_choice("illegal", illegal, ILLEGAL)
        check_dealing(deal)
        self.render_mode, self.reward, self.obs = render_mode, reward, obs
        self.illegal, self.deal = illegal, deal
        self.params, self.rooms = self.rules.params(), self.rules.rooms()
        self.game: Game | None = None
        self._seed = 0
        self._bits = np.zeros(CRITIC_BITS, np.uint16)
        self._scratch = records(VIEW, 1)
        self._window: Window | None = None
        self.live = render_mode == "human"
        n = self.n_actions = n_actions(self.rules)
        self.observation_spaces = {agent: observation_space(n, obs) for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(n) for agent in AGENTS}
        self.state_space = CRITIC.space()

    def start(self, seed: int | None, options: dict[str, Any] | None) -> Game:
        """Deal the next game; see `raw_env.reset`."""
        options = check_options(options)
        first, goes_on = options.get("first"), seed is None and self.game is not None
        if seed is None and self.game is not None:
            seed = int(next_seed(np.uint64(self._seed)))
            if first is None and self.rules.first_caller == "rotates":
                first = (int(self.game.state["first"]) + 1) % 3
        elif seed is None:
            seed = secrets.randbits(63)
        self.game = self._dealt(seed, first, options, goes_on)
        self._seed = seed
        return self.game

    def _dealt(self, seed: int, first: int | None, options: dict[str, Any], goes_on: bool) -> Game:
        """The game of a key and of checked names of options; whether it goes on from the former."""
        given, game = options.get("deal"), options.get("game")
        if game is not None:
            return self._given_game(game, options)
        if given is None and goes_on and self.deal == "unshuffled":
            assert self.game is not None
            return self.game.next_unshuffled(seed, first)
        if given is None and callable(self.deal):
            given = self.deal(seed)
        return Game(self.rules, seed, first, given)

    def _given_game(self, game: Any, options: dict[str, Any]) -> Game:
        """A copy of a game to go on with."""
        if not isinstance(game, Game):
            raise DdzError(f"game: expected a Game, got {type(game).__name__}")
        if options.get("deal") is not None or options.get("first") is not None:
            raise DdzError("game: expected no deal and no first beside it")
        check_room("game", game.rules, self.rules)
        if game.over:
            raise DdzError("game: expected a deal that goes on, this one is over")
        return game.clone()

    def observation(self, game: Game, seat: int, legal: np.ndarray) -> dict[str, Any]:
        """A seat's own view as features, and the mask of these ids."""
        mask = np.zeros(self.n_actions, np.int8)
        mask[legal] = 1
        row = np.zeros(STATE_SIZE, np.int8)
        dense_view(game.rows, seat, self.rooms, TABLES, self._scratch, self._bits, row)
        return {
            "observation": row if self.obs == "dense" else OBSERVATION.split(row),
            "action_mask": mask,
        }

    def state(self) -> np.ndarray:
        """All hands beside what the seat on turn sees, `int8[CRITIC.size]`: for critics only."""
        if self.game is None:
            raise DdzError("state: there is no deal; reset first")
        from ddz_env.critic import dense_critics  # only who trains a critic needs its kernels

        rows = np.zeros((1, CRITIC.size), np.int8)
        dense_critics(self.game.rows, self.params, TABLES, self._scratch, self._bits, rows)
        return rows[0]

    def rewards(self, scores: list[float]) -> list[float]:
        """Each seat's reward for points."""
        return reward_of(scores, self.reward).tolist()

    def render(self, seat: int | None = None) -> Any:
        """The deal in the render mode, as a seat sees it; None for `human` and without a mode.

        Args:
            seat: whose knowledge is shown; all hands are open when None.
        """
        if self.render_mode is None:
            gymnasium.logger.warn("render: made without a render_mode; nothing is drawn")
            return None
        if self.game is None:
            raise DdzError("render: there is no deal; reset first")
        if self.render_mode == "ansi":
            return ansi(self.game, seat)
        if self.render_mode == "rgb_array":
            return rgb_array(self.game, seat)
        self.show(seat)
        return None

    def show(self, seat: int | None = None) -> None:
        """Draw the deal in the window, in mode `human`; nothing in others."""
        if self.render_mode == "human" and self.game is not None:
            if self._window is None:
                self._window = Window()
            self._window.show(self.game, seat)

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None


def observation_space(n: int, obs: str) -> spaces.Dict:
    """The space of observations in a form, with masks of `n` actions."""
    mask = spaces.Box(0, 1, (n,), np.int8)
    return spaces.Dict({"observation": OBSERVATION.space(obs), "action_mask": mask})
