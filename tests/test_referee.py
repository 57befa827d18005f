"""The kernels against the slow referee: plays of single positions, and whole deals."""

import dataclasses
import random
from collections import Counter
from functools import cache

import pytest
from deals import choose, some_play, two_hands
from reference_game import RefereeGame
from reference_rules import RANKS, ROOMS, legal_plays, parse

import ddz_env
from ddz_env import PRESETS, Game, IllegalActionError, action_id, action_text, n_actions
from ddz_env.cards import to_text
from ddz_env.params import Params

CUSTOM = {
    "jj": {"trio_with_pair": False, "four_with_two_pairs": False},
    "openspiel": {
        "kicker_adjacent_trio": True,
        "four_with_two_solos": False,
        "four_with_two_pairs": False,
    },
    "douzero": {
        "kicker_adjacent_trio": True,
        "kicker_four_solos": True,
        "kicker_both_jokers": True,
    },
    "four_solos": {"kicker_four_solos": True},
    "both_jokers": {"kicker_both_jokers": True, "airplane_with_pairs": False},
}


def check_positions(seed, n, changes):
    """Compare n positions, half of them leads; the shapes of plays that a like play answered."""
    rng = random.Random(seed)
    room = {**ROOMS["play_only"], **changes}
    rules = PRESETS["play_only"].replace(**changes)
    answered = set()
    for i in range(n):
        hand, other = two_hands(rng)
        last = some_play(rng, other, room) if i % 2 else None
        ours = ddz_env.legal_plays(hand, last, rules)
        assert sorted(ours) == legal_plays(hand, last, room), (hand, last)
        ids = [action_id(play) for play in ours]
        assert ids == sorted(set(ids)), (hand, last)
        shape = last and parse(last)[:2]
        if any(play != "pass" and parse(play)[:2] == shape for play in ours):
            answered.add(shape)
    return answered


def test_positions():
    assert len(check_positions(1, 5_000, {})) > 25


@pytest.mark.parametrize("name", CUSTOM)
def test_positions_of_custom_rooms(name):
    check_positions(2, 500, CUSTOM[name])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_many_positions(seed):
    check_positions(100 + seed, 10_000, {})


@pytest.mark.slow
@pytest.mark.parametrize("name", CUSTOM)
def test_many_positions_of_custom_rooms(name):
    check_positions(3, 10_000, CUSTOM[name])


def check_every_id(game):
    """Stepping a copy takes exactly the listed ids; a refusal leaves the record as it was."""
    legal = set(game.legal_ids().tolist())
    before = game.to_bytes()
    refused = 0
    for action in [*range(26), *range(64, n_actions(game.rules))]:
        if action in legal:
            copy = game.clone()
            copy.step(action)
            assert copy.history[-1:] == [(game.seat, action_text(action))] or copy.redeals
        else:
            with pytest.raises(IllegalActionError):
                game.step(action)
            refused += 1
    assert game.to_bytes() == before
    assert refused == 26 + n_actions(game.rules) - 64 - len(legal)


@pytest.mark.parametrize(("name", "plies"), [("qq_classic", 0), ("play_only", 0), ("play_only", 1)])
def test_every_id_is_either_listed_or_refused(name, plies):
    game = Game(name, seed=11)
    for _ in range(plies):
        game.step(game.legal()[-1])
    check_every_id(game)


@pytest.mark.parametrize("room", PRESETS)
def test_every_play_of_a_hand_is_either_listed_or_refused(room):
    """Stepping and listing are two kernels: they agree on what a hand holds but can't play now.

    Candidates are all plays that any room has, so those too that this room has not.
    """
    refused, wide = 0, PRESETS["play_only"].replace(**CUSTOM["douzero"])
    for seed in range(12):
        rng = random.Random(seed)
        game = Game(room, seed=seed)
        while not game.over:
            legal = game.legal()
            if game.phase == "play":
                natural = game.hands[game.seat].replace("W", "")
                for play in {
                    *(ddz_env.legal_plays(natural, rules=wide) if natural else ()),
                    "pass",
                } - set(legal):
                    with pytest.raises(IllegalActionError):
                        game.step(play)
                    refused += 1
            for play in rng.sample(legal, min(3, len(legal))):
                game.clone().step(play)
            game.step(rng.choice(legal))
    assert refused > 3_000


def test_every_id_of_a_wide_room_is_either_listed_or_refused():
    game = Game(PRESETS["play_only"].replace(**CUSTOM["douzero"]), deal=WIDE_DEAL)
    assert len(game.legal()) > 300
    check_every_id(game)
    game.step("333444555666+7777")
    assert "888999TTTJJJ+3456" in game.legal()
    check_every_id(game)


WIDE_DEAL = {
    "hands": ["33344455566677778", "3456888999TTTJJJQ", "QQQKKKKAAAA2222XD"],
    "bottom": "9TJ",
}


def test_explain_agrees_with_the_list():
    rng = random.Random(4)
    for i in range(3):
        hand, other = two_hands(rng)
        last = some_play(rng, other, ROOMS["play_only"]) if i else None
        legal = set(ddz_env.legal_plays(hand, last))
        for action in range(64 + i, n_actions("play_only"), 3):
            play = action_text(action)
            verdict = ddz_env.explain(hand, last, play).partition(":")[0]
            assert verdict == ("legal" if play in legal else "illegal"), (hand, last, play)


NATURAL_ROOMS = [name for name, rules in PRESETS.items() if rules.wild == "none"]
WILD_FIELDS = {
    *("wild", "wild_solo_kicker_any", "wild_pair_kicker", "soft_bomb_naturals", "bomb_order"),
    *("joker_spent", "soft_bomb", "pure_bomb", "score_quarters", "cap", "cap_scales"),
}
"""Fields of the rooms with wild cards, which another referee plays."""

# What rules say the other way: every field of a phase, and rooms that no page has.
PHASES = {
    "the caller is always asked": ("happy", {"caller_robs": "always"}),
    "all look, then all call": ("happy_blind", {"look_then": "call_after_all"}),
    "the other farmer first": ("happy_blind", {"raise_order": "farmer_before_landlord"}),
    "everybody shows": ("happy", {"shower": "everybody"}),
    "ties from seat 0": ("happy", {"show_tie": "from_seat_0"}),
    "shows multiply": ("happy", {"shows_combine": "product", "shower": "everybody"}),
    "redeals rotate": ("qq_classic", {"redeal_rotates": True}),
    "first bidder": ("qq_classic", {"all_pass": "first_bidder"}),
    "first bidder of a call": ("happy", {"all_pass": "first_bidder"}),
    "first bidder of a grab": ("happy_blind", {"all_pass": "first_bidder"}),
    "turned card hidden": ("jj_classic", {"turned_card_public": False}),
    "turned card called": ("happy", {"first_caller": "turned_card"}),
    "rotates and shows": ("happy", {"first_caller": "rotates", "redeal_rotates": True}),
    "shows at 1 and 16": ("happy", {"show_cards_1": 1, "show_cards_2": 16}),
    "shows at 12 only": ("happy", {"show_before_deal": 0, "show_at_6": 0, "show_after_bottom": 0}),
    "no robs, no doubles": ("happy", {"rob": False, "double": False, "raising": True}),
    "multipliers": (
        "happy",
        {
            "start_multiplier": 7,
            "rob_multiplier": 3,
            "bomb_multiplier": 5,
            "rocket_multiplier": 3,
            "spring": False,
        },
    ),
    "multipliers of grabs": (
        "happy_blind",
        {"start_multiplier": 2, "blind_multiplier": 3, "raise_multiplier": 4},
    ),
    "void at once": ("happy_blind", {"max_redeals": 0}),
    "void after one": ("jj_classic", {"max_redeals": 1}),
    "points with all": (
        "qq_classic",
        {"show_before_deal": 2, "show_at_12": 3, "double": True, "raising": True},
    ),
    "grabs with all": (
        "happy_blind",
        {"show_before_deal": 5, "show_at_6": 4, "double": True, "shows_combine": "product"},
    ),
    "no auction, all else": (
        "play_only",
        {"show_at_6": 4, "show_after_bottom": 2, "double": True, "raising": True, "spring": True},
    ),
    "openspiel": ("happy", CUSTOM["openspiel"]),
    "douzero": ("jj_classic", CUSTOM["douzero"]),
}
NOES = (0.5, 0.5, 0.5, 0.2, 0.85, 0.97)  # how likely a "no" is before the play


def seats_of(game):
    """The texts of each seat's 17 cards in dealing order, and of the bottom cards."""
    deck = "".join(RANKS[rank] for rank in game.state["deck"])
    return [deck[17 * seat : 17 * seat + 17] for seat in range(3)], deck[51:]


def begin_both(name, seed, changes):
    """The same new deal in both, with the same beans for doubling."""
    game = Game(PRESETS[name].replace(**changes), seed=seed, first=seed % 3)
    hands, bottom = seats_of(game)
    referee = RefereeGame({**ROOMS[name], **changes}, hands, bottom, seed % 3)
    if seed % 5 == 0:
        referee.enough_beans = [seed % 2 == 0, seed % 3 == 0, seed % 4 != 0]
        game.state["may_double"] = referee.enough_beans
    return game, referee


@cache
def text(packed):
    return to_text(int(packed))


def compare(game, referee, whole):
    """Everything but the legal choices; the history too if `whole`."""
    state = game.state
    ours = (game.phase, game.landlord, game.base, game.multiplier, game.scores, game.redeals)
    assert ours == (
        referee.phase,
        referee.landlord,
        referee.base,
        referee.multiplier,
        referee.scores,
        referee.redeals,
    )
    assert [text(hand) for hand in state["hands"]] == referee.hands
    if whole:
        assert (game.hands, game.history) == (referee.hands, referee.history)
    if referee.turn is not None:
        assert game.seat == referee.turn
    shown = {seat for seat, _ in referee.shows}
    for seat in range(3):
        assert bool(state["shows"][seat]) == (seat in shown)
        assert bool(state["doubles"][seat]) == referee.doubled[seat]
        view = game.view(seat)
        seen, wanted = [text(hand) for hand in view["hands"]], referee.seen(seat)
        assert seen == wanted and view["hand"] == view["hands"][seat]
        bottom = text(view["bottom"])
        assert bottom == (referee.bottom if referee.landlord is not None else "")
        assert (int(view["multiplier"]), int(view["base"])) == (game.multiplier, game.base)


def choose_in(phase, rng, legal, no):
    """A long play often; before the play a "no" (`look`, for a blind grab) as likely as given."""
    if phase == "play":
        return choose(rng, legal)
    yes = [choice for choice in legal if choice not in ("pass", "look")]
    return rng.choice(yes) if rng.random() >= no else (set(legal) - set(yes)).pop()


def play_whole_deal(name, seed, changes, whole=True):
    """One deal by both; (event, how often) of what happened in it.

    whole: compare history and all legal choices at each decision, not only the chosen one.
    """
    rng = random.Random(seed)
    game, referee = begin_both(name, seed, changes)
    noes = {"show": rng.choice((0.5, 0.9, 0.97)), "other": rng.choice(NOES)}
    events = Counter()
    while not game.over:
        compare(game, referee, whole)
        legal, phase = game.legal(), game.phase
        assert not whole or sorted(legal) == referee.legal()
        choice = choose_in(phase, rng, legal, noes["show" if phase in MOMENTS[:3] else "other"])
        events[phase, choice if phase != "play" else "play"] += 1
        if (phase, choice) == ("call", "call") and game.state["shows"].any():
            events["call after a show"] += 1
        first, redeals = int(game.state["first"]), game.redeals
        game.step(choice)
        referee.step(choice)  # refuses what is not legal
        if referee.redeal_wanted:
            check_first_caller(game, first)
            events["redeal"] += 1
            hands, bottom = seats_of(game)
            referee.redeal(hands, bottom, int(game.state["first"]))
        assert game.redeals - redeals in (0, 1)
    compare(game, referee, True)
    assert (referee.phase, referee.legal(), game.legal()) == ("over", [], [])
    assert sum(game.scores) == 0
    assert (game.winner is None) == (game.landlord is None) == (game.scores == [0, 0, 0])
    events["bombs"] += int(game.state["bombs"])
    events["void"] += game.landlord is None
    forced = game.landlord is not None and (game.state["calls"] == 0).all()
    events["forced landlord"] += forced
    return events


def check_first_caller(game, before):
    """After a redeal: kept or moved on where it rotates."""
    first = int(game.state["first"])
    if game.rules.first_caller == "rotates":
        assert first == (before + game.rules.redeal_rotates) % 3


def check_deals(seeds, name, changes):
    """What so many deals had in them; every tenth is compared in whole."""
    events = Counter()
    for seed in seeds:
        events.update(play_whole_deal(name, seed, changes, whole=seed % 10 == 0))
    return events


def check_variety(name, events, least):
    """Each choice of each phase of a room was made often."""
    room = ROOMS[name]
    phases = {
        "call_points": (room["auction"] == "points", ("call_1", "call_2", "call_3", "pass")),
        "call": (room["auction"] in ("call", "blind"), ("call", "pass")),
        "blind": (room["auction"] == "blind", ("blind", "look")),
        "rob": (room["rob"], ("rob", "pass")),
        "double": (room["double"], ("double", "pass")),
        "raise": (room["raising"], ("raise", "pass")),
        **{moment: (room[moment], ("show", "pass")) for moment in MOMENTS},
    }
    for phase, (there, choices) in phases.items():
        counts = [events[phase, choice] for choice in choices]
        assert min(counts) >= least if there else max(counts) == 0, (phase, counts)
    assert events["bombs"] >= least
    if room["auction"] != "none":
        assert events["redeal"] >= least
    if room["show_before_deal"]:
        assert min(events["forced landlord"], events["call after a show"]) >= 2


MOMENTS = ("show_before_deal", "show_at_6", "show_at_12", "show_after_bottom")


@pytest.mark.parametrize("name", NATURAL_ROOMS)
def test_whole_deals(name):
    check_variety(name, check_deals(range(120), name, {}), 10)


@pytest.mark.parametrize("name", PHASES)
def test_whole_deals_of_custom_rooms(name):
    room, changes = PHASES[name]
    events = check_deals(range(300, 316), room, changes)
    if changes.get("max_redeals", 50) < 2:
        assert events["void"] > 0
    if changes.get("all_pass") == "first_bidder":
        assert events["redeal"] == 0 and events["forced landlord"] > 0
    if room == "play_only":
        assert (
            events["double", "double"] and events["raise", "raise"] and events["show_at_6", "show"]
        )


def test_every_decided_field_is_taken_the_other_way():
    """Also the kicker rules, whose positions are compared above."""
    changed = {field for _, changes in PHASES.values() for field in changes}
    changed |= {field for changes in CUSTOM.values() for field in changes}
    assert changed - {"rocket_multiplier"} == set(ROOMS["happy"]) - {"auction"}
    compiled = set(Params._fields) - {"categories", "kickers", "bomb", "rocket"}
    assert compiled - WILD_FIELDS <= set(ROOMS["happy"])
    assert set(ROOMS) == set(NATURAL_ROOMS)
    for name, room in ROOMS.items():
        fields = dataclasses.asdict(PRESETS[name])
        assert {field: fields[field] for field in room} == room


@pytest.mark.slow
@pytest.mark.parametrize("name", NATURAL_ROOMS)
def test_many_whole_deals(name):
    events = check_deals(range(1_000, 2_200), name, {})
    check_variety(name, events, 100)


@pytest.mark.slow
@pytest.mark.parametrize("name", PHASES)
def test_many_whole_deals_of_custom_rooms(name):
    room, changes = PHASES[name]
    check_deals(range(3_000, 3_160), room, changes)
