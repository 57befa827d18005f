"""The JSON form of a table: what is written, and what is checked when it is read again."""

import base64
import binascii
import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, NamedTuple

from ddz_env.errors import DdzError, FormatError
from ddz_env.game import Game
from ddz_env.money import MOST, Room, check_beans, check_whole
from ddz_env.rules import RuleSet

FORMAT, VERSION = "ddz-table", 1
HOUSE = "house"


class Entry(NamedTuple):
    """One line of a table's ledger."""

    deal: int  # number of the deal, from 1
    who: int | str  # seat 0..2, or "house"
    what: str  # "settlement", "fee" or "escape"
    amount: int  # beans got; below zero: paid


WHAT = ("settlement", "fee", "escape")


class Saved(NamedTuple):
    """All that a table is."""

    rules: RuleSet
    room: Room
    seed: int  # the table's own
    key: int  # of the next deal
    start: Sequence[int]  # beans of each seat at the beginning
    beans: Sequence[int]  # and now
    deals: int = 0  # deals begun
    first: int = -1  # who called first in the last deal, -1 before the first deal
    points: Sequence[int] = (0, 0, 0)  # quarter points of each seat
    winnings: Sequence[int] = (0, 0, 0)  # accumulated bean points of each seat
    auto: Sequence[bool] = (False, False, False)  # seats on auto-play
    ledger: Sequence[Entry] = ()
    game: Game | None = None  # the last deal
    fled: bool = False  # whether somebody fled from it as it is


def _digest(data: dict[str, Any]) -> str:
    """A hash of everything else in the file, in one fixed form."""
    rest = {name: value for name, value in data.items() if name != "sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def dump(saved: Saved) -> str:
    """A table as JSON text."""
    game = None if saved.game is None else base64.b64encode(saved.game.to_bytes()).decode()
    data: dict[str, Any] = {"format": FORMAT, "version": VERSION, **saved._asdict()}
    data |= {"rules": asdict(saved.rules), "room": asdict(saved.room), "game": game}
    data["ledger"] = [list(entry) for entry in saved.ledger]
    data["sha256"] = _digest(data)
    return json.dumps(data, ensure_ascii=False, indent=None)


def _values(kind: type[Any], data: Any, name: str) -> Any:
    """A dataclass from all of its fields."""
    expected = {f.name for f in fields(kind)}
    if not isinstance(data, dict):
        raise FormatError(f"table: {name}: expected its fields, got {data!r}")
    for key in sorted(expected ^ set(data)):
        problem = "missing" if key in expected else "unknown"
        raise FormatError(f"table: {name}: field {key!r} is {problem}")
    return kind(**data)


def _three(name: str, values: Any, low: int) -> list[int]:
    """Whole numbers of three seats."""
    if not isinstance(values, list) or len(values) != 3:
        raise FormatError(f"table: {name}: expected three numbers, got {values!r}")
    return [check_whole(f"{name} of seat {seat}", v, low) for seat, v in enumerate(values)]


def _ledger(data: Any, deals: int) -> list[Entry]:
    """The ledger, every line checked; it has to sum to zero in every deal."""
    if not isinstance(data, list):
        raise FormatError(f"table: ledger: expected a list, got {data!r}")
    ledger, sums = [], dict.fromkeys(range(1, deals + 1), 0)
    for i, row in enumerate(data):
        good = isinstance(row, list) and len(row) == 4 and row[2] in WHAT
        if not good or (row[1] != HOUSE and row[1] not in (0, 1, 2)) or isinstance(row[1], bool):
            raise FormatError(f"table: ledger: line {i}: expected deal, seat, what, beans: {row!r}")
        entry = Entry(*row)
        check_whole(f"ledger line {i}: deal", entry.deal, 1, deals)
        check_whole(f"ledger line {i}: beans", entry.amount, -MOST)
        sums[entry.deal] += entry.amount
        ledger.append(entry)
    for deal, total in sums.items():
        if total:
            raise FormatError(f"table: ledger: deal {deal} sums to {total}, expected 0")
    return ledger


def _game(data: Any, rules: RuleSet, deals: int) -> Game | None:
    """The last deal's record."""
    if data is None and deals == 0:
        return None
    if not isinstance(data, str):
        raise FormatError(f"table: game: expected base64 text, got {data!r}")
    try:
        game = Game.from_bytes(base64.b64decode(data, validate=True), rules)
    except (binascii.Error, ValueError) as error:
        raise FormatError(f"table: game: {error}") from error
    if int(game.state["deal"]) != deals:
        raise FormatError(f"table: game: deal {game.state['deal']}, expected {deals}")
    return game


def _parse(data: dict[str, Any]) -> Saved:
    """The checked parts of a file whose fields are all there."""
    rules = _values(RuleSet, data["rules"], "rules")
    room = _values(Room, data["room"], "room")
    deals = check_whole("deals", data["deals"], 0)
    start, beans = check_beans("start", data["start"]), check_beans("beans", data["beans"])
    ledger = _ledger(data["ledger"], deals)
    for seat in range(3):
        total = start[seat] + sum(entry.amount for entry in ledger if entry.who == seat)
        if total != beans[seat]:
            raise FormatError(
                f"table: beans of seat {seat}: {beans[seat]}, the ledger makes {total}"
            )
    auto = data["auto"]
    if not (isinstance(auto, list) and [type(on) for on in auto] == [bool] * 3):
        raise FormatError(f"table: auto: expected true or false of three seats, got {auto!r}")
    game = _game(data["game"], rules, deals)
    if data["fled"] is not False and (data["fled"] is not True or game is None or game.over):
        raise FormatError(f"table: fled: {data['fled']!r}, the last deal does not fit")
    return Saved(
        rules=rules,
        room=room,
        seed=check_whole("seed", data["seed"], 0, 2**63 - 1),
        key=check_whole("key", data["key"], 0, 2**63 - 1),
        deals=deals,
        first=check_whole("first", data["first"], -1, 2),
        start=start,
        beans=beans,
        points=_three("points", data["points"], -MOST),
        winnings=_three("winnings", data["winnings"], -MOST),
        auto=list(auto),
        ledger=ledger,
        game=game,
        fled=data["fled"],
    )


def parse(text: str) -> Saved:
    """A table from JSON text.

    Raises:
        FormatError: cut off, newer, edited or no such text; the thing at fault is named.
    """
    if not isinstance(text, str):
        raise FormatError(f"table: expected JSON text, got {type(text).__name__}")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"table: no whole JSON text: {error}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise FormatError(f"table: expected format {FORMAT!r}")
    version = data.get("version")
    if version != VERSION or isinstance(version, bool):
        raise FormatError(f"table: version {version!r}, this program reads version {VERSION}")
    for key in sorted({"format", "version", "sha256", *Saved._fields} ^ set(data)):
        problem = "unknown" if key in data else "missing"
        raise FormatError(f"table: field {key!r} is {problem}")
    try:
        saved = _parse(data)
    except FormatError:
        raise
    except DdzError as error:
        raise FormatError(f"table: {error}") from error
    if data["sha256"] != _digest(data):
        raise FormatError("table: sha256: the text has been changed after it was written")
    return saved


def write(path: str | Path, text: str) -> None:
    """Write a file whole or not at all: under another name first, then renamed.

    Raises:
        FormatError: it can't be written; what was there is unchanged.
    """
    path = Path(path)
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=path.name + ".", delete=False
        ) as file:
            temporary = file.name
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise FormatError(f"table {path}: {error.strerror or error}") from error


def read(path: str | Path) -> str:
    """The text of a file.

    Raises:
        FormatError: it can't be read.
    """
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise FormatError(f"table {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"table {path}: no text: {error}") from error
