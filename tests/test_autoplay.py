"""Auto-play: when it plays at a table, and what the trustee chooses."""

import pytest
from seats import BOTS, PLENTY, ROOMS
from tables import position

from ddz_env import PRESETS, action_text
from ddz_env.bots import TrusteeBot
from ddz_env.table import Table


def test_auto_play():
    table = Table("happy", PLENTY, seed=1)
    table.auto(0)
    table.auto(2)
    table.deal()
    while table.running:
        assert table.game.seat == 1
        table.step("call" if table.game.phase == "call" else table.game.legal()[0])
    assert table.game.landlord == 1
    said = {text for seat, text in table.game.history if seat != 1}
    assert not said & {"call", "rob", "show", "double"}
    assert "auto-play" in str(table).splitlines()[1]
    table.auto(0, on=False)
    table.deal()
    assert table.game.seat == 0
    # Switched on, it plays at once, and to the end when all are on.
    table.auto(0)
    assert table.game.seat == 1
    copy = Table.from_json(table.to_json())
    for each in (table, copy):
        each.auto(1)
        assert not each.running
    assert copy.to_json() == table.to_json()
    deals = table.deals
    table.deal()
    assert (table.running, table.deals) == (False, deals + 1)


@pytest.mark.parametrize("name", ["trustee", "greedy", "random"])
def test_the_bot_of_auto_play_is_a_rule(name):
    table, other = (Table(PRESETS["qq_classic"].replace(autoplay=name), seed=3) for _ in range(2))
    for seat in range(3):
        table.auto(seat)
    for _ in range(3):
        table.deal()
        other.play([BOTS[name]] * 3)
        assert table.game.history == other.game.history
    assert table.beans == other.beans


HANDS = [  # hand, play to beat, by whom (the seat is 1, seat 0 landlord), what auto-play does
    ("334445", None, None, "33"),
    ("445556677", None, None, "44"),
    ("3333456", None, None, "4"),
    ("3333XD", None, None, "3333"),
    ("3333", None, None, "3333"),
    ("X2D", None, None, "2"),
    ("3333XD2", None, None, "2"),
    ("XD", None, None, "XD"),
    ("5X", None, None, "5"),
    ("33344", None, None, "333+44"),
    ("4567", "3", 0, "4"),
    ("444467", "3", 0, "4"),
    ("4456", "33", 0, "44"),
    ("456", "3", 2, "pass"),
    ("4", "3", 2, "4"),
    ("4444", "33", 2, "4444"),
    ("44445", "33", 0, "44"),
    ("44445", "77", 0, "pass"),
    ("44445", "3333", 0, "pass"),
    ("444455", "3333", 0, "pass"),
    ("4444", "3333", 0, "4444"),
    ("XD3", "XD"[:1], 0, "D"),
    ("XD", "2", 0, "XD"),
]


@pytest.mark.parametrize("row", HANDS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_trustee_plays(row):
    hand, last, by, expected = row
    views, legal = position(hand, last, by or 0)
    assert action_text(int(TrusteeBot().act(views, legal)[0])) == expected


def test_trustee_says_no():
    for name in ROOMS:
        table = Table(ROOMS[name], seed=5)
        table.deal()
        for _ in range(9):
            if table.game.phase == "play":
                break
            choice = action_text(table._choice(table.game, TrusteeBot()))
            assert choice == ("look" if table.game.phase == "blind" else "pass")
            table.step(table.game.legal()[-1])
