"""The planner: legal everywhere, certain wins, the partner's game, fillings, calls, strength."""

import random
import re

import numpy as np
import pytest
from deals import DECK
from reference_rules import RANKS
from tables import alone, many_positions, row_of
from test_leaks import swap_hands, walk

import agents
from ddz_env import PRESETS, Game, legal_plays
from ddz_env._jit import records
from ddz_env.cards import from_text
from ddz_env.catalogue import ACTIONS, TEXTS, action_id
from ddz_env.engine import make_wild
from ddz_env.state import Phase
from ddz_env.vector import Legal
from ddz_env.view import VIEW
from eval.match import play_match

WILD_JOKERS = PRESETS["laidou"].replace(wild="jokers")


@pytest.fixture(scope="module")
def planner():
    return agents.load("planner")


def chosen_id(agent, game):
    """The id of an agent's choice in a game."""
    views = records(VIEW, 1)
    views[0] = game.view()
    ids = game.legal_ids()
    return int(agent.act(views, Legal(np.array([0, len(ids)]), ids))[0])


def choice(agent, game):
    """The text of an agent's choice in a game."""
    return TEXTS[chosen_id(agent, game)]


def place(hands, landlord=0, turn=0, last=None, by=0, passes=0, rules="play_only", wild=-1):
    """A game in the middle of the play; cards that no hand holds have been played."""
    game = Game(rules, seed=8)
    state, left = game.state, from_text(DECK)
    for seat, hand in enumerate(hands):
        state["hands"][seat] = from_text(hand, wild >= 0)
        left -= from_text(hand.replace("W", RANKS[wild]))
    if wild >= 0:
        left = make_wild(np.uint64(left), wild)
    state["played"][landlord], state["bottom"] = left, 0
    state["landlord"], state["turn"], state["phase"] = landlord, turn, Phase.PLAY
    state["wild"] = wild
    if last is not None:
        action = action_id(last)
        state["last_seat"], state["last_action"], state["passes"] = by, action, passes
        state["last_cards"] = ACTIONS["need"][action]
    return game


# ------------------------------------------------------------------------------ in every position


@pytest.mark.parametrize("room", [*PRESETS, "jokers wild"])
def test_choices_are_legal_and_do_not_see_their_neighbours(planner, room):
    rules = PRESETS.get(room, WILD_JOKERS)
    views, legal = many_positions(rules, num_envs=60, stops=(0, 2, 5, 8, 12, 20, 33, 52))
    chosen = planner.act(views, legal)
    assert all(chosen[i] in row_of(legal, i) for i in range(len(views)))
    few = np.arange(0, len(views), 7)
    assert np.array_equal(alone(planner, views[few], legal.take(few)), chosen[few])
    order = np.random.default_rng(0).permutation(len(views))
    assert np.array_equal(planner.act(views[order], legal.take(order)), chosen[order])


@pytest.mark.parametrize("room", ["happy", "happy_blind", "crazy_laizi"])
def test_hidden_cards_do_not_change_the_choice(planner, room):
    rng, compared = random.Random(3), 0
    for game in walk(room, range(12)):
        if game.phase not in ("play", "double", "raise"):
            continue
        other = swap_hands(rng, game, game.seat)
        if other is not None:
            assert choice(planner, game) == choice(planner, other)
            compared += 1
    assert compared > 100


def test_takes_no_argument():
    with pytest.raises(agents.AgentError, match=r"planner.*'x'"):
        agents.load("planner:x")


# ---------------------------------------------------------------------------------- certain wins


def size(play):
    """Cards of a play's text."""
    return len(play.replace("+", "").replace("*", ""))


def without(hand, play):
    """A hand's text without the cards of a play; a star marks a wild card."""
    for card in re.findall(r"\w\*?", play):
        hand = hand.replace("W" if "*" in card else card, "", 1)
    return hand


def is_certain(hand, pool, most, rules="play_only", wild=None):
    """Whether plays of which all but the last can't be beaten from the unseen cards empty it."""
    found, safe = {"": True}, {}

    def unanswerable(play):
        if play not in safe:
            answers = legal_plays(pool, play, rules, wild)
            safe[play] = all(a == "pass" or size(a) > most for a in answers)
        return safe[play]

    def solve(cards):
        if cards not in found:
            plays = legal_plays(cards, None, rules, wild)
            whole = any(size(play) == len(cards) for play in plays)
            found[cards] = whole or any(
                unanswerable(play) and solve(without(cards, play)) for play in plays
            )
        return found[cards]

    return solve(hand)


def endgame(rng):
    """Small hands around a leader who often has high cards or a bomb, the rest played."""
    sizes = [rng.randint(2, 8), rng.randint(1, 5), rng.randint(1, 5)]
    cards = rng.sample(DECK, 54)
    if rng.random() < 0.7:
        cards.sort(key=lambda card: rng.gauss(0, 4) - RANKS.index(card))
    if rng.random() < 0.3:
        four = rng.choice("789TJQKA2")
        cards = [four] * 4 + [card for card in cards if card != four]
    mine, rest = cards[: sizes[0]], cards[sizes[0] : sizes[0] + 12]
    rng.shuffle(rest)
    turn, hands = rng.randrange(3), ["", "", ""]
    hands[turn] = "".join(mine)
    hands[(turn + 1) % 3] = "".join(rest[: sizes[1]])
    hands[(turn + 2) % 3] = "".join(rest[sizes[1] : sizes[1] + sizes[2]])
    return hands, turn


def always_wins(agent, game, me, budget):
    """Whether an agent's side wins whatever the others do (up to a number of positions)."""
    if game.over:
        return (game.winner == game.landlord) == (me == game.landlord)
    budget[0] -= 1
    if budget[0] < 0:
        return True
    choices = [chosen_id(agent, game)] if game.seat == me else game.legal_ids()
    for action in choices:
        after = game.clone()
        after.step(int(action))
        if not always_wins(agent, after, me, budget):
            return False
    return True


def test_certain_wins_are_taken(planner):
    """On lead, with plays of which all but one are unanswerable: exact, against an own search."""
    rng, certain = random.Random(5), 0
    while certain < 150:
        hands, turn = endgame(rng)
        pool = "".join(hand for seat, hand in enumerate(hands) if seat != turn)
        most = max(len(hand) for seat, hand in enumerate(hands) if seat != turn)
        if is_certain(hands[turn], pool, most):
            certain += 1
            assert always_wins(planner, place(hands, turn, turn), turn, [1500]), hands


def test_certain_wins_with_wild_cards_are_taken(planner):
    rng, certain = random.Random(6), 0
    while certain < 30:
        hands, turn = endgame(rng)
        wild = rng.randrange(13)
        hands = [hand.replace(RANKS[wild], "W") for hand in hands]
        if "W" not in hands[turn] and "".join(hands).count("W") < 4:
            hands[turn] = "W" + hands[turn][1:]
        pool = "".join(hand for seat, hand in enumerate(hands) if seat != turn)
        most = max(len(hand) for seat, hand in enumerate(hands) if seat != turn)
        if "W" in hands[turn] and is_certain(hands[turn], pool, most, "happy_laizi", RANKS[wild]):
            certain += 1
            game = place(hands, turn, turn, rules="happy_laizi", wild=wild)
            assert always_wins(planner, game, turn, [800]), (hands, wild)


@pytest.mark.parametrize(
    ("hands", "kwargs", "plays"),
    [
        # A bomb of twos and a pair are one play; where a card is left they are a bomb and a way in.
        (["222233", "44556", "7789"], {}, {"2222+33"}),
        (["2222335", "KK556J", "7789"], {}, {"2222+33", "2222+35"}),
        # Two low pairs: the rocket takes the lead back once.
        (["XD3355", "44JJQ788", "66TT9KA"], {}, {"33", "55"}),
        # The rocket wins the lead, the chain goes out.
        (["XD34567", "899TTJ", "JQQKKA"], {}, {"XD"}),
        # As a reply: the highest solo, then the pair.
        (["D44", "7789", "55668"], {"last": "A", "by": 2}, {"D"}),
        # Unbeatable, since nobody has a higher pair.
        (["AA3", "K2T9", "XQJ8"], {}, {"AA"}),
        # The bomb wins back the lead that the low pair has lost.
        (["33KKKK", "55667", "88992"], {"last": "22", "by": 1}, {"KKKK"}),
    ],
)
def test_wins_by_hand(planner, hands, kwargs, plays):
    game = place(hands, **kwargs)
    assert choice(planner, game) in plays
    assert always_wins(planner, game, 0, [3000])


# ------------------------------------------------------------------------------ the partner's game


@pytest.mark.parametrize(
    ("hands", "kwargs", "plays"),
    [
        # The landlord has one card: no solo is led that it may beat while there is a pair.
        (["9", "3TT66J8", "44557KK"], {"turn": 1}, {"66", "TT"}),
        (["J", "3569TT", "445577"], {"turn": 1}, {"TT"}),
        (["K", "44557", "38TT9"], {"turn": 2}, {"TT"}),
        # Only solos: landlord_up leads and follows high before the landlord's last card.
        (["J", "4455778", "369K"], {"turn": 2}, {"K"}),
        (["J", "445577", "3569"], {"turn": 2}, {"9"}),
        (["J", "445577", "5TQA"], {"turn": 2, "last": "8", "by": 1}, {"A", "Q"}),
        (["7", "33445566", "2KK68"], {"turn": 2, "last": "3", "by": 1}, {"2", "K", "8"}),
        # The partner has one card: the low solo for it.
        (["3456789TT", "37KKA", "2"], {"turn": 1}, {"3"}),
        (["3456789TT2", "46689J", "A"], {"turn": 1}, {"4"}),
        (["3456789TT2", "A", "46689J"], {"turn": 2}, {"4"}),
        # Two cards, maybe a pair: the low pair.
        (["3456789TJJ", "55", "3399AAK"], {"turn": 2}, {"33"}),
        # The partner's winning play stands; it is beaten to go out.
        (["34567899J", "2", "KKA76"], {"turn": 2, "last": "2", "by": 1}, {"pass"}),
        (["3456789TJK", "44588T", "2Q7643"], {"turn": 2, "last": "A", "by": 1}, {"pass"}),
        (["3456789TJ", "44588", "KK"], {"turn": 2, "last": "99", "by": 1}, {"KK"}),
    ],
)
def test_partner_play(planner, hands, kwargs, plays):
    assert choice(planner, place(hands, **kwargs)) in plays


# ------------------------------------------------------------------------------ fillings and calls


@pytest.mark.parametrize(
    ("hand", "play", "wanted"),
    [
        # 34567 without the wild leaves it; nothing is gained by giving it away.
        ("34567W9", "34567", "34567"),
        # The wild in place of a 5 keeps the pair of fives; both fives stay together.
        ("345567WW", "34567", "34567"),
    ],
)
def test_fillings(planner, hand, play, wanted):
    """No wild goes where a natural card does as well."""
    game = place([hand, "88TT", "JJQQ"], rules="happy_laizi", wild=12)
    game.step(action_id(play))
    while game.phase == "fill":
        game.step(choice(planner, game))
    assert game.history[-1][1] == wanted


def test_calls_rise_with_strength(planner):
    def call(hand):
        game = Game("qq_classic", seed=2)
        game.state["hands"][game.seat] = from_text(hand)
        return choice(planner, game)

    assert call("334466779TTQQKK58") == "pass"
    assert call("33344455789TQ22XD") == "call_3"


def test_doubles_with_a_strong_hand_only(planner):
    def doubles(hand):
        game = Game("happy", seed=5)
        while game.phase != "double":
            game.step(game.legal()[-1] if game.phase == "call" else "pass")
        seat = game.seat
        size = 20 if seat == game.landlord else 17
        game.state["hands"][seat] = from_text(hand[:size])
        return choice(planner, game)

    assert doubles("XD2222AAAAKKKQQQJJJT") == "double"
    assert doubles("334455667789TTJQ3456"[:20]) == "pass"


# ---------------------------------------------------------------------------------------- strength


def test_beats_greedy(planner):
    result = play_match(planner, agents.load("greedy"), "play_only", 1000, seed=21)
    assert result.ci[0] > 0.62
    assert result.adp_ci[0] > 0.5


@pytest.mark.parametrize(("room", "deals", "score"), [("qq_classic", 300, 0.8), ("happy", 300, 1)])
def test_beats_greedy_in_whole_rooms(planner, room, deals, score):
    result = play_match(planner, agents.load("greedy"), room, deals, seed=3)
    assert result.score > score


@pytest.mark.slow
def test_beats_greedy_with_wild_cards(planner):
    greedy = agents.load("greedy")
    result = play_match(planner, greedy, "happy_laizi", 500, seed=3, calls=greedy)
    assert result.ci[0] > 0.55
