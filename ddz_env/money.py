"""What a deal or an escape costs in beans or coins (rules par. 6): pure functions.

Beans are whole numbers; where a stake in points is no whole number of beans the farmer's part is
rounded down, and a sum that is shared leaves its odd bean to the last of those who share.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple

from ddz_env.cards import BIG_JOKER, SMALL_JOKER, WILD, unpack
from ddz_env.errors import RuleError
from ddz_env.rules import RuleSet, get_rules
from ddz_env.scoring import LIMIT, QUARTERS, stakes

Role = Literal["landlord", "farmer", "any"]
MOST = 10**15
"""The most beans that a seat or a setting can have; sums of them stay exact in any JSON reader."""


def check_whole(name: str, value: Any, low: int, high: int = MOST) -> int:
    """The number itself.

    Raises:
        RuleError: it is not a whole number in the range.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise RuleError(f"{name}: expected a whole number in {low}..{high}, got {value!r}")
    return value


def check_beans(name: str, beans: Any) -> list[int]:
    """The beans of three seats.

    Raises:
        RuleError: not three whole numbers from 0.
    """
    if not isinstance(beans, Sequence) or isinstance(beans, str) or len(beans) != 3:
        raise RuleError(f"{name}: expected whole numbers of three seats, got {beans!r}")
    return [check_whole(f"{name} of seat {seat}", value, 0) for seat, value in enumerate(beans)]


@dataclass(frozen=True)
class Room:
    """What a table is played for. The rules of payment are fields of `RuleSet`.

    Raises:
        RuleError: a field out of its range, by name.
    """

    coefficient: int = 1
    """Beans a point (N)."""
    fee: int = 0
    """Beans that the house takes of each seat after each deal (A), in rooms with a table fee."""
    double_threshold: int = 0
    """Who doubles has to have more beans than this."""
    beans: int = 10_000
    """What each seat starts with, unless the table is given other numbers."""

    def __post_init__(self) -> None:
        for f in fields(self):
            check_whole(f.name, getattr(self, f.name), 1 if f.name == "coefficient" else 0)


class Settlement(NamedTuple):
    """What a deal changes: beans of each seat, in the order in which they were given.

    `before_fee` and the house's part of it (what it adds, or keeps) sum to zero.
    """

    before_fee: list[int]
    after_fee: list[int]
    house: int  # without the fees


def _stakes(
    rules: RuleSet, points: int, landlord_doubles: bool, farmer_doubles: Sequence[bool]
) -> list[float]:
    """What the landlord and each farmer play for, by who doubled, with the room's factor and cap.

    Whole points are whole numbers.
    """
    if len(farmer_doubles) != 2:
        raise RuleError(f"farmer_doubles: expected two values, got {farmer_doubles!r}")
    doubles = [int(own) for own in (landlord_doubles, *farmer_doubles)]
    amounts = [abs(int(a)) for a in stakes(min(points, 3 * LIMIT), *doubles, rules.params())]
    return [a / QUARTERS if a % QUARTERS else a // QUARTERS for a in amounts]


def in_beans(points: float, coefficient: int) -> int:
    """A stake in points, to a quarter point, as whole beans, rounded down."""
    return int(points * QUARTERS) * coefficient // QUARTERS


def share(total: int, parts: Sequence[int]) -> list[int]:
    """Split whole beans in proportion to parts; the sum is exact, no part gets more than its own.

    `total` is at most the sum of the parts.
    """
    left, weight = total, sum(parts)
    out = []
    for part in parts:
        out.append(left * part // weight if weight else 0)
        left -= out[-1]
        weight -= part
    return out


def _share_equally(total: int, parts: Sequence[int]) -> list[int]:
    """Split between two equally, but to none more than his part."""
    first = min(total // 2, parts[0])
    second = min(total - first, parts[1])
    return [total - second, second]


def _landlord_wins(rules: RuleSet, dues: list[int], carried: list[int]) -> tuple[list[int], int]:
    """What each seat gets, landlord first, and the house: the farmers owe `dues`."""
    pays = [min(due, has) for due, has in zip(dues, carried[1:], strict=True)]
    win = sum(dues) if rules.house_covers_short else sum(pays)
    if rules.winner_cap != "none":
        win = min(win, carried[0])
    if rules.winner_cap == "losers_pay_less" and sum(pays) > win:
        pays = share(win, pays)
    return [win, -pays[0], -pays[1]], sum(pays) - win


def _landlord_loses(rules: RuleSet, dues: list[int], carried: list[int]) -> tuple[list[int], int]:
    """What each seat gets, landlord first, and the house: the landlord owes the sum of `dues`."""
    pot = min(sum(dues), carried[0])
    if rules.house_covers_short:
        wins = dues
    elif rules.landlord_short == "equally" and pot < sum(dues):
        wins = _share_equally(pot, dues)
    else:
        wins = share(pot, dues)
    if rules.winner_cap != "none":
        wins = [min(win, has) for win, has in zip(wins, carried[1:], strict=True)]
    pay = min(pot, sum(wins)) if rules.winner_cap == "losers_pay_less" else pot
    return [-pay, *wins], pay - sum(wins)


def settle_scores(
    rules: RuleSet, scores: Sequence[float], landlord: int, room: Room, beans: Sequence[int]
) -> Settlement:
    """What three seats pay and get for a deal's scores, and what is left after the fee.

    Args:
        rules: the room's rules of payment.
        scores: points of each seat, to a quarter, sum 0.
        landlord: his seat, 0..2.
        room: coefficient and fee.
        beans: what each seat carries; nobody pays more.
    """
    order = [landlord, (landlord + 1) % 3, (landlord + 2) % 3]
    carried = [beans[seat] for seat in order]
    dues = [in_beans(abs(scores[seat]), room.coefficient) for seat in order[1:]]
    pay = _landlord_wins if scores[landlord] > 0 else _landlord_loses
    amounts, house = pay(rules, dues, carried)
    before = [0, 0, 0]
    for seat, amount in zip(order, amounts, strict=True):
        before[seat] = amount
    fee = room.fee if rules.table_fee else 0
    after = [amount - min(fee, has + amount) for amount, has in zip(before, beans, strict=True)]
    return Settlement(before, after, house)


def settle(
    rules: str | RuleSet = "qq_classic",
    *,
    points: int,
    landlord_wins: bool,
    room: int = 1,
    fee: int = 0,
    carried: Sequence[int] | None = None,
    landlord_doubles: bool = False,
    farmer_doubles: Sequence[bool] = (False, False),
) -> Settlement:
    """What a deal costs, landlord first, then the farmers after him in playing order.

    Args:
        rules: the room.
        points: base times multiplier.
        landlord_wins: who won.
        room: beans a point.
        fee: what the house takes of each seat, down to 0.
        carried: what each of the three carries; enough for everything unless given.
        landlord_doubles: whether the landlord doubled.
        farmer_doubles: whether each farmer doubled.

    Raises:
        RuleError: an argument out of range, by name.
    """
    check_whole("points", points, 0, 1 << 32)
    check_whole("room", room, 1)
    check_whole("fee", fee, 0)
    beans = check_beans("carried", [MOST] * 3 if carried is None else carried)
    rules = get_rules(rules)
    lord, down, up = _stakes(rules, points, landlord_doubles, farmer_doubles)
    sign = 1 if landlord_wins else -1
    scores = [sign * lord, -sign * down, -sign * up]
    return settle_scores(rules, scores, 0, Room(coefficient=room, fee=fee), beans)


def count_bombs(hand: int, wild: int = -1) -> tuple[int, int, int, int]:
    """The bombs in a packed hand: soft, hard, pure, and rockets.

    Counted in this order: the rocket, natural fours, four wild cards as pure, then the most soft
    bombs that the wild cards left can make, those that need the fewest of them first.

    Args:
        hand: packed hand, wild cards as such.
        wild: rank of the wild cards, 13 where the jokers are wild, -1 without.
    """
    counts = unpack(hand)
    rockets = int(counts[SMALL_JOKER] == counts[BIG_JOKER] == 1)
    hard = sum(n == 4 for n in counts[:13])
    wilds = counts[WILD]
    if wild == SMALL_JOKER and not rockets:
        wilds = counts[SMALL_JOKER] + counts[BIG_JOKER]
    if wilds == 4:
        return 0, hard, 1, rockets
    soft = 0
    for natural in (3, 2, 1):
        for n in counts[:13]:
            if n == natural and wilds >= 4 - n:
                wilds -= 4 - n
                soft += 1
    return soft, hard, 0, rockets


class EscapeCost(NamedTuple):
    """What an escape costs in points; the penalty is what the others and the house get.

    `others` are the two other seats: of a landlord who fled the farmers after him, of a farmer the
    landlord and the partner.
    """

    penalty: float  # what the one who fled pays
    others: tuple[float, float]  # what they get; below zero what they pay
    house: float  # what the house gets


def _lost_deal(rules: RuleSet, escapes: Role, own: float, partner: float) -> EscapeCost:
    """The price of a lost deal, paid to its winners; before there are sides the others win.

    The stakes are those of the two farmers, of the one who flees first.
    """
    both = own + partner
    if escapes != "farmer":
        return EscapeCost(both, (own, partner), 0)
    if rules.escape_partner_pays:
        return EscapeCost(own, (both, -partner), 0)
    return EscapeCost(both, (both, 0), 0)


def escape_cost(
    rules: str | RuleSet = "qq_classic",
    *,
    escapes: Role,
    base: int | None = 1,
    multiplier: int = 1,
    play_multiplier: int = 1,
    landlord_doubles: bool = False,
    farmer_doubles: Sequence[bool] = (False, False),
) -> EscapeCost:
    """What an escape costs in points, by the room's kind of escape.

    Args:
        rules: the room.
        escapes: the role of the one who flees; `"any"` before there is a landlord.
        base: the base, or the highest call so far; None while nobody has called.
        multiplier: the multiplier as it counts in this room's escapes, without doubles.
        play_multiplier: robs, shows, blind grab, raises and bombs, without the room's initial one.
        landlord_doubles: whether the landlord doubled.
        farmer_doubles: whether each farmer doubled; the one who flees comes first.

    Raises:
        RuleError: an argument out of range, by name.
    """
    room = get_rules(rules)
    if escapes not in ("landlord", "farmer", "any"):
        raise RuleError(f"escapes: expected landlord, farmer or any, got {escapes!r}")
    called = base is not None
    base = check_whole("base", base, 1, 3) if called else 1
    check_whole("multiplier", multiplier, 1)
    check_whole("play_multiplier", play_multiplier, 1)
    if room.escape == "times_stake":
        points = base * multiplier * room.escape_times if called else room.escape_uncalled
        return EscapeCost(points, (0, 0), points)
    if room.escape == "by_multiplier":
        low = escapes == "any" or play_multiplier < room.escape_high_from
        if low:
            landlord = escapes == "landlord"
            cost = base * (room.escape_low_landlord if landlord else room.escape_low_farmer)
            return EscapeCost(cost, (0, 0), cost)
        multiplier = room.start_multiplier * play_multiplier
    lord, own, partner = _stakes(room, base * multiplier, landlord_doubles, farmer_doubles)
    if room.escape == "lost_deal":
        return _lost_deal(room, escapes, own, partner)
    if escapes == "landlord":
        cost = lord * room.escape_high_landlord
    else:
        cost = own * room.escape_high_farmer
    return EscapeCost(cost, (0, 0), cost)


def escape_penalty(rules: str | RuleSet = "qq_classic", **arguments: Any) -> float:
    """The points that one who flees pays; the arguments are those of `escape_cost`."""
    return escape_cost(rules, **arguments).penalty


def pay_escape(
    cost: EscapeCost, fled: int, others: Sequence[int], room: Room, beans: Sequence[int]
) -> tuple[list[int], int]:
    """An escape in beans: what each seat gets, and the house.

    Nobody pays more than he has; who gets shares, by points, what was paid.

    Args:
        cost: the points.
        fled: the seat that fled.
        others: the other two, in the order of `cost.others`.
        room: the coefficient.
        beans: what each seat carries.
    """
    points = {fled: -cost.penalty, **dict(zip(others, cost.others, strict=True)), 3: cost.house}
    amounts = [0, 0, 0, 0]
    for seat, value in points.items():
        if value < 0:
            amounts[seat] = -min(in_beans(-value, room.coefficient), beans[seat])
    getters = [seat for seat, value in points.items() if value > 0]
    dues = [in_beans(points[seat], room.coefficient) for seat in getters]
    pot = -sum(amounts)
    for seat, amount in zip(getters, share(pot, dues), strict=True):
        amounts[seat] = amount
    return amounts[:3], amounts[3]
