"""Many games at once: the batched core that trainers, matches and speed tests step.

Legal actions come as lists in CSR form (`Legal`), never as masks.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ddz_env import core
from ddz_env._jit import records
from ddz_env.catalogue import TABLES, TEXTS
from ddz_env.checks import brief, flag, numbers, whole
from ddz_env.dealing import Dealer, check_dealing, read_deal
from ddz_env.engine import mix, next_seed, start, start_from_deck
from ddz_env.errors import DdzError, FormatError, IllegalActionError
from ddz_env.features import MAX_ACTION_BITS, MAX_STATE_BITS, STATE_SIZE
from ddz_env.listed import Bits, Legal
from ddz_env.moves import MAX_LEGAL
from ddz_env.rooms import rules_hash
from ddz_env.rules import RuleSet, check_room, get_rules
from ddz_env.scoring import QUARTERS
from ddz_env.seeds import check_seed, deal_seeds
from ddz_env.state import STATE, Phase
from ddz_env.vector_kernels import (
    T_ROWS,
    T_STATES,
    T_VIEWS,
    dense_states,
    encode_actions,
    encode_states,
    encode_views,
    finish,
    play_random_games,
    sample,
    start_all,
)
from ddz_env.view import VIEW, cut_views

if TYPE_CHECKING:
    from ddz_env.game import Game

__all__ = [
    "T_ROWS",
    "T_STATES",
    "T_VIEWS",
    "Bits",
    "Legal",
    "VecEnv",
    "check_seed",
    "deal_seeds",
    "encode_actions",
    "encode_states",
    "encode_views",
    "play_random_games",
    "vec_env",
]

_OVER = int(Phase.OVER)
_MAGIC = b"ddz-snap-1\n"
MAX_ENVS = 1 << 20
"""Most games of a batch: 3 GB of records."""


class VecEnv:
    """A batch of games of one room.

    Args:
        num_envs: number of games, at least 1.
        rules: a preset's name or a `RuleSet`.
        seed: as in `reset`.
        autoreset: whether a finished row starts its next deal within the same step.
        deal: `random`; `unshuffled`, the former deal's cards as they lie (`unshuffled.py`); or a
            callable that gives a deal for its key, as `Game` takes it.

    Attributes:
        states: `STATE[num_envs]`, the records themselves.
        done: `bool[num_envs]`, rows that the last step finished.
        scores: `int64[num_envs, 3]`, quarter points of each seat, of rows that are done.

    Raises:
        DdzError: an argument that is out of range.
    """

    def __init__(
        self,
        num_envs: int,
        rules: str | RuleSet = "play_only",
        seed: int | Sequence[int] | np.ndarray = 0,
        autoreset: bool = True,
        deal: str | Dealer = "random",
    ) -> None:
        num_envs = whole("num_envs", num_envs, 1, MAX_ENVS)
        autoreset = flag("autoreset", autoreset)
        check_dealing(deal)
        self.rules = get_rules(rules)
        self.params = self.rules.params()
        self.num_envs = num_envs
        self.autoreset = autoreset
        self.deal = deal
        keys = self._keys(seed)
        self.states = records(STATE, num_envs)
        self.done = np.zeros(num_envs, np.bool_)
        self.scores = np.zeros((num_envs, 3), np.int64)
        self._rows = np.arange(num_envs)
        self._offsets = np.zeros(num_envs + 1, np.int64)
        self._ids = np.zeros(16 * num_envs + MAX_LEGAL, np.int32)
        self._scratch = records(VIEW, 1)
        self._bits = np.zeros(MAX_STATE_BITS, np.uint16)
        self._features = np.zeros((0, STATE_SIZE), np.int8)
        self._rng = np.zeros(1, np.uint64)
        self._shuffles = autoreset and deal == "random"
        self._stale = True
        self._start(keys, seed)

    def _keys(self, seed: Any) -> np.ndarray:
        """The key of each row's deal."""
        if not isinstance(seed, (list, tuple, range)) and np.ndim(seed) != 1:
            return deal_seeds(seed, self.num_envs)
        if len(seed) != self.num_envs:
            got = f"{len(seed)}: {brief(seed)}"
            raise DdzError(f"seed: expected a whole number or {self.num_envs} keys, got {got}")
        return np.array([check_seed(key) for key in seed], np.uint64)

    def reset(self, seed: int | Sequence[int] | np.ndarray) -> None:
        """Start every row anew.

        Args:
            seed: one for all, from which each row's key is derived whatever `num_envs` is; or a
                key for each row, with which a row plays the deal of `Game(rules, seed=key)`.

        Raises:
            DdzError: not such seeds; nothing has been changed.
        """
        self._start(self._keys(seed), seed)

    def _start(self, keys: np.ndarray, seed: Any) -> None:
        """Start every row with its key."""
        with self._kept():
            start_all(self.states, keys, -1, self.params)
            if callable(self.deal):
                self._deal(self._rows)
        self._rng[0] = mix(np.uint64(seed) if isinstance(seed, (int, np.integer)) else keys[0])
        self.done[:] = False
        self._stale = True

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """Put all games back as they were where a callable that deals raises meanwhile."""
        before = self.states.copy() if callable(self.deal) else None
        try:
            yield
        except BaseException:
            if before is not None:
                self.states[:] = before
                self.done[:] = False
            raise

    def _deal(self, rows: np.ndarray) -> None:
        """Give each row, just started, the deal that the callable has for its key."""
        sevens = self.rules.wild == "red_sevens"
        for row in rows:
            state = self.states[row]
            given = self.deal(int(state["seed"]))  # type: ignore[operator]
            if given is not None:  # as everywhere, none is a shuffled one
                state["deck"] = read_deal(given, sevens)
                start_from_deck(state, self.params)

    @property
    def turn(self) -> np.ndarray:
        """The seat that is asked in each row, `int8[num_envs]`."""
        return self.states["turn"]

    def legal(self) -> Legal:
        """The legal ids of every row, in buffers that the next call reuses."""
        if self._stale:
            self._legal, self._ids = core.list_rows(
                self.states, self._rows, self.params, self._offsets, self._ids
            )
            self._stale = False
        return self._legal

    def step(self, actions: np.ndarray) -> np.ndarray:
        """Make one choice in every row; `done`, and `scores` where done.

        Args:
            actions: ids, `int[num_envs]`.

        Raises:
            IllegalActionError: an action that is not legal (row and action are named); nothing
                has been changed.
            CardError: what a callable gave is no deal. Every game is as it was.
        """
        actions = numbers(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise IllegalActionError(
                f"actions: expected {self.num_envs} ids, got {actions.dtype} {actions.shape}"
            )
        actions = np.ascontiguousarray(actions, np.int64)
        bad = core.first_illegal(self.states, self._rows, actions, self.params)
        if bad >= 0:
            raise IllegalActionError(self._why_illegal(bad, int(actions[bad])))
        with self._kept():
            core.apply_rows(self.states, self._rows, actions, self.params)
            scores = self.scores.reshape(-1)
            finished = finish(self.states, self._shuffles, self.params, self.done, scores)
            if finished and self.autoreset and not self._shuffles:
                self._restart()
        self._stale = True
        return self.done

    def _why_illegal(self, row: int, action: int) -> str:
        state = self.states[row]
        if state["phase"] == _OVER:
            return f"row {row}: the deal is over; reset it first"
        text = TEXTS[action] if 0 <= action < len(TEXTS) and TEXTS[action] else "no action"
        phase = Phase(int(state["phase"])).name.lower()
        return f"row {row}: action {action} ({text}) is not legal in phase {phase}"

    def sample(self) -> np.ndarray:
        """A random legal action of every row, `int64[num_envs]`; 0 for a row that is over."""
        legal_ids = self.legal()
        out = np.zeros(self.num_envs, np.int64)
        sample(legal_ids.offsets, legal_ids.ids, self._rng, out)
        return out

    def features(self) -> np.ndarray:
        """Dense state features of the seats on turn, `int8[num_envs, STATE_SIZE]`, reused."""
        if len(self._features) == 0:
            self._features = np.zeros((self.num_envs, STATE_SIZE), np.int8)
        dense_states(self.states, self.params, TABLES, self._scratch, self._bits, self._features)
        return self._features

    def views(self, rows: np.ndarray | None = None) -> np.ndarray:
        """The views of the seats on turn, `VIEW[rows]`; all rows unless given.

        Raises:
            DdzError: not numbers of rows.
        """
        if rows is None:
            rows = self._rows
        rows = numbers(rows)
        inside = rows.dtype.kind in "iu" and rows.ndim == 1 and (rows >= 0).all()
        if not inside or not (rows < self.num_envs).all():
            raise DdzError(f"rows: expected numbers in 0..{self.num_envs - 1}, got {brief(rows)}")
        rows = rows.astype(np.int64)
        views = records(VIEW, len(rows))
        seats = self.states["turn"][rows].astype(np.int64)
        cut_views(self.states, rows, seats, self.params, views)
        return views

    def points(self) -> np.ndarray:
        """Scores of the rows that are done in points, `float64[num_envs, 3]`."""
        return self.scores / QUARTERS

    def action_features(self) -> tuple[np.ndarray, np.ndarray]:
        """The features of every listed action: (`int64[N + 1]`, `uint16`) of its ones.

        Those of the j-th id of `legal().ids` are `bits[offsets[j]:offsets[j + 1]]`, indices of
        `schema("action")`.
        """
        listed = self.legal()
        n = len(listed.ids)
        offsets, bits = np.zeros(n + 1, np.int64), np.zeros((n + 1) * MAX_ACTION_BITS, np.uint16)
        hands = self.views()["hand"].copy()
        encode_actions(hands, listed.offsets, listed.ids, TABLES, offsets, bits)
        return offsets, bits[: offsets[-1]]

    def snapshot(self, row: int) -> bytes:
        """The whole game of a row as bytes, with the room's hash and a checksum."""
        body = self.states[self._row(row)].tobytes()
        return _MAGIC + self._room() + hashlib.blake2b(body, digest_size=16).digest() + body

    def restore(self, row: int, data: bytes) -> None:
        """Put a snapshot of the same room into a row.

        Raises:
            FormatError: not a snapshot, of another room, or changed since; the row is as it was.
        """
        place, size = self._row(row), len(_MAGIC) + 28
        if not isinstance(data, (bytes, bytearray)) or len(data) != size + STATE.itemsize:
            got = len(data) if isinstance(data, (bytes, bytearray)) else type(data).__name__
            raise FormatError(f"snapshot: expected {size + STATE.itemsize} bytes, got {got}")
        head, body = bytes(data[:size]), bytes(data[size:])
        if not head.startswith(_MAGIC):
            raise FormatError("snapshot: expected what `snapshot` gave")
        if head[len(_MAGIC) : len(_MAGIC) + 12] != self._room():
            raise FormatError(f"snapshot: of another room, expected {self.rules.name}")
        if hashlib.blake2b(body, digest_size=16).digest() != head[-16:]:
            raise FormatError("snapshot: its checksum is wrong")
        self.states[place] = np.frombuffer(body, STATE)[0]
        self._stale = True

    def load(self, row: int, game: "Game") -> None:
        """Put a copy of a game of the same room into a row.

        Raises:
            DdzError: another room.
        """
        rules = getattr(game, "rules", None)
        if not isinstance(rules, RuleSet):
            raise DdzError(f"game: expected a Game, got {type(game).__name__}")
        check_room("game", rules, self.rules)
        self.states[self._row(row)] = game.rows[0]
        self._stale = True

    def _row(self, row: Any) -> int:
        """A row's number, checked."""
        return whole("row", row, 0, self.num_envs - 1)

    def _room(self) -> bytes:
        """The room's hash, 12 bytes."""
        return rules_hash(self.rules).encode()

    def _restart(self) -> None:
        """Start the next deal of finished rows, unshuffled or from the callable."""
        if not callable(self.deal):
            from ddz_env.unshuffled import restart_unshuffled

            restart_unshuffled(self.states, self.done, self.params)
            return
        rows = np.flatnonzero(self.done)
        for row in rows:
            state = self.states[row]
            rotates = self.rules.first_caller == "rotates"
            first = (int(state["first"]) + 1) % 3 if rotates else -1
            start(state, next_seed(np.uint64(state["seed"])), first, self.params)
        self._deal(rows)


def vec_env(num_envs: int, rules: str | RuleSet = "play_only", **options: Any) -> VecEnv:
    """A batch of games; the arguments are those of `VecEnv`.

    Raises:
        DdzError: an argument out of range, or of an unknown name.
    """
    for name in options:
        if name not in ("seed", "autoreset", "deal"):
            raise DdzError(f"vec_env: expected some of seed, autoreset, deal, got {name!r}")
    return VecEnv(num_envs, rules, **options)
