"""How long it takes to list a landlord's opening lead with 0 to 4 wild cards, in the kernel.

Hands come from real deals of `happy_laizi` in which `greedy` calls; the worst hand is looked for by
hill climbing on the number of declarations. Used by `eval/speed.py`.
"""

import statistics
import time

import numpy as np
from numba import types

import agents
from ddz_env._jit import njit, records
from ddz_env.cards import to_text
from ddz_env.catalogue import TABLES
from ddz_env.engine import start
from ddz_env.moves import MAX_LEGAL, T_PARAMS, T_TABLES
from ddz_env.rules import PRESETS
from ddz_env.state import STATE, Phase
from ddz_env.vector import deal_seeds
from ddz_env.wild import HELD, T_HELD, list_wild_leads, look
from eval.match import play_out

ROOM = PRESETS["happy_laizi"]
SWAPS = 4000
"""Changes of one card that the search for the worst hand tries."""


@njit(
    [
        types.int64(
            types.uint64[::1], types.int64[::1], T_PARAMS, T_TABLES, T_HELD[::1], types.int32[::1]
        )
    ]
)
def list_all(hands, wilds, params, tables, helds, out):
    """List the leads of every hand; the declarations in all."""
    n = 0
    for i in range(hands.shape[0]):
        look(hands[i], wilds[i], params, helds[0])
        n += list_wild_leads(helds[0], params, tables, out)
    return n


def opening_hands(deals: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Landlords' packed hands before their first play, and the wild ranks: `[deals]` each."""
    states, params = records(STATE, deals), ROOM.params()
    for state, key in zip(states, deal_seeds(seed, deals), strict=True):
        start(state, key, -1, params)
    greedy = agents.load("greedy")
    play_out(states, np.zeros((deals, 3), np.int64), [greedy], params, before=Phase.PLAY)
    states = states[states["phase"] == Phase.PLAY]
    return states["hands"][np.arange(len(states)), states["turn"]], states["wild"].astype(np.int64)


class Lister:
    """Times the listing of hands."""

    def __init__(self) -> None:
        self.params, self.helds = ROOM.params(), records(HELD, 1)
        self.out = np.zeros(MAX_LEGAL, np.int32)

    def count(self, hand: int, wild: int) -> int:
        """The declarations of one hand."""
        hands, wilds = np.array([hand], np.uint64), np.array([wild])
        return list_all(hands, wilds, self.params, TABLES, self.helds, self.out)

    def microseconds(self, hands: np.ndarray, wilds: np.ndarray, rounds: int) -> float:
        """The mean time of a hand, median of some rounds."""
        repeats = max(1, 2000 // len(hands))
        hands, wilds = np.tile(hands, repeats), np.tile(wilds, repeats)
        times = []
        for _ in range(rounds):
            begin = time.perf_counter()
            list_all(hands, wilds, self.params, TABLES, self.helds, self.out)
            times.append(1e6 * (time.perf_counter() - begin) / len(hands))
        return statistics.median(times)

    def worst(self, seed: int) -> tuple[int, int]:
        """A packed hand of 20 cards with 4 wilds and many declarations, and its wild rank."""
        rng = np.random.default_rng(seed)
        wild = 12  # 2 is wild: no natural card of a chain is lost
        deck = np.repeat(np.arange(12), 4)
        cards = rng.permutation(deck)
        best, count = cards.copy(), -1
        for _ in range(SWAPS):
            i, j = rng.integers(0, 16), rng.integers(16, len(cards))
            cards = best.copy()
            cards[i], cards[j] = cards[j], cards[i]
            hand = sum(1 << (4 * int(r)) for r in cards[:16]) + (4 << 60)
            n = self.count(hand, wild)
            if n >= count:
                best, count = cards, n
        return sum(1 << (4 * int(r)) for r in best[:16]) + (4 << 60), wild


def measure(rounds: int, deals: int = 6000, seed: int = 5) -> dict[str, float | str]:
    """Microseconds a lead by number of wilds, on average, and of the worst hand found."""
    hands, wilds = opening_hands(deals, seed)
    held = (hands >> np.uint64(60)).astype(int)
    lister = Lister()
    found: dict[str, float | str] = {}
    for n in range(5):
        where = held == n
        if where.any():
            found[f"lead_us_{n}"] = round(
                lister.microseconds(hands[where], wilds[where], rounds), 2
            )
    found["lead_us_mean"] = round(lister.microseconds(hands, wilds, rounds), 2)
    hand, wild = lister.worst(seed)
    one = np.array([hand], np.uint64)
    found["lead_us_worst"] = round(lister.microseconds(one, np.array([wild]), rounds), 2)
    found["worst_hand"] = to_text(hand)
    found["worst_declarations"] = lister.count(hand, wild)
    return found
