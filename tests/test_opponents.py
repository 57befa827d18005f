"""Who plays the other seats of an environment of one seat: every form, and what goes wrong."""

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from one_seat import first_of, play, trace

from ddz_env import PRESETS, DdzError, DouDizhuEnv
from ddz_env.bots import RandomBot, make_bot
from ddz_env.view import VIEW

CALLING = "qq_classic"
rooms = pytest.mark.parametrize("room", list(PRESETS))


@rooms
def test_opponents_in_every_form_play_alike(room):
    """By name in compiled code, as an object, as a function, as pairs of these."""
    greedy, trustee = make_bot("greedy"), make_bot("trustee")

    class Batched:
        def act(self, views, legal):
            return greedy.act(views, legal)

    def function(view, ids):
        views = np.array([view], VIEW)
        return greedy.act(views, type("Row", (), {"offsets": np.array([0, len(ids)]), "ids": ids}))[
            0
        ]

    for seat in ("random", "landlord"):
        by_name = trace(DouDizhuEnv(room, seat, "greedy"), 60, 4)
        for opponents in (greedy, Batched(), function, ("greedy", Batched()), [function, greedy]):
            other = trace(DouDizhuEnv(room, seat, opponents), 60, 4)
            assert data_equivalence(by_name, other, exact=True)
        if room == "crazy_laizi" or seat == "random":
            pair = {"next": "greedy", "prev": "trustee"}
            two = trace(DouDizhuEnv(room, seat, pair), 60, 4)
            assert not data_equivalence(by_name, two, exact=True)
            other = trace(DouDizhuEnv(room, seat, (Batched(), trustee)), 60, 4)
            assert data_equivalence(two, other, exact=True)


def test_a_seed_of_a_random_player_counts():
    traces = [trace(DouDizhuEnv(opponents=RandomBot(seed)), 40, 2)[:-1] for seed in (0, 0, 1)]
    named = trace(DouDizhuEnv(opponents="random"), 40, 2)[:-1]
    assert data_equivalence(traces[0], traces[1], True) and data_equivalence(traces[0], named, True)
    assert not data_equivalence(traces[0], traces[2], exact=True)


def test_who_is_next_and_what_players_get():
    """`next` plays after the own seat; players get views of their own seat only."""
    asked = {"next": set(), "prev": set()}

    def player(name):
        def choose(view, ids):
            assert view.dtype == VIEW and ids.dtype == np.int32
            asked[name].add(int(view["seat"]))
            assert view["seat"] == view["turn"]
            assert view["hands"][view["seat"]] == view["hand"]
            return int(ids[-1])

        return choose

    env = DouDizhuEnv(CALLING, 1, {"prev": player("prev"), "next": player("next")})
    for seed in range(4):
        play(env, seed)
    assert asked == {"next": {2}, "prev": {0}}
    asked["next"], asked["prev"] = set(), set()
    room = PRESETS["happy"].replace(double=False, show_after_bottom=0)
    env = DouDizhuEnv(room, "landlord", {"prev": player("prev"), "next": player("next")})
    env.reset(seed=1)
    assert asked == {"next": {0, 1, 2}, "prev": set()}  # until there is a landlord


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda view, ids: 27_000, ["27000", "not legal", "play"]),
        (lambda view, ids: -5, ["no action"]),
        (lambda view, ids: 10**30, ["no action"]),
        (lambda view, ids: None, ["None", "legal ids"]),
        (lambda view, ids: 64.0, ["64.0", "legal ids"]),
        (lambda view, ids: "3", ["'3'", "legal ids"]),
        (type("B", (), {"act": lambda self, views, legal: [1.5]})(), ["float64", "expected 1"]),
        (type("B", (), {"act": lambda self, views, legal: np.zeros(3, int)})(), ["[3]"]),
        (type("B", (), {"act": lambda self, views, legal: np.full(1, 99)})(), ["99", "play"]),
    ],
)
@pytest.mark.parametrize("side", ["next", "prev", "both"])
def test_an_opponent_that_errs_is_named_and_changes_nothing(answer, words, side):
    opponents = {"next": first_of, "prev": first_of}
    env = DouDizhuEnv(opponents=answer if side == "both" else opponents | {side: answer})
    _, info = env.reset(seed=1)  # seat 0 leads
    before = env.game.to_bytes()
    with pytest.raises(DdzError) as error:
        for _ in range(3):
            env.step(info["legal_actions"][0])
    message = str(error.value)
    assert message.startswith("opponents" if side == "both" else f"opponents: {side}")
    assert all(word in message for word in words) and "\n" not in message
    assert env.game.to_bytes() == before
    assert np.array_equal(np.flatnonzero(env.action_masks()), info["legal_actions"])
    with pytest.raises(DdzError, match="opponents"):
        DouDizhuEnv(seat=2, opponents=answer).reset(seed=1)


def test_what_a_function_raises_comes_through():
    def fails(view, ids):
        raise ZeroDivisionError("mine")

    env = DouDizhuEnv(opponents=fails)
    _, info = env.reset(seed=1)
    before = env.game.to_bytes()
    with pytest.raises(ZeroDivisionError, match="mine"):
        env.step(info["legal_actions"][0])
    assert env.game.to_bytes() == before
