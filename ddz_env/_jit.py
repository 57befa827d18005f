"""How kernels are compiled: once per version of the sources, into a cache of this package's own.

Numba's disk cache looks only at the file that a function stands in, so an edit in another file
would leave stale machine code behind. Here the cache folder's name holds a hash of all sources of
the package; an edit anywhere starts a new folder. Kernels of other packages, which call this one's
and each other, have a folder inside it, named by a hash of their own sources.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numba.extending
import numpy as np
from numba.core import config as numba_config

config: Any = numba_config  # its attributes are made while numba is imported


_HERE = Path(__file__).parent


def _source_hash(folder: Path) -> str:
    """Hash of every source file of a package, in the order of their names."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_dir() -> Path:
    """The folder for compiled kernels; the temporary folder where the home is read-only."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    for root in (Path(base), Path(tempfile.gettempdir())):
        path = root / "ddz_env" / _source_hash(_HERE)
        try:
            fresh = not path.exists()
            path.mkdir(parents=True, exist_ok=True)
            if not os.access(path, os.W_OK):
                continue
        except OSError:
            continue
        if fresh:
            _say("ddz_env")
        return path
    raise OSError("ddz_env: neither the user's cache folder nor the temporary folder is writable")


def _say(name: str) -> None:
    """Tell that a package's kernels will be compiled now."""
    if not config.DISABLE_JIT:
        text = f"{name}: compiling its kernels, once per version (under a minute) ..."
        print(text, file=sys.stderr, flush=True)


CACHE_DIR = _cache_dir()


@cache
def _cache_of(folder: Path) -> str:
    """Where kernels of a folder's files are kept: those of other packages call this one's."""
    if folder == _HERE or not folder.is_dir():
        return str(CACHE_DIR)
    path = CACHE_DIR / f"{folder.name}-{_source_hash(folder)}"
    if not path.exists():
        _say(folder.name)
        path.mkdir(exist_ok=True)
    return str(path)


def njit(*args: Any, **options: Any) -> Callable[..., Any]:
    """`numba.njit` with the package's cache folder, without the GIL.

    Args:
        *args: explicit signatures, as for `numba.njit`; one specialisation per kernel.
        **options: further options of `numba.njit`.
    """
    options = {"cache": True, "nogil": True, "error_model": "numpy", **options}

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        # The folder is read when the cache is set up and when an explicit signature compiles, both
        # inside this call; other users of numba in the process keep their own folder.
        folder = _cache_of(Path(function.__code__.co_filename).parent)
        before, config.CACHE_DIR = config.CACHE_DIR, folder
        try:
            return numba.njit(*args, **options)(function)
        finally:
            config.CACHE_DIR = before

    return wrap


def _count_trailing_zeros(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """The machine instruction."""
    (word,) = arguments
    return builder.cttz(word, context.get_constant(numba.types.boolean, True))


@numba.extending.intrinsic
def _trailing_zeros(typing_context: Any, word: Any) -> Any:
    """How many zeros a 64-bit word other than 0 ends in."""
    return numba.types.int64(numba.types.uint64), _count_trailing_zeros


def trailing_zeros(word: Any) -> int:
    """How many zeros a 64-bit word other than 0 ends in; in kernels one instruction."""
    return (int(word) & -int(word)).bit_length() - 1


if not config.DISABLE_JIT:
    trailing_zeros = _trailing_zeros  # type: ignore[assignment]


class _Row(np.void):
    """A record for kernels that run as plain Python.

    `row.field` is the field even where numpy's records have an attribute of that name (`base`), and
    small integers become 64 bits wide, as in compiled code.
    """

    def __getattribute__(self, name: str) -> Any:
        if name not in np.void.__getattribute__(self, "dtype").fields:
            return super().__getattribute__(name)
        value = self[name]
        return np.int64(value) if isinstance(value, np.integer) and value.itemsize < 8 else value

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def records(dtype: np.dtype, n: int) -> np.ndarray:
    """A zeroed array of `n` records that kernels take, with numba on or off."""
    return np.zeros(n, np.dtype((_Row, dtype)) if config.DISABLE_JIT else dtype)


def array_type(array: np.ndarray) -> Any:
    """The type of an array of records in signatures; any type will do where nothing compiles."""
    return numba.types.none if config.DISABLE_JIT else numba.typeof(array)
