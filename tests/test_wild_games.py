"""Whole deals of the rooms with wild cards against the slow referee; PettingZoo's own checks."""

import random
from collections import Counter

import pytest
from deals import DECK
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from reference_rules import RANKS, sort_cards
from reference_wild import WILD_ROOMS, bomb_class, cards_taken, own_rank
from reference_wild_game import WildReferee
from test_envs import MaskedParallelEnv
from test_reference_wild import load
from wild_games import RULES, SHOWS, begin_play, play_by_ids, step_before_play, wild_of
from wild_hands import ROOMS

from ddz_env import Game, env, parallel_env
from ddz_env.cards import to_text

# Fields of the score the other way, and phases of other rooms together with wild cards.
OTHER = {
    "multipliers": (
        "happy_laizi",
        {
            "soft_bomb_multiplier": 3,
            "bomb_multiplier": 5,
            "pure_bomb_multiplier": 7,
            "rocket_multiplier": 11,
            "score_quarters": 3,
            "cap": 0,
        },
    ),
    "multipliers by rank": (
        "laidou",
        {"soft_bomb_multiplier": 3, "bomb_multiplier": 5, "rocket_multiplier": 7},
    ),
    "low cap": ("happy_laizi", {"cap": 3}),
    "low cap, cut": ("happy_laizi", {"cap": 3, "cap_scales": False}),
    "cap of whole points": ("crazy_laizi", {"cap": 20, "double": True}),
    "spring": ("crazy_laizi", {"spring": True, "soft_bomb_naturals": 3}),
    "largest show": ("crazy_laizi", {"shows_combine": "largest", "shower": "everybody"}),
    "big joker first": ("laidou_jokers", {"joker_spent": "big", "bomb_order": "class"}),
    "redeals of laidou": ("laidou", {"all_pass": "redeal", "raising": True}),
    "a rank in laidou": ("laidou", {"wild": "rank", "all_pass": "redeal"}),
    "sevens shown": ("happy_laizi", {"wild": "red_sevens"}),
    "blind grab": ("happy_laizi", {"auction": "blind", "rob": False}),
    "no auction": ("crazy_laizi", {"auction": "none", "rob": False}),
}


def rooms_of(name, changes):
    """The reference's room and the rule set."""
    rules = RULES[name].replace(**changes) if changes else RULES[name]
    return {**ROOMS[name], **changes}, rules


def dealt(game):
    """The texts of each seat's cards in dealing order, and of the bottom cards, wilds as W."""
    deck = "".join((RANKS + "W")[rank] for rank in game.state["deck"])
    hands, bottom = [deck[17 * seat : 17 * seat + 17] for seat in range(3)], deck[51:]
    if game.landlord is None or game.rules.wild != "rank":
        assert [sort_cards(hand) for hand in hands][1:] == game.hands[1:]
    return hands, bottom


def begin_both(room, rules, seed):
    """The same new deal in both, with the same beans for doubling."""
    game = Game(rules, seed=seed, first=seed % 3)
    referee = WildReferee(room, *dealt(game), seed % 3)
    if seed % 5 == 0:
        referee.enough_beans = [seed % 2 == 0, seed % 3 == 0, seed % 4 != 0]
        game.state["may_double"] = referee.enough_beans
    draw(game, referee)
    return game, referee


def draw(game, referee):
    """The referee is told the wild rank that the game has drawn."""
    if referee.wild_wanted:
        referee.set_wild(RANKS[int(game.state["wild"])])
        assert referee.wild == wild_of(game)
    assert not referee.wild_wanted


def compare(game, referee, whole):
    """Everything but the legal choices; the history too if `whole`."""
    ours = (game.phase, game.landlord, game.base, game.multiplier, game.scores, game.redeals)
    theirs = (referee.phase, referee.landlord, referee.base, referee.multiplier)
    assert ours == (*theirs, referee.scores, referee.redeals)
    assert game.hands == referee.hands
    assert int(game.state["bombs"]) == referee.bombs
    if referee.turn is not None:
        assert game.seat == referee.turn
    if whole:
        assert (game.history, game.bottom) == (referee.history, referee.bottom)
        check_views(game, referee)


def check_views(game, referee):
    """What each seat sees, and 54 cards in every view."""
    deck = DECK
    if referee.wild == "red7":
        deck = DECK.replace("7", "W", 2)
    elif referee.wild not in (None, "jokers"):
        deck = DECK.replace(referee.wild, "W")
    taken = ["", "", ""]
    hands = [Counter(hand) for hand in referee.hands]
    for seat in range(3):
        view = game.view(seat)
        seen = [to_text(int(hand)) for hand in view["hands"]]
        assert seen == referee.seen(seat)
        assert to_text(int(view["bottom"])) == (
            referee.bottom if referee.landlord is not None else ""
        )
        taken[seat] = to_text(int(view["played"][seat]))
        known = [view["unseen"], *view["hands"], *view["played"]]
        assert Counter("".join(to_text(int(cards)) for cards in known)) == Counter(deck)
        plays = [text for who, text in referee.history if who == seat and not text.islower()]
        assert int(view["plays"][seat]) == len(plays)
        if referee.wild != "jokers":
            written = "".join(cards_taken(play, referee.wild) for play in plays)
            assert sort_cards(written) == taken[seat]
    bottom = Counter() if referee.landlord is not None else Counter(referee.bottom)
    assert sum([*hands, bottom, *map(Counter, taken)], Counter()) == Counter(deck)


def check_choices(rng, game, referee):
    """The whole list; and one text in one go is the same as its declaration and fillings."""
    legal = game.legal()
    assert len(legal) == len(set(legal))
    assert sorted(legal) == referee.legal()
    text = rng.choice(legal)
    by_text = game.clone()
    by_text.step(text)
    assert by_text.history[-1:] == [(game.seat, text)] or by_text.asked != [game.seat]
    return len(legal)


def play_whole_deal(name, seed, changes, whole):
    """One deal by both; counts of what happened in it."""
    rng = random.Random(seed)
    room, rules = rooms_of(name, changes)
    game, referee = begin_both(room, rules, seed)
    no = {"show": rng.choice((0.5, 0.9, 0.97)), "other": rng.choice((0.5, 0.2, 0.85, 0.97))}
    events = Counter()
    while not game.over:
        compare(game, referee, whole)
        if whole:
            events["listed"] += check_choices(rng, game, referee)
        if game.phase == "play":
            text = play_by_ids(rng, game)
            events["starred"] += "*" in text
            events[text if text == "pass" else bomb_class(text) or "play"] += 1
        else:
            phase = game.phase
            text = step_before_play(rng, game, no["show" if phase in SHOWS[:3] else "other"])
            events[phase, text] += 1
        referee.step(text)  # refuses what is not legal
        if referee.redeal_wanted:
            events["redeal"] += 1
            referee.redeal(*dealt(game), int(game.state["first"]))
        draw(game, referee)
    compare(game, referee, True)
    assert (referee.phase, referee.legal(), game.legal()) == ("over", [], [])
    assert sum(game.scores) == 0 or not room["cap_scales"]
    assert all(score * 4 == int(score * 4) for score in game.scores)
    events["capped"] += bool(room["cap"]) and max(map(abs, game.scores)) == room["cap"]
    events["spring"] += referee.spring
    return events


def check_deals(name, seeds, changes=(), whole=False):
    """What so many deals had in them."""
    events = Counter()
    for seed in seeds:
        events.update(play_whole_deal(name, seed, dict(changes), whole))
    return events


def check_variety(name, events, deals):
    """Bombs of each class, wilds, calls, springs, all in the measure of the number of deals."""
    room = ROOMS[name]
    assert events["starred"] > deals
    assert min(events["soft"], events["hard"]) > deals // 10
    assert events["rocket"] > deals // 100
    if deals >= 2_000:
        assert (events["pure"] > 0) == (room["wild"] == "rank")
        assert (events["spring"] > 0) == room["spring"]
    assert (events["redeal"] > deals // 100) == (room["all_pass"] == "redeal")
    for phase in SHOWS:
        assert (events[phase, "show"] > deals // 30) == bool(room[phase])
    assert (events["double", "double"] > deals // 10) == room["double"]
    assert (events["rob", "rob"] > deals // 10) == room["rob"]


@pytest.mark.parametrize("name", ROOMS)
def test_whole_lists(name):
    """Every decision in its whole list."""
    assert check_deals(name, range(5), whole=True)["listed"] > 2_000


@pytest.mark.slow
@pytest.mark.parametrize("name", ROOMS)
@pytest.mark.parametrize("part", range(3))
def test_many_whole_lists(name, part):
    """300 deals of each room."""
    seeds = range(1_000 + 100 * part, 1_100 + 100 * part)
    assert check_deals(name, seeds, whole=True)["listed"] > 40_000


@pytest.mark.parametrize("name", ROOMS)
def test_whole_deals(name):
    """Turn, phase, hands, multiplier, scores; each play is one that the referee allows."""
    check_variety(name, check_deals(name, range(100, 400)), 300)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROOMS)
@pytest.mark.parametrize("part", range(5))
def test_many_whole_deals(name, part):
    """10,000 deals of each room."""
    seeds = range(10_000 + 2_000 * part, 12_000 + 2_000 * part)
    check_variety(name, check_deals(name, seeds), 2_000)


@pytest.mark.parametrize("name", OTHER)
def test_whole_deals_of_custom_rooms(name):
    room, changes = OTHER[name]
    events = check_deals(room, range(40), changes)
    events += check_deals(room, range(50, 52), changes, whole=True)
    assert events["starred"] > 40
    if "cap" in name:
        assert events["capped"] > 5


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHER)
def test_many_whole_deals_of_custom_rooms(name):
    room, changes = OTHER[name]
    check_deals(room, range(2_000, 2_400), changes)
    check_deals(room, range(3_000, 3_020), changes, whole=True)


# Seat 0 is landlord, J is wild; seat 1 plays its 9, where it is in the script.
HANDS = ["333JQQQQ4556789TA", "3444556667778889X", "99TTTJJJKKKA2222D"]
BOTTOM = "AAK"
SCRIPTS = {
    "laizi-bombs": ["5", "9", "3333*", "QQQQ", "456789T", "AAA+K"],
    "laizi-cap": ["5", "9", "3333*", "QQQQ", "456789T", "AAA+K"],
    "crazy-no-spring": ["5", "QQQQ", "333+J*", "456789T", "AAA+K"],
}
SCORES = [case for case in load("scores") if "scores" in case]


@pytest.mark.parametrize("case", SCORES, ids=lambda case: case["id"])
def test_score_cases(case):
    """The cap's multiplier, 65,536, is reached as 1,000 x 8 x 8."""
    assert {case["id"] for case in SCORES} == set(SCRIPTS)
    changes = {"start_multiplier": case["multiplier"]}
    if case["multiplier"] > 1_000:
        changes = {"start_multiplier": 1_000, "soft_bomb_multiplier": 8, "bomb_multiplier": 8}
    game = begin_play(case["rules"], HANDS, BOTTOM, "J", **changes)
    for play in SCRIPTS[case["id"]]:
        assert game.scores == [0, 0, 0]
        while game.seat != (1 if play == "9" else 0):
            game.step("pass")
        game.step(play)
    assert game.over and game.winner == 0
    assert game.scores == case["scores"]


BOMB_HANDS = ["AAAAJJJJ445566778", "33334455667788899", "9TTTTQQQQKKKK2222"]
BOMBS = {"444*4*": "soft_bomb", "AAAA": "bomb", "J*J*J*J*": "pure_bomb", "XD": "rocket"}


@pytest.mark.parametrize("name", ["happy_laizi", "crazy_laizi"])
def test_multipliers_of_bombs(name):
    changes = dict(zip(BOMBS.values(), (3, 5, 7, 11), strict=True))
    changes = {f"{bomb}_multiplier": value for bomb, value in changes.items()}
    for room, fields in ((ROOMS[name], {}), (changes, changes)):
        game = begin_play(name, BOMB_HANDS, "9XD", "J", **fields)
        for text, bomb in BOMBS.items():
            copy = game.clone()
            copy.step(text)
            assert copy.multiplier == game.multiplier * room[f"{bomb}_multiplier"]


def test_no_wild_rank_in_other_rooms():
    game = Game("happy", seed=3)
    assert own_rank("red7") == "7" and int(game.state["wild"]) == -1
    assert set(WILD_ROOMS) == {name for name, rules in RULES.items() if rules.wild != "none"} - {
        "laidou_jokers"
    }


rooms = pytest.mark.parametrize("name", ROOMS)


@rooms
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("reward", ["score", "win"])
def test_pettingzoo_api(name, reward):
    api_test(env(RULES[name], reward=reward), num_cycles=200)


@rooms
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_pettingzoo_parallel_api(name):
    parallel_api_test(parallel_env(RULES[name]), num_cycles=200)


@rooms
def test_pettingzoo_seeds(name):
    seed_test(lambda: env(RULES[name]), num_cycles=100)
    parallel_seed_test(lambda: MaskedParallelEnv(RULES[name]), num_cycles=100)
