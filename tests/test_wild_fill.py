"""Declare, then fill: what ids reach, what is asked, and who sees what meanwhile."""

import random
from collections import Counter
from functools import cache

import pytest
from reference_rules import sort_cards
from reference_wild import (
    NATURAL,
    all_wild_plays,
    cards_taken,
    count_wilds,
    declaration,
    legal_wild_plays,
    own_rank,
)
from tables import features
from wild_games import FILLS, RULES, begin_play, play_by_ids, to_beat, walk, wild_of
from wild_hands import ROOMS, some_wild_play, two_wild_hands

from ddz_env import Game, IllegalActionError, action_id, action_text
from ddz_env.cards import from_text, to_text

CARDS = "3456789TJQKA2XDW"


def left(hand, text, wild):
    """The hand after a play."""
    for card in cards_taken(text, wild, hand):
        hand = hand.replace(card, "", 1)
    return sort_cards(hand)


def endings(game, look):
    """Every whole choice that ids reach from here, each as often as they reach it."""
    found = []

    def go(copy, asked):
        if copy.phase == "fill":
            look(copy, asked)
        if copy.phase == "fill" or not asked:
            for action in copy.legal_ids():
                after = copy.clone()
                after.step(int(action))
                go(after, [*asked, int(action)])
        else:
            found.append((copy.history[-1][1], copy.hands[game.seat], asked))

    go(game, [])
    return found


def check_reachable(game, views=True):
    """Ids reach exactly the brute force's plays, each once; nobody else sees anything before."""
    seat, hand, wild = game.seat, game.hands[game.seat], wild_of(game)
    others = [other for other in range(3) if other != seat]
    before = {other: game.view(other) for other in others}
    counts = Counter()

    def look(copy, asked):
        """While a play is being filled."""
        assert (copy.seat, copy.history, copy.hands) == (seat, game.history, game.hands)
        assert (copy.scores, copy.multiplier) == ([0, 0, 0], game.multiplier)
        ids = copy.legal_ids().tolist()
        assert len(ids) > 1 and set(ids) <= FILLS and ids == sorted(set(ids))
        assert asked[1:] == sorted(asked[1:])  # ranks ascending
        assert copy.legal() == [action_text(i) for i in ids]
        counts["fills"] += 1
        for other in others if views else ():
            assert copy.view(other).tobytes() == before[other].tobytes()
        if views and counts["fills"] < 10:
            assert all(features(copy.view(o)) == features(before[o]) for o in others)
            assert copy.view(seat).tobytes() != game.view(seat).tobytes()

    room = ROOMS["laidou_jokers" if wild == "jokers" else game.rules.name]
    wanted = legal_wild_plays(hand, to_beat(game), room, wild)
    found = endings(game, look)
    assert len(found) == len({(text, rest) for text, rest, _ in found})
    assert sorted((text, rest) for text, rest, _ in found) == sorted(
        (text, left(hand, text, wild)) for text in wanted
    )
    for text, _, asked in found:
        assert action_text(asked[0]) == declaration(text)
    assert len({asked[0] for *_, asked in found}) == len(game.legal_ids())
    return counts["fills"]


def check_deals(name, seeds, most_plays):
    """At decisions of random deals with so many plays at most; those with wilds, fillings."""
    rng, checked, fills = random.Random(1), 0, 0
    for game in walk(RULES[name], seeds):
        if game.phase != "play":
            continue
        wilds = count_wilds(game.hands[game.seat], wild_of(game))
        few = len(game.legal_ids()) <= most_plays // 2
        # Hands without wilds are many, and less interesting.
        if few and (wilds or rng.random() < 0.1) and len(game.legal()) <= most_plays:
            fills += check_reachable(game)
            checked += wilds > 0
    return checked, fills


@pytest.mark.parametrize("name", ROOMS)
def test_reachable_in_deals(name):
    checked, fills = check_deals(name, range(12), 400)
    assert checked > 20 and fills > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", ROOMS)
def test_reachable_in_many_deals(name):
    checked, fills = check_deals(name, range(100, 160), 3_000)
    assert checked > 100 and fills > 1_000


def check_hands(seed, number, name, sizes):
    """Drawn hands with 1 to 4 wilds put into games, leading and following."""
    rng, room = random.Random(seed), ROOMS[name]
    answered, fills = 0, 0
    for i in range(number):
        game = at_the_lead(name, i % 20)
        wild = wild_of(game)
        wilds = 1 + i % (2 if "laidou" in name else 4)
        hand, other = two_wild_hands(rng, wild, rng.randint(*sizes), wilds)
        seat, after = game.seat, (game.seat + 1) % 3
        if i % 2:
            last = some_wild_play(rng, other, room, wild)
            spare = next(rank for rank in NATURAL if rank not in other and rank != own_rank(wild))
            game.state["hands"][seat] = from_text(other + spare, wild=True)
            game.state["hands"][after] = from_text(hand, wild=True)
            game.step(last)
            answered += len(game.legal_ids()) > 1
        else:
            game.state["hands"][seat] = from_text(hand, wild=True)
        fills += check_reachable(game, views=False)
    assert answered > number // 10
    return fills


@cache
def first_lead(name, seed):
    """A deal at the landlord's first lead."""
    return next(game.clone() for game in walk(RULES[name], [seed]) if game.phase == "play")


def at_the_lead(name, seed):
    """A copy of it."""
    return first_lead(name, seed).clone()


@pytest.mark.parametrize("name", ROOMS)
def test_reachable(name):
    assert check_hands(1, 120, name, (4, 9)) > 100


@pytest.mark.slow
@pytest.mark.parametrize("name", ROOMS)
def test_reachable_at_length(name):
    assert check_hands(2, 2_000, name, (4, 10)) > 4_000
    assert check_hands(3, 40, name, (17, 20)) > 1_000


# Whole deals in which seat 0 has four wilds (the jacks) and meets bombs.
HANDS = ["333444JJJJ5566789", "345566777888999TT", "TQQQKKKKAAAA2222X"]
BOTTOM = "TQD"


def test_a_landlord_with_four_wilds():
    game = begin_play("happy_laizi", HANDS, BOTTOM, "J")
    assert game.hands[0] == "3334445566789TQDWWWW"
    assert len(game.legal()) > 3_000
    assert check_reachable(game, views=False) > 500


def test_no_filling_is_too_weak():
    """Aces after a hard bomb: with wilds in it they would be a soft one, and are not asked."""
    hands = ["AAAAJJJJ445566778", "44556677888999TTT", "QQQQKKKK33332222X"]
    game = begin_play("happy_laizi", hands, "9TD", "J")
    leading = all_wild_plays(game.hands[0], ROOMS["happy_laizi"], "J")
    bombs = [text for text in leading if declaration(text) == "AAAA"]
    assert sorted(bombs) == ["AA*A*A*", "AAA*A*", "AAAA", "AAAA*"]
    for choice in ("4", "pass", "QQQQ"):
        aces = game.clone()
        if aces.seat == 0:
            aces.step(action_id("AAAA"))
            assert aces.phase == "fill" and aces.legal() == ["wild_as_A", "wild_done"]
        game.step(choice)
    assert game.seat == 0 and to_beat(game) == "QQQQ"
    assert sorted(game.legal()) == ["AAAA", "J*J*J*J*", "pass"]
    check_reachable(game)
    game.step(action_id("AAAA"))
    assert game.phase == "play" and game.history[-1] == (0, "AAAA")


def test_forced_fillings_are_not_asked():
    game = begin_play("happy_laizi", HANDS, BOTTOM, "J")
    asked, ways = Counter(), Counter(declaration(text) for text in game.legal())
    for action in game.legal_ids():
        copy = game.clone()
        copy.step(int(action))
        asked[copy.phase] += 1
        assert (copy.phase == "fill") == (ways[action_text(int(action))] > 1)
    assert min(asked["fill"], asked["play"]) > 100


def test_texts_are_whole_plays():
    """A text declares and fills in one go; the record is the same as by ids."""
    rng = random.Random(3)
    plays = 0
    for name in ROOMS:
        for game in walk(RULES[name], range(4)):
            if game.phase != "play":
                continue
            by_ids, by_text = game.clone(), game.clone()
            text = play_by_ids(rng, by_ids)
            by_text.step(text)
            assert by_text.to_bytes() == by_ids.to_bytes()
            plays += "*" in text
            for wrong in ("33333", "wild_done", "3*3*3*4*", "call"):
                bytes_before = game.to_bytes()
                with pytest.raises(Exception, match=r"."):
                    game.step(wrong)
                assert game.to_bytes() == bytes_before
    assert plays > 40


def test_only_listed_choices_while_filling():
    game = begin_play("happy_laizi", HANDS, BOTTOM, "J")
    game.step(action_id("34567"))
    assert game.phase == "fill"
    legal, before = set(game.legal_ids().tolist()), game.to_bytes()
    for action in [*range(26), action_id("34567"), action_id("3")]:
        if action not in legal:
            with pytest.raises(IllegalActionError):
                game.step(action)
            assert game.to_bytes() == before
    assert Game.from_bytes(before).legal() == game.legal()


def swap_hidden(rng, game, seat):
    """A copy with two different cards exchanged between the two hands that a seat doesn't see."""
    hidden = [s for s in range(3) if s != seat and not game.state["shows"][s]]
    if len(hidden) < 2:
        return None
    texts = [to_text(int(game.state["hands"][s])) for s in hidden]
    pairs = [(a, b) for a in texts[0] for b in texts[1] if a != b]
    if not pairs:
        return None
    other = game.clone()
    wild = [pair for pair in pairs if "W" in pair]
    gives, gets = rng.choice(wild or pairs)
    for s, minus, plus in ((hidden[0], gives, gets), (hidden[1], gets, gives)):
        hand = int(other.state["hands"][s])
        other.state["hands"][s] = (
            hand - (1 << 4 * CARDS.index(minus)) + (1 << 4 * CARDS.index(plus))
        )
    rng.shuffle(other.state["deck"])
    other.state["seed"], other.state["draws"] = rng.randrange(2**63), rng.randrange(2**20)
    return other


def declared(rng, game):
    """A copy in the phase of filling, if one of some random declarations leads there."""
    for _ in range(20):
        copy = game.clone()
        copy.step(int(rng.choice(game.legal_ids())))
        if copy.phase == "fill":
            return [copy]
    return []


@pytest.mark.parametrize("name", ROOMS)
def test_hidden_cards_leave_no_trace(name):
    """In play and while filling: views, features, and what may be chosen."""
    rng, checked = random.Random(7), Counter()
    for game in walk(RULES[name], range(12)):
        if game.phase not in ("play", "over"):
            continue
        games = [game]
        if game.phase == "play":
            games += declared(rng, game)
        for one in games:
            for seat in range(3):
                other = swap_hidden(rng, one, seat)
                if other is None:
                    continue
                assert other.view(seat).tobytes() == one.view(seat).tobytes()
                assert features(other.view(seat)) == features(one.view(seat))
                if seat == one.seat and not one.over:
                    assert other.legal_ids().tolist() == one.legal_ids().tolist()
                checked[one.phase, seat == one.seat] += 1
    assert min(checked["play", True], checked["play", False]) > 100, checked
    assert min(checked["fill", True], checked["fill", False]) > 10, checked


@pytest.mark.parametrize("name", ["happy_laizi", "crazy_laizi"])
def test_the_wild_rank_is_unknown_before_there_is_a_landlord(name):
    rng, checked = random.Random(8), 0
    for game in walk(RULES[name], range(30)):
        if game.landlord is not None:
            assert sum(count_wilds(hand, "3") for hand in game.hands) <= 4
            continue
        assert int(game.state["wild"]) == -1 and "W" not in "".join(game.hands)
        other = game.clone()
        other.state["seed"], other.state["draws"] = rng.randrange(2**63), rng.randrange(2**20)
        for seat in range(3):
            assert other.view(seat).tobytes() == game.view(seat).tobytes()
        checked += 1
    assert checked > 100
