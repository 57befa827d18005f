"""Wild cards: the kernels' plays of single positions against the brute force of the tests."""

import dataclasses
import random
from collections import Counter

import pytest
from reference_wild import (
    WILD_ROOMS,
    all_wild_plays,
    beats_wild,
    canonical,
    catalogue,
    count_wilds,
    declaration,
    legal_wild_plays,
    parse_wild,
)
from test_reference_wild import ANSWERS, DECISIONS, load
from wild_hands import ROOMS, draw_wild, same_shape, some_wild_play, two_wild_hands, wild_position

import ddz_env
from ddz_env import PRESETS, DdzError

RULES = {**PRESETS, "laidou_jokers": PRESETS["laidou"].replace(wild="jokers")}
# Every field of wild cards the other way, and together with other kickers.
OTHER = {
    "any solo kicker": ("happy_laizi", {"wild_solo_kicker_any": True}),
    "any solo kicker, red sevens": ("laidou", {"wild_solo_kicker_any": True}),
    "any solo kicker, jokers": ("laidou_jokers", {"wild_solo_kicker_any": True}),
    "no pair kicker": ("happy_laizi", {"wild_pair_kicker": False}),
    "no pair kicker, red sevens": ("laidou", {"wild_pair_kicker": False}),
    "no pair kicker, jokers": ("laidou_jokers", {"wild_pair_kicker": False}),
    "pair kicker": ("crazy_laizi", {"wild_pair_kicker": True}),
    "a wild and three": ("crazy_laizi", {"soft_bomb_naturals": 3}),
    "two wilds and two": ("happy_laizi", {"soft_bomb_naturals": 2}),
    "a wild and three, by rank": ("laidou", {"soft_bomb_naturals": 3}),
    "bombs by rank": ("happy_laizi", {"bomb_order": "rank"}),
    "bombs by class": ("laidou", {"bomb_order": "class"}),
    "jokers, bombs by class": ("laidou_jokers", {"bomb_order": "class"}),
    "big joker first": ("laidou_jokers", {"joker_spent": "big"}),
    "red sevens": ("happy_laizi", {"wild": "red_sevens"}),
    "jokers": ("crazy_laizi", {"wild": "jokers"}),
    "a rank": ("laidou", {"wild": "rank"}),
    "wide kickers": (
        "happy_laizi",
        {"kicker_adjacent_trio": True, "kicker_four_solos": True, "kicker_both_jokers": True},
    ),
    "wide kickers, jokers": (
        "laidou_jokers",
        {"kicker_adjacent_trio": True, "kicker_four_solos": True, "kicker_both_jokers": True},
    ),
    "wide kickers, any rank": (
        "laidou",
        {"kicker_adjacent_trio": True, "kicker_four_solos": True, "wild_solo_kicker_any": True},
    ),
    "few plays": ("crazy_laizi", {"trio_with_pair": False, "four_with_two_pairs": False}),
}
SCORE_FIELDS = {
    "soft_bomb_multiplier",
    "bomb_multiplier",
    "pure_bomb_multiplier",
    "rocket_multiplier",
    "score_quarters",
    "cap",
    "cap_scales",
}  # taken the other way in test_wild_games.py


def test_rooms_are_the_reference_rooms():
    for name, room in WILD_ROOMS.items():
        fields = dataclasses.asdict(PRESETS[name])
        assert {field: fields[field] for field in room} == room


def test_every_wild_field_is_taken_the_other_way():
    changed = {field for _, changes in OTHER.values() for field in changes}
    new = set(WILD_ROOMS["happy_laizi"]) - set(dataclasses.asdict(PRESETS["play_only"]))
    assert not new
    wild = {field for field in WILD_ROOMS["laidou"] if "wild" in field or "bomb" in field}
    assert wild | {"joker_spent"} <= changed | SCORE_FIELDS


PLAYS = load("plays")


@pytest.mark.parametrize("case", PLAYS, ids=lambda case: case["id"])
def test_cases(case):
    assert len(PLAYS) == 29
    where = case["hand"], case["last"]
    legal = ddz_env.legal_plays(*where, rules=case["rules"], wild=case["wild"])
    assert len(legal) == len(set(legal))
    assert {canonical(play) for play in case["legal"]} <= set(legal)
    assert not {canonical(play) for play in case["illegal"]} & set(legal)
    if "exactly" in case:
        assert sorted(legal) == sorted(canonical(play) for play in case["exactly"])
    for word, plays in (("legal: ", case["legal"]), ("illegal: ", case["illegal"])):
        for play in plays:
            verdict = ddz_env.explain(*where, play, case["rules"], case["wild"])
            assert verdict.startswith(word), play


@pytest.mark.parametrize(("room", "hand", "wild", "legal", "illegal"), ANSWERS)
def test_answers(room, hand, wild, legal, illegal):
    name = next(name for name, other in WILD_ROOMS.items() if other is room)
    rules = RULES["laidou_jokers" if wild == "jokers" else name]
    plays = ddz_env.legal_plays(hand, None, rules, wild)
    assert set(legal.split()) <= set(plays) and not set(illegal.split()) & set(plays)
    for play in legal.split():
        assert ddz_env.explain(hand, None, play, rules, wild).startswith("legal: ")
    for play in illegal.split():
        assert ddz_env.explain(hand, None, play, rules, wild).startswith("illegal: ")


@pytest.mark.parametrize("row", DECISIONS, ids=lambda row: row[0])
def test_decisions(row):
    _, room, changes, hand, wild, only_here, only_there = row
    name = next(name for name, other in WILD_ROOMS.items() if other is room)
    here = set(ddz_env.legal_plays(hand, None, name, wild))
    there = set(ddz_env.legal_plays(hand, None, PRESETS[name].replace(**changes), wild))
    assert (only_here in here - there) == (only_here is not None)
    assert (only_there in there - here) == (only_there is not None)


def check_positions(seed, number, name, changes=()):
    """Compare so many positions, half of them leads; counts of what was in them."""
    rng = random.Random(seed)
    room = {**ROOMS[name], **dict(changes)}
    rules = RULES[name].replace(**dict(changes)) if changes else RULES[name]
    seen = Counter()
    for i in range(number):
        hand, last, wild = wild_position(rng, room, lead=i % 2 == 0)
        ours = ddz_env.legal_plays(hand, last, rules=rules, wild=wild)
        assert len(ours) == len(set(ours)), (hand, last, wild)
        assert sorted(ours) == legal_wild_plays(hand, last, room, wild), (hand, last, wild)
        seen["wilds", count_wilds(hand, wild)] += 1
        seen["plays"] += len(ours)
        if last is not None:
            seen["answered", parse_wild(last)[0]] += any(same_shape(play, last) for play in ours)
    return seen


def check_variety(seen, name):
    """Each number of wilds, and many types of last plays that a like play answered."""
    for wilds in range(3 if "laidou" in name else 5):
        assert seen["wilds", wilds] >= 50
    answered = [key for key, count in seen.items() if key[0] == "answered" and count]
    assert len(answered) >= 10, answered


@pytest.mark.parametrize("name", ROOMS)
def test_positions(name):
    check_variety(check_positions(1, 400, name), name)


@pytest.mark.parametrize("name", OTHER)
def test_positions_of_custom_rooms(name):
    room, changes = OTHER[name]
    check_positions(2, 60, room, changes)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", ROOMS)
def test_many_positions(name, seed):
    """20,000 hands in all; laidou's with red sevens and with jokers wild."""
    check_variety(check_positions(100 + seed, 500, name), name)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHER)
def test_many_positions_of_custom_rooms(name):
    room, changes = OTHER[name]
    check_positions(3, 1_000, room, changes)


def check_big_hands(seed, number, name):
    """Hands of 17 to 20 cards, leading and following, against the slow referee."""
    rng = random.Random(seed)
    room, rules = ROOMS[name], RULES[name]
    most = 0
    for i in range(number):
        wild = draw_wild(rng, room)
        wilds = i % (3 if "laidou" in name else 5)
        hand, other = two_wild_hands(rng, wild, rng.randint(17, 20), wilds)
        for last in (None, some_wild_play(rng, other, room, wild)):
            ours = ddz_env.legal_plays(hand, last, rules=rules, wild=wild)
            assert len(ours) == len(set(ours)), (hand, last, wild)
            assert sorted(ours) == legal_wild_plays(hand, last, room, wild), (hand, last, wild)
            most = max(most, len(ours))
    return most


@pytest.mark.parametrize("name", ROOMS)
def test_big_hands(name):
    assert check_big_hands(1, 5, name) > 200


@pytest.mark.slow
@pytest.mark.parametrize("name", ROOMS)
def test_many_big_hands(name):
    assert check_big_hands(2, 125, name) > 800


def wrong_plays(rng, hand, last, room, wild, number):
    """Plays that might be meant: of a richer hand, other fillings, other declarations."""
    more = two_wild_hands(rng, wild, 10, 2)[0]
    plays = all_wild_plays(more, room, wild) + all_wild_plays(hand, room, wild)
    plays += rng.sample(sorted(catalogue(room)), number)
    plays += [declaration(play) for play in plays]
    return rng.sample(plays, min(number, len(plays)))


def check_explanations(seed, number, name):
    rng = random.Random(seed)
    room, rules = ROOMS[name], RULES[name]
    verdicts = Counter()
    for i in range(number):
        hand, last, wild = wild_position(rng, room, lead=i % 2 == 0)
        legal = set(legal_wild_plays(hand, last, room, wild))
        some = rng.sample(sorted(legal), min(20, len(legal)))
        for play in [*some, *wrong_plays(rng, hand, last, room, wild, 40)]:
            verdict = ddz_env.explain(hand, last, play, rules, wild)
            word, colon, reason = verdict.partition(": ")
            wanted = "legal" if play in legal else "illegal"
            assert (word, colon) == (wanted, ": ") and reason, (hand, last, play, wild)
            verdicts[wanted] += 1
    assert min(verdicts["legal"], verdicts["illegal"]) > 5 * number


@pytest.mark.parametrize("name", ROOMS)
def test_explain_agrees_with_the_list(name):
    check_explanations(1, 40, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROOMS)
def test_explain_agrees_with_the_list_at_length(name):
    check_explanations(2, 1_000, name)


def test_too_weak_bombs_are_no_replies():
    """A declared bomb that only some fillings make strong enough: the others are not listed."""
    rng, checked = random.Random(4), Counter()
    for name in ("happy_laizi", "crazy_laizi"):
        for _ in range(300):
            hand, _ = two_wild_hands(rng, "9", 8, rng.randint(1, 4))
            bombs = [
                p for p in all_wild_plays(hand, ROOMS[name], "9") if parse_wild(p)[0] == "bomb"
            ]
            for last in ("3333*", "7777", "KKK*K*", "9*9*9*9*"):
                ours = ddz_env.legal_plays(hand, last, name, "9")
                wanted = [bomb for bomb in bombs if beats_wild(bomb, last, ROOMS[name])]
                assert {play for play in ours if play in bombs} == set(wanted)
                both = {declaration(b) for b in wanted} & {
                    declaration(b) for b in bombs if b not in wanted
                }
                checked["split"] += bool(both)
    assert checked["split"] > 10


@pytest.mark.parametrize(
    ("hand", "last", "rules", "wild", "named"),
    [
        ("777", None, "happy_laizi", "7", "7"),
        ("345W", None, "play_only", None, "W"),
        ("345W", None, "laidou_jokers", "jokers", "W"),
        ("3WWWWW", None, "happy_laizi", "7", "W"),
        ("3WWW", None, "laidou", "red7", "W"),
        ("777", None, "laidou", "red7", "7"),
        ("33W", "X*", "happy_laizi", "7", "X*"),
        ("33W", "33333*", "happy_laizi", "7", "33333"),
        ("33W", None, "happy_laizi", "X", "X"),
        ("33W", None, "happy_laizi", "red7", "red7"),
        ("33W", None, "happy_laizi", None, "wild"),
        ("33", None, "qq_classic", "7", "7"),
    ],
)
def test_bad_positions(hand, last, rules, wild, named):
    with pytest.raises(DdzError, match=named.replace("*", r"\*")):
        ddz_env.legal_plays(hand, last, RULES[rules], wild)
