"""Tables: many deals, first callers, payments, doubling with beans."""

from collections import Counter

import numpy as np
import pytest
from deals import DECK
from seats import BOTS, PLENTY, a_table, answer, check_ledger, seat_calling, to_landlord

from ddz_env import (
    PRESETS,
    CardError,
    DdzError,
    IllegalActionError,
    PlayError,
)
from ddz_env.money import Room
from ddz_env.state import Phase
from ddz_env.table import Table

# ------------------------------------------------------------------------------ a thousand deals


@pytest.mark.parametrize("rules", PRESETS)
def test_a_thousand_deals(rules):
    start, room = [3000, 900, 300], Room(coefficient=2, fee=1, double_threshold=200)
    table, bots = Table(rules, room, seed=7, beans=start), list(BOTS.values())
    titles, firsts, copy = {tuple(table.titles)}, [], None
    for number in range(1, 1001):
        table.deal()
        state = table.game.state
        assert int(state["deal"]) == table.deals == number
        firsts.append(int(state["first"]))
        if rules == "jj_classic":
            assert firsts[-1] == int(state["turned"]) // 17
        for _ in range(number % 12):
            if table.running:
                table.step(table.game.legal()[0])
        if number == 940:
            assert table.running
            copy = Table.from_json(table.to_json())
        if table.running:
            table.play([bots[(seat + number) % 3] for seat in range(3)])
        titles.add(tuple(table.titles))
    check_ledger(table, start)
    assert min(table.beans) >= 0
    assert (table.house > 0) == table.rules.table_fee
    assert len(titles) > 3
    if table.rules.first_caller == "rotates":
        assert firsts == [(firsts[0] + i) % 3 for i in range(1000)]
    elif rules != "play_only":
        assert min(Counter(firsts).values()) > 270
    # From the middle of a deal the saved table comes to the same end.
    for number in range(940, 1001):
        if number > 940:
            copy.deal()
            for _ in range(number % 12):
                if copy.running:
                    copy.step(copy.game.legal()[0])
        if copy.running:
            copy.play([bots[(seat + number) % 3] for seat in range(3)])
    assert copy.to_json() == table.to_json()


def test_a_seed_is_a_course_of_deals():
    tables = [Table("happy", seed=seed) for seed in (5, 5, 6)]
    for table in tables:
        for _ in range(4):
            table.play([BOTS["greedy"]] * 3)
    assert tables[0].to_json() == tables[1].to_json()
    assert tables[0].game.hands != tables[2].game.hands
    assert len({str(Table("happy", seed=s).deal().hands) for s in range(30)}) == 30


@pytest.mark.parametrize("room", PRESETS)
def test_the_same_deal_again(room):
    """Three times around: the same game from the same choices; what a seat has moves along."""
    table = Table(room, Room(fee=3), seed=4)
    table.play([BOTS["greedy"]] * 3)
    for _ in range(3):
        first, beans = table.game.clone(), list(table.beans)
        points, ledger = table.points, [e for e in table.ledger if e.who in (0, 1, 2)]
        game = table.again()
        assert table.beans == [beans[2], *beans[:2]] and table.deals == game.state["deal"]
        assert table.points == [points[2], *points[:2]]
        moved = [((e.who + 1) % 3, e.amount) for e in ledger]
        assert [(e.who, e.amount) for e in table.ledger if e.who in (0, 1, 2)] == moved
        assert Table.from_json(table.to_json()).to_json() == table.to_json()
        table.play([BOTS["greedy"]] * 3)
        assert table.game.history == first.history and table.game.scores == first.scores


def test_again_takes_a_given_deal_and_redeals_along():
    cards = np.repeat(np.arange(13, dtype=np.uint8), 4)
    cards = np.concatenate([cards, [13, 14]]).astype(np.uint8)
    table = Table("qq_classic", PLENTY, seed=2)
    table.deal(cards)
    hands, first = table.game.hands, table.game.seat
    for _ in range(3):
        table.step("pass")
    anew = table.game.hands
    table.play([BOTS["greedy"]] * 3)
    table.again()
    assert table.game.hands == hands and table.game.seat == first
    for _ in range(3):
        table.step("pass")
    assert table.game.hands == anew


def test_again_after_an_escape():
    """The deal is played anew; the escape stays in the ledger, of who fled."""
    table = Table("happy", seed=6)
    hands = table.deal().hands
    table.step(table.game.legal()[0])
    table.escape(1)
    paid = table.beans[1]
    table.again()
    assert table.running and table.game.hands == hands and table.beans[2] == paid
    assert any(entry.who == 2 and entry.what == "escape" for entry in table.ledger)
    assert Table.from_json(table.to_json()).to_json() == table.to_json()


def test_again_needs_a_deal_that_is_over():
    table = Table("happy")
    with pytest.raises(IllegalActionError, match="again: none has been dealt"):
        table.again()
    table.deal()
    before = table.to_json()
    with pytest.raises(IllegalActionError, match="again: deal 1 is not over"):
        table.again()
    assert table.to_json() == before


# --------------------------------------------------------------------------------- first caller


def test_the_first_deal_draws_who_calls_first():
    firsts = Counter(Table("qq_classic", seed=s).deal().seat for s in range(90))
    assert sorted(firsts) == [0, 1, 2] and min(firsts.values()) > 15


@pytest.mark.parametrize("rotates", [False, True])
def test_the_first_caller_after_redeals(rotates):
    """A redeal keeps the first caller where it rotates, unless the room says that it moves on."""
    table = Table(PRESETS["qq_classic"].replace(redeal_rotates=rotates), seed=1)
    first = table.deal().seat
    for redeal in range(1, 3):
        for _ in range(3):
            table.step("pass")
        assert table.game.redeals == redeal
        assert table.game.seat == (first + redeal * rotates) % 3
    table.play([BOTS["random"]] * 3)
    redeals = table.game.redeals
    assert table.deal().seat == (first + redeals * rotates + 1) % 3


def test_a_void_deal_costs_nothing_and_the_next_seat_calls_first():
    table = Table(PRESETS["qq_classic"].replace(max_redeals=1), PLENTY)
    first = table.deal().seat
    for _ in range(6):
        table.step("pass")
    assert not table.running and table.game.winner is None
    assert (table.ledger, table.points) == ([], [0, 0, 0])
    assert table.deal().seat == (first + 1) % 3


# -------------------------------------------------------------------------------------- scores


LONG = "3456789TJQKA"
ONE_BOMB = [(0, "3"), (1, "9"), (0, "2222"), (0, LONG), (0, "AAA")]
FIRST_PLAY_WINS = [(0, "333444555666777+89TJQ")]
FARMER_WINS = [(0, "3"), (1, "A"), (1, LONG), (1, "KKK+4")]


def deal_of(script):
    """A deal in which every seat can play its part of a script; seat 0 is landlord."""
    hands = ["".join(text.replace("+", "") for who, text in script if who == s) for s in range(3)]
    left = Counter(DECK)
    left.subtract("".join(hands))
    rest = "".join(left.elements())
    for seat, size in ((0, 20), (1, 17), (2, 17)):
        missing = size - len(hands[seat])
        hands[seat] += rest[:missing]
        rest = rest[missing:]
    return {"hands": [hands[0][:17], *hands[1:]], "bottom": hands[0][17:]}


def play_script(table, script):
    for seat, play in script:
        while table.game.seat != seat:
            table.step("pass")
        table.step(play)
    assert not table.running


def entries(table, what):
    return [(e.who, e.amount) for e in table.ledger if (e.deal, e.what) == (table.deals, what)]


def call_three(table, script):
    """Seat 0 is landlord for 3 points."""
    table.deal(deal_of(script))
    while table.game.phase == "call_points":
        table.step("call_3" if table.game.seat == 0 else "pass")


def test_coins_of_the_known_answer():
    """Bid 3, one bomb, the landlord wins: base x multiplier is 6, N 1000, A 50."""
    table = Table("qq_classic", Room(coefficient=1000, fee=50, beans=20_000))
    call_three(table, ONE_BOMB)
    play_script(table, ONE_BOMB)
    assert table.points == table.game.scores == [12, -6, -6]
    assert entries(table, "settlement") == [(0, 12_000), (1, -6000), (2, -6000)]
    assert entries(table, "fee") == [(0, -50), (1, -50), (2, -50), ("house", 150)]
    assert (table.beans, table.winnings) == ([31_950, 13_950, 13_950], [12_000, -6000, -6000])
    assert [name.chinese for name in table.titles] == ["短工", "包身工", "包身工"]
    assert (table.house, table.deals) == (150, 1)
    check_ledger(table, [20_000] * 3)
    assert str(table).splitlines()[1] == "  player_0 31950 beans, Day Labourer 短工"


def test_spring_by_the_first_play():
    table = Table("qq_classic", PLENTY)
    call_three(table, FIRST_PLAY_WINS)
    play_script(table, FIRST_PLAY_WINS)
    assert table.game.scores == [12, -6, -6]  # once, although neither farmer played
    assert entries(table, "settlement") == [(0, 120), (1, -60), (2, -60)]


def test_short_seats_at_a_table():
    table = Table("qq_classic", beans=[0, 5, 99])
    call_three(table, ONE_BOMB)
    play_script(table, ONE_BOMB)
    assert table.beans == [11, 0, 93]
    assert table.points == [12, -6, -6]  # points count in full
    call_three(table, FARMER_WINS)  # a spring of the farmers: 12 and 6
    play_script(table, FARMER_WINS)
    assert table.game.scores == [-12, 6, 6]
    assert table.beans == [0, 5, 99]
    check_ledger(table, [0, 5, 99])


def test_a_winner_of_happy_wins_what_he_carries():
    table = seat_calling(0, beans=[3, 50, 50])
    for choice in ("pass", "double", "double"):
        table.step(choice)
    assert (table.game.phase, table.game.seat) == ("play", 0)
    table.play([BOTS["greedy"], BOTS["trustee"], BOTS["trustee"]])
    scores = table.game.scores
    assert abs(scores[0]) > 3 and scores[1] == scores[2] == -scores[0] / 2
    if scores[0] > 0:
        assert table.beans == [6, 49, 48] or table.beans == [6, 48, 49]
    else:
        assert table.beans[0] == 0 and sum(table.beans) == 103


def test_three_shows_at_different_moments():
    """Each seat is asked until it shows; the largest counts, and its owner calls first."""
    table = Table("happy", PLENTY, seed=2)
    table.deal()
    asked = []
    moments = {("show_before_deal", 1), ("show_at_6", 0), ("show_at_12", 2)}
    while table.game.phase.startswith("show"):
        here = (table.game.phase, table.game.seat)
        asked.append(here)
        table.step("show" if here in moments else "pass")
    assert asked == [
        ("show_before_deal", 0), ("show_before_deal", 1), ("show_before_deal", 2),
        ("show_at_6", 0), ("show_at_6", 2), ("show_at_12", 2),
    ]  # fmt: skip
    assert (table.game.phase, table.game.seat) == ("call", 1)
    answer(table, call="call", rob="pass", double="pass")
    assert (table.game.phase, table.game.landlord, table.game.multiplier) == ("play", 1, 5)
    shown = [table.game.view(seat)["hands"].tolist() for seat in range(3)]
    assert shown[0] == shown[1] == shown[2] and all(shown[0])
    table.play([BOTS["greedy"]] * 3)
    assert abs(table.game.scores[0]) == table.game.multiplier >= 5
    check_ledger(table, [10**6] * 3)


# ------------------------------------------------------------------------------------- doubling


@pytest.mark.parametrize("lord", range(3))
@pytest.mark.parametrize("rich", [(1, 1, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 0, 0), (0, 0, 0)])
def test_who_has_the_beans_to_double(lord, rich):
    """The landlord when all three exceed the threshold; a farmer when he and the landlord do."""
    beans = [501 if has else 500 for has in rich]
    table = seat_calling(lord, room=Room(double_threshold=500), beans=beans)
    asked = set()
    while table.game.phase == "double":
        asked.add(table.game.seat)
        table.step("double")
    expected = {s for s in range(3) if s != lord and rich[s] and rich[lord]}
    assert asked == (expected | {lord} if all(rich) else expected)
    assert {s for s in range(3) if table.game.state["doubles"][s]} == asked
    assert table.game.phase == "play"
    # The next deal goes by what the seats have then.
    table.play([BOTS["trustee"]] * 3)
    table.beans = [600, 600, 600]
    to_landlord(table, lord)
    assert table.game.phase == "double"


def test_a_room_that_begins_with_doubling():
    room = PRESETS["play_only"].replace(double=True)
    assert Table(room, beans=[1, 1, 1]).deal().phase == "double"
    some = Table(room, beans=[1, 0, 1]).deal()
    assert (some.phase, some.seat, some.state["choices"].tolist()) == ("double", 2, [-1, -1, -2])
    assert Table(room, beans=[0, 1, 1]).deal().phase == "play"


def test_both_farmers_double():
    table = seat_calling(0, room=PLENTY, seed=4)
    for choice in ("double", "double", "double"):
        table.step(choice)
    table.play([BOTS["greedy"]] * 3)
    game = table.game
    sign = 1 if game.winner == 0 else -1
    points = game.multiplier
    assert game.scores == [sign * 8 * points, -sign * 4 * points, -sign * 4 * points]
    assert entries(table, "settlement") == [(s, 10 * game.scores[s]) for s in range(3)]


# ------------------------------------------------------------------------------------ bad input

REFUSED = [
    (lambda t: Table("no room"), DdzError, "no room"),
    (lambda t: Table(room={"fee": 1}), DdzError, "room"),
    (lambda t: Table(seed=-1), DdzError, "seed.*-1"),
    (lambda t: Table(beans=[1, 2]), DdzError, "beans"),
    (lambda t: Table(beans=[1, 2, -1]), DdzError, "beans of seat 2.*-1"),
    (lambda t: Table(beans=[1, 2, 0.5]), DdzError, "beans of seat 2.*0.5"),
    (lambda t: Table(beans="123"), DdzError, "beans"),
    (lambda t: t.deal(), IllegalActionError, "deal 4"),
    (lambda t: t.step("call_1"), IllegalActionError, "call_1"),
    (lambda t: t.step("nonsense"), PlayError, "nonsense"),
    (lambda t: t.step(None), PlayError, "None"),
    (lambda t: t.escape(3), DdzError, "seat.*3"),
    (lambda t: t.escape(True), DdzError, "seat.*True"),
    (lambda t: t.escape(None), DdzError, "seat.*None"),
    (lambda t: t.auto(-1), DdzError, "seat.*-1"),
    (lambda t: t.auto(0, on=2), DdzError, "on.*2"),
    (lambda t: t.play([BOTS["greedy"]]), DdzError, "bots.*1"),
    (lambda t: Table().step("pass"), IllegalActionError, "no deal"),
    (lambda t: Table().deal(list(range(53))), CardError, "53"),
]


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row[2])
def test_bad_input_changes_nothing(row):
    call, error, words = row
    table = a_table()
    before = table.to_json()
    with pytest.raises(error, match=words) as caught:
        call(table)
    assert "\n" not in str(caught.value)
    assert table.to_json() == before


def test_a_refused_deal_is_not_counted():
    table = Table("qq_classic", seed=3)
    before = table.to_json()
    with pytest.raises(CardError):
        table.deal({"hands": ["3" * 17, "", ""], "bottom": "XDD"})
    assert table.to_json() == before


def test_a_bot_that_answers_with_an_illegal_action():
    class Wrong:
        def act(self, views, legal):
            return np.array([1])

    table = Table("happy", seed=3)
    with pytest.raises(IllegalActionError, match="call_1"):
        table.play([Wrong()] * 3)
    assert table.running and table.game.state["phase"] == Phase.SHOW_BEFORE_DEAL
