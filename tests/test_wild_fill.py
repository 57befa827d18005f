"""Declare, then fill: what ids reach, what is asked, and who sees what meanwhile."""

import random
from collections import Counter

import pytest
from reference_rules import sort_cards
from reference_wild import (
    all_wild_plays,
    cards_taken,
    count_wilds,
    declaration,
    legal_wild_plays,
)
from tables import features
from wild_games import FILLS, RULES, begin_play, play_by_ids, to_beat, walk, wild_of
from wild_hands import ROOMS

from ddz_env import Game, IllegalActionError, action_id, action_text
from ddz_env.cards import to_text

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
    """At decisions of random deals with so many plays at most; counts by number of wilds."""
    checked, fills = Counter(), 0
    for game in walk(RULES[name], seeds):
        if game.phase != "play":
            continue
        wilds = count_wilds(game.hands[game.seat], wild_of(game))
        few = len(game.legal_ids()) <= most_plays // 2
        if few and len(game.legal()) <= most_plays:
            fills += check_reachable(game)
            checked[wilds] += 1
    return checked, fills


@pytest.mark.parametrize("name", ROOMS)
def test_reachable(name):
    checked, fills = check_deals(name, range(12), 150)
    most = 2 if "laidou" in name else 3
    assert min(checked[wilds] for wilds in range(most + 1)) >= 3, checked
    assert fills > 100


@pytest.mark.slow
@pytest.mark.parametrize("name", ROOMS)
def test_reachable_at_length(name):
    checked, fills = check_deals(name, range(100, 160), 3_000)
    most = 2 if "laidou" in name else 4
    assert min(checked[wilds] for wilds in range(most + 1)) >= 10, checked
    assert fills > 10_000


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
    asked = Counter()
    for action in game.legal_ids():
        copy = game.clone()
        copy.step(int(action))
        asked[copy.phase] += 1
        ways = [text for text in game.legal() if declaration(text) == action_text(int(action))][:2]
        assert (copy.phase == "fill") == (len(ways) > 1)
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
    for action in [*range(64), action_id("34567"), action_id("3")]:
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
    for game in walk(RULES[name], range(25)):
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
    assert min(checked["fill", True], checked["fill", False]) > 20, checked


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
