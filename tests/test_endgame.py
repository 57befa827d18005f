"""The endgame solver against plain minimax over the slow referee's plays, and what it promises."""

import random
import time

import numpy as np
import pytest
from reference_endgame import ROOMS, WIDE, Referee
from reference_rules import all_plays
from wild_hands import ROOMS as WILD_ROOMS
from wild_hands import clumped, draw_wild, some_wild_play, split_deck

from agents.endgame import (
    FARMERS,
    LANDLORD,
    LOSS,
    UNKNOWN,
    WIN,
    Result,
    action_values,
    make_work,
    solve,
)
from ddz_env import PRESETS, DdzError, Game, action_id, vec_env
from ddz_env.bots import GreedyBot
from ddz_env.cards import count_cards
from ddz_env.state import Phase

RULES = {
    **PRESETS,
    "wide": PRESETS["qq_classic"].replace(**WIDE),
    "laidou_jokers": PRESETS["laidou"].replace(wild="jokers"),
    "wide_laizi": PRESETS["happy_laizi"].replace(**WIDE, wild_solo_kicker_any=True),
}


def cut(rng, cards):
    """The cards in three hands, none empty."""
    cards = rng.sample(cards, len(cards))
    first, second = sorted(rng.sample(range(1, len(cards)), 2))
    return tuple("".join(part) for part in (cards[:first], cards[first:second], cards[second:]))


def play_to_beat(rng, referee, hand, rest):
    """A play of other cards, if one is found that the hand can beat."""
    for _ in range(4):
        other = "".join(clumped(rng, list(rest))[: rng.randint(1, 8)])
        if referee.wild is None:
            last = rng.choice(all_plays(other, referee.room))
        else:
            last = some_wild_play(rng, other, referee.room, referee.wild)
        if len(referee.legal(hand, last)) > 1:
            return last
    return last


def small_position(room, rng, most):
    """(game, referee, the arguments of its `values`): up to so many cards in all."""
    wild = draw_wild(rng, ROOMS[room]) if room in WILD_ROOMS or "laizi" in room else None
    referee = Referee(room, wild, rng.randrange(3))
    naturals, wilds = split_deck(wild) if wild else (list("3456789TJQKA2" * 4 + "XD"), [])
    total, n = rng.randint(4, most), min(len(wilds), rng.choice([0, 1, 1, 2, 2, 3, 4]))
    order = clumped(rng, naturals)
    hands = cut(rng, order[: total - n] + wilds[:n]) if total - n > 0 else cut(rng, wilds)
    turn, last, who = rng.randrange(3), None, None
    if rng.random() < 0.5:
        last = play_to_beat(rng, referee, hands[turn], order[total - n :] + wilds[n:])
        who = (turn + rng.randint(1, 2)) % 3
    rank = wild if ROOMS[room].get("wild") == "rank" else None
    game = Game.from_position(
        hands, last, turn, landlord=referee.landlord, last_seat=who, rules=RULES[room], wild=rank
    )
    # Springs are as rare in positions so late as they are well to be tested.
    plays = tuple(rng.choice([(2, 2, 2), (1, 1, 1), (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]))
    game.state["plays"] = plays
    return game, referee, (hands, turn, last, who, plays)


def check(room, seed, most, work):
    """One small position: winner, multiplier, best action and every action against the referee."""
    game, referee, position = small_position(room, random.Random(f"{room} {seed}"), most)
    before = game.to_bytes()
    whole = referee.values(*position)
    lord = game.seat == referee.landlord
    best = max(whole.values()) if lord else min(whole.values())
    by_id = {}
    for play, value in whole.items():
        by_id.setdefault(action_id(play.replace("*", "")), []).append(value)
    where = f"{room} seed {seed}: {game} {position}"
    result = solve(game, points=True, work=work)
    assert result.proved, where
    assert result.value == (LANDLORD if best > 0 else FARMERS), where
    assert result.value * result.multiplier == best, where
    assert best in by_id[result.best_action], where
    won = {i: any((value > 0) == lord for value in found) for i, found in by_id.items()}
    values = action_values(game, work=work)
    assert values == {i: WIN if win else LOSS for i, win in won.items()}, where
    plain = solve(game, work=work)
    assert (plain.value, plain.proved, plain.multiplier) == (result.value, True, 1), where
    assert won[plain.best_action] == ((plain.value == LANDLORD) == lord), where
    assert game.to_bytes() == before
    return result.value, lord, position[2] is None


def rooms_and_seeds(total):
    """So many small positions, each room as often as the others."""
    each = -(-total // len(ROOMS))
    return [(room, seed) for room in ROOMS for seed in range(each)]


def check_many(total, most):
    work, seen = make_work(), set()
    for room, seed in rooms_and_seeds(total):
        fewer = 2 if room in WILD_ROOMS or "laizi" in room else 0
        seen.add(check(room, seed, most - fewer, work))
    # Won and lost, landlord and farmers on turn, leading and following: all have come up.
    assert len(seen) == 8


def test_like_minimax():
    check_many(300, 11)


@pytest.mark.slow
def test_like_minimax_on_two_thousand_positions():
    check_many(2000, 13)


@pytest.fixture(scope="module")
def work():
    return make_work()


def endgames(room, most, n, seed=1):
    """Games of `greedy` players, each where it first has at most `most` cards in all hands."""
    batch, found, deal = vec_env(64, rules=RULES[room], seed=seed), [], {}
    while len(found) < n:
        states = batch.states
        for row in range(64):
            left = sum(count_cards(int(hand)) for hand in states["hands"][row])
            key = int(states["seed"][row])
            if states["phase"][row] == Phase.PLAY and left <= most and deal.get(row) != key:
                deal[row] = key
                found.append(Game.from_state(states[row], RULES[room]))
        batch.step(GreedyBot().act(batch.views(), batch.legal()))
    return found[:n]


@pytest.mark.parametrize("room", ["play_only", "jj_classic", "happy_laizi", "laidou_jokers"])
def test_a_won_game_is_won(room, work):
    """The side that wins plays what `solve` says, the other at random: never lost on the way."""
    rng, fillings = random.Random(room), 0
    for game in endgames(room, 16, 40):
        value = solve(game, work=work).value
        assert value != UNKNOWN
        while not game.over:
            lord = game.seat == game.landlord
            result = solve(game, work=work)
            assert (result.value, result.proved) == (value, True)
            fillings += game.phase == "fill"
            winning = (value == LANDLORD) == lord
            game.step(result.best_action if winning else rng.choice(game.legal_ids().tolist()))
        assert (game.winner == game.landlord) == (value == LANDLORD)
    assert fillings > 0 or RULES[room].wild != "rank"


@pytest.mark.parametrize("room", ["happy_laizi", "crazy_laizi", "laidou", "laidou_jokers"])
def test_values_while_filling(room, work):
    """Each answer is worth what the game is worth after it."""
    asked, rng = 0, random.Random(room)
    for seed in range(300):
        game, _, _ = small_position(room, random.Random(f"{room} {seed}"), 13)
        for action in game.legal_ids().tolist():
            filling = game.clone()
            filling.step(action)
            if filling.phase == "fill" and rng.random() < 0.6:
                asked += 1
                check_filling(filling, work)
    assert asked > 20


def check_filling(game, work):
    lord = game.seat == game.landlord
    values = action_values(game, work=work)
    assert list(values) == game.legal_ids().tolist()
    for action, value in values.items():
        after = game.clone()
        after.step(action)
        if after.over:
            landlord_wins = after.winner == after.landlord
        else:
            landlord_wins = solve(after, work=work).value == LANDLORD
        assert value == (WIN if landlord_wins == lord else LOSS)
        if after.phase == "fill":
            check_filling(after, work)
    result = solve(game, work=work)
    assert (result.value == LANDLORD) == ((WIN in values.values()) == lord)
    assert values[result.best_action] == max(values.values())


# hands (the landlord's first), play to beat, its seat, turn; winner, ids that win and that lose
KNOWN = [
    # With the bomb of 2 to come, a pair of 3 may be led; afterwards nobody leads.
    (["222233", "4455", "6677"], None, None, 0, LANDLORD, {"2222", "33", "2222+33"}, set()),
    # The rocket would stop the bomb, not what it is led with.
    (["222233", "445XD", "6677"], None, None, 0, LANDLORD, {"33", "2222+33"}, {"2222", "3"}),
    # A farmer lets his partner's 8 stand: the partner is out next.
    (["99", "45A", "3"], "8", 2, 1, FARMERS, {"pass"}, {"A"}),
    # The farmer before the landlord keeps his solos from him.
    (["A", "6", "4455"], None, None, 2, FARMERS, {"44", "55"}, {"4", "5"}),
    # The same solos go to a partner who is asked first.
    (["A", "4455", "6"], None, None, 1, FARMERS, {"44", "55", "4", "5"}, set()),
    (["45A", "6", "7"], None, None, 0, FARMERS, set(), {"4", "5", "A"}),
    (["34567", "89", "TT"], None, None, 0, LANDLORD, {"34567"}, {"3", "4", "5", "6", "7"}),
    (["4", "55", "3"], "A", 1, 0, FARMERS, set(), {"pass"}),
]


@pytest.mark.parametrize("case", KNOWN, ids=[" ".join(case[0]) for case in KNOWN])
def test_known_answers(case, work):
    hands, last, who, turn, winner, wins, losses = case
    game = Game.from_position(hands, last, turn, last_seat=who)
    result = solve(game, work=work)
    assert (result.value, result.proved) == (winner, True)
    values = {game.action_text(i): value for i, value in action_values(game).items()}
    assert wins <= {text for text, value in values.items() if value == WIN}
    assert losses <= {text for text, value in values.items() if value == LOSS}
    best = values[game.action_text(result.best_action)]
    assert best == (WIN if (winner == LANDLORD) == (turn == 0) else LOSS)


def test_points_of_a_win(work):
    """Bombs that cost nothing are played by who plays for points, and only by him."""
    game = Game.from_position(["3333444455", "67", "89"], rules="qq_classic")
    assert solve(game, points=True, work=work).multiplier == 4
    assert solve(game, work=work).multiplier == 1
    game = Game.from_position(["46", "9999A", "7"], None, 1, rules="qq_classic")
    result = solve(game, points=True, work=work)
    assert (result.value, result.multiplier) == (FARMERS, 2)


@pytest.mark.parametrize("room", ["play_only", "happy_laizi"])
def test_the_limit_never_gives_a_wrong_answer(room, work):
    unknown = 0
    for game in endgames(room, 26, 30):
        truth = solve(game, work=work, node_limit=1_000_000)
        values = action_values(game, work=work, node_limit=3_000_000)
        for limit in (1, 2, 3, 10, 100, 1000):
            found = solve(game, node_limit=limit, work=work)
            assert found.nodes <= limit
            assert found.proved == (found.value != UNKNOWN)
            assert found.best_action in game.legal_ids()
            if found.proved:
                assert found.value == truth.value
            unknown += not found.proved
            some = action_values(game, node_limit=limit, work=work)
            assert list(some) == list(values) == game.legal_ids().tolist()
            assert all(value in (UNKNOWN, values[i]) for i, value in some.items())
        if truth.nodes > 1:
            assert not solve(game, node_limit=truth.nodes - 1, work=work).proved
        assert solve(game, node_limit=truth.nodes, work=work) == truth
    assert unknown > 20


def test_earlier_calls_play_no_part():
    """Buffers that other rooms and other games have used give the same answer as new ones."""
    used = make_work(1 << 8)
    games = endgames("play_only", 18, 15) + endgames("happy_laizi", 18, 15)
    random.Random(1).shuffle(games)
    for game in games:
        for points in (False, True):
            new = solve(game, points=points, work=make_work(1 << 8))
            assert solve(game, points=points, work=used) == new
        assert action_values(game, work=used) == action_values(game, work=make_work(1 << 8))


def test_small_buffers(work):
    """A table that forgets nearly everything, and no room for moves: slower, or unknown."""
    forgetful, cramped, unknown = make_work(4), make_work(moves=12), 0
    for game in endgames("play_only", 16, 20):
        truth = solve(game, work=work)
        assert solve(game, work=forgetful).value in (UNKNOWN, truth.value)
        found = solve(game, work=cramped)
        assert found.value in (UNKNOWN, truth.value)
        unknown += found.value == UNKNOWN
        assert list(action_values(game, work=cramped)) == game.legal_ids().tolist()
    whole = Game("play_only")
    assert solve(whole, work=cramped) == Result(UNKNOWN, -1, 0, False)
    assert set(action_values(whole, work=cramped).values()) == {UNKNOWN}
    assert unknown


def test_records_and_games_are_alike(work):
    game = endgames("happy_laizi", 15, 1)[0]
    before = game.to_bytes()
    for position in (game.state, game.rows, game.rows.copy()):
        assert solve(position, "happy_laizi", work=work) == solve(game, work=work)
        assert action_values(position, game.rules, work=work) == action_values(game, work=work)
    assert game.to_bytes() == before


def test_bad_input():
    game = Game.from_position(["34", "5", "66"])
    over = Game.from_position(["3", "5", "66"])
    over.step("3")
    for ask in (solve, action_values):
        for arguments, options, word in (
            ((over,), {}, "phase"),
            ((Game("happy"),), {}, "phase"),
            ((game.state,), {}, "rules"),
            ((game, "qq_classic"), {}, "rules"),
            (("34 5 66",), {}, "position"),
            ((np.zeros(3),), {}, "position"),
            ((np.concatenate([game.rows, game.rows]), "play_only"), {}, "position"),
            ((game.state, "mahjong"), {}, "mahjong"),
            ((game,), {"node_limit": 0}, "node_limit"),
            ((game,), {"node_limit": 1.5}, "node_limit"),
        ):
            with pytest.raises(DdzError, match=word) as error:
                ask(*arguments, **options)
            assert "\n" not in str(error.value)
    for entries in (0, 3, 100):
        with pytest.raises(DdzError, match="entries"):
            make_work(entries)
    with pytest.raises(DdzError, match="moves"):
        make_work(moves=0)


@pytest.mark.bench
@pytest.mark.parametrize("room", ["play_only", "happy_laizi"])
def test_speed(room, work, capsys):
    """Endgames of `greedy` players and random cards: how long an answer takes."""
    for most, bound in ((15, 0.01), (20, 0.1), (24, 1.0)):
        for name, games in (
            ("greedy", endgames(room, most, 200)),
            ("random", [random_cards(room, most, seed) for seed in range(200)]),
        ):
            solve(games[0], work=work)
            times, nodes = [], []
            for game in games:
                begin = time.perf_counter()
                nodes.append(solve(game, work=work).nodes)
                times.append(1000 * (time.perf_counter() - begin))
            shown = [
                " ".join(f"{x:9.3f}" for x in np.percentile(figures, (50, 90, 99, 100)))
                for figures in (times, nodes)
            ]
            with capsys.disabled():
                print(f"\n{room:12} {name} {most}: ms {shown[0]} | nodes {shown[1]}", end="")
            assert np.median(times) < 1000 * bound


def random_cards(room, total, seed):
    """A lead with so many random cards in three hands of about the same size."""
    rng = random.Random(seed)
    wild = draw_wild(rng, ROOMS[room]) if room in WILD_ROOMS else None
    naturals, wilds = split_deck(wild) if wild else (list("3456789TJQKA2" * 4 + "XD"), [])
    cards = rng.sample(naturals + wilds, total)
    hands = ["".join(cards[seat::3]) for seat in range(3)]
    return Game.from_position(hands, rules=RULES[room], wild=wild)
