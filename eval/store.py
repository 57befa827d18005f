"""The folder of a tournament: what it is, and what has been played of it.

`tournament.json` says what is played and is written first; `games/PAIR/CHUNK.npz` hold the games of
each chunk that is finished. Every file appears whole or not at all, so a killed tournament goes on
where it was; a folder that holds something else is refused and left as it is.
"""

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from ddz_env.errors import DdzError, FormatError
from eval.chunks import Chunk, ChunkResult
from eval.cli import check_folder, replacing, save_json
from eval.games import GAME

FORMAT = "ddz-tournament-1"
MANIFEST = "tournament.json"
RESULTS = "results.json"


def file_hash(path: Path) -> str:
    """The first 16 digits of a file's SHA-256."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def read_json(path: Path, what: str) -> dict[str, Any]:
    """A JSON object from a file of a tournament.

    Raises:
        FormatError: no such file, or none of this version's.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FormatError(f"{what} {path}: {error.strerror}") from error
    except ValueError as error:
        raise FormatError(f"{what} {path}: not JSON") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise FormatError(f"{what} {path}: expected a file of {FORMAT}")
    return data


class Store:
    """What has been played of a tournament, in a folder or in memory.

    Args:
        path: the folder, None for memory.
        manifest: what is played, as JSON types.

    Raises:
        DdzError: the folder is of another tournament, or holds something else; nothing has been
            written.
    """

    def __init__(self, path: Path | None, manifest: dict[str, Any]) -> None:
        self.path = path
        self.manifest = {"format": FORMAT, **manifest}
        self._memory: dict[tuple[int, int], ChunkResult] = {}
        if path is not None:
            check_folder(path)
            self._check()

    def _check(self) -> None:
        assert self.path is not None
        if not (self.path / MANIFEST).exists():
            if self.path.exists() and any(self.path.iterdir()):
                raise DdzError(f"--out {self.path}: holds other files; choose a new folder")
            return
        found = read_json(self.path / MANIFEST, "--out")
        for key in [*self.manifest, *(k for k in found if k not in self.manifest)]:
            have, want = found.get(key), self.manifest.get(key)
            if have != want:
                have, want = (json.dumps(v, ensure_ascii=False) for v in (have, want))
                raise DdzError(
                    f"--out {self.path}: holds another tournament:"
                    f" {key} is {shorten(have)} there, {shorten(want)} here"
                )

    def open(self) -> None:
        """Write what is played, unless it stands there already."""
        if self.path is not None and not (self.path / MANIFEST).exists():
            save_json(self.path / MANIFEST, self.manifest)

    def _file(self, pair: int, number: int) -> Path:
        assert self.path is not None
        return self.path / "games" / f"{pair:03d}" / f"{number:05d}.npz"

    def has(self, chunk: Chunk) -> bool:
        """Whether a chunk has been played."""
        if self.path is None:
            return (chunk.pair, chunk.number) in self._memory
        return self._file(chunk.pair, chunk.number).exists()

    def save(self, chunk: Chunk, result: ChunkResult) -> None:
        """Keep a chunk."""
        if self.path is None:
            self._memory[chunk.pair, chunk.number] = result
            return
        with replacing(self._file(chunk.pair, chunk.number)) as temporary:
            with temporary.open("wb") as file:
                np.savez_compressed(
                    file,
                    games=result.games,
                    times=result.times,
                    notes=np.array(json.dumps([result.notes, result.calling_faults])),
                    lines=np.array("\n".join(result.lines)),
                )

    def load(self, pair: int, number: int) -> ChunkResult:
        """What a chunk gave.

        Raises:
            FormatError: not there, or damaged.
        """
        if self.path is None:
            return self._memory[pair, number]
        return read_chunk(self._file(pair, number))


def read_chunk(path: Path) -> ChunkResult:
    """What a chunk gave, from its file.

    Raises:
        FormatError: not there, or damaged.
    """
    try:
        with np.load(path, allow_pickle=False) as data:
            notes, calling = json.loads(str(data["notes"]))
            lines = str(data["lines"])
            games, times = data["games"], data["times"]
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise FormatError(
            f"games {path}: damaged; the tournament plays these games again if you delete the file"
        ) from error
    if games.dtype != GAME:
        raise FormatError(f"games {path}: of another version")
    return ChunkResult(games, times, notes, calling, lines.split("\n") if lines else [])


def read_folder(path: Path) -> tuple[dict[str, Any], list[tuple[str, str, np.ndarray]]]:
    """What a tournament's folder says it is, and (a, b, `GAME[D, L]`) of each of its pairings.

    Raises:
        FormatError: not such a folder, not finished, or a file that can't be read.
    """
    manifest = read_json(path / MANIFEST, "results")
    chunks = -(-manifest["deals"] // manifest["chunk"])
    found = []
    for pair, (a, b) in enumerate(manifest["pairs"]):
        files = sorted((path / "games" / f"{pair:03d}").glob("*.npz"))
        if len(files) < chunks:
            raise FormatError(f"results {path}: not finished; the same command goes on")
        found.append((a, b, np.concatenate([read_chunk(file).games for file in files])))
    return manifest, found


def shorten(text: str) -> str:
    """A text of at most 60 letters."""
    return text if len(text) <= 60 else text[:57] + "..."
