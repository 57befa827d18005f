"""Typed cards read as plays, and why they are none."""

import random
import re

import pytest
from typed_hands import taken

from ddz_env import Game
from ddz_env.cards import from_text
from ddz_env.catalogue import ACTIONS
from ddz_env.fillings import parse_starred
from ddz_env.play.typed import (
    declared,
    letters,
    pack_letters,
    readings,
    stands_for,
    why_not,
)
from ddz_env.rooms import load_rules


def position(hand, last=None, rules="play_only", wild=None):
    """What the seat on turn sees, and the room."""
    room = load_rules(rules)
    game = Game.from_position(
        [hand, "Q", "K"], last, 0, rules=room, last_seat=last and 2, wild=wild
    )
    return game.view(), room


@pytest.mark.parametrize(
    ("typed", "cards"),
    [
        ("3334", "3334"),
        (" 4 3 3 3 ", "4333"),
        ("10 10", "TT"),
        ("3,4,5,6,7", "34567"),
        ("jqka2", "JQKA2"),
        ("１０J", "TJ"),
        ("王炸", "XD"),
        ("大王", "D"),
        ("小王", "X"),
        ("癞子5", "W5"),
        ("333+4", "333+4"),
    ],
)
def test_typed_letters(typed, cards):
    assert letters(typed) == cards


@pytest.mark.parametrize(
    ("hand", "last", "rules", "wild", "typed", "plays"),
    [
        ("333445", None, "play_only", None, "4333", ["333+4"]),
        ("333445", None, "play_only", None, "43433", ["333+44"]),
        ("333445", "55", "play_only", None, "33", []),
        ("3334445566", None, "play_only", None, "6435345364", ["333444+5566"]),
        ("44447", "9999", "play_only", None, "4444", []),
        ("4455W9", None, "happy_laizi", "7", "W4554", ["555*+44", "444*+55"]),
        ("5678W9", None, "happy_laizi", "4", "5678W", ["56789*", "4*5678"]),
        ("5678W9", "4*5678", "happy_laizi", "4", "5678W", ["56789*"]),
        ("333W9", None, "happy_laizi", "4", "333W", ["3333*", "333+4*"]),
        ("77W9", None, "happy_laizi", "4", "W", ["4*"]),
        ("3339X", None, "play_only", None, "333X", ["333+X"]),
    ],
)
def test_what_typed_cards_can_be(hand, last, rules, wild, typed, plays):
    view, room = position(hand, last, rules, wild)
    assert [r.text for r in readings(pack_letters(letters(typed)), view, room)] == plays


def test_two_readings_without_wild_cards():
    """In a room where a trio that extends the chain may be kickers; in others there is one."""
    hand = "333444555666"
    view, _ = position(hand)
    assert [r.text for r in readings(from_text(hand), view, load_rules("play_only"))] == [hand]
    wide = load_rules("play_only", ["kicker_adjacent_trio=true"])
    found = [r.text for r in readings(from_text(hand), view, wide)]
    assert found == ["444555666+333", "333444555+666", hand]


def test_marks_say_which_play_is_meant():
    view, room = position("4455W9", None, "happy_laizi", "7")
    assert declared("444*+55", view, room).text == "444*+55"
    assert declared("444+55", view, room).text == "444*+55"  # as few wild cards as can be
    assert declared("999+55", view, room) is None
    assert declared("rob", view, room) is None
    assert [r.text for r in stands_for("44455", view, room)] == ["444*+55"]
    assert stands_for("99955", view, room) == []
    view, room = position("33344")
    assert declared("333+44", view, room).text == "333+44"
    assert declared("333*+44", view, room) is None
    assert stands_for("33334", view, room) == []


def kind(text):
    play = ACTIONS[parse_starred(text)[0]]
    return tuple(int(play[name]) for name in ("category", "length", "rank"))


@pytest.mark.parametrize("rules", ["qq_classic", "jj_classic", "happy_laizi", "laidou"])
def test_every_legal_play_can_be_typed(rules):
    """By its cards alone: it is among the readings, which are all legal and all different."""
    rng = random.Random(rules)
    checked = 0
    for seed in range(4):
        game = Game(rules, seed=seed)
        while not game.over:
            legal = game.legal()
            for text in rng.sample(legal, min(6, len(legal))) if game.phase == "play" else []:
                if text == "pass":
                    continue
                view = game.view()
                found = readings(taken(game, text), view, game.rules)
                kinds = [kind(r.text) for r in found]
                assert kind(text) in kinds and len(set(kinds)) == len(kinds)
                assert {r.text for r in found} <= set(legal)
                assert kinds == sorted(kinds, reverse=True)
                checked += 1
            game.step(legal[1] if game.phase == "call_points" else rng.choice(legal))
    assert checked > 100


# -------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("hand", "last", "rules", "typed", "words"),
    [
        ("33445", None, "play_only", "34", ["34", "expected one such as"]),
        ("33445", "66", "play_only", "44", ["44", "rank 4 does not beat 6"]),
        ("33445", "6", "play_only", "44", ["pair does not answer a solo"]),
        ("345678", "456789", "play_only", "34567", ["34567", "of 5 does not answer one of 6"]),
        ("33445", "XD", "play_only", "33", ["nothing beats the rocket"]),
        ("3334455", None, "jj_classic", "33344", ["jj_classic", "no trio_with_pair"]),
        ("3333XD", None, "play_only", "3333XD", ["3333+XD", "does not allow these kickers"]),
        ("4444", "5555", "play_only", "4444", ["rank 4 does not beat 5"]),
    ],
)
def test_why_cards_are_no_play(hand, last, rules, typed, words):
    view, room = position(hand, last, rules)
    cards = from_text(typed)
    assert not readings(cards, view, room)
    text = why_not(cards, view, room, "en")
    assert "\n" not in text and all(word in text for word in words), text


def test_why_a_weaker_bomb_does_not_beat():
    """By class: the rank alone would do."""
    view, room = position("777W9", "4444", "happy_laizi", "5")
    assert not readings(pack_letters("777W"), view, room)
    assert "bomb does not beat 4444" in why_not(pack_letters("777W"), view, room, "en")


def test_reasons_are_translated():
    """In Chinese no English is left but the names of rooms."""
    rng, seen = random.Random(5), set()
    for rules in ("play_only", "jj_classic"):
        for _ in range(150):
            game = Game(rules, seed=rng.randrange(10**6))
            while game.phase != "play":
                game.step(game.legal()[-1])
            for _ in range(rng.randrange(4)):
                if not game.over:
                    game.step(rng.choice(game.legal()))
            if game.over:
                continue
            hand = game.hands[game.seat]
            n = rng.choice((1, 2, 4, 5, 6, 8))
            begin = rng.randrange(max(len(hand) - n, 1))
            cards, view = from_text(hand[begin : begin + n]), game.view()
            if readings(cards, view, game.rules):
                continue
            english = why_not(cards, view, game.rules, "en")
            chinese = why_not(cards, view, game.rules, "zh")
            seen.add(re.sub(r"[3-9TJQKA2XD+]+", "", english))
            assert "\n" not in english and english != chinese
            assert not re.search("[a-z]{2}", chinese.replace(rules, "")), chinese
    assert len(seen) >= 5
