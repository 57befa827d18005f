"""What is kept of a finished game, in 56 bytes: `GAME`; who sits where; how often a seat said yes.

A final record (`STATE`) holds the whole history, 3 KB; tournaments keep, store and count these.
"""

from enum import IntEnum

import numpy as np

from ddz_env.catalogue import ACTIONS, CHOICES, Category
from ddz_env.rules import RuleSet


class Fault(IntEnum):
    """Why the trustee took a seat over."""

    NONE = 0
    RAISED = 1
    ILLEGAL = 2
    LATE = 3
    CRASHED = 4


FAULTS = tuple(f.name.lower() for f in Fault if f)
"""Names of the faults, in the order of their numbers from 1 on."""
YES = ("call", "rob", "blind", "show", "double", "raise")
"""What a seat may say yes to before the play: bits of `asked` and `yes`, from the lowest."""
GAME = np.dtype(
    [
        ("scores", "<i8", 3),  # quarter points of each seat
        ("deal", "<i4"),  # public number of the deal
        ("redeals", "<i2"),  # times that the cards were thrown in
        ("landlord", "i1"),  # seat, -1 where the deal was void
        ("winner", "i1"),  # seat that went out, -1 where the deal was void
        ("asked", "u1", 3),  # each seat: a bit for each choice of `YES` that it was asked
        ("yes", "u1", 3),  # each seat: a bit for each of `YES` that it said yes to
        ("bombs", "i1", 3),  # bombs and rockets that each seat played
        ("faults", "u1", 3),  # each seat: Fault, if the trustee took it over
        ("by", "i1", 3),  # each seat: 0 agent A, 1 agent B
        ("spare", "u1", 9),  # fills up to whole words, so that equal games are equal bytes
    ]
)
"""A finished game."""

_BOMBS = ACTIONS["category"] >= Category.BOMB


def layouts(rules: RuleSet) -> np.ndarray:
    """Which agent (0: A, 1: B) sits at each seat in each game of a deal: `int[L, 3]`."""
    if rules.auction == "none":
        return np.array([[0, 1, 1], [1, 0, 0]])
    return np.array([np.roll([k, 1 - k, 1 - k], seat) for k in (0, 1) for seat in range(3)])


def condense(
    states: np.ndarray, rules: RuleSet, sides: np.ndarray, faults: np.ndarray | None = None
) -> np.ndarray:
    """What is kept of final records.

    Args:
        states: `STATE[D, L]`.
        rules: the room.
        sides: `int[D, L, 3]`, 0 where agent A sat, 1 where B did.
        faults: `Fault[D, L, 3]`; none where left out.

    Returns:
        `GAME[D, L]`.
    """
    games = np.zeros(states.shape, GAME)
    for name in ("scores", "deal", "redeals", "landlord", "winner"):
        games[name] = states[name]
    games["by"] = sides
    if faults is not None:
        games["faults"] = faults
    actions, seats = states["history_action"], states["history_seat"]
    raised, bombs = actions == CHOICES["raise"], _BOMBS[actions]
    for k in range(3):
        games["bombs"][..., k] = (bombs & (seats == k)).sum(axis=-1)
    raises = np.stack([(raised & (seats == k)).any(axis=-1) for k in range(3)], axis=-1)
    grabbed = (states["blind"] == 1)[..., None] & (states["caller"][..., None] == np.arange(3))
    shows = (rules.show_before_deal, rules.show_at_6, rules.show_at_12, rules.show_after_bottom)
    answers = {  # choice: (asked, yes); asked counts every deal where a choice comes up anyway
        "call": ((states["calls"] >= 0) & (rules.auction != "none"), states["calls"] > 0),
        "rob": ((states["robs"] >= 0) & rules.rob, states["robs"] == 1),
        "blind": (
            ((states["looked"] == 1) | grabbed) & (rules.auction == "blind"),
            grabbed,
        ),
        "show": (any(shows), states["shows"] > 0),
        "double": (rules.double, states["doubles"] == 1),
        "raise": (rules.raising, raises),
    }
    for bit, name in enumerate(YES):
        asked, yes = answers[name]
        games["asked"] |= np.where(asked, np.uint8(1 << bit), np.uint8(0))
        games["yes"] |= np.where(yes, np.uint8(1 << bit), np.uint8(0))
    return games


def rates(games: np.ndarray, mine: np.ndarray, rules: RuleSet) -> dict[str, float]:
    """How often some seats said yes before the play, and their bombs.

    Args:
        games: `GAME[D, L]`.
        mine: `bool[D, L, 3]`, the seats that count.
        rules: the room.

    Returns:
        shares by choice of the room: `call`, `rob` and `blind` of the times that a seat was asked;
        `show`, `double` and `raise` of the deals in which a seat did so at least once. And `bombs`:
        bombs and rockets of a seat, a game. NaN where it was never asked.
    """
    shows = (rules.show_before_deal, rules.show_at_6, rules.show_at_12, rules.show_after_bottom)
    exists = {
        "call": rules.auction != "none",
        "rob": rules.rob,
        "blind": rules.auction == "blind",
        "show": any(shows),
        "double": rules.double,
        "raise": rules.raising,
    }
    found = {}
    for bit, name in enumerate(YES):
        if exists[name]:
            asked = mine & (games["asked"] >> bit & 1 == 1)
            yes = games["yes"][asked] >> bit & 1
            found[name] = float(yes.mean()) if yes.size else float("nan")
    bombs = games["bombs"][mine]
    return {**found, "bombs": float(bombs.mean()) if bombs.size else float("nan")}


def count_faults(games: np.ndarray, side: int) -> dict[str, int]:
    """Seats of an agent (0: A, 1: B) that the trustee took over, by fault."""
    found = games["faults"][games["by"] == side]
    counts = np.bincount(found, minlength=len(Fault))
    return {name: int(n) for name, n in zip(FAULTS, counts[1:], strict=True)}
