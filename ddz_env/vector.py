"""Many games at once: the batched core that trainers, matches and speed tests step.

Legal actions come as lists in CSR form (`Legal`), never as masks.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from ddz_env._jit import njit, records
from ddz_env.catalogue import TABLES, TEXTS
from ddz_env.engine import GOLDEN, apply, is_legal, legal, mix, next_seed, start
from ddz_env.errors import DdzError, IllegalActionError
from ddz_env.features import (
    MAX_STATE_BITS,
    STATE_SIZE,
    T_BITS,
    encode_action,
    encode_state,
)
from ddz_env.moves import MAX_LEGAL, T_IDS, T_INT, T_PARAMS, T_TABLES, T_U64
from ddz_env.phases import FIRST_ROTATES
from ddz_env.rules import Params, RuleSet, get_rules
from ddz_env.scoring import QUARTERS, T_STATE
from ddz_env.state import STATE, Phase
from ddz_env.view import T_VIEW, VIEW, cut_view, cut_views

U64 = np.uint64
T_STATES, T_VIEWS = T_STATE[::1], T_VIEW[::1]
T_ROWS = types.int64[::1]
_OVER = int(Phase.OVER)


class Legal(NamedTuple):
    """The legal actions of a batch: those of row i are `ids[offsets[i]:offsets[i + 1]]`."""

    offsets: np.ndarray  # int64[B + 1]
    ids: np.ndarray  # int32[offsets[B]]

    def take(self, rows: np.ndarray) -> "Legal":
        """The lists of some rows."""
        sizes = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
        return Legal(offsets, self.ids[np.repeat(self.offsets[:-1][rows], sizes) + within])


class Bits(NamedTuple):
    """The ones of a batch of features: those of row i are `bits[offsets[i]:offsets[i + 1]]`."""

    offsets: np.ndarray  # int64[B + 1]
    bits: np.ndarray  # uint16[offsets[B]]


@njit([types.void(T_STATES, types.uint64[::1], T_INT, T_PARAMS)])
def _start_all(states, seeds, first, params):
    """Start every row with its key."""
    for i in range(states.shape[0]):
        start(states[i], seeds[i], first, params)


@njit([types.int64(T_STATES, T_ROWS, T_ROWS, T_PARAMS, T_TABLES)])
def first_illegal(states, rows, actions, params, tables):
    """The first index whose action is not legal on its row, -1 when all are."""
    for i in range(rows.shape[0]):
        if not is_legal(states[rows[i]], actions[i], params, tables):
            return i
    return -1


@njit([types.void(T_STATES, T_ROWS, T_ROWS, T_PARAMS, T_TABLES)])
def apply_rows(states, rows, actions, params, tables):
    """Apply a legal action to each of some rows."""
    for i in range(rows.shape[0]):
        apply(states[rows[i]], actions[i], params, tables)


@njit([types.int64(T_STATES, T_INT, T_PARAMS, types.boolean[::1], T_ROWS)])
def _finish(states, restart, params, done, scores):
    """Note the rows that are over; with `restart` they start their next deal at once."""
    finished = 0
    for i in range(states.shape[0]):
        state = states[i]
        done[i] = state.phase == _OVER
        if done[i]:
            finished += 1
            for seat in range(3):
                scores[3 * i + seat] = state.scores[seat]
            if restart:
                first = (state.first + 1) % 3 if params.first_caller == FIRST_ROTATES else -1
                start(state, next_seed(state.seed), first, params)
    return finished


@njit([types.int64(T_STATES, T_ROWS, T_INT, T_PARAMS, T_TABLES, T_ROWS, T_IDS)])
def _list_rows(states, rows, begin, params, tables, offsets, ids):
    """List the legal actions of rows[begin:]; the index at which `ids` got too short."""
    n = offsets[begin]
    for i in range(begin, rows.shape[0]):
        if n + MAX_LEGAL > ids.shape[0]:
            return i
        n += legal(states[rows[i]], params, tables, ids[n:])
        offsets[i + 1] = n
    return rows.shape[0]


@njit([types.void(T_ROWS, T_IDS, types.uint64[::1], T_ROWS)])
def _sample(offsets, ids, rng, out):
    """One random listed action a row; `rng[0]` is the generator's counter."""
    for i in range(offsets.shape[0] - 1):
        rng[0] += GOLDEN
        n = U64(offsets[i + 1] - offsets[i])
        out[i] = ids[offsets[i] + np.int64(((mix(rng[0]) >> U64(32)) * n) >> U64(32))]


@njit([types.int64(T_STATES, T_INT, T_PARAMS, T_TABLES, T_IDS)])
def play_random_games(states, n, params, tables, ids):
    """Play `n` whole random games on `states[0]`, inside the kernel; the decisions made."""
    state = states[0]
    decisions = 0
    for _ in range(n):
        start(state, next_seed(state.seed), -1, params)
        key = ~state.seed
        while state.phase != _OVER:
            count = U64(legal(state, params, tables, ids))
            # The choice uses a stream of its own, so that a deal is the same however it is played.
            bits = mix(key)
            key += GOLDEN
            apply(state, ids[np.int64(((bits >> U64(32)) * count) >> U64(32))], params, tables)
            decisions += 1
    return decisions


@njit([types.int64(T_STATES, T_ROWS, T_PARAMS, T_TABLES, T_VIEWS, T_ROWS, T_BITS)])
def encode_states(states, rows, params, tables, scratch, offsets, bits):
    """Encode the view of the seat on turn of each game in `rows`; the number of ones."""
    n = 0
    for i in range(rows.shape[0]):
        state = states[rows[i]]
        cut_view(state, state.turn, params, scratch[0])
        n = encode_state(scratch[0], tables, bits, n)
        offsets[i + 1] = n
    return n


@njit([types.int64(T_VIEWS, T_TABLES, T_ROWS, T_BITS)])
def encode_views(views, tables, offsets, bits):
    """Encode a batch of views; the number of ones."""
    n = 0
    for i in range(views.shape[0]):
        n = encode_state(views[i], tables, bits, n)
        offsets[i + 1] = n
    return n


@njit([types.int64(types.uint64[::1], T_ROWS, T_IDS, T_TABLES, T_ROWS, T_BITS)])
def encode_actions(hands, legal_offsets, ids, tables, offsets, bits):
    """Encode every listed action of a batch, by the packed hand of its row; the number of ones."""
    n = 0
    for i in range(hands.shape[0]):
        for j in range(legal_offsets[i], legal_offsets[i + 1]):
            n = encode_action(hands[i], np.int64(ids[j]), tables, bits, n)
            offsets[j + 1] = n
    return n


@njit([types.void(T_STATES, T_PARAMS, T_TABLES, T_VIEWS, T_BITS, types.int8[:, ::1])])
def _dense_states(states, params, tables, scratch, bits, out):
    """Write the dense state features of the seat on turn of every row."""
    for i in range(states.shape[0]):
        cut_view(states[i], states[i].turn, params, scratch[0])
        n = encode_state(scratch[0], tables, bits, 0)
        out[i, :] = 0
        for j in range(n):
            out[i, bits[j]] = 1


@njit([types.void(T_U64, types.uint64[::1])])
def _derive(seed, out):
    """Derive one key after another from a seed."""
    for i in range(out.shape[0]):
        out[i] = next_seed(mix(seed + GOLDEN) + U64(i) * GOLDEN)


def deal_seeds(seed: int, n: int) -> np.ndarray:
    """The keys of `n` deals from one seed, `uint64[n]`; deal i's key does not depend on `n`."""
    out = np.zeros(n, np.uint64)
    _derive(np.uint64(check_seed(seed)), out)
    return out


def check_seed(seed: int) -> int:
    """The seed itself.

    Raises:
        DdzError: it is not a whole number in 0 .. 2**63 - 1.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**63:
        raise DdzError(f"seed: expected a whole number in 0..2**63-1, got {seed!r}")
    return int(seed)


def list_rows(
    states: np.ndarray,
    rows: np.ndarray,
    params: Params,
    offsets: np.ndarray | None = None,
    ids: np.ndarray | None = None,
) -> tuple[Legal, np.ndarray]:
    """The legal ids of some rows, and the buffer of ids, which grows where it is too short.

    Args:
        states: `STATE[N]`.
        rows: `int64[B]`, indices into `states`.
        params: the room's.
        offsets: `int64[B + 1]` to write to, with a 0 first.
        ids: an int32 buffer to write to.
    """
    offsets = np.zeros(len(rows) + 1, np.int64) if offsets is None else offsets
    ids = np.zeros(16 * len(rows) + MAX_LEGAL, np.int32) if ids is None else ids
    done = 0
    while True:
        done = _list_rows(states, rows, done, params, TABLES, offsets, ids)
        if done == len(rows):
            return Legal(offsets, ids[: offsets[-1]]), ids
        ids = np.concatenate([ids, np.zeros_like(ids)])


class VecEnv:
    """A batch of games of one room.

    Args:
        num_envs: number of games, at least 1.
        rules: a preset's name or a `RuleSet`.
        seed: key of the first deals; row i's deals do not depend on `num_envs`.
        autoreset: whether a finished row starts its next deal within the same step.

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
        seed: int = 0,
        autoreset: bool = True,
    ) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
            raise DdzError(f"num_envs: expected a whole number from 1, got {num_envs!r}")
        self.rules = get_rules(rules)
        self.params = self.rules.params()
        self.num_envs = num_envs
        self.autoreset = autoreset
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
        self._stale = True
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Start every row anew from one seed."""
        _start_all(self.states, deal_seeds(seed, self.num_envs), -1, self.params)
        self._rng[0] = mix(np.uint64(seed))
        self.done[:] = False
        self._stale = True

    @property
    def turn(self) -> np.ndarray:
        """The seat that is asked in each row, `int8[num_envs]`."""
        return self.states["turn"]

    def legal(self) -> Legal:
        """The legal ids of every row, in buffers that the next call reuses."""
        if self._stale:
            self._legal, self._ids = list_rows(
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
        """
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise IllegalActionError(
                f"actions: expected {self.num_envs} ids, got {actions.dtype} {actions.shape}"
            )
        actions = np.ascontiguousarray(actions, np.int64)
        bad = first_illegal(self.states, self._rows, actions, self.params, TABLES)
        if bad >= 0:
            raise IllegalActionError(self._why_illegal(bad, int(actions[bad])))
        apply_rows(self.states, self._rows, actions, self.params, TABLES)
        _finish(self.states, self.autoreset, self.params, self.done, self.scores.reshape(-1))
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
        """A random legal action of every row, `int64[num_envs]`."""
        legal_ids = self.legal()
        out = np.zeros(self.num_envs, np.int64)
        _sample(legal_ids.offsets, legal_ids.ids, self._rng, out)
        return out

    def features(self) -> np.ndarray:
        """Dense state features of the seats on turn, `int8[num_envs, STATE_SIZE]`, reused."""
        if len(self._features) == 0:
            self._features = np.zeros((self.num_envs, STATE_SIZE), np.int8)
        _dense_states(self.states, self.params, TABLES, self._scratch, self._bits, self._features)
        return self._features

    def views(self, rows: np.ndarray | None = None) -> np.ndarray:
        """The views of the seats on turn, `VIEW[rows]`; all rows unless given."""
        rows = np.arange(self.num_envs) if rows is None else np.asarray(rows, np.int64)
        views = records(VIEW, len(rows))
        seats = self.states["turn"][rows].astype(np.int64)
        cut_views(self.states, rows, seats, self.params, views)
        return views

    def points(self) -> np.ndarray:
        """Scores of the rows that are done in points, `float64[num_envs, 3]`."""
        return self.scores / QUARTERS

    def snapshot(self, row: int) -> bytes:
        """The whole game of a row as bytes."""
        return self.states[row].tobytes()

    def restore(self, row: int, data: bytes) -> None:
        """Put a snapshot into a row."""
        if len(data) != STATE.itemsize:
            raise DdzError(f"snapshot: expected {STATE.itemsize} bytes, got {len(data)}")
        self.states[row] = np.frombuffer(data, STATE)[0]
        self._stale = True


def vec_env(num_envs: int, rules: str | RuleSet = "play_only", **options: object) -> VecEnv:
    """A batch of games; the arguments are those of `VecEnv`."""
    return VecEnv(num_envs, rules, **options)  # type: ignore[arg-type]
