"""The referee of whole deals with wild cards against the known answers."""

import random
from collections import Counter

import pytest
from deals import DECK
from reference_game import SEATS
from reference_rules import RANKS
from reference_wild import NATURAL, WILD_ROOMS
from reference_wild_game import MULTIPLIERS, WildReferee, capped
from test_reference import skip_unsaid_shows
from test_reference_wild import load
from wild_hands import ROOMS

HAPPY, CRAZY, LAIDOU = (WILD_ROOMS[name] for name in ("happy_laizi", "crazy_laizi", "laidou"))
JOKERS = ROOMS["laidou_jokers"]


def deal(seed, room):
    """Three hands and the bottom cards, in the order of dealing; red sevens as W."""
    cards = list(DECK)
    if room["wild"] == "red_sevens":
        cards = list(DECK.replace("7", "W", 2))
    random.Random(seed).shuffle(cards)
    return ["".join(cards[17 * seat : 17 * seat + 17]) for seat in SEATS], "".join(cards[51:])


def new_game(room, first=0, seed=0):
    return WildReferee(room, *deal(seed, room), first)


AUCTIONS = load("auctions")


@pytest.mark.parametrize("case", AUCTIONS, ids=lambda case: case["id"])
def test_auctions(case):
    assert len(AUCTIONS) == 3
    room = WILD_ROOMS[case["rules"]]
    game = new_game(room, case["first"])
    for decision in case["decisions"]:
        seat, choice = decision.split(":")
        skip_unsaid_shows(game, int(seat) if "show" in choice else None)
        draw(game, "9")
        assert game.turn == int(seat)
        game.step("pass" if choice.startswith("no_") else choice)
    draw(game, "9")
    skip_unsaid_shows(game)
    facts = game.landlord, game.base, game.multiplier, game.phase
    assert facts == (case["landlord"], case.get("base", 1), case["multiplier"], "play")
    assert game.turn == game.landlord and len(game.hands[game.landlord]) == 20


def draw(game, rank):
    """The table draws this rank, if it is due."""
    if game.wild_wanted:
        before = Counter("".join(game.hands))
        assert (game.phase, game.turn, game.legal()) == ("wild", None, [])
        game.set_wild(rank)
        after = Counter("".join(game.hands))
        assert after["W"] == before[rank] == 4 and rank not in after
        assert game.bottom.count("W") == 3 - len(game.bottom.replace("W", ""))


def play_out(game, plays):
    """Plays with their seats; who isn't named passes."""
    for seat, play in plays:
        while game.turn != seat:
            game.step("pass")
        assert game.scores == [0, 0, 0]
        game.step(play)
    assert (game.phase, game.turn, game.legal()) == ("over", None, [])


def begin(room, hands, wild, **answers):
    """Seat 0 is landlord; the hands are all that matters, 4-card stand-ins for a deal."""
    game = WildReferee(room, hands, "", 0)
    while game.phase != "play":
        if game.wild_wanted:
            game.set_wild(wild)
            continue
        choice = answers.get(game.phase, "pass")
        game.step(choice[game.turn] if isinstance(choice, list) else choice)
    assert game.landlord == 0
    return game


SCORES = [case for case in load("scores") if "scores" in case]


@pytest.mark.parametrize("case", SCORES, ids=lambda case: case["id"])
def test_scores(case):
    """Wild 5: a soft bomb, a hard one, and the start as the case says; a farmer plays a card."""
    assert {case["id"] for case in SCORES} == {"laizi-bombs", "laizi-cap", "crazy-no-spring"}
    room = {**WILD_ROOMS[case["rules"]], "start_multiplier": case["multiplier"]}
    bombs = ["333W"] * case.get("soft_bombs", 0) + ["4444"] * case.get("hard_bombs", 0)
    bombs += ["6666"] * case.get("bombs", 0)
    texts = [bomb.replace("333W", "3333*") for bomb in bombs]
    hand = "3X" + "".join(bomb.replace("W", "5") for bomb in bombs)
    game = begin(room, [hand, "9TJ", "QKA"], "5", call=["call", "pass", "pass"])
    assert game.multiplier == case["multiplier"]
    farmers = [] if case.get("farmers_played") == 0 else [(1, "9")]
    play_out(game, [(0, "3"), *farmers, *[(0, text) for text in texts], (0, "X")])
    assert game.scores == case["scores"] and not game.spring


BOMBS = {"soft": "333W", "hard": "4444", "pure": "WWWW", "rocket": "XD"}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("room", WILD_ROOMS)
def test_multipliers_of_bombs(room, name):
    """Wild 7. One bomb is played; the landlord and a farmer play cards besides, so no spring."""
    red = WILD_ROOMS[room]["wild"] == "red_sevens"
    if red and name == "pure":
        pytest.skip("two wilds make no pure bomb")
    bomb = BOMBS[name] if red else BOMBS[name].replace("W", "7")
    text = {"soft": "3333*", "hard": "4444", "pure": "7*7*7*7*", "rocket": "XD"}[name]
    calls = ["call", "pass", "pass"]
    points = ["call_1", "pass", "pass"]
    game = begin(WILD_ROOMS[room], ["58" + bomb, "9TJ", "QKA"], "7", call=calls, call_points=points)
    play_out(game, [(0, "5"), (1, "9"), (0, text), (0, "8")])
    times = {"soft": 2, "hard": 4, "pure": 4, "rocket": 4}[name] if room == "happy_laizi" else 2
    assert (game.multiplier, game.bombs) == (times, 1)
    other = {**WILD_ROOMS[room], MULTIPLIERS[name]: 3}
    game = begin(other, ["58" + bomb, "9TJ", "QKA"], "7", call=calls, call_points=points)
    play_out(game, [(0, "5"), (1, "9"), (0, text), (0, "8")])
    assert game.multiplier == 3


def test_springs():
    """happy_laizi and laidou have it, crazy_laizi has not (decided); quarters of a point."""
    for room, scores in ((HAPPY, [1, -0.5, -0.5]), (CRAZY, [2, -1, -1]), (LAIDOU, [4, -2, -2])):
        game = begin(
            room, ["33", "9", "Q"], "5", call="call", call_points=["call_1", "pass", "pass"]
        )
        play_out(game, [(0, "33")])
        assert (game.scores, game.spring) == (scores, room is not CRAZY)
    game = begin({**CRAZY, "spring": True}, ["33", "9", "Q"], "5", call="call")
    play_out(game, [(0, "33")])
    assert game.scores == [4, -2, -2]


def test_quarters_and_cap():
    whole = {**HAPPY, "score_quarters": 4}
    assert capped([2, -1, -1], HAPPY) == [0.5, -0.25, -0.25]
    assert capped([-131072, 65536, 65536], HAPPY) == [-10000, 5000, 5000]
    assert capped([60_000, -40_000, -20_000], whole) == [10000, -6666.75, -3333.25]
    assert capped([-60_000, 20_000, 40_000], whole) == [-10000, 3333.25, 6666.75]
    assert capped([40_000, -20_000, -20_000], HAPPY) == [10_000, -5_000, -5_000]
    assert capped([20_000, -10_000, -10_000], LAIDOU) == [20_000, -10_000, -10_000]
    cut = {**whole, "cap_scales": False}
    assert capped([60_000, -40_000, -20_000], cut) == [10_000, -10_000, -10_000]
    assert capped([12_000, -6_000, -6_000], cut) == [10_000, -6_000, -6_000]


def test_doubles_in_happy_laizi():
    game = begin(
        HAPPY, ["358", "9TJ", "QKA"], "7", call="call", double=["double", "double", "pass"]
    )
    play_out(game, [(0, "3"), (1, "9"), (1, "T"), (1, "J")])
    assert game.scores == [-3 * 2 * 0.25 * 2, 4 * 0.25 * 2, 2 * 0.25 * 2]  # spring: one play


def test_shows_multiply_in_crazy_laizi():
    shows = {"show_before_deal": ["pass", "show", "show"], "show_after_bottom": "show"}
    game = begin(CRAZY, ["35", "9", "Q"], "7", call=["call", "pass", "pass"], **shows)
    assert game.multiplier == 4 * 4 * 2
    assert game.seen(0) == ["35", "9", "Q"]


def test_what_is_seen():
    game = new_game(HAPPY)
    for _ in range(9):
        game.step("pass")
    for choice in ("call", "pass", "pass"):
        game.step(choice)
    before = game.hands
    draw(game, "7")
    assert game.seen(1) == ["", game.hands[1], ""] and game.hands != before
    assert [len(hand) for hand in game.hands] == [20, 17, 17]
    game.step("show")
    assert game.seen(1) == [game.hands[0], game.hands[1], ""]
    with pytest.raises(ValueError):
        game.set_wild("7")


def test_hands_of_laidou():
    """Red sevens are W from the start; the other kind of room has no W at all."""
    game = new_game(LAIDOU)
    assert "".join([*game.hands, game.bottom]).count("W") == 2 and game.wild == "red7"
    game = new_game(JOKERS)
    assert "W" not in "".join(game.hands) and game.wild == "jokers"
    for _ in range(3):
        game.step("pass")
    assert (game.landlord, game.base, game.phase) == (0, 1, "play")


def test_jokers_leave_the_hand():
    game = begin(JOKERS, ["33XD4", "9", "Q"], "", call_points=["call_1", "pass", "pass"])
    game.step("333*")
    assert game.hands[0] == "34D".replace("3", "", 1)
    with pytest.raises(ValueError):
        game.step("44*")
    for choice in ("pass", "pass", "44*"):
        game.step(choice)
    assert (game.phase, game.history[-1]) == ("over", (0, "44*"))


@pytest.mark.parametrize("name", ROOMS)
def test_random_deals_end(name):
    """54 cards all the way, every listed play may be played, starred plays are frequent."""
    rng, room, starred = random.Random(5), ROOMS[name], 0
    for seed in range(4):
        game = new_game(room, seed % 3, seed)
        while game.phase != "over":
            if game.redeal_wanted:
                game.redeal(*deal(1000 * seed + game.redeals, room), seed % 3)
                continue
            draw(game, rng.choice(NATURAL))
            legal = game.legal()
            assert legal == sorted(set(legal))
            choice = max(rng.choice(legal), rng.choice(legal), key=len)
            starred += "*" in choice
            game.step(choice)
        assert sum(game.scores) == 0 and [hand for hand in game.hands if not hand]
        played = "".join(text for _, text in game.history if not text.islower())
        assert len([c for c in played if c in RANKS]) + sum(map(len, game.hands)) == 54
    assert starred > 5
