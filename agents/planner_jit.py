"""`njit` for the planner's kernels, which call each other across files.

numba's cache notices an edit of the file a kernel stands in, not of the files whose kernels it
calls. So the planner's compiled kernels live in a folder named by a hash of all its sources, inside
that of `ddz_env`.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from ddz_env._jit import CACHE_DIR, config


def _folder() -> Path:
    """The folder for the planner's compiled kernels."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("planner*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    folder = CACHE_DIR / f"planner-{digest.hexdigest()[:16]}"
    folder.mkdir(exist_ok=True)
    return folder


FOLDER = _folder()


def njit(*args: Any, **options: Any) -> Callable[..., Any]:
    """`ddz_env._jit.njit` with the planner's folder; the arguments are those of `numba.njit`."""
    options = {"cache": True, "nogil": True, "error_model": "numpy", **options}

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        before, config.CACHE_DIR = config.CACHE_DIR, str(FOLDER)
        try:
            return numba.njit(*args, **options)(function)
        finally:
            config.CACHE_DIR = before

    return wrap
