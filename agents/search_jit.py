"""`njit` for the search's kernels, which call those of the planner and of the endgame solver.

Their compiled code lives in a folder named by a hash of all these sources, as `planner_jit`'s does.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from ddz_env._jit import CACHE_DIR, config


def _folder() -> Path:
    """The folder for the search's compiled kernels."""
    digest = hashlib.sha256()
    for pattern in ("endgame*.py", "planner*.py", "search*.py"):
        for path in sorted(Path(__file__).parent.glob(pattern)):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    folder = CACHE_DIR / f"search-{digest.hexdigest()[:16]}"
    folder.mkdir(exist_ok=True)
    return folder


FOLDER = _folder()


def njit(*args: Any, **options: Any) -> Callable[..., Any]:
    """`ddz_env._jit.njit` with the search's folder; the arguments are those of `numba.njit`."""
    options = {"cache": True, "nogil": True, "error_model": "numpy", **options}

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        before, config.CACHE_DIR = config.CACHE_DIR, str(FOLDER)
        try:
            return numba.njit(*args, **options)(function)
        finally:
            config.CACHE_DIR = before

    return wrap
