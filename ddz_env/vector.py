"""Many games at once: the batched core that trainers, matches and speed tests step.

Legal actions come as lists in CSR form (`Legal`), never as masks.
"""

import numpy as np

from ddz_env import core
from ddz_env._jit import records
from ddz_env.catalogue import TABLES, TEXTS
from ddz_env.engine import mix
from ddz_env.errors import DdzError, IllegalActionError
from ddz_env.features import MAX_STATE_BITS, STATE_SIZE
from ddz_env.moves import MAX_LEGAL
from ddz_env.rules import RuleSet, get_rules
from ddz_env.scoring import QUARTERS
from ddz_env.state import STATE, Phase
from ddz_env.vector_kernels import (
    T_ROWS,
    T_STATES,
    T_VIEWS,
    Bits,
    Legal,
    dense_states,
    derive,
    encode_actions,
    encode_states,
    encode_views,
    finish,
    play_random_games,
    sample,
    start_all,
)
from ddz_env.view import VIEW, cut_views

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


def deal_seeds(seed: int, n: int) -> np.ndarray:
    """The keys of `n` deals from one seed, `uint64[n]`; deal i's key does not depend on `n`."""
    out = np.zeros(n, np.uint64)
    derive(np.uint64(check_seed(seed)), out)
    return out


def check_seed(seed: int) -> int:
    """The seed itself.

    Raises:
        DdzError: it is not a whole number in 0 .. 2**63 - 1.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**63:
        raise DdzError(f"seed: expected a whole number in 0..2**63-1, got {seed!r}")
    return int(seed)


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
        start_all(self.states, deal_seeds(seed, self.num_envs), -1, self.params)
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
        """
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise IllegalActionError(
                f"actions: expected {self.num_envs} ids, got {actions.dtype} {actions.shape}"
            )
        actions = np.ascontiguousarray(actions, np.int64)
        bad = core.first_illegal(self.states, self._rows, actions, self.params)
        if bad >= 0:
            raise IllegalActionError(self._why_illegal(bad, int(actions[bad])))
        core.apply_rows(self.states, self._rows, actions, self.params)
        finish(self.states, self.autoreset, self.params, self.done, self.scores.reshape(-1))
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
        sample(legal_ids.offsets, legal_ids.ids, self._rng, out)
        return out

    def features(self) -> np.ndarray:
        """Dense state features of the seats on turn, `int8[num_envs, STATE_SIZE]`, reused."""
        if len(self._features) == 0:
            self._features = np.zeros((self.num_envs, STATE_SIZE), np.int8)
        dense_states(self.states, self.params, TABLES, self._scratch, self._bits, self._features)
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
