"""The referee against the known answers: the cases and the published catalogue counts."""

import json
from collections import Counter
from pathlib import Path

import pytest
from reference_rules import RANKS, ROOMS, all_plays, legal_plays, parse, sort_cards

CASES = Path(__file__).parent / "cases"
DECK = "".join(rank * 4 for rank in RANKS[:13]) + "XD"
LONGEST = 20  # the landlord's hand
OPENSPIEL = {
    **ROOMS["play_only"],
    "kicker_adjacent_trio": True,
    "four_with_two_solos": False,
    "four_with_two_pairs": False,
}
DOUZERO = {
    **ROOMS["play_only"],
    "kicker_adjacent_trio": True,
    "kicker_four_solos": True,
    "kicker_both_jokers": True,
}


def load(name, rooms):
    """The cases of a file that are for one of these rooms."""
    lines = (CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [case for case in map(json.loads, lines) if case["rules"] in rooms]


def canonical(text):
    """A case's text in the referee's order of cards."""
    return text if text == "pass" else "+".join(sort_cards(part) for part in text.split("+"))


def catalogue(room):
    """Every play of at most a landlord's hand: text -> parsed play."""
    plays = [play for play in all_plays(DECK, room) if len(play.replace("+", "")) <= LONGEST]
    assert len(plays) == len(set(plays))
    return {play: parse(play) for play in plays}


def with_kickers(plays):
    """Counts of airplanes with solos of 2..5 trios, and of four with two solos."""
    counts = Counter(play[:2] for play in plays)
    return [counts["airplane_with_solos", n] for n in (2, 3, 4, 5)], counts[
        "four_with_two_solos", 1
    ]


PLAYS = load("plays", ("play_only", "jj_classic"))


def test_number_of_play_cases():
    assert len(PLAYS) == 33


@pytest.mark.parametrize("case", PLAYS, ids=lambda case: case["id"])
def test_plays(case):
    legal = legal_plays(case["hand"], case["last"], ROOMS[case["rules"]])
    assert legal == sorted(set(legal))
    assert {canonical(play) for play in case["legal"]} <= set(legal)
    assert not {canonical(play) for play in case["illegal"]} & set(legal)
    if "exactly" in case:
        assert legal == sorted(canonical(play) for play in case["exactly"])
    for play in set(legal) - {"pass"}:
        cards = parse(play)[3]
        assert all(cards.count(card) <= case["hand"].count(card) for card in cards)


def test_default_catalogue():
    plays = catalogue(ROOMS["play_only"])
    assert len(plays) == 27_471
    counts = Counter(play[0] for play in plays.values())
    assert counts == {
        "solo": 15,
        "pair": 13,
        "trio": 13,
        "bomb": 13,
        "rocket": 1,
        "solo_chain": 36,
        "pair_chain": 52,
        "airplane": 45,
        "trio_with_solo": 182,
        "trio_with_pair": 156,
        "airplane_with_solos": 968 + 3282 + 7184 + 10388,
        "airplane_with_pairs": 605 + 1200 + 1134,
        "four_with_two_solos": 1326,
        "four_with_two_pairs": 858,
    }
    assert with_kickers(plays.values()) == ([968, 3282, 7184, 10388], 1326)


def test_default_cards_identify_the_play():
    """Under the default kicker rule no two plays have the same cards."""
    plays = catalogue(ROOMS["play_only"])
    assert len({cards for *_, cards in plays.values()}) == len(plays)


def test_openspiel_catalogue():
    """26,057 with its pass and three bids; 383 sets of cards are two or three plays."""
    plays = catalogue(OPENSPIEL)
    assert len(plays) + 4 == 26_057
    assert with_kickers(plays.values()) == ([968, 3300, 7344, 10976], 0)
    assert sum(n > 1 for n in Counter(cards for *_, cards in plays.values()).values()) == 383


def test_douzero_catalogue():
    """29,985 with the pass; counted by cards, which is how that list is made."""
    plays = catalogue(DOUZERO)
    assert len({cards for *_, cards in plays.values()}) + 1 == 29_985
    by_cards = {(category, length, cards) for category, length, _, cards in plays.values()}
    assert with_kickers(by_cards) == ([979, 3391, 7750, 12211], 1339)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", ("solo", 1, 0, "3")),
        ("DX", None),
        ("XD", ("rocket", 1, 14, "XD")),
        ("333444+55", ("airplane_with_solos", 2, 1, "33344455")),
        ("333444+5566", ("airplane_with_pairs", 2, 1, "3334445566")),
        ("44556677", ("pair_chain", 4, 4, "44556677")),
        ("444555666777", ("airplane", 4, 4, "444555666777")),
        ("444555666+777", ("airplane_with_solos", 3, 3, "444555666777")),
        ("555666777+444", ("airplane_with_solos", 3, 4, "444555666777")),
        ("3333+44", ("four_with_two_solos", 1, 0, "333344")),
        ("3333+4455", ("four_with_two_pairs", 1, 0, "33334455")),
        ("3333+4444", None),
        ("333+45", None),
        ("TJQKA2", None),
        ("KKAA22", None),
        ("3334", None),
        ("333+", None),
        ("", None),
        ("pass", None),
        ("33333", None),
    ],
)
def test_parse(text, expected):
    if expected is None:
        with pytest.raises(ValueError):
            parse(text)
    else:
        assert parse(text) == expected
