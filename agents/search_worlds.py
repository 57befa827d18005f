"""Kernels of the search: hidden hands drawn from what a seat can know, and how plausible they are.

A drawn deal is played again from its first lead. Each choice that another seat has made counts with
the chance that a player has to make it who chooses in proportion to exp(planner's weighted sums).
"""

import numpy as np
from numba import types

from agents.search_play import T_ARENA, list_choices, weigh
from ddz_env._jit import njit
from ddz_env.catalogue import FIRST_PLAY
from ddz_env.engine import GOLDEN, mix, pass_play, put_down
from ddz_env.hidden import T_HIDDEN, deal_hidden, fill_state, known_cards
from ddz_env.moves import T_INT, T_PARAMS, T_TABLES, T_U64, hand_size
from ddz_env.scoring import T_STATE
from ddz_env.state import Phase
from ddz_env.view import T_VIEW, cut_view

U64 = np.uint64
_PLAY = int(Phase.PLAY)
T_WORLDS = types.uint64[:, ::1]


@njit([types.int64(T_STATE)])
def rewind(state):
    """Take a game back to its first lead; where its play begins in the history, -1 if unknown."""
    begin = 0
    while begin < state.n_history and state.history_action[begin] < FIRST_PLAY:
        begin += 1
    for seat in range(3):
        cards = U64(0)
        for i in range(begin, state.n_history):
            if state.history_seat[i] == seat:
                cards += state.history_cards[i]
        if cards != state.played[seat]:
            return -1
        state.hands[seat] += cards
        state.played[seat] = U64(0)
        state.plays[seat] = 0
    state.phase, state.turn = _PLAY, state.landlord
    state.pending, state.pending_wilds = 0, U64(0)
    state.passes, state.last_seat, state.last_action, state.last_cards = 0, -1, 0, U64(0)
    state.bombs, state.bomb_factor, state.winner = 0, 1, -1
    return begin


@njit([types.void(T_STATE, T_INT)])
def replay(state, i):
    """Make entry i of the history again in a game that was taken back to it."""
    action, cards = np.int64(state.history_action[i]), state.history_cards[i]
    if action == 0:
        pass_play(state)
    else:
        put_down(state, action, cards, 0)


@njit([types.float64(T_VIEW, T_INT, T_INT, T_TABLES, T_ARENA)])
def surprise(view, n, action, tables, arena):
    """Minus the logarithm of the chance that the planner's weights give to a choice."""
    ids, sums = arena.ids[:n], arena.sums
    best = sums[weigh(view, ids, tables, arena, sums)]
    total, mine = 0.0, -12.0
    for j in range(n):
        if sums[j] > -1e17:
            total += np.exp(sums[j] - best)
            if ids[j] == action:
                mine = sums[j] - best
    return min(np.log(total) - mine, 12.0)


@njit([types.float64(T_INT, T_INT, T_PARAMS, T_TABLES, T_ARENA)])
def implausible(me, most, params, tables, arena):
    """How surprising the choices of the other seats are in the drawn deal `arena.states[0]`.

    Args:
        me: the seat that does not count.
        most: choices that count, the last ones.
        params: the room's.
        tables: the catalogue's `TABLES`.
        arena: buffers.
    """
    end = np.int64(arena.states[0].n_history)
    arena.states[2] = arena.states[0]
    past, view = arena.states[2], arena.views[0]
    begin = rewind(past)
    if begin < 0:
        return 0.0
    skip = -most
    for i in range(begin, end):
        if past.history_seat[i] != me:
            skip += 1
    total = 0.0
    for i in range(begin, end):
        past.n_history = i
        if past.turn != me:
            skip -= 1
            n = list_choices(past, params, tables, arena) if skip < 0 else 1
            if n > 1:
                cut_view(past, np.int64(past.turn), params, view)
                total += surprise(view, n, np.int64(past.history_action[i]), tables, arena)
        replay(past, i)
    past.n_history = end
    return total


@njit([types.float64(T_VIEW, T_HIDDEN, T_INT, types.float64, T_PARAMS, T_TABLES, T_ARENA)])
def log_odds(view, hidden, most, trust, params, tables, arena):
    """The logarithm of the weight of hidden cards."""
    if trust == 0.0:
        return 0.0
    fill_state(view, hidden, U64(0), params, tables, arena.states[0])
    return -trust * implausible(np.int64(view.seat), most, params, tables, arena)


@njit([types.int64(T_U64, T_U64)])
def pick_rank(cards, bits):
    """The rank of a card drawn from packed cards, -1 from none."""
    n = hand_size(cards)
    if n == 0:
        return -1
    at = np.int64(((bits >> U64(32)) * U64(n)) >> U64(32))
    for rank in range(16):
        at -= np.int64((cards >> U64(4 * rank)) & U64(15))
        if at < 0:
            return rank
    return -1


@njit([types.boolean(T_VIEW, T_HIDDEN, T_U64, T_PARAMS, T_HIDDEN)])
def swap(view, hidden, bits, params, other):
    """Hidden cards with two cards exchanged between two hands, into `other`; False for the same."""
    for place in range(4):
        other[place] = hidden[place]
    one, two = (view.seat + 1) % 3, (view.seat + 2) % 3
    a = pick_rank(hidden[one] - known_cards(view, one, params), mix(bits + GOLDEN))
    b = pick_rank(hidden[two] - known_cards(view, two, params), mix(bits + U64(2) * GOLDEN))
    if a < 0 or b < 0 or a == b:
        return False
    gives, gets = U64(1) << U64(4 * a), U64(1) << U64(4 * b)
    other[one] = hidden[one] - gives + gets
    other[two] = hidden[two] - gets + gives
    return True


@njit([types.float64(T_U64)])
def share(bits):
    """A number in 0..1 from random bits."""
    return np.float64(bits >> U64(11)) / 9007199254740992.0


@njit([types.void(T_VIEW, T_U64, T_PARAMS, T_WORLDS)])
def draw_all(view, key, params, worlds):
    """Draw hidden cards for a view, each with equal chances, into `worlds`, `uint64[n, 4]`."""
    for w in range(worlds.shape[0]):
        deal_hidden(view, mix(key + U64(w + 1) * GOLDEN), params, worlds[w])


_T_IMAGINE = types.void(
    T_VIEW, T_U64, T_INT, types.float64, T_INT, T_WORLDS, T_WORLDS, T_PARAMS, T_TABLES,
    T_ARENA,
)  # fmt: skip


@njit([_T_IMAGINE])
def imagine(view, key, most, trust, moves, pool, worlds, params, tables, arena):
    """Draw hidden hands for a view of the play, in proportion to how plausible they are.

    Some are drawn with equal chances and resampled by their weights; each then makes a few steps
    of a Metropolis chain that exchanges two cards, so that copies part.

    Args:
        view: the view.
        key: of the random numbers.
        most: choices of others that count in the weights, the last ones.
        trust: exponent of the weights, 0 for none.
        moves: steps of the chain.
        pool: scratch for those drawn first, `uint64[m, 4]`.
        worlds: gets the hidden cards, `uint64[n, 4]`.
        params: the room's.
        tables: the catalogue's `TABLES`.
        arena: buffers.
    """
    n, m = worlds.shape[0], pool.shape[0]
    if trust == 0.0:
        draw_all(view, key, params, worlds)
        return
    odds, chances = np.zeros(m), np.zeros(m)
    best = -1e18
    draw_all(view, key, params, pool)
    for w in range(m):
        odds[w] = log_odds(view, pool[w], most, trust, params, tables, arena)
        best = max(best, odds[w])
    total = 0.0
    for w in range(m):
        chances[w] = np.exp(odds[w] - best)
        total += chances[w]
    start, at, passed = share(mix(key)), 0, chances[0] / total
    other = np.zeros(4, np.uint64)
    for w in range(n):
        while (w + start) / n > passed and at < m - 1:
            at += 1
            passed += chances[at] / total
        for place in range(4):
            worlds[w, place] = pool[at, place]
        now = odds[at]
        for k in range(moves):
            bits = mix(~key + U64(w * moves + k) * GOLDEN)
            if swap(view, worlds[w], bits, params, other):
                then = log_odds(view, other, most, trust, params, tables, arena)
                if share(mix(bits + U64(3) * GOLDEN)) < np.exp(then - now):
                    now = then
                    for place in range(4):
                        worlds[w, place] = other[place]
