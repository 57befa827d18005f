"""How cards are dealt: unshuffled deals, callables, and the same through every face."""

import random
from itertools import pairwise

import numpy as np
import pytest
from deals import fixed_choice

from ddz_env import (
    PRESETS,
    DdzError,
    Game,
    SeatVectorEnv,
    env,
    parallel_env,
    raw_env,
    vec_env,
)
from ddz_env.cards import RANKS


def finish(game, rng=None):
    """Play a deal to its end; the texts of the plays made."""
    while not game.over:
        ids = game.legal_ids()
        game.step(int(rng.choice(ids.tolist())) if rng else fixed_choice(ids, 3))
    return game


def pile_of(game):
    """The cards as rules of `dealing.py` gather them, from public texts; ranks as letters."""
    rank = RANKS[int(game.state["wild"])] if game.rules.wild == "rank" else "W"
    if game.state["wild"] < 0:
        rank = "W"
    pile = []
    n = int(game.state["n_history"])
    for word in game.state["history_cards"][:n]:
        pile += [r for i, r in enumerate(RANKS) for _ in range((int(word) >> 4 * i) & 15)]
    first = game.landlord or 0
    for k in range(3):
        pile += game.hands[(first + k) % 3]
    if game.landlord is None:
        pile += game.bottom
    return [rank if card == "W" else card for card in pile]


@pytest.mark.parametrize("room", PRESETS)
def test_unshuffled_deals_by_hand(room):
    """The pile is cut once; packets of 6, 6, 5 go round from the first caller."""
    rng, tried = random.Random(5), 0
    for seed in range(12):
        game = finish(Game(room, seed=seed), rng)
        pile = pile_of(game)
        assert len(pile) == 54
        after = game.next_unshuffled(seed + 100)
        if after.redeals:
            continue
        deck = [RANKS[rank] for rank in after.state["deck"]]
        first = int(after.state["first"])
        laid = []
        for begin, end in ((0, 6), (6, 12), (12, 17)):
            for k in range(3):
                seat = (first + k) % 3
                laid += deck[17 * seat + begin : 17 * seat + end]
        laid += deck[51:]
        cuts = [c for c in range(54) if pile[c:] + pile[:c] == laid]
        assert cuts, (room, seed)
        tried += 1
        assert not after.over and after.given.tolist() == after.state["deck"].tolist()
        again = Game(room, seed=seed + 100, deal=after.given)
        assert again.hands == after.hands
    assert tried > 8


def test_cuts_are_spread():
    game = finish(Game(seed=1))
    bottoms = {game.next_unshuffled(seed).bottom for seed in range(200)}
    assert len(bottoms) > 25


def test_unshuffled_deals_have_more_bombs():
    def bombs(hands):
        return sum(4 <= hand.count(rank) for hand in hands for rank in RANKS)

    game, shuffled, unshuffled, rng = Game(seed=1), 0, 0, random.Random(2)
    for seed in range(150):
        shuffled += bombs(Game(seed=seed).hands)
        game = finish(game, rng).next_unshuffled(seed)
        unshuffled += bombs(game.hands)
    assert unshuffled > 2 * shuffled


@pytest.mark.parametrize("room", PRESETS)
def test_unshuffled_is_the_same_through_every_face(room):
    aec, parallel = raw_env(room, deal="unshuffled"), parallel_env(room, deal="unshuffled")
    aec.reset(seed=4)
    batch = vec_env(2, room, seed=[4, 9], deal="unshuffled")
    _, infos = parallel.reset(seed=4)
    for _ in range(4):
        assert batch.states[0].tobytes() == aec.game.state.tobytes()
        assert parallel.game.to_bytes() == aec.game.to_bytes()
        while True:
            ids = batch.legal().ids[batch.legal().offsets[0] : batch.legal().offsets[1]]
            actions = batch.sample()
            actions[0] = fixed_choice(ids, 7)
            aec.step(int(actions[0]))
            if batch.step(actions)[0]:
                break
        assert aec.game.over
        while parallel.agents:
            ids = {agent: infos[agent]["legal_actions"] for agent in parallel.agents}
            _, _, _, _, infos = parallel.step({a: fixed_choice(ids[a], 7) for a in ids})
        aec.reset()
        _, infos = parallel.reset()


HANDS = {"hands": ["33334444555566667", "77788889999TTTTJJ", "JJQQQQKKKKAAAA222"], "bottom": "2XD"}


def test_a_callable_deals():
    keys = []

    def deal(key):
        keys.append(key)
        order = np.array([rank for rank in range(13) for _ in range(4)] + [13, 14], np.uint8)
        return np.random.default_rng(key).permutation(order)

    aec = raw_env("qq_classic", deal=deal)
    aec.reset(seed=11)
    batch = vec_env(3, "qq_classic", seed=[11, 12, 13], deal=deal)
    for _ in range(3):
        assert aec.game.state.tobytes() == batch.states[0].tobytes()
        while True:
            actions = batch.sample()
            aec.step(int(actions[0]))
            if batch.step(actions)[0]:
                break
        aec.reset()
    assert keys[:4] == [11, 11, 12, 13] and len(set(keys)) > 5
    fixed = env(deal=lambda key: HANDS)
    fixed.reset(seed=1)
    assert fixed.unwrapped.game.hands[1] == HANDS["hands"][1]
    fixed.reset(options={"deal": {**HANDS, "hands": HANDS["hands"][::-1]}})
    assert fixed.unwrapped.game.hands[0].startswith("JJ")  # an option goes before it


@pytest.mark.parametrize("deal", ["shuffled", 3, None, [0] * 54, HANDS])
def test_bad_dealing(deal):
    for make in (
        lambda: env(deal=deal),
        lambda: parallel_env(deal=deal),
        lambda: vec_env(2, deal=deal),
    ):
        with pytest.raises(DdzError, match="deal: expected random, unshuffled or a callable"):
            make()


def test_a_callable_that_gives_no_deal():
    for give in (None, [0] * 54, "cards", {"hands": ["3"]}, np.zeros(3)):
        environment = env(deal=lambda key, give=give: give)
        if give is None:  # as everywhere, no deal is a shuffled one
            environment.reset(seed=1)
            continue
        with pytest.raises(DdzError, match="deal"):
            environment.reset(seed=1)
        assert environment.unwrapped.game is None
        with pytest.raises(DdzError, match="deal"):
            vec_env(2, deal=lambda key, give=give: give)


def test_seeds_of_rows():
    """With its own key a row plays what a game does; derived keys don't depend on the size."""
    batch = vec_env(3, "happy", seed=[5, 0, 2**63 - 1])
    for row, key in enumerate((5, 0, 2**63 - 1)):
        assert batch.states[row].tobytes() == Game("happy", seed=key).state.tobytes()
    batch.reset(np.array([1, 2, 3]))
    assert batch.states[2].tobytes() == Game("happy", seed=3).state.tobytes()
    small, large = vec_env(8, seed=6), vec_env(64, seed=6)
    assert small.states[7].tobytes() == large.states[7].tobytes()


@pytest.mark.parametrize("seed", [[1, 2], [1, 2, -3], "123", None, 1.5, [1, 2, "3"], -1])
def test_bad_seeds_of_rows(seed):
    batch = vec_env(3, seed=1)
    before = batch.states.tobytes()
    with pytest.raises(DdzError, match="seed"):
        batch.reset(seed)
    assert batch.states.tobytes() == before


def failing(good):
    """A callable that deals a few times and then has no more."""
    left = [good]

    def deal(key):
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("no more deals")
        order = np.array([rank for rank in range(13) for _ in range(4)] + [13, 14], np.uint8)
        return np.random.default_rng(key).permutation(order)

    return deal


def test_a_callable_that_fails_changes_nothing():
    """In a step that would deal anew, and in a reset, the batch stays as it was."""
    batch = vec_env(2, seed=[1, 2], deal=failing(3))
    with pytest.raises(RuntimeError, match="no more"):
        while True:
            before, listed, choices = batch.states.tobytes(), batch.legal().ids, batch.sample()
            listed = listed.tolist()
            batch.step(choices)
    for attempt in (lambda: batch.step(choices), lambda: batch.reset(seed=9)):
        assert batch.states.tobytes() == before and batch.legal().ids.tolist() == listed
        with pytest.raises(RuntimeError, match="no more"):
            attempt()
    assert batch.states.tobytes() == before and batch.legal().ids.tolist() == listed


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_callable_that_fails_in_a_seat_vector(mode):
    envs = SeatVectorEnv(2, deal=failing(4), autoreset_mode=mode)
    envs.reset(seed=1)
    with pytest.raises(RuntimeError, match="no more"):
        while True:
            offsets, ids = envs.legal()
            before = envs.game(0).to_bytes(), envs.game(1).to_bytes(), ids.tolist()
            choices = [ids[a] if b > a else 0 for a, b in pairwise(offsets)]
            envs.step(np.array(choices))
    assert (envs.game(0).to_bytes(), envs.game(1).to_bytes(), envs.legal().ids.tolist()) == before


@pytest.mark.parametrize("make", [raw_env, parallel_env])
def test_a_seed_deals_shuffled(make):
    """Whatever lay on the table: the deal of a seed is the same each time."""
    environment = make("qq_classic", deal="unshuffled")
    environment.reset(seed=1)
    first = environment.game.to_bytes()
    environment.reset()
    environment.reset(seed=1)
    assert environment.game.to_bytes() == first == Game("qq_classic", seed=1).to_bytes()
