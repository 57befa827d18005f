"""Gymnasium environment of one seat: the other two are played by bots or by any function."""

from operator import index
from typing import Any

import gymnasium
import numpy as np

from ddz_env.catalogue import n_actions
from ddz_env.checks import brief
from ddz_env.dealing import Dealer
from ddz_env.deals import METADATA, Deals, check_options, forfeit_scores, reward_of
from ddz_env.errors import IllegalActionError, PlayError
from ddz_env.features import OBSERVATION, STATE_SIZE
from ddz_env.game import Game
from ddz_env.opponents import Opponents
from ddz_env.rules import RuleSet
from ddz_env.seat_games import SeatGames
from ddz_env.seeds import check_seed

_ROW = np.zeros(1, np.int64)


class DouDizhuEnv(gymnasium.Env[dict[str, Any], int]):
    """One deal an episode, seen and played from one seat: `gymnasium.make("ddz_env/DouDizhu-v0")`.

    An observation is `{"observation": ..., "action_mask": int8[n_actions]}`: the features of what
    the own seat may know (`schema()`), and ones at its legal ids; all zero once the deal is over.
    `info` has `legal_actions` (the same ids as a list: Gymnasium's vector environments can't batch
    arrays of different lengths) and `seat`, the own seat; at the end also `score`, the own points.

    The reward comes at the end of the deal. A deal that ends before the own seat is asked (the
    landlord goes out at once, or without a landlord where the seat is a role's) is followed by the
    next one within `reset`.

    Args:
        rules: a preset's name or a `RuleSet`.
        seat: the own seat: 0, 1, 2, `random` (drawn each deal), or `landlord` or `farmer`: the seat
            that gets the role. Then the opponents make the choices of all three seats, those of
            `next` where they are two, until there is a landlord; which farmer is drawn.
        opponents: who plays the other seats: a bot's name (`random`, `greedy`, `trustee`), an
            object with `act(views, legal)` for batches (`bots.Bot`), a function of a `VIEW` and its
            legal ids (`int32[n]`) that returns one of these; or two of them, as a pair or as
            `{"next": ..., "prev": ...}`, for the seat that plays after the own one and before it.
        render_mode: `ansi` (text), `rgb_array` (a picture), `human` (a window) or None.
        reward: `score`, the points of the deal; `win`, 1 for the winning side and -1 for the other;
            or `log_score`, sign(s) * log2(1 + |s|) of the points s. A void deal gives 0.
        obs: `dense`, one row `int8[schema().size]`, or `dict`, an array for each of its fields.
        illegal: what an illegal id does: `raise`, an `IllegalActionError` and nothing has changed;
            or `terminate`, the deal ends and the own side loses what is at stake
            (`deals.forfeit_scores`); `info["illegal_action"]` is then the id.
        deal: `random`; `unshuffled`, the former deal's cards as they lie (`unshuffled.py`), except
            after a `reset` with a seed; or a callable that gives a deal for its key.

    Raises:
        DdzError: an argument out of range, named.
    """

    metadata = METADATA

    def __init__(
        self,
        rules: str | RuleSet = "play_only",
        seat: int | str = 0,
        opponents: Opponents = "greedy",
        render_mode: str | None = None,
        reward: str = "score",
        obs: str = "dense",
        illegal: str = "raise",
        deal: str | Dealer = "random",
    ) -> None:
        self._deals = Deals(rules, render_mode, reward, obs, illegal, deal)
        self._games = SeatGames(1, self._deals, seat, opponents)
        self.rules, self.render_mode = self._deals.rules, render_mode
        self.metadata = dict(METADATA)  # vector environments write their mode into it
        self._n = n_actions(self.rules)
        self.observation_space = self._deals.observation_spaces["player_0"]
        self.action_space = self._deals.action_spaces["player_0"]  # type: ignore[assignment]
        self._actions = np.zeros(1, np.int64)
        self._legal = np.zeros(0, np.int32)
        self._running = False

    @property
    def game(self) -> Game | None:
        """A copy of the deal, None before the first reset; all hands are open in it."""
        return self._games.game(0) if self._games.started[0] else None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Deal the next game in which the own seat is asked, and play it up to there.

        Args:
            seed: the deal's key, as in `Game`. Without one the key is derived from the former
                deal's, and the next seat calls first where the room rotates; the first deal of all
                is then random.
            options: `deal` and `first` as in `Game`; or `game`, a `Game` of the room to go on with
                (`Game.from_position`), of which the environment plays a copy.

        Returns:
            observation and info.

        Raises:
            DdzError: an argument out of range, named; a deal or game given in which the own seat
                is never asked; or it was not asked in a thousand deals. The deal before is still
                there.
        """
        given = check_options(options)
        key = None if seed is None else check_seed(seed)
        self._games.start(_ROW, None if key is None else [key], given, self.np_random)
        super().reset(seed=key)
        self._running = True
        self._legal = self._games.legal(_ROW).ids
        self._show()
        return self._observation(), self._info()

    def step(self, action: int) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Choose for the own seat; the opponents then play until it is asked again.

        Args:
            action: one of `info["legal_actions"]`.

        Returns:
            observation, reward, terminated, False, info.

        Raises:
            IllegalActionError: not legal now (with `illegal="raise"`), or there is no deal. Nothing
                has been changed.
            PlayError: no whole number.
            DdzError: an opponent, named, chose what is not legal; nothing has been changed.
        """
        if not self._running:
            raise IllegalActionError(f"action {action}: there is no deal that goes on; reset first")
        try:
            choice = index(action)
        except TypeError:
            raise PlayError(f"action {brief(action)}: expected one of the legal ids") from None
        games = self._games
        self._actions[0] = min(max(choice, -1), 1 << 20)  # beyond every id, but within 64 bits
        if games.illegal(_ROW, self._actions):
            return self._refused(choice)
        games.step(_ROW, self._actions)
        self._legal = games.legal(_ROW).ids
        over = len(self._legal) == 0
        return self._result(float(games.points(_ROW)[0]) if over else None)

    def _refused(self, choice: int) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """What an illegal id does."""
        game = self._games.game(0)
        if self._deals.illegal == "raise":
            game.check(choice)
            raise AssertionError("a choice that was refused is legal")
        self._legal = self._legal[:0]
        result = self._result(forfeit_scores(game, game.seat)[game.seat])
        result[4]["illegal_action"] = choice
        return result

    def _result(
        self, points: float | None
    ) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """What a step returns; `points` where the deal has ended."""
        info, reward = self._info(), 0.0
        if points is not None:
            self._running = False
            info["score"] = points
            reward = float(reward_of([points], self._deals.reward)[0])
        self._show()
        return self._observation(), reward, points is not None, False, info

    def _observation(self) -> dict[str, Any]:
        """What the own seat sees, in arrays of its own."""
        row, mask = np.zeros((1, STATE_SIZE), np.int8), np.zeros(self._n, np.int8)
        self._games.observe(_ROW, row)
        mask[self._legal] = 1
        seen = row[0] if self._deals.obs == "dense" else OBSERVATION.split(row[0])
        return {"observation": seen, "action_mask": mask}

    def _info(self) -> dict[str, Any]:
        """Info without what only the end has."""
        return {"legal_actions": self._legal.tolist(), "seat": int(self._games.seats[0])}

    def action_masks(self) -> np.ndarray:
        """Which ids are legal now, `bool[n_actions]`: the name that maskable trainers ask for."""
        mask = np.zeros(self._n, np.bool_)
        mask[self._legal] = True
        return mask

    def _show(self) -> None:
        """Draw the deal in the window, in mode `human`."""
        if self.render_mode == "human":
            self._deals.game = self.game
            self._deals.show(self._own())

    def render(self) -> Any:
        """What the own seat sees: text (`ansi`), `uint8[H, W, 3]` (`rgb_array`), None.

        `ddz_env.render` shows `game` with all hands open.
        """
        self._deals.game = self.game
        return self._deals.render(self._own())

    def _own(self) -> int | None:
        """The own seat; None before the first deal."""
        return int(self._games.seats[0]) if self._games.started[0] else None

    def close(self) -> None:
        """Close the window, if there is one."""
        self._deals.close()
