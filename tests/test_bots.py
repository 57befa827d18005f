"""The players that come with the environment, and the count of plays to go that `greedy` uses."""

import random
from functools import lru_cache

import numpy as np
import pytest
from deals import DECK, two_hands
from reference_rules import ROOMS, all_plays
from scipy.stats import chisquare
from tables import CATEGORY, NEED, alone, many_positions, position, positions, row_of

from ddz_env import DdzError, VecEnv
from ddz_env.bots import BOTS, GreedyBot, RandomBot, make_bot
from ddz_env.cards import from_text, unpack
from ddz_env.catalogue import TEXTS, Category
from ddz_env.decompose import FAST, THOROUGH, plays_to_go
from ddz_env.state import Phase
from ddz_env.vector import Legal

MOST_UNLIKELY = 1e-3  # all seeds are fixed: a test that passes keeps passing


def choice_text(bot, **place):
    views, legal = position(**place)
    return TEXTS[bot.act(views, legal)[0]]


def repeated(views, legal, n):
    """One position n times, in deals 0..n-1."""
    many = np.repeat(views, n)
    many["deal"] = np.arange(n)
    size = len(legal.ids)
    return many, Legal(np.arange(n + 1) * size, np.tile(legal.ids, n))


# -------------------------------------------------------------------------------------- random


@pytest.mark.parametrize("hand", ["33", "3456789", "334455667789TTJQ"])
def test_random_is_uniform(hand):
    views, legal = position(hand)
    size = len(legal.ids)
    draws = 200 * size
    many, lists = repeated(views, legal, draws)
    chosen = np.searchsorted(legal.ids, RandomBot(4).act(many, lists))
    counts = np.bincount(chosen, minlength=size)
    assert len(counts) == size and chisquare(counts).pvalue > MOST_UNLIKELY


@pytest.mark.parametrize("what", ["n_history", "seat", "redeals"])
def test_random_decisions_of_a_deal_are_unrelated(what):
    views, legal = position("3456")  # four solos
    many, lists = repeated(views, legal, 4000)
    first = RandomBot().act(many, lists)
    many[what] += 1
    second = RandomBot().act(many, lists)
    pairs = np.searchsorted(legal.ids, first) * 4 + np.searchsorted(legal.ids, second)
    assert chisquare(np.bincount(pairs, minlength=16)).pvalue > MOST_UNLIKELY


@pytest.mark.parametrize("rules", ["play_only", "qq_classic"])
@pytest.mark.parametrize("name", sorted(BOTS))
def test_a_row_does_not_see_its_neighbours(name, rules):
    views, legal = positions(rules, num_envs=150)
    bot = make_bot(name)
    chosen = bot.act(views, legal)
    assert np.array_equal(chosen, alone(bot, views, legal))
    order = np.random.default_rng(0).permutation(len(views))
    assert np.array_equal(bot.act(views[order], legal.take(order)), chosen[order])
    assert all(chosen[i] in row_of(legal, i) for i in range(len(views)))


def test_random_seeds():
    views, legal = positions()
    assert np.array_equal(RandomBot(5).act(views, legal), RandomBot(5).act(views, legal))
    assert not np.array_equal(RandomBot(5).act(views, legal), RandomBot(6).act(views, legal))


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "1", True, None])
def test_random_refuses_what_is_no_seed(seed):
    with pytest.raises(DdzError, match="seed"):
        RandomBot(seed)


def test_unknown_bot():
    with pytest.raises(DdzError, match=r"nobody.*greedy"):
        make_bot("nobody")


# -------------------------------------------------------------------------------------- greedy


@pytest.fixture(scope="module")
def seen():
    """Positions of card play in which somebody has a choice, with greedy's choices."""
    views, legal = many_positions(num_envs=400, stops=(3, *range(20, 100, 8)))
    rows = np.flatnonzero(np.diff(legal.offsets) > 1)
    views, legal = views[rows], legal.take(rows)
    return views, legal, GreedyBot().act(views, legal)


def partners_play(view):
    """Whether the play to beat is the partner's."""
    return view["last_seat"] >= 0 and view["landlord"] not in (view["seat"], view["last_seat"])


def test_greedy_goes_out_when_it_can(seen):
    views, legal, chosen = seen
    cases = 0
    for i, view in enumerate(views):
        if any(NEED[a] == view["hand"] for a in row_of(legal, i)):
            assert NEED[chosen[i]] == view["hand"]
            cases += 1
    assert cases >= 30


def test_greedy_beats_its_partner_only_to_go_out(seen):
    views, _, chosen = seen
    cases = 0
    for view, action in zip(views, chosen, strict=True):
        if partners_play(view):
            assert action == 0 or NEED[action] == view["hand"]
            cases += action == 0
    assert cases >= 100


def test_greedy_keeps_its_bombs(seen):
    """A bomb that leaves two plays or more is played only where all else leaves far more."""
    views, legal, chosen = seen
    held = 0
    for i, view in enumerate(views):
        ids = row_of(legal, i)
        others = [a for a in ids if CATEGORY[a] < Category.BOMB]
        if len(others) == len(ids) or partners_play(view):
            continue
        held += 1
        if CATEGORY[chosen[i]] >= Category.BOMB:
            left = plays_to_go(view["hand"] - NEED[chosen[i]], THOROUGH)
            least = min((plays_to_go(view["hand"] - NEED[a], THOROUGH) for a in others), default=99)
            assert left <= 1 or left < least
    assert held >= 30


@pytest.mark.parametrize(
    ("place", "text"),
    [
        # Follow with what costs nothing.
        ({"hand": "33336", "last": "5"}, "6"),
        ({"hand": "55559JK2", "last": "8"}, "9"),
        # A bomb waits: passing keeps two singles and the bomb.
        ({"hand": "333345", "last": "A"}, "pass"),
        ({"hand": "4567XD88", "last": "99"}, "pass"),
        # What is left after the bomb goes out at once.
        ({"hand": "333399", "last": "A"}, "3333"),
        ({"hand": "34567XD", "last": "22"}, "XD"),
        # The long play first, the low one of two.
        ({"hand": "34567KK"}, "34567"),
        ({"hand": "334455KK"}, "334455"),
        ({"hand": "3K"}, "3"),
        # The partner's play stands, the landlord's does not.
        ({"hand": "4TTK", "last": "9", "by": 2}, "pass"),
        ({"hand": "4TTK", "last": "9", "by": 0}, "K"),
        # It beats the partner to go out.
        ({"hand": "TT", "last": "99", "by": 2}, "TT"),
        # Winning with the bomb.
        ({"hand": "4444", "last": "KK"}, "4444"),
    ],
)
def test_greedy_by_hand(place, text):
    assert choice_text(GreedyBot(), **place) == text


def calls(hands, base=0):
    """What greedy calls with these hands once `base` points have been called."""
    env = VecEnv(len(hands), "qq_classic", seed=2)
    assert np.all(env.states["phase"] == Phase.CALL_POINTS)
    env.states["base"] = base
    turn = env.states["turn"]
    for i, hand in enumerate(hands):
        env.states["hands"][i, turn[i]] = from_text(hand)
    legal = env.legal()
    chosen = GreedyBot().act(env.views(), legal)
    assert all(chosen[i] in row_of(legal, i) for i in range(len(hands)))
    return chosen


def test_greedy_calls_rise_with_strength():
    assert list(calls(["334466779TTQQKK58", "33344455789TQ22XD"])) == [0, 3]


def test_greedy_calls_higher_hands_higher():
    rng = random.Random(0)
    hands = ["".join(rng.sample(DECK, 17)) for _ in range(3000)]
    called = calls(hands)
    tops = np.array([sum(hand.count(card) for card in "2XD") for hand in hands])
    means = [tops[called == points].mean() for points in range(4)]
    assert means == sorted(means) and len(set(means)) == 4
    # The big joker for a low single card never lowers the call, and often raises it.
    swapped, former = [], []
    for hand, points in zip(hands, called, strict=True):
        single = [card for card in hand if hand.count(card) == 1 and card in "3456789T"]
        if "D" not in hand and single:
            swapped.append(hand.replace(single[0], "D"))
            former.append(points)
    rise = calls(swapped) - np.array(former)
    assert len(rise) >= 1000 and rise.min() >= 0 and np.mean(rise > 0) > 0.2


def test_greedy_calls_what_it_may():
    rng = random.Random(1)
    hands = ["".join(rng.sample(DECK, 17)) for _ in range(1000)]
    free = calls(hands)
    for base in (1, 2):
        assert np.array_equal(calls(hands, base), np.where(free > base, free, 0))


# --------------------------------------------------------------------------------- plays to go


@lru_cache(None)
def least_plays(hand):
    """The least number of plays of the default kicker rule that a hand's text can be cut into.

    The lowest card is in one of the plays: try them all, whatever their category.
    """
    if not hand:
        return 0
    least = 99
    for play in all_plays(hand, ROOMS["play_only"]):
        if hand[0] in play:
            rest = hand
            for card in play.replace("+", ""):
                rest = rest.replace(card, "", 1)
            least = min(least, 1 + least_plays(rest))
    return least


def ordered(cards):
    return "".join(sorted(cards, key=DECK.index))


def to_go(hand, budget=THOROUGH):
    return plays_to_go(np.uint64(from_text(hand)), budget)


@pytest.mark.parametrize(
    ("hand", "plays"),
    [
        ("", 0),
        ("3", 1),
        ("XD", 1),
        ("34567", 1),
        ("3456", 4),
        ("TJQKA2", 2),
        ("JQKA2", 5),  # no chain holds a 2
        ("33334455", 1),
        ("3333", 1),
        ("33345", 2),
        ("333444555789", 1),
        ("3344556677XD", 2),
        ("334455778899", 2),
        ("3334445566", 1),
        ("333XD", 2),  # one joker with the trio, the other alone
        ("333444XD", 2),  # both jokers are never kickers together
        ("3333XD", 2),
        ("33334445", 2),  # a fourth card of the chain's rank is no kicker
        ("66667778", 2),
        ("37778888999TTTJK", 2),
        ("345678910JQK".replace("10", "T"), 1),
    ],
)
def test_plays_to_go_by_hand(hand, plays):
    assert to_go(hand) == plays
    assert least_plays(ordered(hand)) == plays


def test_plays_to_go_against_exhaustive_search():
    """Never below the least number over all plays; equal to it on nearly all hands.

    Not always equal: `plays_to_go` splits no trio or four of a kind into kickers.
    """
    rng = random.Random(6)
    for kind in ("random", "clumped"):
        equal = hands = 0
        while hands < 250:
            hand = rng.sample(DECK, 20) if kind == "random" else two_hands(rng)[0]
            hand = ordered(hand[: rng.randint(1, 10)])
            found, least = to_go(hand), least_plays(hand)
            assert found >= least, hand
            assert to_go(hand, FAST) >= found, hand
            equal += found == least
            hands += 1
        assert equal >= 0.9 * hands, kind


@pytest.mark.slow
def test_plays_to_go_of_large_hands():
    rng = random.Random(7)
    equal = 0
    for _ in range(300):
        hand = ordered(two_hands(rng)[0])
        found, least = to_go(hand), least_plays(hand)
        assert found >= least, hand
        equal += found == least
    assert equal >= 270


def test_plays_to_go_falls_by_one_at_most():
    """After the best play one play less is left, after no play two less."""
    views, legal = many_positions(num_envs=60)
    for i, view in enumerate(views):
        if view["last_seat"] >= 0 or len(row_of(legal, i)) > 300:
            continue
        before = plays_to_go(view["hand"], THOROUGH)
        after = min(plays_to_go(view["hand"] - NEED[a], THOROUGH) for a in row_of(legal, i))
        assert after <= before - 1
        assert sum(unpack(int(view["hand"]))) >= before
