"""Fixed sets of deals as plain text: `python eval/deal_files.py --deals 10000 --seed 1 --out FILE`.

A file has a head of lines `# name: value` and then a deal a line: its key (16 hexadecimal digits),
from which the first caller, the wild rank and redeals follow, and its 54 cards in the order of
dealing (seat 0's 17, seat 1's 17, seat 2's 17, the 3 bottom cards). The head holds a SHA-256 of all
the deals, and every deal is checked when the file is read. Cards don't depend on the room, except
that two sevens are wild (`W`) where the room's red sevens are: `eval/deals/` has a set of each.
"""

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from ddz_env.cards import RANKS, check_deal
from ddz_env.errors import CardError, DdzError, FormatError
from ddz_env.rooms import load_rules
from ddz_env.rules import PRESETS, RuleSet
from ddz_env.vector import check_seed, deal_seeds
from eval.cli import check_count, check_folder, command_line, guarded, replacing
from eval.match import Deals

FORMAT = "ddz-deals-1"
_LETTERS = np.array(list(RANKS))


@dataclass(frozen=True)
class Command:
    """Write a set of deals."""

    out: Path
    """The file."""
    deals: int = 10_000
    """Number of deals."""
    seed: int = 1
    """Seed of the deals."""
    rules: str = "play_only"
    """A room; it matters only whether its red sevens are wild."""


def shuffled(keys: np.ndarray, rules: RuleSet) -> np.ndarray:
    """The cards of deals by their keys, `uint8[D, 54]`."""
    return Deals(keys).start(rules)["deck"].copy()


def body(keys: np.ndarray, decks: np.ndarray) -> list[str]:
    """The lines of deals."""
    texts = ("".join(row) for row in _LETTERS[decks])
    return [f"{int(key):016x} {text}" for key, text in zip(keys, texts, strict=True)]


def deals_hash(keys: np.ndarray, decks: np.ndarray) -> str:
    """The SHA-256 of deals, 64 hexadecimal digits: of their lines, each with its line end."""
    return hashlib.sha256("".join(line + "\n" for line in body(keys, decks)).encode()).hexdigest()


def write_deals(path: Path, keys: np.ndarray, decks: np.ndarray, head: dict[str, Any]) -> None:
    """Write a file of deals atomically."""
    lines = body(keys, decks)
    head = {"format": FORMAT, **head, "deals": len(lines), "sha256": deals_hash(keys, decks)}
    with replacing(path) as temporary:
        temporary.write_text("\n".join([*(f"# {k}: {v}" for k, v in head.items()), *lines]) + "\n")


def _read_line(line: str, red_sevens: bool) -> tuple[int, np.ndarray]:
    """(key, cards) of a deal's line."""
    key, _, text = line.partition(" ")
    if len(key) != 16 or not set(key) <= set("0123456789abcdef") or int(key, 16) >= 2**63:
        raise FormatError("expected a key of 16 hexadecimal digits, below 2**63")
    if not set(text) <= set(RANKS):
        raise FormatError(f"expected 54 cards of {RANKS}")
    return int(key, 16), check_deal(np.array([RANKS.index(c) for c in text]), red_sevens)


def read_deals(path: Path, rules: RuleSet) -> tuple[Deals, dict[str, str]]:
    """The deals of a file for a room, and the file's head.

    Raises:
        FormatError: no such file, not of this form, cut off or edited, or for other rooms.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise FormatError(f"deals {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"deals {path}: expected a file of {FORMAT}, got no text") from error
    heads = [line[2:].partition(": ") for line in lines if line.startswith("# ")]
    head = {name: value for name, _, value in heads}
    if head.get("format") != FORMAT:
        raise FormatError(f"deals {path}: expected a file of {FORMAT}")
    keys, decks = [], []
    for i, line in enumerate(lines, 1):
        if line.startswith("#"):
            continue
        try:
            key, deck = _read_line(line, rules.wild == "red_sevens")
        except (FormatError, CardError) as error:
            raise FormatError(f"deals {path}, line {i}, for room {rules.name}: {error}") from error
        keys.append(key)
        decks.append(deck)
    if not keys:
        raise FormatError(f"deals {path}: no deals")
    found = np.array(keys, np.uint64), np.array(decks, np.uint8)
    if head.get("sha256") != deals_hash(*found) or head.get("deals") != str(len(keys)):
        raise FormatError(f"deals {path}: the deals are not those of its head (cut off or edited)")
    return Deals(found[0], 0, found[1]), head


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 when all went well, 2 for an argument that can't be used."""
    command = tyro.cli(Command, args=arguments)

    def write() -> None:
        check_count("--deals", command.deals)
        rules = load_rules(command.rules)
        keys = deal_seeds(check_seed(command.seed), command.deals)
        check_folder(command.out.parent)
        if command.out.exists():
            raise DdzError(f"--out {command.out}: is there already")
        others = rules.wild != "red_sevens"
        rooms = [name for name, r in PRESETS.items() if (r.wild != "red_sevens") == others]
        head = {"rooms": ", ".join(rooms), "seed": command.seed}
        head["command"] = command_line("eval/deal_files.py", arguments)
        write_deals(command.out, keys, shuffled(keys, rules), head)
        print(f"{command.deals:,} deals {command.out}")

    return guarded("deal_files", write)


if __name__ == "__main__":
    sys.exit(main())
