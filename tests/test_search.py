"""The search and its games made of views: exact round trips, legal, no leaks, certain wins."""

import random

import numpy as np
import pytest
from tables import many_positions
from test_leaks import PHASES, ROOMS, swap_hands, walk
from test_planner import chosen_id, place

import agents
from agents.endgame import WIN, action_values
from agents.search import Options, Search
from ddz_env import PRESETS, CardError, DdzError, Game
from ddz_env._jit import records
from ddz_env.bots import GreedyBot
from ddz_env.catalogue import TEXTS
from ddz_env.hidden import draw_hidden, state_from_view
from ddz_env.state import Phase
from ddz_env.view import VIEW, cut_view
from eval.match import play_match

FAST = "search:playouts=40"


def cut(rows, seat, room):
    """The bytes of a seat's view of a record."""
    view = records(VIEW, 1)
    cut_view(rows[0], seat, room.params(), view[0])
    return view.tobytes()


def walk_ids(room, seeds):
    """Every decision of some deals, chosen by id at random, fillings among them."""
    for seed in seeds:
        rng = random.Random(seed)
        game = Game(room, seed=seed)
        while not game.over:
            yield game
            game.step(int(rng.choice(list(game.legal_ids()))))


# ------------------------------------------------------------------------------ games out of views


@pytest.mark.parametrize("room", ROOMS)
def test_a_view_survives_the_way_through_a_game(room):
    """In every phase, for every seat; the cards are those of the deck, and bombs count."""
    rules, phases, seed = ROOMS[room], set(), 0
    for walked in (walk(rules, range(8)), walk_ids(rules, range(8))):
        for game in walked:
            phases.add(game.phase)
            for seat in range(3):
                view, seed = game.view(seat), seed + 1
                rows = state_from_view(view, draw_hidden(view, seed, rules), seed, rules)
                assert cut(rows, seat, rules) == view.tobytes()
                assert sorted(rows[0]["deck"]) == sorted(game.state["deck"])
                assert rows[0]["bomb_factor"] == game.state["bomb_factor"]
    assert phases >= PHASES[room]
    assert ("fill" in phases) == (rules.wild != "none")


@pytest.mark.parametrize("room", ["play_only", "jj_classic", "happy_laizi", "laidou"])
def test_true_cards_give_the_true_game(room):
    """With the cards that the seat can't see the game goes on as the true one does."""
    rules = PRESETS[room]
    checked = 0
    for game in walk_ids(rules, range(6)):
        if game.phase not in ("play", "fill"):
            continue
        view = game.view()
        hidden = [game.state["hands"][s] - view["hands"][s] for s in range(3)]
        rows = state_from_view(view, np.array([*hidden, 0], np.uint64), 1, rules)
        for name in rows.dtype.names:
            if name not in ("seed", "draws", "deck", "turned"):
                assert np.array_equal(rows[0][name], game.state[name]), name
        checked += 1
    assert checked > 100


def test_drawn_cards_are_those_that_a_seat_can_not_know():
    """Numbers of cards; shown hands; bottom cards that the landlord holds; the turned card."""
    rng, kept, turned = random.Random(3), 0, 0
    for room in ("happy", "jj_classic"):
        for game in walk(ROOMS[room], range(10)):
            if game.phase != "play":
                continue
            view = game.view()
            seed = rng.randrange(2**60)
            state = state_from_view(view, draw_hidden(view, seed, room), seed, room)[0]
            for seat in range(3):
                if view["hands"][seat]:
                    assert state["hands"][seat] == game.state["hands"][seat]
            lord = game.landlord
            for rank in range(15):

                def has(cards, rank=rank):
                    return int(cards) >> 4 * rank & 15

                bottom = has(view["bottom"]) - has(view["played"][lord])
                kept += bottom > 0
                assert has(state["hands"][lord]) >= bottom
                if rank == view["turned_rank"]:
                    held = view["turned_seat"]
                    turned += 1
                    assert has(state["hands"][held]) + has(view["played"][held]) >= 1
    assert kept > 500 and turned > 200


def test_positions_without_a_past():
    """Nobody knows their bottom cards nor what was played when; a search takes them as they are."""
    game = Game.from_position(["2233445", "66778", "99TTJ"], "66", 2, last_seat=1)
    for seat in range(3):
        view = game.view(seat)
        rows = state_from_view(view, draw_hidden(view, seed=4))
        assert cut(rows, seat, game.rules) == view.tobytes()
        assert sorted(rows[0]["deck"]) == sorted(game.state["deck"])
    assert chosen_id(agents.load(FAST), game) in game.legal_ids()


def test_draws_are_uniform():
    """Two hidden cards of four kinds: each way as often as its copies say."""
    game = place(["3456", "789", "TJQ"])
    counts = {}
    for seed in range(4000):
        hidden = tuple(draw_hidden(game.view(), seed).tolist())
        counts[hidden] = counts.get(hidden, 0) + 1
    assert len(counts) == 20
    assert max(abs(n - 200) for n in counts.values()) < 65


def test_cards_that_do_not_fit_are_refused():
    game = Game("play_only", seed=1)
    view = game.view()
    hidden = draw_hidden(view, 0)
    moved = hidden.copy()
    low = next(rank for rank in range(15) if int(hidden[1]) >> 4 * rank & 15)
    moved[1] -= np.uint64(1 << 4 * low)
    for bad, text in (
        (hidden[:3], "4 packed words"),
        (moved, "together"),
        (hidden[[1, 0, 2, 3]], "player_0 has 0"),
    ):
        with pytest.raises(CardError, match=text):
            state_from_view(view, bad)
    with pytest.raises(DdzError, match="view: expected"):
        state_from_view(game.state, hidden)


# ------------------------------------------------------------------------------------- the choices


@pytest.mark.parametrize("room", ["play_only", "jj_classic", "happy_laizi", "laidou"])
def test_legal_repeatable_and_by_itself(room):
    """Legal; the same again, in whatever order; what is not searched is the planner's choice."""
    views, legal = many_positions(room, 40)
    search, again = (agents.load(FAST, PRESETS[room]) for _ in range(2))
    chosen = search.act(views, legal)
    order = np.arange(len(views))[::-1]
    assert (again.act(views[order], legal.take(order)) == chosen[order]).all()
    other = agents.load("planner").act(views, legal)
    for i, action in enumerate(chosen):
        ids = legal.ids[legal.offsets[i] : legal.offsets[i + 1]]
        assert action in ids
        if views[i]["phase"] != Phase.PLAY or len(ids) == 1:
            assert action == other[i]
    assert search.decisions > 0 and search.playouts > 20 * search.decisions


def test_the_seed_matters_and_the_budget():
    views, legal = many_positions("play_only", 60)
    one, two = (agents.load(f"{FAST},seed={seed}") for seed in (1, 2))
    assert (one.act(views, legal) != two.act(views, legal)).any()
    assert one.playouts <= 40 * one.decisions
    timed = agents.load("search:time=0.02")
    timed.act(views, legal)
    assert 0.0 < timed.seconds / timed.decisions < 0.2


@pytest.mark.parametrize("trust", [0, 0.5])
def test_hidden_cards_do_not_matter(trust):
    """Hidden cards and the state's key swapped: the same choice."""
    search, rng, checked = agents.load(f"{FAST},trust={trust}"), random.Random(5), 0
    for game in walk(PRESETS["play_only"], range(3)):
        if game.phase != "play" or len(game.legal_ids()) < 2 or rng.random() < 0.6:
            continue
        other = swap_hands(rng, game, game.seat)
        if other is None:
            continue
        other.state["seed"] = rng.randrange(2**63)
        other.state["draws"] = rng.randrange(2**20)
        assert other.to_bytes() != game.to_bytes()
        assert chosen_id(search, other) == chosen_id(search, game)
        checked += 1
    assert checked > 15


@pytest.mark.parametrize(
    ("hands", "play"),
    [
        # What nobody can beat, then the rest: a pair, the rocket, pairs and solos in any order.
        (["AA3", "5566", "77"], "AA"),
        (["XD3", "44556677", "8899TTJJ"], "XD"),
        (["22X34567", "445566", "778899"], None),
    ],
)
def test_certain_wins_are_taken(hands, play):
    """Whatever the others hold and do."""
    search = agents.load(FAST)
    greedy = GreedyBot()
    for seed in range(10):
        game = place(hands)
        hidden = draw_hidden(game.view(), seed)
        for seat in (1, 2):
            game.state["hands"][seat] = hidden[seat]
        while not game.over:
            agent = search if game.seat == 0 else greedy
            action = chosen_id(agent, game)
            if play and len(game.history) == 0:
                assert TEXTS[action] == play
            game.step(action)
        assert game.scores[0] > 0


@pytest.mark.parametrize("room", ["play_only", "happy_laizi"])
def test_plays_open_endgames_without_a_mistake(room):
    """With all hands shown a drawn deal is the true one, and a won position stays won."""
    search, rules, checked = agents.load(f"{FAST},nodes=200000"), PRESETS[room], 0
    for game in walk(rules, range(60)):
        if game.phase != "play" or len(game.legal_ids()) < 2:
            continue
        if sum(len(hand) for hand in game.hands) > 14:
            continue
        game.state["shows"] = 1
        values = action_values(game)
        if len(set(values.values())) > 1:
            assert values[chosen_id(search, game)] == WIN
            checked += 1
    assert checked > 40


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("search:time=fast", "time: expected a number"),
        ("search:playouts=1.5", "playouts: expected a whole number"),
        ("search:playouts=-1", "playouts: expected 0"),
        ("search:policy=oracle", "policy: expected planner or quick or greedy"),
        ("search:objective=beans", "objective: expected wp or score"),
        ("search:speed=1", "expected some of time, playouts"),
        ("search:", "expected some of time, playouts"),
        ("search:time=nan", "time: expected 0.0"),
    ],
)
def test_bad_options(spec, text):
    with pytest.raises(agents.AgentError, match=text):
        agents.load(spec)


# ---------------------------------------------------------------------------------------- strength


def test_beats_the_policy_it_searches_with():
    """A one-step improvement: search over greedy beats greedy clearly."""
    search = Search(Options(playouts=100, policy="greedy"), PRESETS["play_only"])
    result = play_match(search, agents.load("greedy"), "play_only", 100, seed=5)
    assert result.ci[0] > 0.55


@pytest.mark.slow
def test_beats_the_planner():
    search = agents.load("search:playouts=200", PRESETS["play_only"])
    result = play_match(search, agents.load("planner"), "play_only", 100, seed=6)
    assert result.ci[0] > 0.5


@pytest.mark.slow
def test_searches_for_points():
    search = agents.load("search:playouts=100,objective=score", PRESETS["qq_classic"])
    greedy = agents.load("greedy")
    result = play_match(search, greedy, "qq_classic", 100, seed=6, calls=greedy)
    assert result.adp_ci[0] > 0
