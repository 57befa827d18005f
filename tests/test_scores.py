"""Scores, settlements and escapes as pure functions: known answers, and what follows of them."""

import inspect
import json
import random
from collections import Counter
from pathlib import Path

import pytest
from seats import CRAZY, LAIDOU, ROOMS

from ddz_env import PRESETS, RuleError, RuleSet
from ddz_env.levels import TITLES, title
from ddz_env.money import (
    Room,
    escape_cost,
    escape_penalty,
    in_beans,
    pay_escape,
    settle,
    settle_scores,
    share,
)
from ddz_env.scoring import deal_scores

LINES = (Path(__file__).parent / "cases" / "scores.jsonl").read_text(encoding="utf-8").splitlines()
CASES = [json.loads(line) for line in LINES]


def kind_of(case):
    for key, kind in (("scores", "score"), ("escapes", "escape"), ("points", "settlement")):
        if key in case:
            return kind
    raise AssertionError(case)


def cases(kind):
    return [case for case in CASES if kind_of(case) == kind]


def arguments(function, case):
    """What of a case is an argument of a function."""
    names = set(inspect.signature(function).parameters) - {"rules"}
    return {key: value for key, value in case.items() if key in names}


def test_every_case_is_run():
    counts = Counter(map(kind_of, CASES))
    assert counts == {"score": 13, "escape": 10, "settlement": 3}


@pytest.mark.parametrize("case", cases("score"), ids=lambda case: case["id"])
def test_scores(case):
    known = {**case, "spring": case.get("spring", case.get("farmers_played") == 0)}
    scores = deal_scores(ROOMS[case["rules"]], **arguments(deal_scores, known))
    assert scores == case["scores"]
    used = {*arguments(deal_scores, case), "id", "rules", "scores", "why", "farmers_played"}
    assert set(case) <= used


@pytest.mark.parametrize("case", cases("escape"), ids=lambda case: case["id"])
def test_escapes(case):
    rules, known = ROOMS[case["rules"]], arguments(escape_cost, case)
    cost = escape_cost(rules, **known)
    assert escape_penalty(rules, **known) == cost.penalty == sum(cost.others) + cost.house
    assert cost.penalty == case.get("penalty", case.get("paid_by_escaper"))
    if "penalty" in case:
        assert (cost.others, cost.house) == ((0, 0), case["penalty"])
    elif case["escapes"] == "farmer":
        assert cost.others == (case["landlord_gets"], case["partner"])
    else:
        assert list(cost.others) == case["farmers_get"]
    keys = {"penalty", "paid_by_escaper", "landlord_gets", "partner", "farmers_get", "why"}
    assert set(case) <= {*known, *keys, "id", "rules"}


@pytest.mark.parametrize("case", cases("settlement"), ids=lambda case: case["id"])
def test_settlements(case):
    paid = settle(ROOMS[case["rules"]], **arguments(settle, case))
    assert paid.house == 0
    assert paid.before_fee == case.get("before_fee", case.get("paid"))
    assert paid.after_fee == case.get("after_fee", case.get("paid"))


# ---------------------------------------------------------------------------------- settlements

HAPPY, LAIZI = PRESETS["happy"], PRESETS["happy_laizi"]
SHORT = [  # what happens, rules, who wins, farmer doubles, carried, before the fee, the house
    ("short loser of a classic room", "qq_classic", True, (0, 0), [0, 5, 99], [11, -5, -6], 0),
    ("a loser without anything", "qq_classic", True, (0, 0), [0, 0, 0], [0, 0, 0], 0),
    ("short winner", "happy", True, (0, 0), [4, 99, 99], [4, -2, -2], 0),
    ("both short", "happy", True, (0, 0), [4, 2, 99], [4, -1, -3], 0),
    ("a short loser's winner is not short", "happy", True, (0, 0), [8, 2, 99], [8, -2, -6], 0),
    ("short winners", "happy", False, (0, 0), [99, 1, 4], [-5, 1, 4], 0),
    ("one short winner", "happy", False, (0, 0), [99, 1, 99], [-7, 1, 6], 0),
    ("short landlord", "qq_classic", False, (0, 0), [7, 0, 0], [-7, 3, 4], 0),
    ("short landlord, a farmer doubled", "happy", False, (1, 0), [9, 99, 99], [-9, 6, 3], 0),
    ("short landlord, short winner", "happy", False, (1, 0), [9, 2, 99], [-5, 2, 3], 0),
    ("doubles, enough", "happy", True, (1, 0), [99, 99, 99], [18, -12, -6], 0),
    ("short landlord, equally", "equally", False, (1, 0), [9, 99, 99], [-9, 4, 5], 0),
    ("equally, no more than due", "equally", False, (1, 0), [17, 99, 99], [-17, 11, 6], 0),
    ("a quarter of the points", "happy_laizi", True, (0, 1), [99, 99, 99], [4, -1, -3], 0),
    ("the house adds", "covered", True, (0, 0), [0, 5, 99], [12, -5, -6], -1),
    ("the house adds for a landlord", "covered", False, (0, 0), [5, 0, 0], [-5, 6, 6], -7),
    ("the house keeps", "kept", True, (0, 0), [4, 99, 99], [4, -6, -6], 8),
    ("the house keeps of a landlord", "kept", False, (0, 0), [99, 1, 99], [-12, 1, 6], 5),
]
CUSTOM = {
    **PRESETS,
    "equally": HAPPY.replace(winner_cap="none", landlord_short="equally"),
    "covered": PRESETS["qq_classic"].replace(house_covers_short=True),
    "kept": HAPPY.replace(winner_cap="house_keeps_rest"),
}


@pytest.mark.parametrize("row", SHORT, ids=lambda row: row[0])
def test_short_seats(row):
    _, rules, wins, doubles, carried, expected, house = row
    paid = settle(
        CUSTOM[rules], points=6, landlord_wins=wins, farmer_doubles=doubles, carried=carried
    )
    assert (paid.before_fee, paid.after_fee, paid.house) == (expected, expected, house)


def test_the_fee_is_taken_after_the_settlement_down_to_zero():
    paid = settle("qq_classic", points=6, landlord_wins=True, fee=4, carried=[0, 6, 8])
    assert (paid.before_fee, paid.after_fee) == ([12, -6, -6], [8, -6, -8])
    broke = settle("qq_classic", points=6, landlord_wins=False, fee=50, carried=[3, 0, 0])
    assert (broke.before_fee, broke.after_fee) == ([-3, 1, 2], [-3, 0, 0])


def test_settlements_add_up():
    """Nobody below zero, nothing lost, no winner above stake or cap, in all rooms of payment."""
    rng = random.Random(4)
    for _ in range(3000):
        rules = RuleSet(
            house_covers_short=rng.random() < 0.3,
            winner_cap=rng.choice(("none", "losers_pay_less", "house_keeps_rest")),
            landlord_short=rng.choice(("by_stakes", "equally")),
            table_fee=rng.random() < 0.8,
        )
        stakes = [rng.randint(1, 400) / 4 for _ in range(2)]
        sign, landlord = rng.choice((-1, 1)), rng.randrange(3)
        scores = [0.0, 0.0, 0.0]
        scores[landlord] = sign * sum(stakes)
        scores[(landlord + 1) % 3], scores[(landlord + 2) % 3] = (-sign * s for s in stakes)
        room = Room(coefficient=rng.choice((1, 3, 1000)), fee=rng.choice((0, 7)))
        beans = [rng.choice((0, rng.randint(0, 50), rng.randint(0, 10**5))) for _ in range(3)]
        paid = settle_scores(rules, scores, landlord, room, beans)
        assert sum(paid.before_fee) + paid.house == 0
        fees = [b - a for a, b in zip(paid.after_fee, paid.before_fee, strict=True)]
        for seat in range(3):
            left = beans[seat] + paid.before_fee[seat]
            assert left >= 0
            assert fees[seat] == (min(left, room.fee) if rules.table_fee else 0)
            due = sum(in_beans(s, room.coefficient) for s in stakes)
            if seat != landlord:
                due = in_beans(abs(scores[seat]), room.coefficient)
            assert abs(paid.before_fee[seat]) <= due
            assert paid.before_fee[seat] * scores[seat] >= 0
            if rules.winner_cap != "none":
                assert paid.before_fee[seat] <= beans[seat]
        if not rules.house_covers_short:
            assert paid.house >= 0 and (paid.house == 0 or rules.winner_cap == "house_keeps_rest")


def test_settlements_do_not_depend_on_seats():
    beans, scores = [5000, 700, 90], [600.0, -400.0, -200.0]
    for landlord in range(3):
        turned = settle_scores(
            HAPPY,
            [scores[(seat - landlord) % 3] for seat in range(3)],
            landlord,
            Room(fee=10),
            [beans[(seat - landlord) % 3] for seat in range(3)],
        )
        assert [turned.after_fee[(seat + landlord) % 3] for seat in range(3)] == [480, -410, -90]


def test_shares():
    assert share(10, [1, 1, 1]) == [3, 3, 4]
    assert share(0, [0, 0]) == [0, 0]
    assert share(7, [0, 7]) == [0, 7]
    assert in_beans(1.25, 3) == 3


# ------------------------------------------------------------------------------------- escapes


@pytest.mark.parametrize(
    ("rules", "arguments", "cost"),
    [
        (HAPPY, {"escapes": "any"}, (10, (0, 0), 10)),
        (HAPPY, {"escapes": "any", "play_multiplier": 40, "base": None}, (10, (0, 0), 10)),
        (HAPPY, {"escapes": "landlord", "play_multiplier": 9}, (20, (0, 0), 20)),
        (HAPPY, {"escapes": "landlord", "play_multiplier": 10}, (80, (0, 0), 80)),
        (
            HAPPY,  # the actual points are those of the seat: 16 * (2 * 2 + 2) * 4
            {"escapes": "landlord", "play_multiplier": 16, "landlord_doubles": True,
             "farmer_doubles": (True, False)},
            (384, (0, 0), 384),
        ),
        (
            HAPPY,
            {"escapes": "farmer", "play_multiplier": 16, "farmer_doubles": (False, True)},
            (32, (0, 0), 32),
        ),
        (
            HAPPY.replace(start_multiplier=3),  # in the points, not in what is compared with ten
            {"escapes": "farmer", "play_multiplier": 10},
            (60, (0, 0), 60),
        ),
        (
            HAPPY.replace(escape_high_from=17),
            {"escapes": "farmer", "play_multiplier": 16},
            (10, (0, 0), 10),
        ),
        (LAIZI, {"escapes": "landlord", "play_multiplier": 9}, (20, (0, 0), 20)),
        (LAIZI, {"escapes": "landlord", "play_multiplier": 10}, (20, (0, 0), 20)),  # 20 / 4 * 4
        (LAIZI, {"escapes": "farmer", "play_multiplier": 11}, (5.5, (0, 0), 5.5)),  # 11 / 4 * 2
        (LAIZI, {"escapes": "landlord", "play_multiplier": 2**16}, (40_000, (0, 0), 40_000)),
        (LAIZI, {"escapes": "farmer", "play_multiplier": 2**16}, (10_000, (0, 0), 10_000)),
        (CRAZY, {"escapes": "farmer", "multiplier": 8}, (16, (0, 0), 16)),
        (LAIDOU, {"escapes": "any", "base": None}, (2, (1, 1), 0)),
        (
            LAIDOU.replace(escape_partner_pays=True),
            {"escapes": "farmer", "base": 3},
            (3, (6, -3), 0),
        ),
        (PRESETS["qq_classic"], {"escapes": "any", "base": 2}, (6, (0, 0), 6)),
    ],
)  # fmt: skip
def test_more_escapes(rules, arguments, cost):
    assert tuple(escape_cost(rules, **arguments)) == cost


def test_escapes_in_beans():
    room = Room(coefficient=10)
    fled = escape_cost(LAIDOU, escapes="landlord", base=3)
    assert pay_escape(fled, 1, (2, 0), room, [0, 100, 0]) == ([30, -60, 30], 0)
    assert pay_escape(fled, 1, (2, 0), room, [0, 25, 0]) == ([13, -25, 12], 0)
    partner = escape_cost(
        LAIDOU.replace(escape_partner_pays=True), escapes="farmer", base=3, farmer_doubles=(1, 0)
    )
    assert pay_escape(partner, 0, (2, 1), room, [100, 10, 0]) == ([-60, -10, 70], 0)
    house = escape_cost(HAPPY, escapes="any")
    assert pay_escape(house, 2, (0, 1), room, [0, 0, 70]) == ([0, 0, -70], 70)


# -------------------------------------------------------------------------------------- titles

POINTS = """
包身工 below 10, 短工 10, 长工 25, 佃户 40, 贫农 80, 渔夫 140, 猎人 230, 中农 365,
富农 500, 掌柜 700, 商人 1000, 衙役 1500, 小财主 2200, 大财主 3000, 小地主 4000,
大地主 5500, 知县 7700, 通判 10000, 知府 14000, 总督 20000, 巡抚 30000, 丞相 45000,
帝王 70000
"""
BEANS = """
包身工 below 100, 短工 100, 长工 200, 佃户 400, 贫农 600, 渔夫 800, 猎人 1000,
中农 2000, 富农 4000, 掌柜 6000, 商人 10000, 衙役 20000, 小财主 50000, 大财主 100000,
小地主 200000, 大地主 500000, 知县 1000000, 通判 2000000, 知府 5000000, 总督 10000000,
巡抚 20000000, 丞相 50000000, 帝王 100000000
"""


@pytest.mark.parametrize(("levels", "page"), [("points", POINTS), ("beans", BEANS)])
def test_titles(levels, page):
    rows = [row.split() for row in page.split(",")]
    assert len(rows) == len(TITLES) == 23
    before = rows[0][0]
    for level, row in enumerate(rows[1:], start=1):
        value = int(row[1])
        assert title(value, levels)[:2] == (level, row[0])
        assert title(value - 0.25, levels)[:2] == (level - 1, before)
        before = row[0]
    assert title(-5, levels).chinese == title(0, levels).chinese == "包身工"
    assert title(10**12, levels).english == "Emperor"
    names = [name.english for name in TITLES]
    assert len(set(names)) == 23 and all(name.isascii() for name in names)


# ----------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: title("many"), "value.*many"),
        (lambda: title(float("nan")), "value.*nan"),
        (lambda: title(3, "money"), "levels.*money"),
        (lambda: Room(coefficient=0), "coefficient.*0"),
        (lambda: Room(fee=-1), "fee.*-1"),
        (lambda: Room(beans=1.5), "beans.*1.5"),
        (lambda: Room(double_threshold=True), "double_threshold.*True"),
        (lambda: settle(points=-1, landlord_wins=True), "points.*-1"),
        (lambda: settle(points=1, landlord_wins=True, room=0), "room.*0"),
        (lambda: settle(points=1, landlord_wins=True, carried=[1, 2]), "carried"),
        (lambda: settle(points=1, landlord_wins=True, carried=[1, 2, -3]), "carried of seat 2"),
        (lambda: settle("no room", points=1, landlord_wins=True), "no room"),
        (lambda: settle(points=1, landlord_wins=True, farmer_doubles=[1]), "farmer_doubles"),
        (lambda: escape_cost(escapes="partner"), "escapes.*partner"),
        (lambda: escape_cost(escapes="any", base=0), "base.*0"),
        (lambda: escape_cost(escapes="any", multiplier=0.5), "multiplier.*0.5"),
        (lambda: escape_cost("happy", escapes="any", play_multiplier=None), "play_multiplier"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(RuleError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
