"""The known answers of the rules' pages, played by the environment itself."""

import json
from collections import Counter
from pathlib import Path

import pytest

from ddz_env import PRESETS, Game, action_id, action_text, explain, legal_plays

CASES = Path(__file__).parent / "cases"
DECK = "".join(rank * 4 for rank in "3456789TJQKA2") + "XD"
ROOMS = {
    **PRESETS,
    # The plays of jj_classic and the all-pass of laidou, as custom rooms.
    "jj_classic": PRESETS["play_only"].replace(trio_with_pair=False, four_with_two_pairs=False),
    "laidou": PRESETS["qq_classic"].replace(all_pass="first_bidder"),
}


def load(name, rooms):
    """The cases of a file that are for one of these rooms."""
    lines = (CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [case for case in map(json.loads, lines) if case["rules"] in rooms]


def canonical(text):
    return action_text(action_id(text))


PLAYS = load("plays", ("play_only", "qq_classic", "jj_classic"))
AUCTIONS = load("auctions", ("qq_classic", "laidou"))


def test_number_of_cases():
    assert (len(PLAYS), len(AUCTIONS), len(SCORES)) == (33, 6, 7)


@pytest.mark.parametrize("case", PLAYS, ids=lambda case: case["id"])
def test_plays(case):
    room = ROOMS[case["rules"]]
    legal = legal_plays(case["hand"], case["last"], room)
    assert len(legal) == len(set(legal))
    assert {canonical(play) for play in case["legal"]} <= set(legal)
    if "exactly" in case:
        assert set(legal) == {canonical(play) for play in case["exactly"]}
    for play in case["legal"]:
        assert explain(case["hand"], case["last"], play, room).startswith("legal: ")
    for play in case["illegal"]:
        # Written in any order: a play that is in no catalogue is no text of the list either.
        cards = sorted(play.replace("+", ""))
        readings = [p for p in legal if sorted(p.replace("+", "")) == cards]
        assert not [p for p in readings if p.count("+") == play.count("+")]
        assert explain(case["hand"], case["last"], play, room).startswith("illegal: ")


@pytest.mark.parametrize("case", AUCTIONS, ids=lambda case: case["id"])
def test_auctions(case):
    game = Game(ROOMS[case["rules"]], first=case["first"])
    cards = game.hands
    for decision in case["decisions"]:
        seat, choice = decision.split(":")
        assert (game.seat, game.phase, game.landlord) == (int(seat), "call_points", None)
        game.step(choice)
    assert game.redeals == int(case.get("redealt", False))
    assert (game.hands == cards) == (game.redeals == 0 and game.landlord is None)
    if "landlord" in case:
        assert (game.phase, game.seat) == ("play", case["landlord"])
        assert [len(hand) for hand in game.hands][case["landlord"]] == 20
    if "next" in case:
        assert (game.phase, game.seat, game.base) == ("call_points", case["next"], game.base)
    if "legal" in case:
        assert game.legal() == case["legal"]
    if game.redeals:
        assert (game.history, game.base) == ([], 0)
    facts = {"landlord": game.landlord, "base": game.base, "multiplier": game.multiplier}
    assert all(case[name] == value for name, value in facts.items() if name in case)


LONG = "3456789TJQKA"
SCRIPTS = {  # the plays of each score case; seat 0 is landlord, who isn't named passes
    "bid3-win": [(0, "3"), (1, "4"), (0, "2"), (0, LONG), (0, "45678"), (0, "9")],
    "bid3-one-bomb": [(0, "3"), (1, "9"), (0, "2222"), (0, LONG), (0, "AAA")],
    "bid3-two-bombs-lost": [(0, "3"), (0, "3"), (1, "2222"), (1, "AAAA"), (1, "456789TJQ")],
    "spring": [(0, "3456789TJQ"), (0, "KKKK"), (0, "2222"), (0, "AA")],
    "anti-spring": [(0, "3"), (1, "A"), (1, LONG), (1, "KKK+4")],
    "spring-once": [(0, "333444555666777+89TJQ")],
    "rocket-counts-as-bomb": [(0, "3"), (1, "9"), (0, "XD"), (0, LONG), (0, "AAA+KK")],
}
SCORES = [case for case in load("scores", ROOMS) if case["id"] in SCRIPTS]


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


@pytest.mark.parametrize("case", SCORES, ids=lambda case: case["id"])
def test_scores(case):
    game = Game(case["rules"], first=0, deal=deal_of(SCRIPTS[case["id"]]))
    game.step(f"call_{case['base']}")
    while game.phase == "call_points":
        game.step("pass")
    play_script(game, SCRIPTS[case["id"]])
    assert (game.landlord, game.base, game.scores) == (0, case["base"], case["scores"])
    assert (game.winner == 0) == case["landlord_wins"]
    doublings = case["bombs"] + case.get("rockets", 0) + case["spring"]
    assert game.multiplier == 2**doublings


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
