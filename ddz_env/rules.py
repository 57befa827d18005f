"""Rule sets: every room is a value; every decision that a page leaves open is a field.

Sources are the sections of the project's rules (docs/rules.md); *(decided)* marks a choice where
the published pages are silent, which a custom room may take the other way.
"""

from dataclasses import dataclass, fields
from dataclasses import replace as dataclass_replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args, get_type_hints

from ddz_env.errors import RuleError

Auction = Literal["none", "points"]
FirstCaller = Literal["seat", "rotates"]
AllPass = Literal["redeal", "first_bidder"]


class Params(NamedTuple):
    """What kernels get of a rule set: integers only, so that all rooms share compiled code."""

    categories: int  # bit c: plays of category c exist in this room
    kickers: int  # bits of `catalogue.Kicker`: which of the wider kicker rules hold
    auction: int  # 0 none, 1 points
    all_pass_bidder: int  # 1: the first bidder is landlord at 1 point when all pass
    max_redeals: int  # redeals after which the deal is void
    spring: int  # multiplier of a spring, 1 where the room has none
    bomb: int  # multiplier of each bomb or rocket played
    start_multiplier: int


@dataclass(frozen=True)
class RuleSet:
    """The rules of one room. Immutable and hashable; `replace` makes a custom room.

    Raises:
        RuleError: a field out of its range, by name.
    """

    name: str = "custom"
    # plays (rules par. 2)
    trio_with_pair: bool = True
    """Whether a trio may carry a pair; jj_classic has none."""
    airplane_with_pairs: bool = True
    """Whether an airplane may carry pairs (decided for jj_classic)."""
    four_with_two_solos: bool = True
    """Whether four of a kind may carry two solos; OpenSpiel has none."""
    four_with_two_pairs: bool = True
    """Whether four of a kind may carry two pairs; jj_classic has none."""
    kicker_adjacent_trio: bool = False
    """Whether a trio among solo kickers may extend the chain (decided: no)."""
    kicker_four_solos: bool = False
    """Whether solo kickers may repeat a rank four times (decided: no)."""
    kicker_both_jokers: bool = False
    """Whether both jokers may be kickers together (decided: no)."""
    # before the play (rules par. 3)
    auction: Auction = "none"
    """How the landlord is found: `none` (seat 0) or `points` (1, 2, 3)."""
    first_caller: FirstCaller = "seat"
    """Who calls first: `rotates` is drawn for the first deal, then the next seat each deal."""
    all_pass: AllPass = "redeal"
    """What happens when nobody calls."""
    max_redeals: int = 50
    """Redeals after which a deal is void (decided)."""
    # score (rules par. 5)
    spring: bool = True
    """Whether a spring doubles."""
    bomb_multiplier: int = 2
    """What each bomb or rocket played multiplies with."""
    start_multiplier: int = 1
    """What the multiplier starts at."""

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for field in fields(self):
            _check_field(field.name, getattr(self, field.name), hints[field.name])
        for name, low, high in (
            ("max_redeals", 0, 1000),
            ("bomb_multiplier", 1, 16),
            ("start_multiplier", 1, 1000),
        ):
            if not low <= getattr(self, name) <= high:
                raise RuleError(f"{name}: expected {low}..{high}, got {getattr(self, name)}")

    def replace(self, **changes: Any) -> "RuleSet":
        """A copy with other values; its name becomes `custom` unless one is given.

        Raises:
            RuleError: an unknown field, or a value out of range.
        """
        known = {field.name for field in fields(self)}
        for name in changes:
            if name not in known:
                names = ", ".join(sorted(known))
                raise RuleError(f"unknown rule {name!r}; expected one of {names}")
        return dataclass_replace(self, **{"name": "custom", **changes})

    def params(self) -> Params:
        """The integers that kernels get."""
        categories = sum(1 << c for c in range(1, 15))
        for allowed, category in (
            (self.trio_with_pair, 5),
            (self.airplane_with_pairs, 10),
            (self.four_with_two_solos, 11),
            (self.four_with_two_pairs, 12),
        ):
            if not allowed:
                categories &= ~(1 << category)
        return Params(
            categories=categories,
            kickers=self.kicker_adjacent_trio
            + 2 * self.kicker_four_solos
            + 4 * self.kicker_both_jokers,
            auction=get_args(Auction).index(self.auction),
            all_pass_bidder=int(self.all_pass == "first_bidder"),
            max_redeals=self.max_redeals,
            spring=2 if self.spring else 1,
            bomb=self.bomb_multiplier,
            start_multiplier=self.start_multiplier,
        )


def _check_field(name: str, value: Any, hint: Any) -> None:
    """Raise a `RuleError` unless the value is of the field's type."""
    options = get_args(hint)
    if options:
        if value not in options:
            raise RuleError(f"{name}: expected one of {', '.join(options)}, got {value!r}")
    elif hint is bool and not isinstance(value, bool):
        raise RuleError(f"{name}: expected true or false, got {value!r}")
    elif hint is int and (isinstance(value, bool) or not isinstance(value, int)):
        raise RuleError(f"{name}: expected a whole number, got {value!r}")
    elif hint is str and not (isinstance(value, str) and value and value.isprintable()):
        raise RuleError(f"{name}: expected a text of one line, got {value!r}")


PRESETS: MappingProxyType[str, RuleSet] = MappingProxyType(
    {
        rules.name: rules
        for rules in (
            RuleSet("play_only", spring=False),
            RuleSet("qq_classic", auction="points", first_caller="rotates"),
        )
    }
)
"""The rooms by name."""


def get_rules(rules: "str | RuleSet") -> RuleSet:
    """A rule set from a preset's name or itself.

    Raises:
        RuleError: no such room.
    """
    if isinstance(rules, RuleSet):
        return rules
    if not isinstance(rules, str) or rules not in PRESETS:
        raise RuleError(f"unknown room {rules!r}; expected one of {', '.join(PRESETS)}")
    return PRESETS[rules]
