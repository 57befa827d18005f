"""The table of plays: every size with its derivation, fixed ids, texts that read back."""

import hashlib
import random
from collections import Counter
from math import comb

import pytest
from reference_rules import RANKS, parse, sort_cards

from ddz_env import PRESETS, PlayError, action_id, action_text, catalogue_counts, n_actions

FIRST_PLAY = 64
DEFAULT = PRESETS["play_only"]
OPENSPIEL = DEFAULT.replace(
    kicker_adjacent_trio=True, four_with_two_solos=False, four_with_two_pairs=False
)
DOUZERO = DEFAULT.replace(
    kicker_adjacent_trio=True, kicker_four_solos=True, kicker_both_jokers=True
)
PLAYS = [action_text(i) for i in range(FIRST_PLAY, n_actions(DEFAULT))]
ALL_PLAYS = [action_text(i) for i in range(FIRST_PLAY, n_actions(DOUZERO))]


def coefficient(factors, n):
    """The coefficient of x**n in a product of polynomials, each a list of coefficients."""
    product = [1]
    for factor in factors:
        product = [
            sum(product[i - j] * factor[j] for j in range(len(factor)) if 0 <= i - j < len(product))
            for i in range(len(product) + len(factor) - 1)
        ]
    return product[n]


def airplanes_with_solos(n, most=3, beside=2, both_jokers=False):
    """How many airplanes of n trios with n solos there are.

    The choices of kickers are the coefficient of x**n in a product with one factor for each rank
    that may be a kicker: 1 + x + .. + x**most, up to `beside` for a rank that extends the chain;
    the jokers are 1 + 2x together, or (1 + x)**2 where both may be taken.
    """
    total = 0
    for low in range(12 - n + 1):
        high = low + n - 1
        factors = [[1, 2, 1] if both_jokers else [1, 2]]
        for rank in range(13):
            if not low <= rank <= high:
                extends = rank in (low - 1, high + 1) and rank < 12  # the 2 extends nothing
                factors.append([1] * ((beside if extends else most) + 1))
        total += coefficient(factors, n)
    return total


CHAIN_LENGTHS = {"solo_chain": (5, 12), "pair_chain": (3, 10), "airplane": (2, 6)}
DERIVED = {
    "solo": 13 + 2,
    "pair": 13,
    "trio": 13,
    "trio_with_solo": 13 * (12 + 2),
    "trio_with_pair": 13 * 12,
    # Chains of n ranks fit into the 12 ranks 3..A in 13 - n places, up to 20 cards.
    **{
        name: sum(13 - n for n in range(low, high + 1))
        for name, (low, high) in CHAIN_LENGTHS.items()
    },
    "airplane_with_solos": sum(airplanes_with_solos(n) for n in (2, 3, 4, 5)),
    "airplane_with_pairs": sum((13 - n) * comb(13 - n, n) for n in (2, 3, 4)),
    # Two different ones out of 14 ranks, but not both jokers; or two of one of 12 ranks.
    "four_with_two_solos": 13 * (comb(14, 2) - 1 + 12),
    "four_with_two_pairs": 13 * comb(12, 2),
    "bomb": 13,
    "rocket": 1,
}
PUBLISHED = {
    "solo": 15,
    "pair": 13,
    "trio": 13,
    "trio_with_solo": 182,
    "trio_with_pair": 156,
    "solo_chain": 36,
    "pair_chain": 52,
    "airplane": 45,
    "airplane_with_solos": 968 + 3282 + 7184 + 10388,
    "airplane_with_pairs": 605 + 1200 + 1134,
    "four_with_two_solos": 1326,
    "four_with_two_pairs": 858,
    "bomb": 13,
    "rocket": 1,
}


def test_counts():
    assert catalogue_counts() == DERIVED == PUBLISHED
    assert sum(DERIVED.values()) + 1 == 27_472  # with the pass
    assert len(PLAYS) == 27_471


def test_counts_by_length():
    lengths = Counter(parse(play)[:2] for play in PLAYS)
    assert [lengths["airplane_with_solos", n] for n in (2, 3, 4, 5)] == [968, 3282, 7184, 10388]
    assert [airplanes_with_solos(n) for n in (2, 3, 4, 5)] == [968, 3282, 7184, 10388]
    assert [lengths["airplane_with_pairs", n] for n in (2, 3, 4)] == [605, 1200, 1134]
    for name, (low, high) in CHAIN_LENGTHS.items():
        found = [n for category, n in lengths if category == name]
        assert sorted(found) == list(range(low, high + 1))
        assert all(lengths[name, n] == 13 - n for n in found)


def test_texts_are_what_their_place_says():
    """The referee, which knows no ids, reads the same category out of every text."""
    order = list(catalogue_counts())
    keys = [parse(play)[:3] for play in PLAYS]
    assert Counter(category for category, _, _ in keys) == catalogue_counts()
    places = [(order.index(category), length, rank) for category, length, rank in keys]
    assert places == sorted(places)
    assert max(len(parse(play)[3]) for play in ALL_PLAYS) == 20


def test_no_two_plays_have_the_same_cards():
    assert len({parse(play)[3] for play in PLAYS}) == len(PLAYS)


def test_openspiel_reading():
    """26,057 with its pass and three bids: a trio of kickers may extend the chain."""
    solos = [airplanes_with_solos(n, beside=3) for n in (2, 3, 4, 5)]
    assert solos == [968, 3300, 7344, 10976]
    counts = catalogue_counts(OPENSPIEL)
    assert counts["airplane_with_solos"] == sum(solos)
    assert (counts["four_with_two_solos"], counts["four_with_two_pairs"]) == (0, 0)
    assert sum(counts.values()) + 4 == 26_057


def test_douzero_reading():
    """29,985 with the pass; its list holds cards, so that those of two plays count once."""
    assert len(ALL_PLAYS) == len(set(ALL_PLAYS)) == sum(catalogue_counts(DOUZERO).values())
    by_cards = {(category, length, cards) for category, length, _, cards in map(parse, ALL_PLAYS)}
    counts = Counter((category, length) for category, length, _ in by_cards)
    assert [counts["airplane_with_solos", n] for n in (2, 3, 4, 5)] == [979, 3391, 7750, 12211]
    assert counts["four_with_two_solos", 1] == 1339 == 1326 + 13  # both jokers to each four
    assert len({cards for _, _, cards in by_cards}) + 1 == 29_985
    plays = Counter(parse(play)[:2] for play in ALL_PLAYS)
    for n in (2, 3, 4, 5):
        derived = airplanes_with_solos(n, most=4, beside=4, both_jokers=True)
        assert plays["airplane_with_solos", n] == derived


@pytest.mark.parametrize(
    ("changes", "wider"),
    [
        ({"kicker_adjacent_trio": True}, {"beside": 3}),
        ({"kicker_four_solos": True}, {"most": 4}),
        ({"kicker_both_jokers": True}, {"both_jokers": True}),
        ({"kicker_adjacent_trio": True, "kicker_four_solos": True}, {"most": 4, "beside": 4}),
    ],
    ids=str,
)
def test_each_kicker_rule(changes, wider):
    counts = catalogue_counts(DEFAULT.replace(**changes))
    assert counts["airplane_with_solos"] == sum(
        airplanes_with_solos(n, **wider) for n in (2, 3, 4, 5)
    )


@pytest.mark.parametrize(
    ("field", "category"),
    [
        ("trio_with_pair", "trio_with_pair"),
        ("airplane_with_pairs", "airplane_with_pairs"),
        ("four_with_two_solos", "four_with_two_solos"),
        ("four_with_two_pairs", "four_with_two_pairs"),
    ],
)
def test_each_category_that_a_room_may_lack(field, category):
    assert catalogue_counts(DEFAULT.replace(**{field: False})) == {**DERIVED, category: 0}


def test_ids_are_the_same_in_every_room():
    """A mask has the default size unless a kicker rule is wider; ids are never renumbered."""
    assert n_actions("play_only") == n_actions("qq_classic") == 64 + 27_471
    assert n_actions(DEFAULT.replace(trio_with_pair=False)) == 64 + 27_471
    for changes in ("kicker_adjacent_trio", "kicker_four_solos", "kicker_both_jokers"):
        assert n_actions(DEFAULT.replace(**{changes: True})) == n_actions(DOUZERO)
    assert ALL_PLAYS[: len(PLAYS)] == PLAYS


CHOICES = {
    "pass": 0,
    "call_1": 1,
    "call_2": 2,
    "call_3": 3,
    "call": 4,
    "rob": 5,
    "show": 6,
    "blind": 7,
    "look": 8,
    "double": 9,
    "raise": 10,
    "wild_as_3": 11,
    "wild_as_2": 23,
    "wild_done": 24,
    "wait": 25,
}
SPOTS = {
    "3": 64,
    "D": 78,
    "33": 79,
    "333": 92,
    "333+4": 105,
    "34567": 443,
    "XD": 27_534,
}


def test_ids_are_fixed():
    assert {text: action_id(text) for text in {**CHOICES, **SPOTS}} == {**CHOICES, **SPOTS}
    assert digest(PLAYS) == "e797b52744060bd7"
    assert digest(ALL_PLAYS) == "54e9bbd4f3f483ce"


def digest(texts):
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def test_every_id_reads_back():
    texts = [action_text(i) for i in range(26)] + ALL_PLAYS
    ids = [*range(26), *range(FIRST_PLAY, n_actions(DOUZERO))]
    assert [action_id(text) for text in texts] == ids
    assert len(set(texts)) == len(texts)
    for free in (26, 63, n_actions(DOUZERO), -1):
        with pytest.raises(PlayError, match=str(free)):
            action_text(free)


def test_cards_in_any_order():
    rng = random.Random(1)
    for i, text in enumerate(ALL_PLAYS):
        parts = ["".join(rng.sample(part, len(part))) for part in text.split("+")]
        assert action_id("+".join(parts).replace("T", "10")) == FIRST_PLAY + i


def test_a_reading_is_written_down():
    """The same cards are two plays under a wider kicker rule; the text says which."""
    assert sort_cards("444555666777") == sort_cards("555666777444")
    ids = {action_id(t) for t in ("444555666777", "444555666+777", "555666777+444")}
    assert len(ids) == 3
    assert action_id("dx") == action_id("XD") == action_id(" X D ")
    assert RANKS.index("T") == parse(action_text(action_id("10")))[2]


@pytest.mark.parametrize(
    "text",
    [
        *("", "+", "333+", "+4", "3334", "34", "3456", "TJQKA2", "KKAA22", "222333", "33333"),
        *("333+33", "3333+4444", "333444+5", "333+4+5", "333444+667", "XXD", "1", "W", "3*"),
        *("call_4", "PASS3"),
    ],
)
def test_what_is_no_play(text):
    with pytest.raises(PlayError) as error:
        action_id(text)
    assert repr(text) in str(error.value)
