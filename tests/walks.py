"""Positions of odd deals, seen from every seat: views of whole games, and their observations."""

from collections.abc import Iterator

import numpy as np
from deals import DECK
from wild_games import begin_play

from ddz_env import Game, RuleSet, VecEnv, action_id, schema
from ddz_env._jit import records
from ddz_env.cards import deck
from ddz_env.catalogue import ACTIONS, N_DEFAULT_ACTIONS, TABLES, Category
from ddz_env.features import MAX_STATE_BITS
from ddz_env.state import Phase
from ddz_env.vector import Legal, encode_views
from ddz_env.view import VIEW, cut_views

BEYOND = 12
"""Places after the last one that an encoder may write to."""
SIZE, CATEGORY = ACTIONS["size"], ACTIONS["category"]


def odd_deal(rng: np.random.Generator, rules: RuleSet) -> np.ndarray:
    """54 ranks in dealing order: fours of a kind, long chains or neither in a hand."""
    cards = deck(rules.wild == "red_sevens")
    key = rng.permutation(16)[cards].astype(float) if rng.random() < 0.5 else cards.astype(float)
    if rng.random() < 0.4:
        key += 20 * (np.arange(54) % 4)  # one card of every rank, then the next
    order = cards[np.argsort(key + rng.random(54) * rng.choice([0.01, 2, 6, 100]))]
    return np.roll(order, rng.integers(54))


def odd_choice(rng: np.random.Generator, legal: Legal) -> np.ndarray:
    """A choice a row: the longest play, a rare one, the shortest play or pass, or any."""
    sizes = np.diff(legal.offsets)
    moods = np.repeat(rng.integers(0, 4, len(sizes)), sizes)
    size = SIZE[legal.ids].astype(float)
    rare = 9.0 * (CATEGORY[legal.ids] >= Category.BOMB) + 5.0 * (legal.ids >= N_DEFAULT_ACTIONS)
    liking = rng.random(len(size)) + np.choose(moods, [0 * size, size, rare, -size])
    order = np.lexsort((liking, np.repeat(np.arange(len(sizes)), sizes)))
    return legal.ids[order[legal.offsets[1:] - 1]]


def batch_of(rules: RuleSet, games: list[Game]) -> VecEnv:
    """A batch of given games."""
    batch = VecEnv(len(games), rules, autoreset=False)
    for row, game in enumerate(games):
        batch.load(row, game)
    return batch


def odd_games(rules: RuleSet, deals: int, seed: int) -> Iterator[VecEnv]:
    """Odd deals from the first decision to the end: after each step those that were stepped."""
    rng = np.random.default_rng(seed)
    keys = rng.integers(2**62, size=deals)
    games = [Game(rules, seed=int(key), deal=odd_deal(rng, rules)) for key in keys]
    batch = batch_of(rules, games)
    yield batch
    while len(on := np.flatnonzero(batch.states["phase"] != Phase.OVER)):
        if len(on) < batch.num_envs:
            batch = batch_of(rules, [Game.from_state(batch.states[row], rules) for row in on])
        batch.step(odd_choice(rng, batch.legal()))
        yield batch


def all_views(batch: VecEnv) -> np.ndarray:
    """What every seat sees of every game, on turn or not: `VIEW[3 * num_envs]`."""
    views = records(VIEW, 3 * batch.num_envs)
    rows, seats = np.repeat(np.arange(batch.num_envs), 3), np.tile(np.arange(3), batch.num_envs)
    cut_views(batch.states, rows, seats, batch.params, views)
    return views


def observations(views: np.ndarray) -> np.ndarray:
    """The observations of views, `int8[n, size]`; no bit is written twice, the bound is kept."""
    offsets = np.zeros(len(views) + 1, np.int64)
    bits = np.zeros(len(views) * MAX_STATE_BITS, np.uint16)
    n = encode_views(np.ascontiguousarray(views), TABLES, offsets, bits)
    rows = np.zeros((len(views), schema().size), np.int8)
    rows[np.repeat(np.arange(len(views)), np.diff(offsets)), bits[:n]] = 1
    assert rows.sum() == n and np.diff(offsets).max() <= MAX_STATE_BITS - BEYOND
    return rows


_BOMBS = {"hands": ["33336666" "9999QQQQ2", "44447777TTTTKKKKX", "55558888JJJJAAAAD"],
         "bottom": "222"}  # fmt: skip
"""Thirteen bombs in turn, the last of them the landlord's last cards."""


def thirteen_bombs(robs):
    """Games of `happy_laizi` at the highest multiplier but for robs, after each of 13 bombs."""
    for seed in range(400):
        game = Game("happy_laizi", seed=seed, first=0, deal=_BOMBS)
        while game.phase != "play":
            yes = {"show_before_deal": [0], "call": [0], "rob": [0, *range(1, robs)]}
            legal = game.legal()
            game.step(legal[-1] if game.seat in yes.get(game.phase, ()) else legal[0])
        if game.state["wild"] == 12:  # so that the last one is the highest
            break
    yield game
    bombs = [action_id(rank * 4) for rank in DECK[:52:4]]
    while not game.over:
        game.step(next(action for action in game.legal_ids().tolist() if action in bombs))
        if game.phase == "fill":
            game.step("wild_done")
        yield game


def three_wilds_filled() -> Iterator[Game]:
    """Games in which the landlord fills a four of a kind that three wilds make, for each rank."""
    for rank in DECK[:52:4]:
        wild, one, two = [other for other in "KQ94" if other != rank][:3]
        rest = "".join(card for card in DECK if card not in (rank, wild, one, two))
        rest += rank * 3 + one * 2 + two * 2
        hands = [rank + wild * 4 + one * 2 + two * 2 + rest[:8], rest[11:28], rest[28:]]
        game = begin_play("happy_laizi", hands, rest[8:11], wild)
        game.step(action_id(f"{rank * 4}+{''.join(sorted(one * 2 + two * 2, key=DECK.index))}"))
        assert game.phase == "fill"
        yield game
