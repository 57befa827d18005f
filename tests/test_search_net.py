"""The search with a trained agent: legal, repeatable, no leaks, certain wins, stronger than it."""

import random

import numpy as np
import pytest
import torch
from checkpoints import save_fresh
from tables import many_positions
from test_leaks import swap_hands, walk
from test_planner import chosen_id, place

import agents
from agents.dmc_net import NetConfig
from ddz_env import PRESETS
from ddz_env.state import Phase
from eval.match import play_match

PLAY_ONLY = PRESETS["play_only"]


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    """A small search with a fresh network: it takes anything for a good choice."""
    torch.manual_seed(1)
    path = tmp_path_factory.mktemp("net") / "last.pt"
    save_fresh(path, "play_only,happy,crazy_laizi", net=NetConfig(16, 16, 16))
    return f"search:dmc,net={path},playouts=48,margin=1,top=4,pool=32"


@pytest.mark.parametrize("room", ["play_only", "happy", "crazy_laizi"])
def test_legal_repeatable_and_by_itself(spec, room):
    """Legal; the same again, in another order; what is not searched is the agent's choice."""
    views, legal = many_positions(room, 5, stops=(0, 3, 22, 26, 30, 35))
    search, again = (agents.load(spec, PRESETS[room]) for _ in range(2))
    chosen = search.act(views, legal)
    order = np.arange(len(views))[::-1]
    assert (again.act(views[order], legal.take(order)) == chosen[order]).all()
    own = search.agent.act(views, legal)
    for i, action in enumerate(chosen):
        ids = legal.ids[legal.offsets[i] : legal.offsets[i + 1]]
        assert action in ids
        if views[i]["phase"] != Phase.PLAY or len(ids) == 1:
            assert action == own[i]
    assert search.decisions > 0 and (chosen != own).any()
    assert search.playouts <= 48 * search.decisions


def test_hidden_cards_do_not_matter(spec):
    """Hidden cards and the state's key swapped: the same choice."""
    search, rng, checked = agents.load(spec, PLAY_ONLY), random.Random(5), 0
    for game in walk(PLAY_ONLY, range(2)):
        if game.phase != "play" or len(game.legal_ids()) < 2 or rng.random() < 0.6:
            continue
        other = swap_hands(rng, game, game.seat)
        if other is None:
            continue
        other.state["seed"] = rng.randrange(2**63)
        assert other.to_bytes() != game.to_bytes()
        assert chosen_id(search, other) == chosen_id(search, game)
        checked += 1
    assert checked > 10


@pytest.mark.parametrize("hands", [["AA3", "5566", "77"], ["XD3", "44556677", "8899TTJJ"]])
def test_certain_wins_are_taken(spec, hands):
    search = agents.load(spec, PLAY_ONLY)
    game = place(hands)
    while not game.over:
        agent = search if game.seat == 0 else agents.load("greedy")
        game.step(chosen_id(agent, game))
    assert game.scores[0] > 0


@pytest.mark.parametrize("objective", ["wp", "score"])
def test_playouts_mend_a_player_that_knows_nothing(spec, objective):
    """A fresh network's own choices are poor; tried out, they are better, by chance or points."""
    search = agents.load(f"{spec},objective={objective},belief=0,rounds=0", PLAY_ONLY)
    result = play_match(search, search.agent, PLAY_ONLY, 12, seed=3)
    assert result.ci[0] > 0.5


@pytest.mark.parametrize(
    ("argument", "text"),
    [
        ("dmc,net=nothing.pt", "nothing.pt: no such file"),
        ("dmc,belief=-1", "belief: expected 0"),
        ("dmc,margin=x", "margin: expected a number"),
        ("dmcc", "expected some of"),
    ],
)
def test_bad_options(argument, text):
    with pytest.raises(agents.AgentError, match=text):
        agents.load(f"search:{argument}", PLAY_ONLY)


def test_the_room_must_be_known(spec):
    views, legal = many_positions("play_only", 2, stops=(3,))
    with pytest.raises(agents.AgentError, match="needs the room"):
        agents.load(spec).act(views, legal)
    with pytest.raises(agents.AgentError, match="not for laidou"):
        agents.load(spec, PRESETS["laidou"])


@pytest.mark.slow
def test_beats_the_agent_that_it_searches_with():
    """The shipped weights: WP over both sides on 100 duplicate deals (about three minutes)."""
    search = agents.load("search:dmc,playouts=128", PLAY_ONLY)
    result = play_match(search, agents.load("dmc", PLAY_ONLY), PLAY_ONLY, 100, seed=301)
    assert result.wp > 0.5
