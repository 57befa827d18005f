"""Seeds: keys of deals, and many keys from one seed."""

import numpy as np
from numba import types

from ddz_env._jit import njit
from ddz_env.checks import brief
from ddz_env.engine import GOLDEN, mix, next_seed
from ddz_env.errors import DdzError
from ddz_env.moves import T_U64

U64 = np.uint64


@njit([types.void(T_U64, types.uint64[::1])])
def derive(seed, out):
    """Derive one key after another from a seed."""
    for i in range(out.shape[0]):
        out[i] = next_seed(mix(seed + GOLDEN) + U64(i) * GOLDEN)


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
    flags = (bool, np.bool_)
    if isinstance(seed, flags) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**63:
        raise DdzError(f"seed: expected a whole number in 0..2**63-1, got {brief(seed)}")
    return int(seed)
