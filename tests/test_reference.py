"""The referee against the known answers: the cases and the published catalogue counts."""

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from reference_game import SEATS, RefereeGame
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
# The calling of two rooms with wild cards, without the wild cards.
AUCTION_ROOMS = {
    **ROOMS,
    "laidou": {**ROOMS["qq_classic"], "all_pass": "first_bidder"},
    "crazy_laizi": {
        **ROOMS["happy"],
        "show_before_deal": 4,
        "show_at_6": 0,
        "show_at_12": 0,
        "shows_combine": "product",
        "double": False,
        "spring": False,
    },
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


AUCTIONS = load("auctions", AUCTION_ROOMS)
SHOW_PHASES = ("show_before_deal", "show_at_6", "show_at_12", "show_after_bottom")


def deal(seed):
    """Three hands and the bottom cards, in the order of dealing."""
    cards = list(DECK)
    random.Random(seed).shuffle(cards)
    return ["".join(cards[17 * seat : 17 * seat + 17]) for seat in SEATS], "".join(cards[51:])


def new_game(room, first, seed=0):
    hands, bottom = deal(seed)
    return RefereeGame(room, hands, bottom, first)


def skip_unsaid_shows(game, until=None):
    """The cases leave out shows that are not made: pass them, up to a show by this seat."""
    while game.phase in SHOW_PHASES and not game.redeal_wanted and game.turn != until:
        game.step("pass")


def test_number_of_auction_cases():
    assert len(AUCTIONS) == 23
    assert len([case for case in AUCTIONS if case["rules"] in ROOMS]) == 20


@pytest.mark.parametrize("case", AUCTIONS, ids=lambda case: case["id"])
def test_auctions(case):
    game = new_game(AUCTION_ROOMS[case["rules"]], case["first"])
    for decision in case["decisions"]:
        seat, choice = decision.split(":")
        if seat == "*":
            skip_unsaid_shows(game)
            continue
        skip_unsaid_shows(game, int(seat) if "show" in choice else None)
        assert game.turn == int(seat)
        assert game.landlord is None or game.phase in ("raise", "show_after_bottom")
        game.step("pass" if choice == "stop" or choice.startswith("no_") else choice)
    skip_unsaid_shows(game)
    assert game.redeal_wanted == case.get("redealt", False)
    if game.redeal_wanted:
        assert (game.turn, game.legal(), game.landlord) == (None, [], None)
        game.redeal(*deal(1), case["first"])
        assert (game.redeals, game.multiplier) == (1, 1)
    if "landlord" in case:
        assert len(game.hands[game.landlord]) == 20
    if "legal" in case:
        assert game.legal() == sorted(case["legal"])
    facts = {"landlord": game.landlord, "base": game.base, "multiplier": game.multiplier}
    facts |= {"next": game.turn, "next_caller": game.turn}
    assert all(case[name] == value for name, value in facts.items() if name in case)


SCORES = [
    case
    for case in load("scores", ROOMS)
    if "scores" in case  # the others are about the table: coins and escapes
]


def plays_of(case):
    """Tiny hands and the plays (with their seats) of a deal that ends as the case says.

    Seat 0 is landlord and leads; three times over, a play stands when the two others pass.
    """
    strong = ["4444", "5555", "6666"][: case.get("bombs", 0)] + ["XD"] * case.get("rockets", 0)
    bombs = [(0, play) for play in strong]
    if case.get("spring"):
        if not case["landlord_wins"]:
            plays = [(0, "3"), (1, "7"), (1, "8")]
        else:
            plays = bombs + ([(0, "9")] if bombs else [(0, "34567")])
    elif case["landlord_wins"]:
        plays = [(0, "3"), (1, "7"), *bombs, (0, "T")]
    else:
        plays = [(0, "3"), (1, "7"), *bombs, (0, "T"), (1, "J")]
    hands = ["", "Q", "KK"]
    for seat, play in plays:
        hands[seat] += play
    if not case["landlord_wins"]:
        hands[0] += "9"
        hands[1] = hands[1].replace("Q", "")
    return hands, plays


def begin(case, hands):
    """A game of the case, in the phase of play, with the base and the multiplier asked for."""
    game = RefereeGame(ROOMS[case["rules"]], hands, "", 0)
    shows = case.get("shows", [2] if case.get("multiplier") == 2 else [])
    doubles = [case.get("landlord_doubles", False), *case.get("farmer_doubles", [False, False])]
    while game.phase != "play":
        answer = "pass"
        if game.phase == "call_points":
            answer = f"call_{case['base']}" if game.turn == 0 else "pass"
        elif game.phase == "call" and game.turn == 0:
            answer = "call"
        elif game.phase == "show_before_deal" and game.turn == 1 and 5 in shows:
            answer = "show"
        elif game.phase == "show_after_bottom" and 2 in shows:
            answer = "show"
        elif game.phase == "double" and doubles[game.turn]:
            answer = "double"
        game.step(answer)
    assert (game.landlord, game.base) == (0, case["base"])
    assert game.multiplier == case.get("multiplier", max(shows, default=1))
    return game


def test_number_of_score_cases():
    assert len(SCORES) == 10


@pytest.mark.parametrize("case", SCORES, ids=lambda case: case["id"])
def test_scores(case):
    hands, plays = plays_of(case)
    game = begin(case, hands)
    for seat, play in plays:
        while game.turn != seat:
            game.step("pass")
        assert game.scores == [0, 0, 0]
        game.step(play)
    assert (game.phase, game.turn, game.legal()) == ("over", None, [])
    assert game.scores == case["scores"]


@pytest.mark.parametrize("name", ROOMS)
def test_random_deals_end(name):
    rng = random.Random(5)
    room = ROOMS[name]
    for seed in range(20):
        game = new_game(room, seed % 3, seed)
        while game.phase != "over":
            if game.redeal_wanted:
                game.redeal(*deal(1000 * seed + game.redeals), seed % 3)
            legal = game.legal()
            assert legal == sorted(set(legal))
            game.step(rng.choice(legal))
        assert sum(game.scores) == 0
        assert abs(game.scores[game.landlord]) >= 2 * game.base * game.multiplier
        assert [hand for hand in game.hands if not hand]


def answers(game, *texts):
    for text in texts:
        game.step(text)
    return game


def test_same_moment_shows_count_from_the_drawn_seat():
    game = answers(new_game(ROOMS["happy"], 2), "show", "show", "pass")
    assert game.phase == "show_at_6" and game.turn == 2  # who shows already is not asked
    answers(game, "pass", "pass")
    assert (game.phase, game.turn, game.multiplier) == ("call", 0, 5)
    answers(game, "pass", "pass", "pass")
    assert (game.landlord, game.phase, game.redeal_wanted) == (0, "double", False)


def test_an_earlier_show_calls_first():
    game = answers(new_game(ROOMS["happy"], 0), *["pass"] * 3, "pass", "pass", "show", "show")
    assert game.phase == "show_at_12"
    game.step("pass")
    assert (game.phase, game.turn, game.multiplier) == ("call", 2, 4)


def test_raise_order():
    game = answers(new_game(ROOMS["happy_blind"], 1), "blind", "pass")
    assert (game.phase, game.landlord, game.turn) == ("raise", 1, 2)
    answers(game, "pass", "raise", "raise")
    assert (game.phase, game.turn, game.multiplier) == ("raise", 2, 8)
    answers(game, "raise", "pass")
    assert (game.phase, game.turn, game.multiplier) == ("play", 1, 16)


def test_redeals_end():
    game = new_game({**ROOMS["qq_classic"], "max_redeals": 1}, 2)
    answers(game, "pass", "pass", "pass").redeal(*deal(1), 2)
    answers(game, "pass", "pass", "pass")
    assert (game.phase, game.turn, game.legal(), game.landlord) == ("over", None, [], None)
    assert (game.scores, game.redeals, game.redeal_wanted) == ([0, 0, 0], 1, False)
    with pytest.raises(ValueError):
        game.redeal(*deal(2), 2)
    with pytest.raises(ValueError):
        game.step("pass")


def test_what_is_seen():
    hands, _ = deal(0)
    game = new_game(ROOMS["happy"], 0)
    assert game.seen(0) == ["", "", ""]
    answers(game, "pass", "show", "pass")
    assert game.seen(0) == [sort_cards(hands[0][:6]), sort_cards(hands[1][:6]), ""]
    answers(game, "pass", "pass", "pass", "pass")
    assert game.seen(2) == ["", sort_cards(hands[1]), sort_cards(hands[2])]
    game = answers(new_game(ROOMS["happy_blind"], 0), "look")
    assert [bool(game.seen(seat)[seat]) for seat in SEATS] == [True, False, False]
    game.step("call")
    assert all(game.seen(seat)[seat] for seat in SEATS)
