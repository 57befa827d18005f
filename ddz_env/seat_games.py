"""Games in which one seat, the learner's, is asked from outside and players choose for the others.

What the Gymnasium faces share (`single.py`, `seat_vector.py`): both are faces of this, so that a
row plays the same alone and beside others.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from ddz_env import core, seat_kernels
from ddz_env._jit import records
from ddz_env.catalogue import TABLES, action_text
from ddz_env.deals import Deals
from ddz_env.errors import DdzError
from ddz_env.features import MAX_STATE_BITS
from ddz_env.game import Game
from ddz_env.listed import Legal
from ddz_env.moves import MAX_LEGAL
from ddz_env.opponents import Player, choices, in_kernels, players_of
from ddz_env.scoring import QUARTERS
from ddz_env.seat_kernels import DRAWN, FARMER, LANDLORD
from ddz_env.state import STATE, Phase
from ddz_env.view import VIEW, cut_views

SEATS: dict[Any, int] = {"random": DRAWN, "landlord": LANDLORD, "farmer": FARMER}
"""The learner's seat by name; 0, 1 and 2 are seats too."""
TRIES = 1000
"""Deals in a row in which the learner may never be asked before that is an error."""
_OVER = int(Phase.OVER)


def seat_kind(seat: Any) -> int:
    """The learner's seat as kernels number it.

    Raises:
        DdzError: no such seat.
    """
    if isinstance(seat, (int, np.integer)) and not isinstance(seat, bool) and 0 <= seat <= 2:
        return int(seat)
    if isinstance(seat, str) and seat in SEATS:
        return SEATS[seat]
    raise DdzError(f"seat: expected 0, 1, 2, {', '.join(SEATS)}, got {seat!r}")


def public_number(key: int) -> int:
    """The public number of a first deal: players' randomness is keyed by it.

    It tells nothing about the deal: the hash can't be turned round.
    """
    digest = hashlib.blake2b(key.to_bytes(8, "little"), digest_size=8, person=b"ddz-deal")
    return int.from_bytes(digest.digest(), "little")


class SeatGames:
    """Games of one room, one deal after another in each, with one seat left to a learner.

    A deal that ends before the learner is asked is followed by the next one at once: after `start`
    the learner is asked in every row.

    Args:
        n: number of games.
        deals: the room, and how cards are dealt.
        seat: the learner's seat: 0..2, `random` (drawn each deal), or `landlord` or `farmer`: the
            seat that gets the role. The players choose for all seats until there is a landlord.
        opponents: as in `opponents.players_of`.

    Attributes:
        states: `STATE[n]`, the records.
        seats: `int64[n]`, the learner's seat in each.

    Raises:
        DdzError: an argument out of range, named.
    """

    def __init__(self, n: int, deals: Deals, seat: Any, opponents: Any) -> None:
        self._deals, self._params, self._seat = deals, deals.params, seat
        self._rooms = deals.rooms
        self._kind = seat_kind(seat)
        self._players = players_of(opponents)
        known = in_kernels(self._players)
        self._in_kernels = known is not None
        self.trusted = self._in_kernels and not callable(deals.deal)
        """Whether only kernels choose and deal, so that nothing can go wrong."""
        self.states = records(STATE, n)
        self.seats = np.full(n, -1, np.int64)
        self._keys, self._numbers = np.zeros(n, np.uint64), np.zeros(n, np.uint64)
        self._started = np.zeros(n, np.bool_)
        self._arrays = self.states, self.seats, self._keys, self._numbers, self._started
        self._scratch = records(VIEW, 1)
        self._bits = np.zeros(MAX_STATE_BITS, np.uint16)
        self._ids = np.zeros(16 * n + MAX_LEGAL, np.int32)
        self._held: tuple[np.ndarray, ...] = ()
        if self._params.wild:
            from ddz_env import wild

            self._held = records(wild.HELD, 1), np.zeros(16, np.int32)
        kinds, seeds = known or (np.zeros(2, np.int64), np.zeros(2, np.uint64))
        self._play = (
            self._kind, self.seats, self._keys, kinds, seeds, self._rooms, TABLES, self._scratch,
            np.zeros(MAX_LEGAL, np.int32), *self._held,
        )  # fmt: skip
        """What kernels get beside games and choices to let the players choose."""

    @property
    def _kernels(self) -> Any:
        """The room's kernels; modules are no part of what is copied or pickled."""
        return _wild_kernels() if self._held else seat_kernels

    @property
    def started(self) -> np.ndarray:
        """Rows that have been started, `bool[n]`."""
        return self._started

    def start(
        self,
        rows: np.ndarray,
        seeds: Sequence[int | None] | None,
        options: dict[str, Any],
        rng: np.random.Generator,
    ) -> None:
        """Start the next deal in which the learner is asked, in some rows.

        Args:
            rows: `int64[B]`.
            seeds: the key of each row's deal, None to go on from the deal before.
            options: `deal`, `first` or `game`, as in `DouDizhuEnv.reset`, checked by name.
            rng: gives the keys of rows that go on from nothing.

        Raises:
            DdzError: an option out of range, a player that chose what is not legal, or the learner
                was never asked. Nothing has been changed.
        """
        with self.kept(rows):
            fresh = self._next(rows, seeds, rng)
            first = options.get("first")
            if options.get("deal") is not None or options.get("game") is not None:
                self._start_given(rows, fresh, options)
            else:
                if first is not None:
                    Game(self._deals.rules, 0, first)  # which checks it
                self._deal(rows, fresh, first)
            self._started[rows] = True

    @contextmanager
    def kept(self, rows: np.ndarray) -> Iterator[None]:
        """Put some rows back as they were where something is raised meanwhile."""
        saved = [array[rows] for array in self._arrays]
        try:
            yield
        except BaseException:
            for array, old in zip(self._arrays, saved, strict=True):
                array[rows] = old
            raise

    def _next(
        self, rows: np.ndarray, seeds: Sequence[int | None] | None, rng: np.random.Generator
    ) -> np.ndarray:
        """Settle keys and public numbers of the rows' next deals; which have none before them."""
        if seeds is None and self._started[rows].all():
            seat_kernels.next_keys(rows, self._keys, self._numbers)
            return np.zeros(len(rows), np.bool_)
        fresh = np.ones(len(rows), np.bool_)
        for i, seed in enumerate([None] * len(rows) if seeds is None else seeds):
            row = rows[i : i + 1]
            if seed is None and self._started[row[0]]:
                seat_kernels.next_keys(row, self._keys, self._numbers)
                fresh[i] = False
            else:
                key = int(rng.integers(1 << 63)) if seed is None else seed
                self._keys[row], self._numbers[row] = key, public_number(key)
        return fresh

    def _deal(self, rows: np.ndarray, fresh: np.ndarray, first: int | None) -> None:
        """Deal until the learner is asked in every one of the rows."""
        firsts = self._firsts(rows, fresh) if first is None else np.full(len(rows), int(first))
        for _ in range(TRIES):
            if callable(self._deals.deal):
                for row, caller in zip(rows.tolist(), firsts.tolist(), strict=True):
                    self._place(row, caller, {})
            elif self._deals.deal == "unshuffled":
                seat_kernels.deal_rows(
                    self.states, rows[fresh], self._keys, firsts[fresh], self._rooms
                )
                self._deal_unshuffled(rows[~fresh], firsts[~fresh])
            else:
                seat_kernels.deal_rows(self.states, rows, self._keys, firsts, self._rooms)
            self.states["deal"][rows] = self._numbers[rows]
            self.seats[rows] = -1
            self._let_play(rows)
            rows = rows[self.over(rows)]
            if len(rows) == 0:
                return
            seat_kernels.next_keys(rows, self._keys, self._numbers)
            fresh = np.zeros(len(rows), np.bool_)
            firsts = self._firsts(rows, fresh)
        raise DdzError(
            f"opponents: {TRIES} deals in a row ended before the learner (seat {self._seat!r}) was "
            "asked"
        )

    def _firsts(self, rows: np.ndarray, fresh: np.ndarray) -> np.ndarray:
        """The seat that calls first in each row's next deal, -1 to draw it."""
        if self._deals.rules.first_caller != "rotates":
            return np.full(len(rows), -1)
        after = (self.states["first"][rows].astype(np.int64) + 1) % 3
        return np.where(fresh, -1, after)

    def _deal_unshuffled(self, rows: np.ndarray, firsts: np.ndarray) -> None:
        """Deal the cards of the deal before as they lie, in some rows."""
        from ddz_env.unshuffled import start_unshuffled  # its kernels are for who asks for them

        for row, first in zip(rows.tolist(), firsts.tolist(), strict=True):
            start_unshuffled(self.states[row], self._keys[row], first, self._params)

    def _place(self, row: int, first: int, options: dict[str, Any]) -> None:
        """Put a game made from options, or from the callable that deals, into a row."""
        if first >= 0 and options.get("first") is None and options.get("game") is None:
            options = {**options, "first": first}
        self._deals.game = None  # no deal whose cards could be dealt as they lie
        self.states[row] = self._deals.start(int(self._keys[row]), options).state

    def _start_given(self, rows: np.ndarray, fresh: np.ndarray, options: dict[str, Any]) -> None:
        """Start the deal or the position that options give, in which the learner has to be asked.

        Raises:
            DdzError: it is not.
        """
        firsts = self._firsts(rows, fresh)
        for row, first in zip(rows.tolist(), firsts.tolist(), strict=True):
            self._place(row, first, options)
        self.states["deal"][rows] = self._numbers[rows]
        self.seats[rows] = -1
        self._let_play(rows)
        if self.over(rows).any():
            name = "game" if options.get("game") is not None else "deal"
            raise DdzError(f"{name}: it ends before the learner (seat {self._seat!r}) is asked")

    def step(self, rows: np.ndarray, actions: np.ndarray) -> None:
        """Make the learner's choices in some rows, then those of the players until it is asked.

        Args:
            rows: `int64[B]`.
            actions: a legal id for each of them, `int64[B]`.

        Raises:
            DdzError: a player chose what is not legal. Nothing has been changed.
        """
        if self._in_kernels:
            self._kernels.step_rows(self.states, rows, actions, *self._play)
            return
        with self.kept(rows):
            core.apply_rows(self.states, rows, actions, self._params)
            self._let_play(rows)

    def _let_play(self, rows: np.ndarray) -> None:
        """Let the players choose in some rows until the learner is asked or the deal is over."""
        if self._in_kernels:
            self._kernels.play_on(self.states, rows, *self._play)
            return
        next_one, previous = self._players
        while len(rows):
            who = np.zeros(len(rows), np.int64)
            seat_kernels.whose(self.states, rows, self._kind, self.seats, self._keys, who)
            if next_one is previous:
                who = np.minimum(who, 0)
            for i, player in enumerate(self._players):
                if (who == i).any():
                    self._ask(player, rows[who == i])
            rows = rows[who >= 0]

    def _ask(self, player: Player, rows: np.ndarray) -> None:
        """Let a player choose once in each of some rows."""
        turns = self.states["turn"][rows].astype(np.int64)
        views = records(VIEW, len(rows))
        cut_views(self.states, rows, turns, self._params, views)
        legal, self._ids = core.list_rows(self.states, rows, self._params, ids=self._ids)
        actions = choices(player, views, legal)
        bad = core.first_illegal(self.states, rows, actions, self._params)
        if bad >= 0:
            phase = Phase(int(self.states["phase"][rows[bad]])).name.lower()
            raise DdzError(
                f"{player.name}: chose {_name(int(actions[bad]))}, not legal now (phase {phase})"
            )
        core.apply_rows(self.states, rows, actions, self._params)

    def illegal(self, rows: np.ndarray, actions: np.ndarray) -> list[int]:
        """The places of choices that are not legal, among those of some rows."""
        bad, begin = [], 0
        while begin < len(rows):
            found = self._kernels.illegal_row(
                self.states, rows[begin:], actions[begin:], self._rooms, TABLES, *self._held
            )
            if found < 0:
                break
            bad.append(begin + found)
            begin += found + 1
        return bad

    def over(self, rows: np.ndarray) -> np.ndarray:
        """Which of some rows' deals are over, `bool[B]`."""
        return self.states["phase"][rows] == _OVER

    def legal(self, rows: np.ndarray) -> Legal:
        """The legal ids of some rows, in arrays of their own."""
        offsets, done = np.zeros(len(rows) + 1, np.int64), 0
        while True:
            done = self._kernels.list_some(
                self.states, rows, done, self._rooms, TABLES, offsets, self._ids, *self._held
            )
            if done == len(rows):
                return Legal(offsets, self._ids[: offsets[-1]].copy())
            self._ids = np.concatenate([self._ids, np.zeros_like(self._ids)])

    def observe(self, rows: np.ndarray, out: np.ndarray) -> None:
        """Write what the learner may know of some rows into `out`, `int8[B, STATE_SIZE]`."""
        seat_kernels.observe(
            self.states, rows, self.seats, self._rooms, TABLES, self._scratch, self._bits, out
        )

    def points(self, rows: np.ndarray) -> np.ndarray:
        """The learner's points of some rows that are over, `float64[B]`."""
        return self.states["scores"][rows, self.seats[rows]] / QUARTERS

    def game(self, row: int) -> Game:
        """A copy of the deal of a row."""
        return Game.from_state(self.states[row], self._deals.rules)


@cache
def _wild_kernels() -> Any:
    """The kernels for rooms with wild cards."""
    from ddz_env import seat_wild

    return seat_wild


def _name(action: int) -> str:
    """How an error names an id."""
    try:
        return f"{action} ({action_text(action)})"
    except DdzError:
        return f"{action}, no action,"
