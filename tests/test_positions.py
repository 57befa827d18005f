"""Positions in the middle of a deal: `Game.from_position`, and environments that start from one."""

import random

import numpy as np
import pytest
from deals import fixed_choice

from ddz_env import PRESETS, DdzError, Game, decode, env, parallel_env, vec_env
from ddz_env.cards import RANKS

WILD_ROOMS = [room for room, rules in PRESETS.items() if rules.wild == "rank"]


def counts(texts):
    joined = "".join(texts)
    return {rank: joined.count(rank) for rank in RANKS}


def middle(room, seed, plies):
    """A game some decisions into its play, nobody's turn to fill; None where it ends before."""
    game, rng = Game(room, seed=seed), random.Random(seed)
    while game.phase != "play":
        game.step(fixed_choice(game.legal_ids(), 1))
        if game.over:
            return None
    while plies > 0 or game.phase == "fill":
        game.step(int(rng.choice(game.legal_ids().tolist())))
        plies -= 1
        if game.over:
            return None
    return game


def placed(game, **more):
    """The same position, built from its parts."""
    state, wild = game.state, int(game.state["wild"])
    leading = state["last_seat"] < 0
    played = [text for who, text in game.history if text != "pass"]
    last = None if leading else played[-1]
    return Game.from_position(
        game.hands,
        last,
        game.seat,
        rules=game.rules,
        landlord=game.landlord,
        last_seat=None if leading else int(state["last_seat"]),
        wild=RANKS[wild] if game.rules.wild == "rank" else None,
        **more,
    )


@pytest.mark.parametrize("room", PRESETS)
def test_a_position_plays_on_like_the_game_it_is_of(room):
    """Same choices, same hands, same winner, from wherever a game is taken up."""
    tried = 0
    for seed in range(40):
        game = middle(room, seed, seed)
        if game is None:
            continue
        other, rng = placed(game), random.Random(seed)
        for _ in range(400):
            assert other.legal() == game.legal()
            assert (other.hands, other.seat, other.over) == (game.hands, game.seat, game.over)
            if game.over:
                break
            action = int(rng.choice(game.legal_ids().tolist()))
            game.step(action)
            other.step(action)
        assert other.winner == game.winner
        assert sum(other.scores) == 0
        assert (np.sign(other.scores) == np.sign(game.scores)).all()
        tried += 1
    assert tried > 15


@pytest.mark.parametrize("room", PRESETS)
def test_a_position_has_54_cards(room):
    """Hands and played cards are a deck and of the sizes that were dealt, however it was made."""
    for seed in range(20):
        game = middle(room, seed, 9)
        if game is None:
            continue
        for other in (placed(game), placed(game, bottom=game.bottom)):
            state = other.state
            played = [decode_cards(word) for word in state["played"]]
            wilds = other.rules.wild == "red_sevens"
            deck = counts([*other.hands, *played])
            if other.rules.wild == "rank":
                assert deck["W"] == 4 and sum(deck.values()) == 54
            else:
                assert deck == counts([deck_text(wilds)])
            for seat in range(3):
                dealt = 20 if seat == other.landlord else 17
                assert len(other.hands[seat]) + len(played[seat]) == dealt
            assert sorted(state["deck"]) == sorted(Game(other.rules).state["deck"])


def decode_cards(word):
    return "".join(rank * ((int(word) >> 4 * i) & 15) for i, rank in enumerate(RANKS))


def deck_text(red_sevens):
    ranks = "".join(rank * 4 for rank in RANKS[:13]) + "XD"
    return ranks.replace("77", "WW", 1) if red_sevens else ranks


def test_played_cards_can_be_given():
    hands, played = ["2222", "33XD", "445566"], None
    left = deck_text(False)
    for card in "".join(hands):
        left = left.replace(card, "", 1)
    played = [left[:16], left[16:29], left[29:]]
    game = Game.from_position(hands, played=played)
    assert [decode_cards(word) for word in game.state["played"]] == played
    view = game.view(1)
    assert sorted(decode_cards(view["unseen"])) == sorted("2222445566")


def test_what_an_observer_sees_of_a_position():
    game = Game.from_position(["45", "33XD", "445566"], "99", 2, last_seat=0, bottom="59T")
    assert game.history == [(0, "99"), (1, "pass")] and game.legal() == ["pass"]
    environment = env()
    environment.reset(options={"game": game})
    facts = decode(environment.last()[0]["observation"])
    assert facts["to_beat_play"] == {"category": "pair", "length": 1, "rank": "9"}
    assert facts["history"] == [("pass", ""), ("pair", "99")]
    assert (facts["hand"], facts["bottom"], facts["trick"]) == ("445566", "59T", "next")
    assert facts["counts"] == [6, 2, 4] and "99" in facts["played_next"]


@pytest.mark.parametrize("make", [env, parallel_env])
def test_environments_go_on_with_a_copy(make):
    game = Game.from_position(["34", "5", "6"])
    before = game.to_bytes()
    environment = make()
    for _ in range(2):
        environment.reset(options={"game": game})
        copy = environment.unwrapped.game
        assert copy.to_bytes() == before and copy is not game
        copy.step("3")
    assert game.to_bytes() == before
    environment.reset()
    assert [len(hand) for hand in environment.unwrapped.game.hands] == [20, 17, 17]


def test_a_batch_takes_a_position():
    batch = vec_env(2, seed=1)
    batch.load(1, Game.from_position(["34", "5", "6"]))
    listed = batch.legal()
    assert (
        listed.ids[listed.offsets[1] :].tolist()
        == Game.from_position(["34", "5", "6"]).legal_ids().tolist()
    )


GOOD = {"hands": ["34", "5", "66"]}
WRONG = [
    ({"hands": "345"}, "hands"),
    ({"hands": ["3", "4"]}, "hands"),
    ({"hands": ["3", "4", 5]}, "hand"),
    ({"hands": ["3", "", "4"]}, "player_1"),
    ({"hands": ["3", "Z", "4"]}, "Z"),
    ({"hands": ["3333", "3", "4"]}, "3"),
    ({"hands": ["W", "3", "4"]}, "W"),
    ({"hands": ["34", "35678933556677889J", "T"]}, "player_1"),
    ({"turn": 3}, "turn"),
    ({"turn": True}, "turn"),
    ({"turn": "1"}, "turn"),
    ({"landlord": -1}, "landlord"),
    ({"last": "nonsense"}, "last|play"),
    ({"last": "call"}, "call"),
    ({"last": "3*"}, "wild"),
    ({"last": 7}, "7"),
    ({"last": "9", "last_seat": 0}, "last_seat"),
    ({"last": "9", "last_seat": 9}, "last_seat"),
    ({"last_seat": 1}, "last_seat"),
    ({"last": "6666"}, "6"),
    ({"bottom": "34"}, "bottom"),
    ({"bottom": "666"}, "6"),
    ({"played": ["3", "4", "5"]}, "played"),
    ({"played": "345"}, "played"),
    ({"wild": "3"}, "wild"),
    ({"rules": "happy_laizi"}, "wild"),
    ({"rules": "happy_laizi", "wild": "X"}, "wild"),
    ({"rules": "mahjong"}, "mahjong"),
    ({"base": 0}, "base"),
    ({"base": 1.0}, "base"),
    ({"seed": -1}, "seed"),
]


@pytest.mark.parametrize(("change", "word"), WRONG, ids=[str(change) for change, _ in WRONG])
def test_bad_positions(change, word):
    Game.from_position(**GOOD)
    with pytest.raises(DdzError, match=word) as error:
        Game.from_position(**{**GOOD, **change})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("make", [env, parallel_env])
def test_bad_games(make):
    environment = make("play_only")
    over = Game.from_position(["3", "5", "66"])
    over.step("3")
    for options, word in (
        ({"game": "game"}, "game"),
        ({"game": Game("happy")}, "happy"),
        ({"game": over}, "over"),
        ({"game": Game(), "first": 1}, "first"),
        ({"game": Game(), "deal": None, "first": 0}, "first"),
        ({"positions": Game()}, "positions"),
        ([1], "options"),
    ):
        environment.reset(seed=3)
        before = environment.unwrapped.game.to_bytes()
        with pytest.raises(DdzError, match=word):
            environment.reset(options=options)
        assert environment.unwrapped.game.to_bytes() == before
