"""One way to call the kernels for every room: rooms with wild cards have kernels of their own.

Those, and those for batches, are imported, and so compiled, when they are first used. `params` is
a room's (`RuleSet.params`); other arguments are the engine's.
"""

from functools import cache
from typing import Any

import numpy as np

from ddz_env import engine, row_kernels
from ddz_env._jit import records
from ddz_env.catalogue import TABLES
from ddz_env.listed import Legal
from ddz_env.moves import MAX_LEGAL
from ddz_env.params import Params


def _wild() -> tuple[Any, np.ndarray, np.ndarray]:
    """The kernels for wild cards, and scratch for them: one held hand, ids of a filling."""
    from ddz_env import wild, wild_core

    return wild_core, records(wild.HELD, 1), np.zeros(16, np.int32)


@cache
def _wild_kernels() -> Any:
    """The kernels for wild cards."""
    from ddz_env import wild_core

    return wild_core


def _batched() -> Any:
    """The kernels for batches."""
    from ddz_env import vector_kernels

    return vector_kernels


def legal(state: Any, params: Params, out: np.ndarray) -> int:
    """List the ids that the seat on turn may choose into `out`; their number (`engine.legal`)."""
    if params.wild:
        kernels, held, _ = _wild()
        return kernels.legal(state, params, TABLES, held, out)
    return engine.legal(state, params, TABLES, out)


def is_legal(state: Any, action: int, params: Params) -> bool:
    """Whether the seat on turn may choose an id (`engine.is_legal`)."""
    if params.wild:
        kernels, held, _ = _wild()
        return kernels.is_legal(state, action, params, TABLES, held)
    return engine.is_legal(state, action, params, TABLES)


def apply(state: Any, action: int, params: Params) -> None:
    """Make a legal choice (`engine.apply`)."""
    if params.wild:
        kernels, held, scratch = _wild()
        kernels.apply(state, action, params, TABLES, held, scratch)
    else:
        engine.apply(state, action, params, TABLES)


class Advance:
    """A room's `row_kernels.advance`, of (`STATE[1]`, action), that lists into `ids`.

    It can be copied and pickled together with what holds the same `ids`.

    Args:
        rooms: the room's (`RuleSet.rooms`).
        ids: int32 buffer with room for `MAX_LEGAL` ids.
    """

    def __init__(self, rooms: np.ndarray, ids: np.ndarray) -> None:
        self._rooms, self._ids = rooms, ids
        self._wild = bool(rooms["wild"][0])
        self._more: tuple[Any, ...] = ()
        if self._wild:
            _, held, scratch = _wild()
            self._more = held, scratch

    def __call__(self, rows: np.ndarray, action: int) -> int:
        """Check a choice, make it, list the next ids; their number, -1 for an illegal one."""
        if self._wild:
            held, scratch = self._more
            return _wild_kernels().advance(
                rows, action, self._rooms, TABLES, held, self._ids, scratch
            )
        return row_kernels.advance(rows, action, self._rooms, TABLES, self._ids)


def first_illegal(states: np.ndarray, rows: np.ndarray, actions: np.ndarray, params: Params) -> int:
    """The first index whose action is not legal on its row, -1 when all are."""
    if params.wild:
        kernels, held, _ = _wild()
        return kernels.first_illegal(states, rows, actions, params, TABLES, held)
    return _batched().first_illegal(states, rows, actions, params, TABLES)


def apply_rows(states: np.ndarray, rows: np.ndarray, actions: np.ndarray, params: Params) -> None:
    """Apply a legal action to each of some rows."""
    if params.wild:
        kernels, held, scratch = _wild()
        kernels.apply_rows(states, rows, actions, params, TABLES, held, scratch)
    else:
        _batched().apply_rows(states, rows, actions, params, TABLES)


def random_games(state_row: np.ndarray, n: int, params: Params) -> int:
    """Play `n` whole random games on `STATE[1]` inside the kernel; the decisions made."""
    ids = np.zeros(MAX_LEGAL, np.int32)
    if params.wild:
        kernels, held, scratch = _wild()
        return kernels.play_random_games(state_row, n, params, TABLES, held, ids, scratch)
    return _batched().play_random_games(state_row, n, params, TABLES, ids)


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
        if params.wild:
            kernels, held, _ = _wild()
            done = kernels.list_rows(states, rows, done, params, TABLES, held, offsets, ids)
        else:
            done = _batched().list_rows(states, rows, done, params, TABLES, offsets, ids)
        if done == len(rows):
            return Legal(offsets, ids[: offsets[-1]]), ids
        ids = np.concatenate([ids, np.zeros_like(ids)])
