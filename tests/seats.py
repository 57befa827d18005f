"""Tables of beans for tests: rooms, seats, scripted and saved ones."""

from collections import Counter

from ddz_env import PRESETS
from ddz_env.bots import make_bot
from ddz_env.money import Room
from ddz_env.table import Table

CRAZY, LAIDOU = PRESETS["crazy_laizi"], PRESETS["laidou"]
ROOMS = PRESETS
PLENTY = Room(coefficient=10, fee=5, beans=10**6)
BOTS = {name: make_bot(name) for name in ("random", "greedy", "trustee")}


def check_ledger(table, start):
    """Sums to zero in every deal, nobody is ever below zero, and the beans are what it says."""
    beans, sums = list(start), Counter()
    for entry in table.ledger:
        sums[entry.deal] += entry.amount
        if entry.who != "house":
            beans[entry.who] += entry.amount
            assert beans[entry.who] >= 0, entry
        assert entry.amount != 0 and 1 <= entry.deal <= table.deals
    assert not any(sums.values())
    assert beans == table.beans
    assert sum(table.beans) + table.house == sum(start)


def answer(table, **choices):
    """Choose by phase (text, or texts by seat) until a phase without an answer."""
    while table.running and table.game.phase in choices:
        choice = choices[table.game.phase]
        table.step(choice if isinstance(choice, str) else choice[table.game.seat])


QUIET = {"show_before_deal": "pass", "show_at_6": "pass", "show_at_12": "pass", "rob": "pass"}


def to_landlord(table, lord, **more):
    """A happy deal up to the doubling, with this landlord, nobody showing or robbing."""
    calls = ["call" if seat == lord else "pass" for seat in range(3)]
    table.deal()
    answer(table, **{**QUIET, "call": calls, "show_after_bottom": "pass", **more})


def seat_calling(lord, **options):
    """A happy table whose next landlord can be this seat: any can, since others pass."""
    table = Table("happy", **options)
    to_landlord(table, lord)
    assert table.game.landlord == lord
    return table


def a_table():
    """A table in the middle of its fourth deal, one seat on auto-play."""
    table = Table("happy", Room(coefficient=3, fee=2), seed=11, beans=[400, 300, 200])
    for _ in range(3):
        table.play([BOTS["greedy"], BOTS["random"], BOTS["greedy"]])
    table.auto(2)
    table.deal()
    table.step("show" if "show" in table.game.legal() else table.game.legal()[0])
    return table
