"""What the commands of this folder share: exit codes, atomic JSON, the record of a command."""

import json
import os
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import ddz_env
from ddz_env.errors import DdzError

MOST_DEALS = 10_000_000
"""The most deals of a pairing, which fit into memory."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place when the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def save_json(path: Path, data: Any) -> None:
    """Write JSON atomically."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def check_folder(path: Path, option: str = "--out") -> None:
    """Raise a `DdzError` where a folder can't be made: a file in the way, no right to write."""
    places = [place for place in (path, *path.parents) if place.exists()]
    for place in places:
        if not place.is_dir():
            raise DdzError(f"{option} {path}: {place} is a file")
    if places and not os.access(places[0], os.W_OK):
        raise DdzError(f"{option} {path}: {places[0]} can't be written to")


def check_count(option: str, value: int | None, least: int = 1, most: int = MOST_DEALS) -> None:
    """Raise a `DdzError` where a number that is given is out of its range."""
    if value is not None and not least <= value <= most:
        raise DdzError(f"{option}: expected a whole number in {least}..{most:,}, got {value}")


def command_line(script: str, arguments: list[str] | None) -> str:
    """The command as a reader would type it."""
    return " ".join(["python", script, *(sys.argv[1:] if arguments is None else arguments)])


def versions(*packages: str) -> dict[str, str]:
    """Versions of Python, this project and installed packages."""
    found = {"python": platform.python_version(), "ddz_env": ddz_env.__version__}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def guarded(name: str, body: Callable[[], None]) -> int:
    """Run a command's body: 0, or 2 with one line for an argument that can't be used.

    One line too for a file that the system refuses to read or write: rights, a full disk.
    """
    try:
        body()
    except DdzError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.filename is None:  # nothing that a reader of the line could put right
            raise
        print(f"{name}: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    return 0
