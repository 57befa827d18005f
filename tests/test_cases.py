"""The known answers of the rules' pages, played by the environment itself."""

import json
from collections import Counter
from pathlib import Path

import pytest

from ddz_env import PRESETS, Game, explain, legal_plays
from ddz_env.fillings import parse_starred, starred

CASES = Path(__file__).parent / "cases"
DECK = "".join(rank * 4 for rank in "3456789TJQKA2") + "XD"


def load(name):
    """The cases of a file."""
    lines = (CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def canonical(text):
    return starred(*parse_starred(text))


PLAYS = load("plays")
AUCTIONS = load("auctions")


def test_number_of_cases():
    assert (len(PLAYS), len(AUCTIONS), len(SCORES)) == (62, 23, 10)
    assert sum("wild" in case for case in PLAYS) == 29


@pytest.mark.parametrize("case", PLAYS, ids=lambda case: case["id"])
def test_plays(case):
    room, wild = PRESETS[case["rules"]], case.get("wild")
    legal = legal_plays(case["hand"], case["last"], room, wild)
    assert len(legal) == len(set(legal))
    assert {canonical(play) for play in case["legal"]} <= set(legal)
    if "exactly" in case:
        assert set(legal) == {canonical(play) for play in case["exactly"]}
    for play in case["legal"]:
        assert explain(case["hand"], case["last"], play, room, wild).startswith("legal: ")
    for play in case["illegal"]:
        # Written in any order: a play that is in no catalogue is no text of the list either.
        cards = sorted(play.replace("+", ""))
        readings = [p for p in legal if sorted(p.replace("+", "")) == cards]
        assert not [p for p in readings if p.count("+") == play.count("+")]
        assert explain(case["hand"], case["last"], play, room, wild).startswith("illegal: ")


def skip_shows(game, until=None):
    """The cases leave out shows that nobody makes: all refuse, up to this seat."""
    while game.phase.startswith("show") and game.seat != until:
        game.step("pass")


@pytest.mark.parametrize("case", AUCTIONS, ids=lambda case: case["id"])
def test_auctions(case):
    room = PRESETS[case["rules"]]
    game = Game(room, first=case["first"])
    cards, asked_first = game.hands, game.state["first"]
    for decision in case["decisions"]:
        seat, choice = decision.split(":")
        if seat == "*":
            skip_shows(game)
            continue
        skip_shows(game, int(seat) if "show" in choice else None)
        assert (game.seat, game.redeals) == (int(seat), 0)
        assert game.landlord is None or game.phase in ("raise", "show_after_bottom")
        game.step("pass" if choice == "stop" or choice.startswith("no_") else choice)
    if not game.redeals:
        skip_shows(game)
    assert game.redeals == int(case.get("redealt", False))
    assert (game.hands == cards) == (game.redeals == 0 and game.landlord is None)
    if "landlord" in case:
        assert [len(hand) for hand in game.hands][case["landlord"]] == 20
    if "next" in case:
        assert (game.phase, game.seat) == ("call_points", case["next"])
    if "next_caller" in case:
        assert (game.phase, game.seat) == ("call", case["next_caller"])
    if "legal" in case:
        assert game.legal() == case["legal"]
    if game.redeals:
        base = 0 if room.auction == "points" else 1
        assert (game.history, game.base, game.multiplier) == ([], base, 1)
        assert game.phase == Game(room).phase  # the room's first phase
        assert room.first_caller != "rotates" or game.state["first"] == asked_first
    facts = {"landlord": game.landlord, "base": game.base, "multiplier": game.multiplier}
    assert all(case[name] == value for name, value in facts.items() if name in case)
    while game.phase in ("double", "raise"):
        game.step("pass")
    assert case.get("multiplier", game.multiplier) == game.multiplier
    if "landlord" in case:
        assert (game.phase, game.seat, game.landlord) == ("play", game.landlord, case["landlord"])


LONG = "3456789TJQKA"
SCRIPTS = {  # the plays of each score case; seat 0 is landlord, who isn't named passes
    "bid3-win": [(0, "3"), (1, "4"), (0, "2"), (0, LONG), (0, "45678"), (0, "9")],
    "bid3-one-bomb": [(0, "3"), (1, "9"), (0, "2222"), (0, LONG), (0, "AAA")],
    "bid3-two-bombs-lost": [(0, "3"), (0, "3"), (1, "2222"), (1, "AAAA"), (1, "456789TJQ")],
    "spring": [(0, "3456789TJQ"), (0, "KKKK"), (0, "2222"), (0, "AA")],
    "anti-spring": [(0, "3"), (1, "A"), (1, LONG), (1, "KKK+4")],
    "spring-once": [(0, "333444555666777+89TJQ")],
    "doubling-by-pair": [(0, "3"), (1, "9"), (0, "2"), (0, LONG), (0, "456789")],
    "doubling-lost": [(0, "3"), (0, "3"), (1, "2"), (1, LONG), (1, "44"), (1, "55")],
    "show-then-show": [(0, "3"), (1, "9"), (0, "2"), (0, LONG), (0, "456789")],
    "rocket-counts-as-bomb": [(0, "3"), (1, "9"), (0, "XD"), (0, LONG), (0, "AAA+KK")],
}
SCORES = [case for case in load("scores") if case["id"] in SCRIPTS]


def deal_of(script):
    """A whole deal in which every seat can play its part of the script."""
    hands = [
        "".join(play.replace("+", "") for who, play in script if who == seat) for seat in range(3)
    ]
    left = Counter(DECK)
    left.subtract("".join(hands))
    assert min(left.values()) >= 0
    rest = "".join(left.elements())
    for seat, size in ((0, 20), (1, 17), (2, 17)):
        missing = size - len(hands[seat])
        hands[seat] += rest[:missing]
        rest = rest[missing:]
    return {"hands": [hands[0][:17], *hands[1:]], "bottom": hands[0][17:]}


def play_script(game, script):
    for seat, play in script:
        assert game.scores == [0, 0, 0]
        while game.seat != seat:
            game.step("pass")
        game.step(play)
    assert game.over


def begin(case):
    """The deal of a score case, brought to the play with its base, shows and doubles."""
    game = Game(case["rules"], first=0, deal=deal_of(SCRIPTS[case["id"]]))
    shows = case.get("shows", [2] if case.get("multiplier") == 2 else [])
    doubles = [case.get("landlord_doubles", False), *case.get("farmer_doubles", [False, False])]
    yes = {
        "show_before_deal": [seat == 1 and 5 in shows for seat in range(3)],
        "show_after_bottom": [2 in shows, False, False],
        "call_points": [True, False, False],
        "call": [True, False, False],
        "double": doubles,
    }
    while game.phase != "play":
        phase, seat = game.phase, game.seat
        if phase == "call" and game.state["shows"].any():  # who has shown is asked first
            yes["call"] = [seat == 0 for seat in range(3)]
        words = {"call_points": f"call_{case['base']}"}
        word = words.get(phase, phase.partition("_")[0])
        game.step(word if yes.get(phase, [False] * 3)[seat] else "pass")
    return game


@pytest.mark.parametrize("case", SCORES, ids=lambda case: case["id"])
def test_scores(case):
    game = begin(case)
    before = game.multiplier
    assert before == case.get("multiplier", max(case.get("shows", [1])))
    play_script(game, SCRIPTS[case["id"]])
    assert (game.landlord, game.base, game.scores) == (0, case["base"], case["scores"])
    assert (game.winner == 0) == case["landlord_wins"]
    doublings = case.get("bombs", 0) + case.get("rockets", 0) + case.get("spring", 0)
    assert game.multiplier == before * 2**doublings


@pytest.mark.parametrize(
    ("case", "scores"),
    [("spring", [8, -4, -4]), ("anti-spring", [-2, 1, 1]), ("spring-once", [2, -1, -1])],
)
def test_play_only_has_no_spring(case, scores):
    game = Game("play_only", deal=deal_of(SCRIPTS[case]))
    play_script(game, SCRIPTS[case])
    assert game.scores == scores


def test_multipliers_of_a_custom_room():
    room = PRESETS["play_only"].replace(bomb_multiplier=3, start_multiplier=5, spring=True)
    game = Game(room, deal=deal_of(SCRIPTS["spring"]))
    play_script(game, SCRIPTS["spring"])
    assert game.multiplier == 5 * 3 * 3 * 2
    assert game.scores == [180, -90, -90]
