"""Rule sets: every room is a value; every decision that a page leaves open is a field.

A field's source is a section of docs/rules.md; *(decided)* marks a choice where the published pages
are silent or contradict themselves, which a custom room may take the other way.
"""

from dataclasses import dataclass, field, fields
from dataclasses import replace as dataclass_replace
from difflib import get_close_matches
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, cast, get_args, get_type_hints

import numpy as np

from ddz_env._jit import records
from ddz_env.checks import brief
from ddz_env.errors import RuleError
from ddz_env.params import PARAMS, Params

Auction = Literal["none", "points", "call", "blind"]
FirstCaller = Literal["drawn", "rotates", "turned_card"]
AllPass = Literal["redeal", "first_bidder"]
Combine = Literal["largest", "product"]
ShowTie = Literal["from_first_caller", "from_seat_0"]
Shower = Literal["landlord", "everybody"]
LookThen = Literal["call_at_once", "call_after_all"]
CallerRobs = Literal["if_robbed", "always"]
Wild = Literal["none", "rank", "red_sevens", "jokers"]
BombOrder = Literal["class", "rank"]
JokerSpent = Literal["small", "big"]
RaiseOrder = Literal["farmer_after_landlord", "farmer_before_landlord"]
WinnerCap = Literal["none", "losers_pay_less", "house_keeps_rest"]
LandlordShort = Literal["by_stakes", "equally"]
Escape = Literal["times_stake", "by_multiplier", "actual", "lost_deal"]
EscapeBombs = Literal["all_dealt", "not_broken"]
Levels = Literal["points", "beans"]
AutoPlay = Literal["trustee", "greedy", "random"]


def _rule(default: Any, doc: str, source: str, low: int = 0, high: int = 0) -> Any:
    """A field with what it means, where it comes from, and its range if it is a number."""
    return field(default=default, metadata={"doc": doc, "source": source, "range": (low, high)})


@dataclass(frozen=True)
class RuleSet:
    """The rules of one room. Immutable and hashable; `replace` makes a custom room.

    What each field means stands beside it, and in the table of docs/rules.md.

    Raises:
        RuleError: a field out of its range, by name.
    """

    name: str = _rule("custom", "the room's name", "7")
    # plays
    trio_with_pair: bool = _rule(True, "a trio may carry a pair", "2; 7")
    airplane_with_pairs: bool = _rule(True, "an airplane may carry pairs", "2; decided in jj")
    four_with_two_solos: bool = _rule(True, "four of a kind may carry two solos", "2")
    four_with_two_pairs: bool = _rule(True, "four of a kind may carry two pairs", "2; 7")
    kicker_adjacent_trio: bool = _rule(
        False, "a trio among solo kickers may extend the chain", "2, decided"
    )
    kicker_four_solos: bool = _rule(
        False, "solo kickers may repeat a rank four times", "2, decided"
    )
    kicker_both_jokers: bool = _rule(False, "both jokers may be kickers of one play", "2, decided")
    # who is landlord
    auction: Auction = _rule(
        "none", "how the landlord is found; none: seat 0 is", "3; decided in jj_classic"
    )
    first_caller: FirstCaller = _rule(
        "drawn",
        "who calls first: drawn each deal, drawn once and then the next seat each deal, or the "
        "holder of a card turned face up",
        "3; decided in happy and happy_blind",
    )
    redeal_rotates: bool = _rule(
        False, "where the first caller rotates, a redeal moves it on too", "3, decided"
    )
    turned_card_public: bool = _rule(
        True, "rank and holder of the turned card are public", "3, decided"
    )
    all_pass: AllPass = _rule(
        "redeal", "when nobody calls: deal anew, or the first bidder is landlord at 1 point", "3"
    )
    max_redeals: int = _rule(50, "redeals after which a deal is void", "decided", 0, 1000)
    rob: bool = _rule(False, "a called landlord may be robbed", "3; 7")
    caller_robs: CallerRobs = _rule(
        "if_robbed", "when the caller is asked to rob, as the last", "3, decided"
    )
    look_then: LookThen = _rule(
        "call_at_once",
        "who looks instead of grabbing blind calls at once, or after all have looked",
        "3, decided",
    )
    # shows, as multipliers; 0 means that nobody is asked then
    show_before_deal: int = _rule(0, "multiplier of a show before the deal, 0: none", "3; 5", 0, 16)
    show_at_6: int = _rule(0, "multiplier of a show at the first moment, 0: none", "3; 5", 0, 16)
    show_at_12: int = _rule(0, "multiplier of a show at the second moment, 0: none", "3; 5", 0, 16)
    show_after_bottom: int = _rule(
        0, "multiplier of a show after the bottom cards, 0: none", "3; 5", 0, 16
    )
    show_cards_1: int = _rule(6, "cards dealt at the first moment", "3, decided", 1, 16)
    show_cards_2: int = _rule(12, "cards dealt at the second moment", "3, decided", 1, 16)
    shows_combine: Combine = _rule(
        "largest", "of several shows the largest counts, or their product", "5"
    )
    show_tie: ShowTie = _rule(
        "from_first_caller",
        "of several who showed at one moment, who is the first",
        "3, decided",
    )
    shower: Shower = _rule("landlord", "who may show after the bottom cards", "3, decided")
    # stakes before the play
    double: bool = _rule(False, "everybody may double", "3; 7, decided in happy_blind")
    raising: bool = _rule(False, "the sides may raise", "3; 7")
    raise_order: RaiseOrder = _rule(
        "farmer_after_landlord", "which farmer is asked first to raise", "3, decided"
    )
    # score
    start_multiplier: int = _rule(1, "what the multiplier starts at", "5", 1, 1000)
    rob_multiplier: int = _rule(2, "what each rob multiplies with", "5", 1, 16)
    blind_multiplier: int = _rule(2, "what a blind grab multiplies with", "5", 1, 16)
    raise_multiplier: int = _rule(2, "what each raise multiplies with", "5", 1, 16)
    soft_bomb_multiplier: int = _rule(2, "what each soft bomb multiplies with", "4", 1, 16)
    bomb_multiplier: int = _rule(
        2, "what each bomb of four natural cards multiplies with", "5; 4", 1, 16
    )
    pure_bomb_multiplier: int = _rule(2, "what four wild cards multiply with", "4", 1, 16)
    rocket_multiplier: int = _rule(
        2, "what the rocket multiplies with", "5; 4, decided in crazy_laizi", 1, 16
    )
    spring: bool = _rule(True, "a spring doubles", "5; decided in jj_classic and crazy_laizi")
    score_quarters: int = _rule(4, "quarters of a point that a point counts", "5", 1, 400)
    cap: int = _rule(0, "most points of a seat in a deal, 0: no limit", "5", 0, 1_000_000_000)
    cap_scales: bool = _rule(
        True,
        "where a seat exceeds the cap all three scores shrink alike; else each is cut by itself",
        "5, decided",
    )
    # wild cards
    wild: Wild = _rule(
        "none",
        "which cards are wild: none, the four of a rank drawn when there is a landlord, the red "
        "sevens, or the jokers",
        "4; decided in happy_laizi and laidou",
    )
    wild_solo_kicker_any: bool = _rule(
        False, "a wild as a solo kicker may stand for any rank, not only its own", "4, decided"
    )
    wild_pair_kicker: bool = _rule(
        True, "a wild may complete a pair kicker", "4; decided in happy_laizi and laidou"
    )
    soft_bomb_naturals: int = _rule(
        1, "natural cards that a soft bomb needs", "4; decided in crazy_laizi", 1, 3
    )
    bomb_order: BombOrder = _rule(
        "class", "bombs rank by class (soft, hard, pure) and then rank, or by rank alone", "4"
    )
    joker_spent: JokerSpent = _rule(
        "small", "where jokers are wild, the one that is spent first as a wild", "4, decided"
    )
    # what a deal costs at a table of beans or coins
    table_fee: bool = _rule(True, "the house takes its fee of every seat after a deal", "6")
    house_covers_short: bool = _rule(
        False, "winners get all that they won, the house adds what losers lack", "6, decided"
    )
    winner_cap: WinnerCap = _rule(
        "none",
        "whether a winner wins at most what he carries, and who then has the rest",
        "6; decided in happy and happy_blind",
    )
    landlord_short: LandlordShort = _rule(
        "by_stakes", "how the farmers share what a landlord pays who is short", "6"
    )
    # escapes
    escape: Escape = _rule(
        "times_stake",
        "what an escape costs: a multiple of base and multiplier; by the play multiplier; a "
        "multiple of the seat's actual points; the lost deal, paid to the winners",
        "6; decided in play_only and jj_classic",
    )
    escape_times: int = _rule(
        3, "times_stake: what base and multiplier are multiplied with", "6", 1, 1000
    )
    escape_uncalled: int = _rule(3, "times_stake: points before anybody has called", "6", 0, 1000)
    escape_high_from: int = _rule(
        10, "by_multiplier: play multiplier from which actual points count", "6, decided", 1, 10_000
    )
    escape_low_landlord: int = _rule(
        20, "by_multiplier: bases that a landlord pays below it", "6", 0, 1000
    )
    escape_low_farmer: int = _rule(
        10, "by_multiplier: bases that a farmer pays below it, or anybody before the landlord", "6",
        0, 1000,
    )  # fmt: skip
    escape_high_landlord: int = _rule(
        4, "by_multiplier, actual: what a landlord's points are multiplied with", "6", 1, 1000
    )
    escape_high_farmer: int = _rule(
        2, "by_multiplier, actual: what a farmer's points are multiplied with", "6", 1, 1000
    )
    escape_bombs: EscapeBombs = _rule(
        "all_dealt",
        "by_multiplier, actual: the bombs that count: all dealt, or those not played in parts",
        "6; decided in happy and happy_blind",
    )
    escape_partner_pays: bool = _rule(
        False, "lost_deal: the partner of a farmer who fled pays his own stake", "6, decided"
    )
    # levels and auto-play
    levels: Levels = _rule("points", "what the titles count, and so which table of levels", "6")
    autoplay: AutoPlay = _rule(
        "trustee", "the bot that plays for who is on auto-play", "6, decided"
    )

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for f in fields(self):
            _check_field(f.name, getattr(self, f.name), hints[f.name], f.metadata["range"])
        if self.show_cards_1 >= self.show_cards_2:
            raise RuleError(
                f"show_cards_1: expected less than show_cards_2, {self.show_cards_2}, got "
                f"{self.show_cards_1}"
            )
        if self.rob and self.auction != "call":
            raise RuleError("rob: expected auction 'call', got " + repr(self.auction))

    def replace(self, **changes: Any) -> "RuleSet":
        """A copy with other values; its name becomes `custom` unless one is given.

        Raises:
            RuleError: an unknown field, or a value out of range.
        """
        known = sorted(f.name for f in fields(self))
        for name in changes:
            if name not in known:
                near = ", ".join(get_close_matches(name, known, cutoff=0.0))
                raise RuleError(f"unknown rule {name!r}; the nearest are {near}")
        return dataclass_replace(self, **{"name": "custom", **changes})

    def params(self) -> Params:
        """The integers that kernels get; nobody changes them."""
        return _params(self)

    def rooms(self) -> np.ndarray:
        """The same as an array of one, `PARAMS[1]`, which kernels take faster from Python."""
        return _rooms(self)

    def _integers(self) -> dict[str, int]:
        """Each field of `Params` by name."""
        categories = sum(1 << c for c in range(1, 15))
        for allowed, category in (
            (self.trio_with_pair, 5),
            (self.airplane_with_pairs, 10),
            (self.four_with_two_solos, 11),
            (self.four_with_two_pairs, 12),
        ):
            if not allowed:
                categories &= ~(1 << category)
        kickers = self.kicker_adjacent_trio + 2 * self.kicker_four_solos
        special = {
            "categories": categories,
            "kickers": kickers + 4 * self.kicker_both_jokers,
            "soft_bomb": self.soft_bomb_multiplier,
            "bomb": self.bomb_multiplier,
            "pure_bomb": self.pure_bomb_multiplier,
            "rocket": self.rocket_multiplier,
            "spring": 2 if self.spring else 1,
        }
        hints = get_type_hints(type(self))
        plain = {}
        for name in Params._fields:
            if name not in special:
                value, words = getattr(self, name), get_args(hints[name])
                plain[name] = words.index(value) if words else int(value)
        return special | plain


@lru_cache(maxsize=256)
def _params(rules: RuleSet) -> Params:
    """The record that kernels get, made once for equal rules."""
    return cast(Params, rules.rooms().view(np.recarray)[0])


@lru_cache(maxsize=256)
def _rooms(rules: RuleSet) -> np.ndarray:
    """The array of one record that kernels get."""
    rooms = records(PARAMS, 1)
    for name, value in rules._integers().items():
        rooms[name] = value
    return rooms


def _check_field(name: str, value: Any, hint: Any, bounds: tuple[int, int]) -> None:
    """Raise a `RuleError` unless the value is of the field's type and in its range."""
    options = get_args(hint)
    if options:
        if value not in options:
            raise RuleError(f"{name}: expected one of {', '.join(options)}, got {value!r}")
    elif hint is bool and not isinstance(value, bool):
        raise RuleError(f"{name}: expected true or false, got {value!r}")
    elif hint is int:
        low, high = bounds
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise RuleError(f"{name}: expected a whole number in {low}..{high}, got {value!r}")
    elif hint is str and not (isinstance(value, str) and value and value.isprintable()):
        raise RuleError(f"{name}: expected a text of one line, got {value!r}")


_HAPPY_SHOWS: dict[str, Any] = {
    "show_before_deal": 5, "show_at_6": 4, "show_at_12": 3, "show_after_bottom": 2,
}  # fmt: skip
_HAPPY_TABLE: dict[str, Any] = {
    "winner_cap": "losers_pay_less", "escape": "by_multiplier", "levels": "beans",
}  # fmt: skip

PRESETS: MappingProxyType[str, RuleSet] = MappingProxyType(
    {
        rules.name: rules
        for rules in (
            RuleSet("play_only", spring=False),
            RuleSet("qq_classic", auction="points", first_caller="rotates"),
            RuleSet(
                "jj_classic",
                auction="points",
                first_caller="turned_card",
                trio_with_pair=False,
                four_with_two_pairs=False,
            ),
            RuleSet("happy", auction="call", rob=True, double=True, **_HAPPY_SHOWS, **_HAPPY_TABLE),
            RuleSet(
                "happy_blind", auction="blind", show_after_bottom=2, raising=True, **_HAPPY_TABLE
            ),
            RuleSet(
                "happy_laizi",
                auction="call",
                rob=True,
                double=True,
                wild="rank",
                bomb_multiplier=4,
                pure_bomb_multiplier=4,
                rocket_multiplier=4,
                score_quarters=1,
                cap=10_000,
                **_HAPPY_SHOWS,
                **_HAPPY_TABLE,
            ),
            RuleSet(
                "crazy_laizi",
                auction="call",
                rob=True,
                show_before_deal=4,
                show_after_bottom=2,
                shows_combine="product",
                wild="rank",
                wild_pair_kicker=False,
                spring=False,
                table_fee=False,
                landlord_short="equally",
                escape="actual",
            ),
            RuleSet(
                "laidou",
                auction="points",
                first_caller="rotates",
                all_pass="first_bidder",
                wild="red_sevens",
                bomb_order="rank",
                escape="lost_deal",
            ),
        )
    }
)
"""The rooms by name."""


def check_room(name: str, rules: RuleSet, wanted: RuleSet) -> None:
    """Raise a `RuleError` unless two rooms are the same; it says in which fields they differ."""
    if rules == wanted:
        return
    names = [f.name for f in fields(RuleSet) if getattr(rules, f.name) != getattr(wanted, f.name)]
    rooms = f"of room {rules.name}, expected {wanted.name}"
    raise RuleError(f"{name}: {rooms}: they differ in {', '.join(names)}")


def get_rules(rules: "str | RuleSet") -> RuleSet:
    """A rule set from a preset's name or itself.

    Raises:
        RuleError: no such room.
    """
    if isinstance(rules, RuleSet):
        return rules
    if not isinstance(rules, str) or rules not in PRESETS:
        hint = ": read the file with ddz_env.load_rules" if str(rules).endswith(".toml") else ""
        names = ", ".join(PRESETS)
        raise RuleError(f"unknown room {brief(rules)}; expected one of {names}{hint}")
    return PRESETS[rules]
