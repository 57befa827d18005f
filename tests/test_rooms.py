"""Examples of every phase before the play, beside the published ones."""

from itertools import pairwise

import numpy as np
import pytest

from ddz_env import PRESETS, Game, IllegalActionError, core, vec_env
from ddz_env.cards import to_text

RANKS = "3456789TJQKA2XD"
AUCTIONS = [name for name, rules in PRESETS.items() if rules.auction != "none"]
REDEALT = [name for name in AUCTIONS if PRESETS[name].all_pass == "redeal"]
HAPPY = PRESETS["happy"]


def steps(game, *choices):
    """Several choices, `p` for pass."""
    for choice in choices:
        game.step("pass" if choice == "p" else choice)
    return game


def refuse(game):
    """The no of the seat on turn; a blind grab is refused by looking."""
    game.step("look" if game.phase == "blind" else "pass")


def to_phase(game, phase):
    """Everybody refuses up to this phase, but the first caller calls."""
    while game.phase != phase:
        assert not game.over
        if game.phase in ("call", "call_points", "blind"):
            game.step({"call": "call", "call_points": "call_3", "blind": "blind"}[game.phase])
        else:
            refuse(game)
    return game


def at(game):
    return game.phase, game.seat, game.landlord


# ---------------------------------------------------------------------------------------- shows

THREE_SHOWS = [("p", "p", "show"), ("show", "p"), ("show",)]  # seat 2, then 0, then 1


@pytest.mark.parametrize(
    ("combine", "tie", "multiplier"),
    [("largest", "from_first_caller", 5), ("product", "from_seat_0", 60)],
)
def test_three_shows_at_three_moments(combine, tie, multiplier):
    game = Game(HAPPY.replace(shows_combine=combine, show_tie=tie), first=1)
    for moment, choices in zip(
        ("show_before_deal", "show_at_6", "show_at_12"), THREE_SHOWS, strict=True
    ):
        assert game.phase == moment
        steps(game, *choices)
    # The first to show calls first; who has shown is not asked again.
    assert at(game) == ("call", 2, None)
    assert (game.multiplier, game.state["shows"].tolist()) == (multiplier, [2, 3, 1])
    steps(game, "p", "call", "p")
    assert at(game) == ("double", 0, 0)
    assert game.multiplier == multiplier
    assert game.history == [
        (0, "pass"), (1, "pass"), (2, "show"), (0, "show"), (1, "pass"), (1, "show"),
        (2, "pass"), (0, "call"), (1, "pass"),
    ]  # fmt: skip


def test_the_largest_show_counts_not_the_last():
    game = steps(Game("happy", first=0), *"pppppp", "show", "p", "p", "p", "call")
    assert at(game) == ("rob", 2, None) and game.multiplier == 3
    steps(game, "p")  # seat 0 passed the call and may not rob
    assert at(game) == ("show_after_bottom", 1, 1)
    assert steps(game, "show").multiplier == 3
    game = steps(Game("happy", first=0), *"ppppppppp", "call", "p", "p", "show")
    assert game.multiplier == 2 and game.asked == [0, 1, 2]


@pytest.mark.parametrize(
    ("tie", "first", "caller"),
    [
        ("from_first_caller", 2, 2),
        ("from_first_caller", 0, 1),
        ("from_seat_0", 2, 1),
    ],
)
def test_two_shows_at_one_moment(tie, first, caller):
    game = steps(Game(HAPPY.replace(show_tie=tie), first=first), "p", "show", "show", "p", "p")
    assert at(game) == ("call", caller, None)
    steps(game, "p", "p", "p")
    assert at(game) == ("double", 0, caller)  # landlord without a call: nobody robs
    assert (game.base, game.multiplier, game.redeals) == (1, 5, 0)


def test_an_earlier_show_calls_before_an_earlier_seat():
    game = steps(Game("happy", first=0), *"ppp", "p", "p", "show", "show", "p")
    assert at(game) == ("call", 2, None)
    assert game.multiplier == 4


def test_everybody_may_show_after_the_bottom_cards():
    game = to_phase(Game(HAPPY.replace(shower="everybody", shows_combine="product")), "rob")
    steps(game, "p", "p")
    assert game.asked == [0, 1, 2]
    steps(game, "show", "p", "show")
    assert game.multiplier == 4 and game.state["shows"].tolist() == [4, 0, 4]


# --------------------------------------------------------------------- nobody calls, redeals, void


def test_all_pass_in_laidou():
    """The first bidder is landlord at one point, with the bottom cards; nothing is dealt anew."""
    game = steps(Game("laidou", seed=6, first=1), "p", "p", "p")
    assert (game.phase, game.landlord, game.redeals) == ("play", 1, 0)
    assert (game.base, game.multiplier, len(game.hands[1])) == (1, 1, 20)


@pytest.mark.parametrize("room", REDEALT)
def test_all_pass_twice_and_then_a_call(room):
    game = Game(room, seed=6, first=1)
    first_phase, dealt = game.phase, {tuple(game.hands)}
    for redeals in (1, 2):
        while game.redeals < redeals:
            refuse(game)
        assert (game.phase, game.history, game.multiplier) == (first_phase, [], 1)
        assert (game.state["calls"] == -1).all() and (game.state["looked"] == 0).all()
        dealt.add(tuple(game.hands))
    assert len(dealt) == 3
    to_phase(game, "play")
    assert (game.redeals, game.landlord) == (2, int(game.state["first"]))
    assert len(game.hands[game.landlord]) == 20
    for seat in range(3):
        assert int(game.view(seat)["redeals"]) == 2
    assert Game.from_bytes(game.to_bytes()).to_bytes() == game.to_bytes()


def test_a_redeal_resets_blind_looks_and_multipliers():
    game = steps(Game("happy_blind", first=0), *["look", "p"] * 3)
    assert (game.redeals, game.phase, game.multiplier) == (1, "blind", 1)
    assert [int(game.view(seat)["hand"]) for seat in range(3)] == [0, 0, 0]
    assert (game.state["looked"] == 0).all()
    steps(game, "blind")
    assert game.multiplier == 2 and (game.state["looked"] == 0).all()


@pytest.mark.parametrize("cap", [0, 2, 50])
@pytest.mark.parametrize("room", REDEALT)
def test_the_cap_on_redeals(room, cap):
    """After the last redeal the deal is void: no scores; it can be seen, printed, copied, saved."""
    rules = PRESETS[room].replace(max_redeals=cap)
    game = Game(rules, seed=2)
    while not game.over:
        assert game.scores == [0, 0, 0] and game.redeals <= cap
        refuse(game)
    assert (game.redeals, game.landlord, game.winner) == (cap, None, None)
    assert (game.scores, game.multiplier, game.asked, game.legal()) == ([0, 0, 0], 1, [], [])
    assert len(game.history) == {
        "happy": 12, "happy_laizi": 12, "happy_blind": 6, "crazy_laizi": 6
    }.get(room, 3)  # fmt: skip
    for seat in range(3):
        view = game.view(seat)
        assert (view["scores"] == 0).all() and int(view["landlord"]) == -1
        assert to_text(int(view["hand"])) == game.hands[seat] and int(view["bottom"]) == 0
    for text in (*game.hands, "over", "scores 0 0 0"):
        assert text in str(game)
    copy = game.clone()
    assert copy.to_bytes() == game.to_bytes() == Game.from_bytes(game.to_bytes(), rules).to_bytes()
    with pytest.raises(IllegalActionError, match="over"):
        game.step("pass")
    assert copy.to_bytes() == game.to_bytes()


def test_a_void_row_of_a_batch_starts_its_next_deal():
    rules = PRESETS["qq_classic"].replace(max_redeals=0)
    batch = vec_env(3, rules, seed=1)
    first = batch.states["first"].copy()
    for _ in range(2):
        assert not batch.step(np.zeros(3, np.int64)).any()
    assert batch.step(np.zeros(3, np.int64)).all() and (batch.points() == 0).all()
    assert (batch.states["first"] == (first + 1) % 3).all()
    assert (batch.states["redeals"] == 0).all() and (batch.states["n_history"] == 0).all()


@pytest.mark.parametrize("room", REDEALT)
def test_random_games_are_not_redealt_again_and_again(room):
    """The choices of a random game after a redeal are other ones than before."""
    batch = vec_env(1, room, seed=3)
    redeals = []
    for _ in range(400):
        core.random_games(batch.states, 1, batch.params)
        redeals.append(int(batch.states["redeals"][0]))
    assert max(redeals) < 6
    assert redeals.count(0) > 300


# ---------------------------------------------------------------------------- robs, doubles, raises


@pytest.mark.parametrize(
    ("caller_robs", "robs", "landlord", "multiplier"),
    [
        ("if_robbed", "pp", 0, 1),
        ("if_robbed", "rpp", 1, 2),
        ("if_robbed", "rrr", 0, 8),
        ("if_robbed", "prp", 2, 2),
        ("if_robbed", "prr", 0, 4),
        ("always", "ppp", 0, 1),
        ("always", "ppr", 0, 2),
        ("always", "rpp", 1, 2),
    ],
)
def test_robs(caller_robs, robs, landlord, multiplier):
    game = to_phase(Game(HAPPY.replace(caller_robs=caller_robs), first=0), "rob")
    for i, letter in enumerate(robs):
        assert at(game) == ("rob", (1 + i) % 3, None)
        assert (game.legal(), game.base) == (["pass", "rob"], 1)
        game.step("rob" if letter == "r" else "pass")
    assert at(game) == ("show_after_bottom", landlord, landlord)
    assert game.multiplier == multiplier


PLAYS = [(0, "3"), (1, "9"), (0, "2"), (0, "3456789TJQKA"), (0, "456789")]


def doubled_deal(doubles):
    game = Game("happy", first=0, deal=deal_rest())
    to_phase(game, "double")
    for seat, double in enumerate(doubles):
        assert game.seat == seat and (game.state["doubles"] == 0).all()
        game.step("double" if double else "pass")
    for seat, play in PLAYS:
        while game.seat != seat:
            game.step("pass")
        game.step(play)
    assert game.over and game.winner == 0
    return game


def deal_rest():
    """The deal with the cards that the plays leave, in order."""
    left = sorted([*(4 * RANKS[:13]), "X", "D"], key=RANKS.index)
    first = "33456789TJQKA2456"
    for card in first + "789" + "9":
        left.remove(card)
    rest = "".join(left)
    return {"hands": [first, "9" + rest[:16], rest[16:]], "bottom": "789"}


@pytest.mark.parametrize(
    ("doubles", "scores"),
    [
        ((0, 0, 0), [2, -1, -1]),
        ((0, 1, 0), [3, -2, -1]),
        ((0, 1, 1), [4, -2, -2]),
        ((1, 0, 0), [4, -2, -2]),
        ((1, 1, 0), [6, -4, -2]),
        ((1, 1, 1), [8, -4, -4]),
    ],
)
def test_doubles(doubles, scores):
    game = doubled_deal(doubles)
    assert (game.scores, game.multiplier) == (scores, 1)
    assert game.state["doubles"].tolist() == list(doubles)


@pytest.mark.parametrize(
    ("beans", "asked"),
    [
        ((1, 1, 1), [0, 1, 2]),
        ((0, 1, 1), []),  # the landlord's, seat 0
        ((1, 0, 1), [2]),
        ((1, 0, 0), []),
    ],
)
def test_only_who_has_the_beans_is_asked_to_double(beans, asked):
    game = Game("happy", first=0)
    game.state["may_double"] = beans
    while game.phase != "show_after_bottom":
        game.step("call" if game.phase == "call" else "pass")
    steps(game, "p")
    assert game.asked == (asked or [0])
    assert game.phase == ("double" if asked else "play")
    steps(game, *["double"] * len(asked))
    assert game.phase == "play"
    assert game.state["doubles"].tolist() == [int(seat in asked) for seat in range(3)]


@pytest.mark.parametrize(
    ("order", "raises", "turns", "multiplier"),
    [
        ("farmer_after_landlord", "pp", [2, 0], 2),
        ("farmer_after_landlord", "rp", [2, 1], 4),
        ("farmer_after_landlord", "prp", [2, 0, 1], 4),
        ("farmer_after_landlord", "rrpp", [2, 1, 2, 0], 8),
        ("farmer_after_landlord", "rrprp", [2, 1, 2, 0, 1], 16),
        ("farmer_after_landlord", "prrprr", [2, 0, 1, 2, 0, 1], 32),
        ("farmer_after_landlord", "rrrr", [2, 1, 2, 1], 32),
        ("farmer_before_landlord", "pp", [0, 2], 2),
        ("farmer_before_landlord", "rrprr", [0, 1, 0, 2, 1], 32),
    ],
)
def test_raise_chains(order, raises, turns, multiplier):
    """The landlord, seat 1, has grabbed blind and not shown."""
    game = Game(PRESETS["happy_blind"].replace(raise_order=order), first=1)
    steps(game, "blind", "p")
    for letter, turn in zip(raises, turns, strict=True):
        assert at(game) == ("raise", turn, 1)
        assert game.legal() == ["pass", "raise"]
        game.step("raise" if letter == "r" else "pass")
    assert at(game) == ("play", 1, 1)
    assert (game.multiplier, int(game.state["raises"])) == (multiplier, raises.count("r"))
    assert [seat for seat, _ in game.history[2:]] == turns


# ------------------------------------------------------------------------------------- blind grabs


def test_a_look_and_then_a_call():
    game = Game("happy_blind", first=2)
    assert (at(game), game.legal(), game.base) == (("blind", 2, None), ["blind", "look"], 1)
    steps(game, "look")
    assert (at(game), game.legal()) == (("call", 2, None), ["pass", "call"])
    steps(game, "p", "look")
    assert at(game) == ("call", 0, None)
    steps(game, "call")
    assert at(game) == ("show_after_bottom", 0, 0)
    assert (game.multiplier, int(game.state["blind"])) == (1, 0)
    assert game.state["looked"].tolist() == [1, 0, 1]
    assert game.state["calls"].tolist() == [1, -1, 0]
    assert game.history == [(2, "look"), (2, "pass"), (0, "look"), (0, "call")]


def test_a_blind_grab_after_others_have_passed():
    game = steps(Game("happy_blind", first=2), "look", "p", "look", "p", "blind")
    assert at(game) == ("show_after_bottom", 1, 1)
    assert (game.multiplier, int(game.state["blind"])) == (2, 1)


def test_all_look_and_then_all_call():
    rules = PRESETS["happy_blind"].replace(look_then="call_after_all")
    game = steps(Game(rules, first=2), "look", "look")
    assert at(game) == ("blind", 1, None)
    assert at(steps(game.clone(), "blind")) == ("show_after_bottom", 1, 1)
    steps(game, "look")
    turns = []
    while game.phase == "call" and not game.redeals:
        turns.append(game.seat)
        assert len(game.hands[game.seat]) == 17 and int(game.view()["hand"]) != 0
        steps(game, "p")
    assert turns == [2, 0, 1] and game.redeals == 1
    steps(game, "look", "look", "look", "p", "call")
    assert game.multiplier == 1 and game.landlord == (int(game.state["first"]) + 1) % 3


# ---------------------------------------------------------------------------------------- all rooms


@pytest.mark.parametrize("room", PRESETS)
def test_every_id_before_the_play_is_either_listed_or_refused(room):
    """Along deals with every choice: the ids below those of plays, and some plays."""
    phases = set()
    for seed in range(12):
        game = Game(room, seed=seed)
        for ply in range(60):
            if game.phase == "play":
                break
            phases.add(game.phase)
            legal, before = game.legal_ids().tolist(), game.to_bytes()
            assert legal == sorted(set(legal))
            for action in [*range(26), *range(64, 27_535, 2_311)]:
                copy = game.clone()
                if action in legal:
                    copy.step(action)
                    assert copy.to_bytes() != before
                else:
                    with pytest.raises(IllegalActionError, match=game.phase):
                        copy.step(action)
                    assert copy.to_bytes() == before
            game.step(legal[(ply * 7 + seed * (ply + 3)) % len(legal)])
    happy = {"call", "rob", "show_before_deal", "show_at_6", "show_at_12", "double"}
    wanted = {
        "play_only": set(),
        "happy": happy,
        "happy_laizi": happy,
        "crazy_laizi": {"call", "rob", "show_before_deal", "show_after_bottom"},
        "happy_blind": {"blind", "call", "show_after_bottom", "raise"},
    }
    assert phases >= wanted.get(room, {"call_points"})


@pytest.mark.parametrize("room", PRESETS)
def test_moments_come_in_order(room):
    """Phases never go back, but for redeals, the calls between blind grabs, and fillings."""
    order = [
        *("show_before_deal", "show_at_6", "show_at_12", "call_points", "call", "rob", "blind"),
        *("show_after_bottom", "double", "raise", "play", "fill", "over"),
    ]
    for seed in range(30):
        game, seen = Game(room, seed=seed), []
        rng = np.random.default_rng(seed)
        while not game.over:
            if not game.history:
                seen.clear()
            seen.append(order.index(game.phase))
            game.step(int(rng.choice(game.legal_ids())))
        seen.append(order.index(game.phase))
        blind, call = order.index("blind"), order.index("call")
        back = {(blind, call), (order.index("fill"), order.index("play"))}
        assert all(a <= b or (a, b) in back for a, b in pairwise(seen))
