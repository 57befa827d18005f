"""Gymnasium vector environment of one seat: many games in one batch, opponents included."""

from collections.abc import Sequence
from contextlib import nullcontext
from itertools import pairwise
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ddz_env.catalogue import n_actions
from ddz_env.checks import flag, numbers, whole
from ddz_env.dealing import Dealer
from ddz_env.deals import METADATA, Deals, check_options, forfeit_scores, reward_of
from ddz_env.errors import DdzError, IllegalActionError
from ddz_env.features import OBSERVATION, STATE_SIZE
from ddz_env.game import Game
from ddz_env.listed import Legal
from ddz_env.opponents import Opponents
from ddz_env.rules import RuleSet
from ddz_env.seat_games import SeatGames
from ddz_env.seat_kernels import mark
from ddz_env.seeds import check_seed
from ddz_env.vector import MAX_ENVS

Step = tuple[dict[str, Any], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]


class SeatVectorEnv(VectorEnv[dict[str, Any], np.ndarray, np.ndarray]):
    """Many games of `DouDizhuEnv` in one batch: `gymnasium.make_vec("ddz_env/DouDizhu-v0", n)`.

    Row i plays what `DouDizhuEnv` plays with the same seeds and actions. Observations are those of
    `DouDizhuEnv` with an axis for the rows in front; so are infos, by Gymnasium's conventions:
    `infos["legal_actions"]` is an array of `num_envs` objects, each an `int32[n]`. `legal()` has
    the same ids in CSR form.

    Args:
        num_envs: number of games, at least 1.
        rules: a preset's name or a `RuleSet`.
        seat: the own seat in every game, as in `DouDizhuEnv`.
        opponents: who plays the other seats, as in `DouDizhuEnv`. Bots by name choose in compiled
            code, other objects get the waiting games of all rows as one batch, functions are
            called row by row.
        render_mode: `ansi`, `rgb_array` or None.
        reward: `score`, `win` or `log_score`, as in `DouDizhuEnv`.
        obs: `dense` or `dict`, as in `DouDizhuEnv`.
        illegal: `raise` or `terminate`, as in `DouDizhuEnv`.
        deal: `random`, `unshuffled` or a callable, as in `DouDizhuEnv`.
        autoreset_mode: when a finished row starts its next deal: `NEXT_STEP`, in the next step,
            whose action it does not look at; `SAME_STEP`, at once, with the end in
            `infos["final_obs"]` and `infos["final_info"]`; `DISABLED`, when
            `reset(options={"reset_mask": ...})` says so. Or the mode's value as text.
        copy: whether observations are arrays of their own; otherwise the next step overwrites them.

    Raises:
        DdzError: an argument out of range, named.
    """

    def __init__(
        self,
        num_envs: int = 1,
        rules: str | RuleSet = "play_only",
        seat: int | str = 0,
        opponents: Opponents = "greedy",
        render_mode: str | None = None,
        reward: str = "score",
        obs: str = "dense",
        illegal: str = "raise",
        deal: str | Dealer = "random",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
    ) -> None:
        num_envs, copy = whole("num_envs", num_envs, 1, MAX_ENVS), flag("copy", copy)
        if isinstance(render_mode, str) and render_mode == "human":
            raise DdzError("render_mode: expected None, ansi or rgb_array, got 'human'")
        self.autoreset_mode = _mode(autoreset_mode)
        self._deals = Deals(rules, render_mode, reward, obs, illegal, deal)
        self._games = SeatGames(num_envs, self._deals, seat, opponents)
        self.num_envs, self.copy = num_envs, copy
        self.rules, self.render_mode = self._deals.rules, render_mode
        self.metadata = {**METADATA, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = self._deals.observation_spaces["player_0"]
        self.single_action_space = self._deals.action_spaces["player_0"]
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._rows = np.arange(num_envs)
        self._finished = np.zeros(num_envs, np.bool_)
        self._features = np.zeros((num_envs, STATE_SIZE), np.int8)
        self._masks = np.zeros((num_envs, n_actions(self.rules)), np.int8)
        self._legal = Legal(np.zeros(num_envs + 1, np.int64), np.zeros(0, np.int32))

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start every row's next deal, or that of some rows.

        Args:
            seed: row i's deal has the key `seed + i`; or a key for each row, None to go on from its
                deal before, as all rows do without a seed.
            options: those of `DouDizhuEnv.reset`, for every row; and `reset_mask`,
                `bool[num_envs]`: the rows that are reset.

        Returns:
            observations of all rows, infos of those that were reset.

        Raises:
            DdzError: an argument out of range, named, and what `DouDizhuEnv.reset` raises; every
                row is as it was.
        """
        given, mask = self._options(options)
        seeds, rows = self._seeds(seed), np.flatnonzero(mask)
        some = None if seeds is None else [seeds[row] for row in rows]
        self._games.start(rows, some, given, self.np_random)
        super().reset(seed=None if seeds is None else seeds[0])
        self._finished[rows] = False
        self._look()
        return self._observations(), self._infos(mask, self._legal)

    def _options(self, options: Any) -> tuple[dict[str, Any], np.ndarray]:
        """The options without the mask, and the rows to reset, `bool[num_envs]`."""
        every = np.ones(self.num_envs, np.bool_)
        if not isinstance(options, dict) or "reset_mask" not in options:
            return check_options(options), every
        mask = options["reset_mask"]
        fits = isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == every.shape
        if not fits or not mask.any():
            raise DdzError(
                f"reset_mask: expected bool[{self.num_envs}] with a row to reset, got {mask!r}"
            )
        if not (self._games.started | mask).all():
            raise DdzError("reset_mask: expected all rows at the first reset")
        return check_options({k: v for k, v in options.items() if k != "reset_mask"}), mask

    def _seeds(self, seed: Any) -> list[int | None] | None:
        """A seed for each row; None where there is none for any."""
        if seed is None:
            return None
        if isinstance(seed, (list, tuple)) or np.ndim(seed) == 1:
            if len(seed) != self.num_envs:
                raise DdzError(f"seed: expected {self.num_envs} seeds, got {len(seed)}")
            return [None if one is None else check_seed(one) for one in seed]
        first = check_seed(seed)
        check_seed(first + self.num_envs - 1)
        return list(range(first, first + self.num_envs))

    def step(self, actions: np.ndarray) -> Step:
        """Choose for the own seat in every row; opponents then play until it is asked again.

        Args:
            actions: ids, `int[num_envs]`; that of a row which starts anew is not looked at.

        Returns:
            observations, rewards `float64[num_envs]`, terminations `bool[num_envs]`, truncations
            (always False), infos.

        Raises:
            IllegalActionError: an id that is not legal (with `illegal="raise"`), its row named, or
                a row has no deal that goes on. Nothing has been changed.
            DdzError: an opponent chose what is not legal; it is named.
        """
        chosen = self._actions(actions)
        anew = self._rows[self._finished]
        if not self._games.started.all():
            raise IllegalActionError("step: there is no deal; reset first")
        if len(anew) and self.autoreset_mode is AutoresetMode.DISABLED:
            raise IllegalActionError(f"row {anew[0]}: the deal is over; reset it first")
        rows = self._rows[~self._finished] if len(anew) else self._rows
        bad = self._games.illegal(rows, chosen[rows])
        if bad and self._deals.illegal == "raise":
            self._refuse(rows[bad[0]], actions)
        forfeited = rows[bad]
        points = self._points_lost(forfeited)
        with nullcontext() if self._games.trusted else self._games.kept(self._rows):
            played = np.delete(rows, bad) if bad else rows
            self._games.step(played, chosen[played])
            if len(anew):
                self._games.start(anew, None, {}, self.np_random)
            over = self._games.over(self._rows)
            ended = self._rows[over]
            points[ended] = self._games.points(ended)
            over[forfeited] = True
            infos = self._ends(over, points, forfeited, actions)
            same_step = self.autoreset_mode is AutoresetMode.SAME_STEP
            if same_step and over.any():
                infos = self._final(over, infos)
                self._games.start(self._rows[over], None, {}, self.np_random)
        self._finished = np.zeros_like(over) if same_step else over.copy()
        self._look()
        infos |= self._infos(np.ones(self.num_envs, np.bool_), self._legal)
        rewards = reward_of(points, self._deals.reward)
        return self._observations(), rewards, over, np.zeros(self.num_envs, np.bool_), infos

    def _actions(self, actions: Any) -> np.ndarray:
        """The actions as `int64[num_envs]`, each what a kernel takes."""
        given = numbers(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise IllegalActionError(
                f"actions: expected {self.num_envs} ids, got {given.dtype} {list(given.shape)}"
            )
        if given.dtype.kind == "u":
            given = np.minimum(given.astype(np.uint64), 1 << 20)
        # Beyond every id, but within 64 bits.
        return np.clip(given.astype(np.int64), -1, 1 << 20)

    def _refuse(self, row: int, actions: Any) -> None:
        """Raise the error of an illegal id."""
        try:
            self.game(row).check(int(np.asarray(actions)[row]))
        except DdzError as error:
            raise type(error)(f"row {row}: {error}") from None
        raise AssertionError("a choice that was refused is legal")

    def _points_lost(self, rows: np.ndarray) -> np.ndarray:
        """What the learners of some rows lose by an illegal id, `float64[num_envs]`."""
        points = np.zeros(self.num_envs)
        for row in rows.tolist():
            game = self.game(row)
            points[row] = forfeit_scores(game, game.seat)[game.seat]
        return points

    def _ends(
        self, over: np.ndarray, points: np.ndarray, forfeited: np.ndarray, actions: Any
    ) -> dict[str, Any]:
        """Infos that only the end of a deal has."""
        infos: dict[str, Any] = {}
        if over.any():
            infos = {"score": points, "_score": over.copy()}
        if len(forfeited):
            lost = np.isin(self._rows, forfeited)
            given = np.asarray(actions)
            infos |= {
                "illegal_action": np.where(lost, given, np.zeros_like(given)),
                "_illegal_action": lost,
            }
        return infos

    def _final(self, over: np.ndarray, end: dict[str, Any]) -> dict[str, Any]:
        """The last observations and infos of finished rows, where they start anew at once."""
        rows = self._rows[over]
        features = np.zeros((len(rows), STATE_SIZE), np.int8)
        self._games.observe(rows, features)
        seen = np.full(self.num_envs, None, object)
        for row, one in zip(rows.tolist(), features, strict=True):
            seen[row] = {
                "observation": one if self._deals.obs == "dense" else OBSERVATION.split(one),
                "action_mask": np.zeros(self._masks.shape[1], np.int8),
            }
        nothing = Legal(np.zeros(self.num_envs + 1, np.int64), np.zeros(0, np.int32))
        return {
            "final_obs": seen,
            "_final_obs": over.copy(),
            "final_info": self._infos(over, nothing) | end,
            "_final_info": over.copy(),
        }

    def _look(self) -> None:
        """List what is legal now, and write features and masks; rows that are over have no ids."""
        before = self._legal
        if self._finished.any():
            listed = self._games.legal(self._rows[~self._finished])
            offsets = np.zeros(self.num_envs + 1, np.int64)
            offsets[1:][~self._finished] = np.diff(listed.offsets)
            self._legal = Legal(np.cumsum(offsets), listed.ids)
        else:
            self._legal = self._games.legal(self._rows)
        if self.copy:  # zeroed memory that is new costs less than a copy
            self._features = np.empty(self._features.shape, np.int8)
            self._masks = np.zeros(self._masks.shape, np.int8)
        else:
            mark(before.offsets, before.ids, 0, self._masks)
        mark(self._legal.offsets, self._legal.ids, 1, self._masks)
        self._games.observe(self._rows, self._features)

    def _observations(self) -> dict[str, Any]:
        """The observations of all rows, as last looked at."""
        dense = self._deals.obs == "dense"
        seen = self._features if dense else OBSERVATION.split(self._features)
        return {"observation": seen, "action_mask": self._masks}

    def _infos(self, which: np.ndarray, legal: Legal) -> dict[str, Any]:
        """Infos of some rows by Gymnasium's conventions, without what only the end has."""
        lists = (legal.ids[begin:end] for begin, end in pairwise(legal.offsets.tolist()))
        ids = np.fromiter(lists, object, self.num_envs)
        if not which.all():
            ids[~which] = None
        return {
            "legal_actions": ids,
            "_legal_actions": which.copy(),
            "seat": np.where(which, self._games.seats, 0),
            "_seat": which.copy(),
        }

    def legal(self) -> Legal:
        """The legal ids of every row in CSR form; a row that is over has none."""
        return self._legal

    def action_masks(self) -> np.ndarray:
        """Which ids are legal now, `bool[num_envs, n_actions]`."""
        masks = np.zeros(self._masks.shape, np.int8)
        mark(self._legal.offsets, self._legal.ids, 1, masks)
        return masks.view(np.bool_)

    def game(self, row: int) -> Game:
        """A copy of a row's deal; all hands are open in it.

        Raises:
            DdzError: no such row, or it has no deal yet.
        """
        row = whole("row", row, 0, self.num_envs - 1)
        if not self._games.started[row]:
            raise DdzError(f"row {row}: there is no deal; reset first")
        return self._games.game(int(row))

    def render(self) -> tuple[Any, ...] | None:
        """What the own seat of each row sees, text or picture; None without a render mode."""
        if self.render_mode is None:
            return self._deals.render()  # which warns
        frames = []
        for row in range(self.num_envs):
            self._deals.game = self.game(row)
            frames.append(self._deals.render(int(self._games.seats[row])))
        return tuple(frames)


def _mode(mode: Any) -> AutoresetMode:
    """An autoreset mode from itself or its value.

    Raises:
        DdzError: no such mode.
    """
    try:
        return AutoresetMode(mode)
    except ValueError:
        names = ", ".join(repr(each.value) for each in AutoresetMode)
        raise DdzError(f"autoreset_mode: expected one of {names}, got {mode!r}") from None
