"""What must hold in every game: cards, scores, copies, determinism, hidden information."""

import os
import random
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from deals import DECK, choose, fixed_choice
from reference_game import deal_scores
from tables import features
from traces import all_traces

from ddz_env import PRESETS, DdzError, Game, vec_env
from ddz_env.cards import to_text
from ddz_env.features import STATE_OFFSETS
from ddz_env.vector import deal_seeds

ROOMS = list(PRESETS)
RANKS = "3456789TJQKA2XDW"


def walk(room, seeds):
    """Every decision of some random deals, their ends too; the game goes on after each."""
    for seed in seeds:
        rng = random.Random(seed)
        game = Game(room, seed=seed)
        while not game.over:
            yield game
            game.step(choose(rng, game.legal()))
        yield game


def seeds_for(room, n):
    """How many deals to walk through: listing whole plays with wild cards takes longer."""
    return n if PRESETS[room].wild == "none" else n // 2


def cards_of(texts):
    """All cards of texts, without those that are no cards (calls, passes), sorted.

    A wild is a `W`, whatever it was played as.
    """
    cards = "".join(text for text in texts if not text.islower()).replace("+", "")
    return sorted(re.sub(r".\*", "W", cards))


def deck_of(game):
    """The 54 cards of a game as they are written, sorted: wild ones are `W` once they are drawn."""
    rank = int(game.state["wild"])
    if rank < 0:
        return sorted(DECK)
    return sorted(DECK.replace(RANKS[rank], "W", 2 if game.rules.wild == "red_sevens" else 4))


@pytest.mark.parametrize("room", ROOMS)
def test_54_cards(room):
    decisions = wilds = 0
    for game in walk(room, range(seeds_for(room, 40))):
        bottom = game.bottom if game.landlord is None else ""
        played = [text for _, text in game.history]
        assert cards_of([*game.hands, bottom, *played]) == deck_of(game)
        for seat in range(3):
            own = [text for who, text in game.history if who == seat]
            assert cards_of([to_text(int(game.state["played"][seat]))]) == cards_of(own)
            assert int(game.state["plays"][seat]) == len([t for t in own if not t.islower()])
            view = game.view(seat)
            known = [view["unseen"], *view["hands"], *view["played"]]
            assert cards_of(to_text(int(cards)) for cards in known) == deck_of(game)
        decisions += 1
        wilds += any("*" in text for text in played)
    assert decisions > seeds_for(room, 40) * 20
    assert (wilds > 40) == (PRESETS[room].wild != "none")


def scaled(scores, rules):
    """Scores by a room's factor, all three shrunk alike to its cap, to a quarter point."""
    scores = [score * rules.score_quarters / 4 for score in scores]
    if rules.cap and max(map(abs, scores)) > rules.cap:
        factor = rules.cap / max(map(abs, scores))
        return pytest.approx([score * factor for score in scores], abs=0.25)
    return scores


@pytest.mark.parametrize("room", ROOMS)
def test_scores_are_zero_until_the_end_and_zero_in_sum(room):
    ends = 0
    for game in walk(room, range(seeds_for(room, 60))):
        if not game.over:
            assert (game.scores, game.winner) == ([0, 0, 0], None)
            continue
        ends += 1
        if game.landlord is None:
            assert (game.scores, game.winner) == ([0, 0, 0], None)
            continue
        points = game.base * game.multiplier
        doubled = [bool(double) for double in game.state["doubles"]]
        won = game.winner == game.landlord
        whole = deal_scores(points, game.landlord, won, doubled)
        assert game.scores == scaled(whole, game.rules)
        assert points > 0 and sum(game.scores) == 0 and 0 not in game.scores
        assert game.hands[game.winner] == ""
    assert ends == seeds_for(room, 60)


@pytest.mark.parametrize("room", ROOMS)
def test_copies_are_whole_and_independent(room):
    for game in walk(room, range(6)):
        data = game.to_bytes()
        copy, read = game.clone(), Game.from_bytes(data)
        assert copy.to_bytes() == read.to_bytes() == data
        ply = 0
        while not copy.over:
            choice = fixed_choice(copy.legal_ids(), ply)
            copy.step(choice)
            read.step(choice)
            ply += 1
        assert copy.to_bytes() == read.to_bytes()
        assert (copy.scores, copy.history) == (read.scores, read.history)
        assert game.to_bytes() == data


def test_bytes_of_a_custom_room_need_its_rules():
    room = PRESETS["qq_classic"].replace(spring=False)
    game = Game(room, seed=3)
    game.step("call_2")
    assert Game.from_bytes(game.to_bytes(), room).to_bytes() == game.to_bytes()
    with pytest.raises(DdzError, match="custom"):
        Game.from_bytes(game.to_bytes())


def run_row(batch, row, steps, others):
    """The records and scores that a row goes through; `others` chooses for the other rows."""
    trace = []
    for ply in range(steps):
        offsets, ids = batch.legal()
        actions = np.array([others(ids[a:b], ply) for a, b in pairwise(offsets)])
        actions[row] = fixed_choice(ids[offsets[row] : offsets[row + 1]], ply)
        done = bool(batch.step(actions)[row])
        scores = tuple(batch.points()[row]) if done else None
        trace.append((actions[row], done, scores, batch.states[row].tobytes()))
    return trace


@pytest.mark.parametrize("room", ROOMS)
def test_a_row_does_not_depend_on_the_batch(room):
    wide = run_row(vec_env(64, room, seed=2), 7, 200, fixed_choice)
    narrow = run_row(vec_env(8, room, seed=2), 7, 200, fixed_choice)
    assert wide == narrow
    assert sum(done for _, done, _, _ in wide) >= 2


@pytest.mark.parametrize("room", ROOMS)
def test_a_row_does_not_depend_on_its_neighbours(room):
    first = run_row(vec_env(3, room, seed=2), 1, 300, lambda ids, _: ids[0])
    last = run_row(vec_env(3, room, seed=2), 1, 300, lambda ids, _: ids[-1])
    assert first == last
    assert sum(done for _, done, _, _ in first) >= 3


@pytest.mark.parametrize("room", ROOMS)
def test_seeds(room):
    one, same, other = (vec_env(4, room, seed=s).states["hands"] for s in (1, 1, 2))
    assert (one == same).all()
    assert not (one == other).all(axis=1).any()
    keys = deal_seeds(1, 100)
    assert (deal_seeds(1, 7) == keys[:7]).all() and len(set(keys.tolist())) == 100


@pytest.mark.parametrize("room", ROOMS)
def test_a_row_is_the_game_of_its_key(room):
    """Also after the row has started its next deal by itself: every key is a seed of `Game`."""
    batch = vec_env(5, room, seed=8)
    for state in batch.states:
        assert Game(room, seed=int(state["seed"])).state.tobytes() == state.tobytes()
    finished = set()
    while len(finished) < 5:
        batch.step(batch.sample())
        for row in np.flatnonzero(batch.done):
            state = batch.states[row]
            rotates = PRESETS[room].first_caller == "rotates"
            first = int(state["first"]) if rotates else None
            game = Game(room, seed=int(state["seed"]), first=first)
            assert game.state.tobytes() == state.tobytes()
            finished.add(row)


def test_the_first_caller_rotates():
    batch = vec_env(6, "qq_classic", seed=3)
    before = batch.states["first"].copy()
    changes = 0
    while changes < 20:
        batch.step(batch.sample())
        rows = batch.done
        assert (batch.states["first"][rows] == (before[rows] + 1) % 3).all()
        assert (batch.states["turn"][rows] == batch.states["first"][rows]).all()
        assert (batch.states["first"][~rows] == before[~rows]).all()
        before = batch.states["first"].copy()
        changes += int(rows.sum())


def test_the_first_caller_is_drawn():
    firsts = vec_env(300, "qq_classic", seed=0).states["first"]
    assert (np.bincount(firsts, minlength=3) > 70).all()


def test_a_shuffle_puts_every_card_everywhere():
    """2,000 deals: each place holds each of the 15 ranks about as often as the deck has it."""
    decks = vec_env(2_000, "play_only", seed=6).states["deck"]
    for rank in range(15):
        share = (decks == rank).mean(axis=0) * 54
        wanted = 4 if rank < 13 else 1
        # Five standard deviations of a share of 2,000 draws.
        assert np.abs(share - wanted).max() < 5 * 54 * np.sqrt(wanted / 54 / 2_000)


@pytest.mark.parametrize("room", ROOMS)
def test_snapshots(room):
    batch = vec_env(3, room, seed=1)
    for _ in range(25):
        batch.step(batch.sample())
    data = batch.snapshot(1)
    first = run_row(batch, 1, 60, fixed_choice)
    batch.restore(1, data)
    assert batch.snapshot(1) == data
    assert run_row(batch, 1, 60, fixed_choice) == first
    other = vec_env(2, room, seed=99)
    other.legal()  # what was listed before must not survive
    other.restore(0, data)
    assert run_row(other, 0, 60, fixed_choice) == first
    with pytest.raises(DdzError, match=str(len(data))):
        other.restore(0, data[:-1])


@pytest.mark.parametrize("room", ROOMS)
def test_features_of_a_batch(room):
    """They go through one used record, row after row: nothing of a former row is left in it."""
    batch = vec_env(4, room, seed=5)
    for _ in range(150):
        batch.step(batch.sample())
        rows = batch.features()
        for row, view in enumerate(batch.views()):
            assert np.flatnonzero(rows[row]).tolist() == features(view)


@pytest.mark.parametrize("room", ROOMS)
def test_last_plays_of_every_seat(room):
    """Features of seats that are not on turn too: who played what, and who holds the trick."""
    checked = set()
    for game in walk(room, range(10)):
        if game.phase != "play":
            continue
        for seat in range(3):
            bits = set(features(game.view(seat)))
            for name, other in (("last_next", (seat + 1) % 3), ("last_prev", (seat + 2) % 3)):
                texts = [text for who, text in game.history if who == other]
                assert card_field(bits, name) == cards_of(texts[-1:])
            holder = int(game.state["last_seat"])
            held = [i for i in range(4) if STATE_OFFSETS["trick"] + i in bits]
            wanted = [3 if holder < 0 else (holder - seat) % 3]
            assert held == wanted
            checked.add((holder - seat) % 3 if holder >= 0 else None)
    assert checked == {None, 0, 1, 2}


def card_field(bits, name):
    """The cards that a field of 58 bits holds, sorted: rank r with n cards sets n bits."""
    cards = []
    for i in range(58):
        if STATE_OFFSETS[name] + i in bits:
            cards.append(RANKS[i // 4] if i < 52 else RANKS[i - 39] if i < 54 else "W")
    return sorted(cards)


def run_traces(**environment):
    """The digests of another process."""
    result = subprocess.run(
        [sys.executable, "-W", "ignore", str(Path(__file__).parent / "traces.py")],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout.splitlines()


@pytest.mark.parametrize("hash_seed", ["0", "1", "2"])
def test_other_processes_play_the_same(hash_seed):
    assert run_traces(PYTHONHASHSEED=hash_seed) == all_traces()


def test_without_numba():
    assert run_traces(NUMBA_DISABLE_JIT="1") == all_traces()


def test_traces_differ():
    assert len({trace.split()[-1] for trace in all_traces()}) == len(all_traces()) == 27
