"""Who calls first, in every way: drawn, in turn, the holder of a turned card, who has shown."""

import numpy as np
import pytest

from ddz_env import PRESETS, Game, raw_env, vec_env
from ddz_env.state import Phase

RANKS = "3456789TJQKA2XD"


def all_pass(game):
    """Everybody refuses until the cards are dealt anew."""
    redeals = game.redeals
    while game.redeals == redeals:
        game.step("look" if game.phase == "blind" else "pass")


@pytest.mark.parametrize("room", ["happy", "happy_blind"])
def test_a_drawn_first_caller(room):
    batch = vec_env(600, room, seed=0)
    drawn = np.bincount(batch.states["first"], minlength=3)
    assert (drawn > 160).all()
    pairs = np.zeros((3, 3), int)
    for row in range(200):  # drawn anew for a redeal, and for the next deal
        game = Game(room, seed=row)
        before = int(game.state["first"])
        all_pass(game)
        pairs[before, int(game.state["first"])] += 1
    assert (pairs > 8).all()
    pairs = np.zeros((3, 3), int)
    while pairs.sum() < 200:
        before = batch.states["first"].copy()
        batch.step(batch.sample())
        for row in np.flatnonzero(batch.done):
            pairs[before[row], batch.states["first"][row]] += 1
    assert (pairs > 8).all()


@pytest.mark.parametrize("moves_on", [False, True])
def test_a_rotating_first_caller(moves_on):
    """It keeps its place in a redeal or moves on, and moves on for each next deal of a row."""
    rules = PRESETS["qq_classic"].replace(redeal_rotates=moves_on)
    game = Game(rules, first=2)
    firsts = []
    for redeals in range(4):
        assert game.redeals == redeals
        firsts.append(game.seat)
        all_pass(game)
    assert firsts == ([2, 0, 1, 2] if moves_on else [2, 2, 2, 2])
    batch, rng = vec_env(6, rules, seed=3), np.random.default_rng(1)
    changes = redealt = 0
    while changes < 20 or redealt < 20:
        first, redeals = batch.states["first"].copy(), batch.states["redeals"].copy()
        passing = (batch.states["phase"] == Phase.CALL_POINTS) & (rng.random(6) < 0.8)
        batch.step(np.where(passing, 0, batch.sample()))
        again = ~batch.done & (batch.states["redeals"] > redeals)
        moved = batch.done | (again & moves_on)
        assert (batch.states["first"] == (first + moved) % 3).all()
        changes += int(batch.done.sum())
        redealt += int(again.sum())


def test_who_shows_calls_first_but_the_rotation_goes_on():
    rules = PRESETS["happy"].replace(first_caller="rotates")
    environment = raw_env(rules)
    environment.reset(seed=1, options={"first": 0})
    for deal in range(4):
        game = environment.game
        assert int(game.state["first"]) == deal % 3
        for choice in (*("pass", "pass", "show"), *["pass"] * 4):
            game.step(choice)
        assert (game.phase, game.seat) == ("call", 2)
        assert int(game.view(1)["first"]) == deal % 3
        environment.reset()


def test_the_holder_of_the_turned_card_calls_first():
    """Its rank and holder are public; it is one of the 51 dealt cards, drawn anew in a redeal."""
    places, redeals = [], 0
    for seed in range(300):
        game = Game("jj_classic", seed=seed)
        for _ in range(2):
            place = int(game.state["turned"])
            assert 0 <= place < 51 and game.seat == place // 17 == int(game.state["first"])
            card = RANKS[game.state["deck"][place]]
            assert card in game.hands[game.seat]
            for seat in range(3):
                view = game.view(seat)
                assert RANKS[view["turned_rank"]] == card
                assert int(view["turned_seat"]) == int(view["first"]) == game.seat
            places.append(place)
            all_pass(game)
        redeals += game.redeals
    assert redeals == 600
    first, second = places[::2], places[1::2]
    assert (np.bincount(places, minlength=51) > 0).all()
    for some in (first, second):
        assert (np.bincount(np.array(some) // 17, minlength=3) > 70).all()
    assert sum(a == b for a, b in zip(first, second, strict=True)) < 30


def test_a_turned_card_of_a_given_first_caller():
    for first in (0, 1, 2):
        game = Game("jj_classic", seed=4, first=first)
        assert (game.seat, int(game.state["turned"]) // 17) == (first, first)
        game.step("call_3")
        assert int(game.view(0)["turned_seat"]) == first  # still known during the play


def test_a_turned_card_that_only_the_table_sees():
    rules = PRESETS["jj_classic"].replace(turned_card_public=False)
    for seed in range(20):
        game, public = Game(rules, seed=seed), Game("jj_classic", seed=seed)
        assert (game.seat, game.hands) == (public.seat, public.hands)
        for seat in range(3):
            view = game.view(seat)
            assert (int(view["turned_rank"]), int(view["turned_seat"])) == (-1, -1)


@pytest.mark.parametrize("room", ["play_only", "qq_classic", "happy", "happy_blind"])
def test_rooms_without_a_turned_card(room):
    for seed in range(5):
        view = Game(room, seed=seed).view(0)
        assert (int(view["turned_rank"]), int(view["turned_seat"])) == (-1, -1)


@pytest.mark.parametrize("room", PRESETS)
def test_cards_do_not_depend_on_who_calls_first(room):
    deals = {
        (tuple(game.hands), game.bottom) for game in (Game(room, 5, f) for f in (None, 0, 1, 2))
    }
    assert len(deals) == 1
