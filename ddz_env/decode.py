"""Reading an observation back: from the numbers of `ddz-obs-v1` to facts with names."""

from typing import Any

import numpy as np

from ddz_env.cards import RANKS, SMALL_JOKER, pack, to_text
from ddz_env.catalogue import Category
from ddz_env.checks import numbers
from ddz_env.errors import FormatError
from ddz_env.features import OBSERVATION
from ddz_env.state import Phase

_ROLES = ("landlord", "landlord_down", "landlord_up", None)
_SEATS = ("self", "next", "prev", None)
_CARD_FIELDS = (
    "hand", "unseen", "shown_next", "shown_prev", "bottom", "to_beat", "last_next", "last_prev",
    "played_self", "played_next", "played_prev", "declared", "filled",
)  # fmt: skip


def cards_of(ones: np.ndarray) -> int:
    """The packed cards of 58 bits: four for each rank, two jokers, four for wild cards."""
    counts = [*np.asarray(ones[:52]).reshape(13, 4).sum(1), ones[52], ones[53], ones[54:].sum()]
    return pack([rank for rank, n in enumerate(counts) for _ in range(int(n))])


def _which(ones: np.ndarray) -> int | None:
    """The place of the one; None without."""
    return int(ones.argmax()) if ones.any() else None


def _places(ones: np.ndarray) -> list[int]:
    """The place of the one in each row."""
    return [int(row.argmax()) for row in ones]


def _play(parts: dict[str, np.ndarray], prefix: str) -> dict[str, Any] | None:
    """Category, length and rank of a declared play; None without one."""
    category, rank = _which(parts[f"{prefix}category"]), _which(parts[f"{prefix}rank"])
    if not category or rank is None:
        return None
    length = _which(parts[f"{prefix}length"])
    return {"category": Category(category).name.lower(), "length": length, "rank": RANKS[rank]}


def _history(parts: dict[str, np.ndarray]) -> list[tuple[str, str]]:
    """(category or `pass`, cards) of the last decisions of the play, latest first."""
    return [
        (
            Category(int(row.argmax())).name.lower() if row[1:].any() else "pass",
            to_text(cards_of(cards)),
        )
        for cards, row in zip(parts["history"], parts["history_category"], strict=True)
        if row.any()
    ]


def _parts(observation: np.ndarray) -> dict[str, np.ndarray]:
    """The fields of one observation.

    Raises:
        FormatError: it is none.
    """
    row, name = numbers(observation), OBSERVATION.name
    if isinstance(observation, dict):
        raise FormatError(f"{name}: expected one row, got a dictionary: pass its 'observation'")
    if row.shape != (OBSERVATION.size,):
        raise FormatError(f"{name}: expected one row of {OBSERVATION.size}, got {list(row.shape)}")
    if not np.isin(row, (0, 1)).all():
        raise FormatError(f"{name}: expected numbers 0 and 1, got {row[~np.isin(row, (0, 1))][0]}")
    parts = OBSERVATION.split(row)
    if parts["phase"].sum() != 1:
        raise FormatError(f"{name}: expected a row with one phase, got {parts['phase'].sum()}")
    if any(parts[f"count_{who}"].sum() != 1 for who in _SEATS[:3]):
        raise FormatError(f"{name}: expected a row with one number of cards a seat")
    return parts


def decode(observation: np.ndarray) -> dict[str, Any]:
    """The facts of an observation.

    Args:
        observation: `int8[STATE_SIZE]`, `ddz-obs-v1`.

    Returns:
        cards as texts; who is meant as `self`, `next`, `prev` or None; triples in that order:
        `calls` (-1 not asked, 0 pass, 1..3), `robs` (-1, 0, 1), `shows` (0..4), `doubles`,
        `looks`, `counts`, `plays` (2 for more); `to_beat_play` and `declared_play` with category,
        length and rank; `history` as (category, cards), latest first.

    Raises:
        FormatError: no observation: another shape, numbers but 0 and 1, or no phase.
    """
    parts = _parts(observation)
    facts: dict[str, Any] = {name: to_text(cards_of(parts[name])) for name in _CARD_FIELDS}
    facts |= {
        "counts": [_which(parts[f"count_{who}"]) for who in _SEATS[:3]],
        "plays": _places(parts["plays"]),
        "calls": [place - 1 for place in _places(parts["call"])],
        "robs": [place - 1 for place in _places(parts["rob"])],
        "shows": _places(parts["show"]),
        "doubles": _places(parts["double"]),
        "looks": _places(parts["look"]),
        "role": _ROLES[int(parts["role"].argmax())],
        "phase": Phase(int(parts["phase"].argmax())).name.lower(),
        "multiplier": sum(int(bit) << k for k, bit in enumerate(parts["multiplier"])),
        "to_beat_play": _play(parts, ""),
        "declared_play": _play(parts, "declared_"),
        "history": _history(parts),
    }
    for name in ("bombs", "blind", "raises", "base"):
        facts[name] = _which(parts[name])
    for name in ("turn", "trick", "caller", "first", "turned_seat"):
        facts[name] = _SEATS[int(parts[name].argmax())]
    turned, wild = _which(parts["turned"]), _which(parts["wild"])
    facts["turned"] = None if turned is None else RANKS[turned]
    facts["wild"] = None if wild is None else "jokers" if wild == SMALL_JOKER else RANKS[wild]
    return facts
