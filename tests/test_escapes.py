"""Escapes at a table: in every phase of every room, and what they cost."""

import random
import re
from collections import Counter

import numpy as np
import pytest
from deals import DECK
from seats import BOTS, PLENTY, QUIET, ROOMS, answer, check_ledger

from ddz_env import PRESETS, IllegalActionError
from ddz_env.money import Room
from ddz_env.table import Table

PHASES = {
    "play_only": ["play"],
    "qq_classic": ["call_points", "play"],
    "jj_classic": ["call_points", "play"],
    "laidou": ["call_points", "play"],
    "happy": ["show_before_deal", "show_at_6", "show_at_12", "call", "rob", "show_after_bottom",
              "double", "play"],
    "crazy_laizi": ["show_before_deal", "call", "rob", "show_after_bottom", "play"],
    "happy_laizi": ["show_before_deal", "show_at_6", "show_at_12", "call", "rob",
                    "show_after_bottom", "double", "play"],
    "happy_blind": ["blind", "call", "show_after_bottom", "raise", "play"],
}  # fmt: skip
BOMB_RANKS = DECK[:52:4] + "W"


def bombs_of(texts):
    """Fours of a kind, four wilds too, and rockets in hands."""
    return sum(("X" in t and "D" in t) + sum(t.count(r) == 4 for r in BOMB_RANKS) for t in texts)


def soft_bombs_of(text):
    """The most soft bombs of a hand that has no pure one."""
    wilds, most = text.count("W"), 0
    if wilds < 4:
        for missing in sorted(4 - text.count(r) for r in DECK[:52:4] if 0 < text.count(r) < 4):
            most += missing <= wilds
            wilds -= min(missing, wilds)
    return most


def played_texts(game):
    """The cards that each seat has played, from the history."""
    cards = ["", "", ""]
    for seat, text in game.history:
        if set(text) <= set(DECK + "+*"):
            cards[seat] += re.sub(r".\*", "W", text.replace("+", ""))
    return cards


def play_multiplier(name, game):
    """Shows, robs, blind grab, raises and the bombs dealt, the slow way."""
    values = {"crazy_laizi": (4, 0, 0, 2), "happy_blind": (0, 0, 0, 2)}.get(name, (5, 4, 3, 2))
    shown = [values[int(m) - 1] for m in game.state["shows"] if m]
    shows = int(np.prod(shown)) if name == "crazy_laizi" else max(shown, default=1)
    texts = [text for _, text in game.history]
    doublings = sum(texts.count(word) for word in ("rob", "blind", "raise"))
    if game.landlord is not None:
        dealt = zip(game.hands, played_texts(game), strict=True)
        hands = [hand + played for hand, played in dealt]
        doublings += sum(soft_bombs_of(hand) for hand in hands)
        doublings += bombs_of(hands) * (2 if name == "happy_laizi" else 1)
    return shows * 2**doublings


def expected_penalty(name, game, seat):
    """The points of an escape, the slow way."""
    lord, calls = game.landlord, [t for _, t in game.history if t.startswith("call_")]
    if name in ("qq_classic", "jj_classic", "play_only", "laidou"):
        base = int(calls[-1][-1]) if calls else 1
        return (2 if name == "laidou" else 3) * base * 2 ** int(game.state["bombs"])
    play = play_multiplier(name, game)
    quarter, cap = (4, 10_000) if name == "happy_laizi" else (1, 10**9)
    if name != "crazy_laizi" and (lord is None or play < 10):
        return 20 if seat == lord else 10
    doubles = [1 + int(d) for d in game.state["doubles"]]
    if lord is None:
        return 2 * play
    whole = play * doubles[lord] * sum(doubles[s] for s in range(3) if s != lord) / quarter
    assert whole <= cap  # beyond it scores are no longer in proportion to the doubles
    if seat != lord:
        return 2 * play * doubles[seat] * doubles[lord] / quarter
    return 4 * whole


def positions(name, seed):
    """The phase at every decision of a random deal, and the table as text."""
    table, rng = Table(ROOMS[name], PLENTY, seed=seed), random.Random(seed)
    table.deal()
    for _ in range(70):
        if not table.running:
            return
        yield table.game.phase, table.to_json()
        two = rng.choices(table.game.legal(), k=2 if table.game.phase == "play" else 1)
        table.step(max(two, key=len))


def check_escape(name, text, seat):
    """A seat flees from a table in its first deal; the points that it paid."""
    table = Table.from_json(text)
    lord, expected = table.game.landlord, expected_penalty(name, table.game, seat)
    cost = table.escape(seat)
    assert cost.penalty == expected == -table.points[seat]
    assert not table.running and table.game.scores == [0, 0, 0] and not table.game.legal()
    assert Table.from_json(table.to_json()).to_json() == table.to_json()
    check_ledger(table, [10**6] * 3)
    assert {entry.what for entry in table.ledger} == {"escape"}
    got = {entry.who: entry.amount for entry in table.ledger if entry.who != seat}
    if name != "laidou":
        assert got == {"house": 10 * expected}
    elif lord is None or lord == seat:
        assert got == {other: 5 * expected for other in range(3) if other != seat}
    else:
        assert got == {lord: 10 * expected}
    with pytest.raises(IllegalActionError, match="no deal is running"):
        table.step("pass")
    return expected


@pytest.mark.parametrize("name", PHASES)
def test_an_escape_in_every_phase(name):
    seen, most, rng = Counter(), 0, random.Random(1)
    for seed in range(45):
        for phase, text in positions(name, seed):
            if seen[phase] >= 12 and rng.random() < 0.97:
                continue
            seen[phase] += 1
            most = max(most, *(check_escape(name, text, seat) for seat in range(3)))
    assert set(seen) == set(PHASES[name]) and min(seen.values()) > 3
    if "happy" in name or name == "crazy_laizi":
        assert most > 80


@pytest.mark.parametrize("name", ROOMS)
def test_an_escape_before_and_between_deals(name):
    """From the moment that the table is seated: it ends the deal that would have come."""
    table = Table(ROOMS[name], PLENTY)
    cost = table.escape(1)
    happy = dict.fromkeys(("happy", "happy_blind", "happy_laizi"), 10)
    expected = {"laidou": 2, "crazy_laizi": 2, **happy}.get(name, 3)
    assert (cost.penalty, table.deals, table.points[1]) == (expected, 1, -expected)
    first = int(table.game.state["first"])
    table.play([BOTS["greedy"]] * 3)
    if PRESETS[name].first_caller == "rotates":
        assert int(table.game.state["first"]) == (first + 1) % 3
    points = table.points
    assert table.escape(1).penalty == expected
    assert (table.deals, table.points[1]) == (3, points[1] - expected)
    check_ledger(table, [10**6] * 3)
    assert table.deal() is table.game and table.deals == 4


def test_an_escape_pays_what_there_is():
    table = Table("happy", Room(coefficient=10), beans=[0, 99, 1000])
    for seat, left in ((0, 0), (1, 0), (2, 900)):
        table.escape(seat)
        assert table.beans[seat] == left
    assert (table.house, table.points) == (199, [-10, -10, -10])
    assert table.winnings == [0, -99, -100]


def test_bombs_that_were_played_in_parts():
    """All bombs dealt count, also split ones, unless the room says otherwise."""
    hands = ["3333XD456789TJQKA", "445566778899TTJJQ", "2222456789TJQQKKK"]
    for bombs, penalty in (("all_dealt", 2 * 16), ("not_broken", 10)):
        table = Table(PRESETS["happy"].replace(escape_bombs=bombs), PLENTY)
        table.deal({"hands": hands, "bottom": "AAA"})
        calls = ["call", "pass", "pass"]
        answer(table, **{**QUIET, "call": calls, "show_after_bottom": "pass", "double": "pass"})
        assert bombs_of(table.game.hands) == 4
        table.step("3")
        assert Table.from_json(table.to_json()).escape(1).penalty == penalty
        for text in ("pass", "pass", "AAAA"):  # played as a bomb it counts as before
            table.step(text)
        assert table.escape(1).penalty == penalty
