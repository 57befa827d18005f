"""The referee of wild cards against the known answers, and against a second brute force."""

import json
import random
from collections import Counter
from itertools import combinations_with_replacement, product
from pathlib import Path

import pytest
from reference_rules import ROOMS as PLAIN_ROOMS
from reference_rules import all_plays, legal_plays, parse
from reference_wild import (
    DECK,
    NATURAL,
    WILD_ROOMS,
    all_wild_plays,
    beats_wild,
    bomb_class,
    canonical,
    cards_of,
    cards_taken,
    declaration,
    legal_wild_plays,
    may_play,
    parse_wild,
)
from wild_hands import ROOMS, draw_wild, two_wild_hands, wild_position

CASES = Path(__file__).parent / "cases"
HAPPY, CRAZY, LAIDOU = (WILD_ROOMS[name] for name in ("happy_laizi", "crazy_laizi", "laidou"))


def load(name):
    """The cases of a file that are for the rooms with wild cards."""
    lines = (CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [case for case in map(json.loads, lines) if case["rules"] in WILD_ROOMS]


PLAYS = load("plays")


def test_number_of_play_cases():
    counts = Counter(case["rules"] for case in PLAYS)
    assert counts == {"happy_laizi": 20, "crazy_laizi": 5, "laidou": 4}


@pytest.mark.parametrize("case", PLAYS, ids=lambda case: case["id"])
def test_plays(case):
    hand, last, room, wild = case["hand"], case["last"], WILD_ROOMS[case["rules"]], case["wild"]
    legal = legal_wild_plays(hand, last, room, wild)
    assert legal == sorted(set(legal))
    assert {canonical(play) for play in case["legal"]} <= set(legal)
    assert not {canonical(play) for play in case["illegal"]} & set(legal)
    if "exactly" in case:
        assert legal == sorted(canonical(play) for play in case["exactly"])
    assert not [play for play in case["illegal"] if is_play(hand, last, play, room, wild)]


def is_play(hand, last, play, room, wild):
    try:
        return may_play(canonical(play), hand, last, room, wild)
    except ValueError:
        return False


# The last paragraph of §4, and the sentences above its table: hand, wild, legal, illegal.
ANSWERS = [
    (HAPPY, "44556W", "7", "445566*", ""),
    (HAPPY, "WW", "7", "7* 7*7*", "3*3*"),
    (HAPPY, "333W", "5", "3333*", ""),
    (HAPPY, "77WW", "5", "777*7*", ""),
    (CRAZY, "89JQW", "4", "89T*JQ", ""),
    (CRAZY, "55677W", "4", "5566*77", ""),
    (CRAZY, "66777W", "4", "666*777", ""),
    (CRAZY, "7778836W", "4", "777888*+36", ""),
    (HAPPY, "WWWW", "5", "5* 5*5* 5*5*5* 5*5*5*5*", "3*3*3*3*"),
    (HAPPY, "7777", "6", "7777", ""),
    (HAPPY, "WWW5", "8", "8*8*8*+5", "9*9*9*+5"),
    (HAPPY, "5689W", "7", "567*89", ""),
    (HAPPY, "34567W", "9", "34567 3*4567 34*567 345*67 3456*7 34567*", ""),
    (HAPPY, "33334W", "9", "3333 3333* 333*+4 333+9* 3333+49*", "33333*"),
    (HAPPY, "3333WW", "9", "3333* 333*3* 3333+9*9*", "33333*"),
    (HAPPY, "33445WW", "9", "334455* 333*+4 333*444*", "333*444*+59*"),
    (HAPPY, "3WWW", "9", "33*3*3* 33*3* 33* 9*9*9*+3", "3*3*3*"),
    (HAPPY, "333444WW", "5", "333444+5*5* 333+5*", "333444+6*6*"),
    (HAPPY, "333WW", "4", "333+4*4*", ""),
    # A kicker's rank is no rank of the main part.
    (HAPPY, "5888WWWW", "9", "8889*9*9* 888+9*", "8889*9*9*+59*"),
    (HAPPY, "XDWW", "2", "XD X D 2* 2*2*", "XX* 2*+X"),
    (HAPPY, "KKAAWW", "5", "KKK*K* KKK*AAA*", "KKAA2*2*"),
    (LAIDOU, "77WW", "red7", "7 7* 77 77* 7*7* 777* 77*7* 777*7*", "77*7*7*"),
    (LAIDOU, "33344477WW", "red7", "333444+77* 333+77* 333+7*7* 333+7*", "333+66*"),
    (LAIDOU, "3377WW", "red7", "333*3*+77 77*7*+33", "3377+77"),
    (LAIDOU, "33XD", "jokers", "33* 333* 33*3* 333*3* 333*+D XD X D", "333*+X 33+XD 3*3* X* XX"),
    (LAIDOU, "33X", "jokers", "333* 33*", "333*+X"),
    (LAIDOU, "33D", "jokers", "333* 33*", "333*+D"),
    (LAIDOU, "333XD", "jokers", "333+X 333+D 3333* 333*3*", "333+XD 3333*+XD"),
    (LAIDOU, "4456XD", "jokers", "444*4* 444*+D 444*+66*", "4445*+6"),
]


@pytest.mark.parametrize(("room", "hand", "wild", "legal", "illegal"), ANSWERS)
def test_answers(room, hand, wild, legal, illegal):
    plays = all_wild_plays(hand, room, wild)
    assert len(plays) == len(set(plays))
    assert set(legal.split()) <= set(plays)
    assert not set(illegal.split()) & set(plays)
    for play in plays:
        assert canonical(play) == play and may_play(play, hand, None, room, wild)
    for play in illegal.split():
        assert not is_play(hand, None, play, room, wild)


# Each row of §4's table, both sides of each decision: (row, room, changes, hand, wild, a play that
# only the room has, a play that only the changed room has).
DECISIONS = [
    ("solo kicker", HAPPY, {"wild_solo_kicker_any": True}, "333W", "5", None, "333+6*"),
    ("solo kicker", CRAZY, {"wild_solo_kicker_any": True}, "333444KW", "5", None, "333444+KA*"),
    ("solo kicker", LAIDOU, {"wild_solo_kicker_any": True}, "333W", "red7", None, "333+6*"),
    ("pair kicker", HAPPY, {"wild_pair_kicker": False}, "3336W", "4", "333+66*", None),
    ("pair kicker", CRAZY, {"wild_pair_kicker": True}, "3336W", "4", None, "333+66*"),
    ("pair kicker", LAIDOU, {"wild_pair_kicker": False}, "3336W", "red7", "333+66*", None),
    ("soft bomb", HAPPY, {"soft_bomb_naturals": 3}, "77WW", "5", "777*7*", None),
    ("soft bomb", CRAZY, {"soft_bomb_naturals": 2}, "7WWW", "5", "77*7*7*", None),
]


@pytest.mark.parametrize("row", DECISIONS, ids=lambda row: row[0])
def test_decisions(row):
    _, room, changes, hand, wild, only_here, only_there = row
    here = set(all_wild_plays(hand, room, wild))
    there = set(all_wild_plays(hand, {**room, **changes}, wild))
    assert (only_here in here - there) == (only_here is not None)
    assert (only_there in there - here) == (only_there is not None)
    assert len(DECISIONS) == 8


def test_wilds_of_their_own_rank_are_kickers_in_every_room():
    plays = all_wild_plays("333WW", CRAZY, "4")
    assert {"333+4*4*", "333+4*"} <= set(plays) and "333+5*5*" not in plays
    # A natural seven and a wild one: the wild is no other rank than its own.
    assert "333+77*" in all_wild_plays("3337W", {**LAIDOU, "wild_pair_kicker": False}, "red7")


def test_which_joker_is_spent_first():
    """Decided for the small one; a play that needs it for something else isn't there."""
    other = {**LAIDOU, "joker_spent": "big"}
    assert "333*+D" in all_wild_plays("33XD", LAIDOU, "jokers")
    assert "333*+X" in all_wild_plays("33XD", other, "jokers")
    assert "333*+D" not in all_wild_plays("33XD", other, "jokers")
    assert cards_taken("333*", "jokers", "33XD") == "33X"
    assert cards_taken("333*", "jokers", "33XD", spent="big") == "33D"
    assert cards_taken("333*+D", "jokers", "33XD") == "33XD"
    assert cards_taken("333*", "jokers", "33D") == "33D"
    assert cards_taken("333*3*", "jokers", "33XD") == "33XD"
    assert cards_taken("XD", "jokers", "33XD") == "XD"


def test_cards_taken():
    assert cards_taken("445566*", "7") == "44556W"
    assert cards_taken("777*7*", "red7") == "77WW"
    assert cards_taken("333444+7*X", "7") == "333444XW"
    assert cards_taken("pass", "7") == ""


BOMBS = ["3333*", "2222*", "222*2*", "3333", "2222", "5*5*5*5*", "XD"]  # soft, hard, pure, rocket


def test_order_of_bombs():
    by_class = {(a, b) for a in BOMBS for b in BOMBS if beats_wild(a, b, HAPPY)}
    ranks = [0, 1, 1, 2, 3, 4, 5]  # 2222* and 222*2* are equal
    places = dict(zip(BOMBS, ranks, strict=True))
    assert by_class == {(a, b) for a in BOMBS for b in BOMBS if places[a] > places[b]}
    by_rank = {(a, b) for a in BOMBS for b in BOMBS if beats_wild(a, b, LAIDOU)}
    places = dict(zip(BOMBS, [0, 2, 2, 0, 2, 1, 3], strict=True))
    assert by_rank == {(a, b) for a in BOMBS for b in BOMBS if places[a] > places[b]}
    for bomb in BOMBS:
        assert (
            bomb_class(bomb)
            == ["soft", "hard", "pure", "rocket"][
                0 if bomb in BOMBS[:3] else 1 if bomb in BOMBS[3:5] else BOMBS.index(bomb) - 3
            ]
        )
        assert beats_wild(bomb, "AAAA*+QQKK", HAPPY) and not beats_wild("KK*", bomb, HAPPY)


def test_a_made_play_is_worth_a_natural_one():
    for room in WILD_ROOMS.values():
        assert not beats_wild("KK*", "KK", room) and not beats_wild("KK", "KK*", room)
        assert beats_wild("AA*", "KK", room) and beats_wild("4*5678", "34567", room)
        assert not beats_wild("4444*+56", "4444+89", room)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "3**",
        "3*3",
        "W",
        "X*",
        "D*X",
        "JQKA2*",
        "33333*",
        "333+",
        "7*77",
        "333+5*4",
        "44*5",
    ],
)
def test_no_plays(text):
    with pytest.raises(ValueError):
        parse_wild(text)


def test_parse_and_canonical():
    assert parse_wild("445566*") == ("pair_chain", 3, 3, "445566", "6")
    assert parse_wild("777888*+35*")[3:] == ("35777888", "58")
    assert canonical("7*77") == "777*" and canonical("777888*+63") == "777888*+36"
    assert declaration("445566*") == "445566"


@pytest.mark.parametrize(
    ("hand", "wild"),
    [("77", "7"), ("777", "red7"), ("W", "jokers"), ("WWWWW", "7"), ("XX", "7"), ("3", "X")],
)
def test_no_hands(hand, wild):
    with pytest.raises(ValueError):
        all_wild_plays(hand, HAPPY, wild)


# A second brute force, which gives each wild card a rank and lists the plain plays of the result.


def assignments(hand, wild):
    """(natural cards, how many wilds stand for each rank) of every way to give wilds a rank."""
    if wild != "jokers":
        for ranks in combinations_with_replacement(NATURAL, hand.count("W")):
            yield hand.replace("W", ""), Counter(ranks)
        return
    rest = hand.replace("X", "").replace("D", "")
    for ranks in product(*[NATURAL + joker for joker in "XD" if joker in hand]):
        natural = rest + "".join(rank for rank in ranks if rank in "XD")
        if not ("X" in ranks and set(ranks) & set(NATURAL)):  # the small one is spent first
            yield natural, Counter(rank for rank in ranks if rank in NATURAL)


def starred(text, natural, wilds):
    """Every way to make a plain play of these natural cards and of wilds for these ranks."""
    cards = text.replace("+", "")
    ranks = sorted(set(cards))
    options = []
    for rank in ranks:
        n = cards.count(rank)
        options.append(range(max(0, n - natural.count(rank)), min(n, wilds[rank]) + 1))
    for stars in product(*options):
        written = text
        for rank, n in zip(ranks, stars, strict=True):
            copies = cards.count(rank)
            written = written.replace(rank * copies, rank * (copies - n) + (rank + "*") * n)
        yield written


def parts_hold(text, room, wild):
    """§4: what parts may be made of wilds, looked at card by card."""
    own = None if wild == "jokers" else wild[-1]
    main, *kickers = [cards_of(part) for part in text.split("+")]
    kickers = kickers[0] if kickers else []
    if all("*" in card for card in main) and {card[0] for card in main} != {own}:
        return False
    if parse(declaration(text))[0].endswith(("pair", "pairs")) and kickers:
        pairs = [kickers[i : i + 2] for i in range(0, len(kickers), 2)]
    else:
        pairs = [[card, card] for card in kickers]
    for one, two in pairs:
        completed = "*" not in one and "*" in two and room["wild_pair_kicker"]
        if "*" in two and two[0] != own and not completed:
            return False
    return True


def literal(hand, room, wild):
    """Every whole play of a hand, by trying every rank for every wild."""
    found = set()
    for natural, wilds in assignments(hand, wild):
        for text in all_plays(natural + "".join(wilds.elements()), room):
            found.update(starred(text, natural, wilds))
    return sorted(text for text in found if parts_hold(text, room, wild))


def check_literal(seed, name, number, most_wilds, size):
    rng = random.Random(seed)
    counts = Counter()
    for i in range(number):
        wild = draw_wild(rng, ROOMS[name])
        wilds = i % (most_wilds + 1)
        hand, _ = two_wild_hands(rng, wild, rng.randint(max(wilds, 1), size), wilds)
        plays = all_wild_plays(hand, ROOMS[name], wild)
        assert sorted(plays) == literal(hand, ROOMS[name], wild), (hand, wild)
        counts[wilds] += 1
    assert sum(counts.values()) == number and len(counts) == most_wilds + 1


@pytest.mark.parametrize("name", ROOMS)
def test_second_brute_force(name):
    check_literal(1, name, 60, 2, 9)


def test_second_brute_force_with_four_wilds():
    check_literal(2, "happy_laizi", 12, 4, 7)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROOMS)
def test_second_brute_force_at_length(name):
    check_literal(3, name, 1_000, 2, 10)
    check_literal(4, name, 60, 2 if "laidou" in name else 4, 8)


@pytest.mark.parametrize("name", ROOMS)
def test_following_is_what_beats_out_of_leading(name):
    rng = random.Random(5)
    room, answered = ROOMS[name], 0
    for _ in range(100):
        hand, last, wild = wild_position(rng, room, lead=False)
        legal = legal_wild_plays(hand, last, room, wild)
        beating = [p for p in all_wild_plays(hand, room, wild) if beats_wild(p, last, room)]
        assert legal == sorted(["pass", *beating])
        assert all(may_play(play, hand, last, room, wild) for play in legal)
        answered += len(legal) > 1
        for play in beating:
            taken, held = cards_taken(play, wild, hand), Counter(hand)
            assert not Counter(taken) - held
    assert answered > 30


def test_without_wilds_it_is_the_plain_list():
    rng = random.Random(6)
    for _ in range(30):
        hand = "".join(rng.sample(DECK.replace("7", ""), 12))
        plain = legal_plays(hand, None, PLAIN_ROOMS["play_only"])
        assert legal_wild_plays(hand, None, HAPPY, "7") == plain
