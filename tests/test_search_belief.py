"""How a trained agent judges hidden hands, and the tally of choices on hands of unequal weight."""

import numpy as np
import pytest
import torch
from checkpoints import save_fresh

import agents
from agents.dmc_net import NetConfig
from agents.search_belief import BEHIND, MOST_SURPRISE, believed, implausible, surprise
from agents.search_net import Tried
from ddz_env import PRESETS, Game
from ddz_env._jit import records
from ddz_env.hidden import draw_hidden, state_from_view
from ddz_env.listed import Legal
from ddz_env.state import STATE
from ddz_env.view import VIEW

BLUR, MOST = 0.03, 12


def played(agent, room, seeds, every=1):
    """Positions of phase play in deals that an agent plays for all seats."""
    for seed in seeds:
        game, n = Game(PRESETS[room], seed=seed), 0
        while not game.over:
            ids = game.legal_ids()
            if game.phase == "play" and game.history:
                n += 1
                if n % every == 0:
                    yield game
            view = records(VIEW, 1)
            view[0] = game.view()
            legal = Legal(np.array([0, len(ids)]), ids)
            game.step(int(agent.act(view, legal)[0]))


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """An agent that knows nothing, in three rooms."""
    torch.manual_seed(2)
    path = tmp_path_factory.mktemp("net") / "last.pt"
    save_fresh(path, "play_only,happy,crazy_laizi", net=NetConfig(16, 16, 16))
    return {
        room: agents.load(f"dmc:{path}", PRESETS[room]) for room in ("play_only", "crazy_laizi")
    }


def test_surprise():
    """Known answers: a softmax of the chances over the blur, of each row by itself, bounded."""
    chances = np.array([0.5, 0.6, 0.2, 0.2, 0.9, 0.1], np.float32)
    legal = Legal(np.array([0, 2, 4, 6]), np.array([0, 7, 7, 9, 4, 7], np.int32))
    found = surprise(chances, legal, 7, 0.1)
    assert found[0] == pytest.approx(np.log(1 + np.exp(-1)), abs=1e-6)
    assert found[1] == pytest.approx(np.log(2))
    assert found[2] == MOST_SURPRISE


@pytest.mark.parametrize("room", ["play_only", "crazy_laizi"])
def test_hands_fit_and_the_likeliest_come_first(fresh, room):
    """What is drawn fits the view and repeats; odds fall, and end where a deal is given up."""
    agent, params, checked = fresh[room], PRESETS[room].params(), 0
    for game in played(agent, room, range(3), every=4):
        view, key = game.view(), np.uint64(checked + 1)
        worlds, odds = believed(agent, view, key, 40, MOST, BLUR, params)
        again = believed(agent, view, key, 40, MOST, BLUR, params)
        assert (again[0] == worlds).all() and (again[1] == odds).all()
        assert 1 <= len(worlds) <= 40 and (np.diff(odds) <= 0).all()
        assert odds[-1] >= odds[0] - BEHIND
        for world in worlds[:3]:
            state_from_view(view, world, 1, PRESETS[room])  # raises for cards that do not fit
        checked += 1
    assert checked > 10


@pytest.mark.parametrize("room", ["play_only", "crazy_laizi"])
def test_a_replay_ends_where_it_began(fresh, room):
    """A game taken back and replayed is where it was, and only choices of others count."""
    agent, params, counted = fresh[room], PRESETS[room].params(), 0
    fields = ("hands", "played", "plays", "turn", "passes", "last_action", "last_seat", "n_history")
    for game in played(agent, room, range(3), every=3):
        states = records(STATE, 2)
        states[:] = game.state
        before = states.copy()
        total = implausible(agent, states, game.seat, MOST, BLUR, params)
        assert total[0] == total[1] >= 0
        for field in fields:
            if not (game.phase == "fill" and field in ("turn", "passes")):
                assert (states[field] == before[field]).all(), field
        others = [seat for seat, _ in game.history if seat != game.seat]
        counted += total[0] > 0
        if not others:
            assert total[0] == 0
    assert counted > 10


def test_true_hands_are_likelier():
    """In deals that the agent plays itself the true hands are far likelier than drawn ones."""
    rules = PRESETS["play_only"]
    agent, params, gains = agents.load("dmc", rules), rules.params(), []
    for game in played(agent, "play_only", range(6), every=4):
        view, states = game.view(), records(STATE, 33)
        states[0] = game.state
        for k in range(1, 33):
            states[k] = state_from_view(view, draw_hidden(view, k, rules), k, rules)[0]
        total = implausible(agent, states, game.seat, MOST, BLUR, params)
        gains.append(np.log(np.exp(-total[0]) + 1e-9) - np.log(np.exp(-total[1:]).mean() + 1e-9))
    mean, error = np.mean(gains), np.std(gains) / len(gains) ** 0.5
    assert len(gains) > 30 and mean - 3 * error > 1.0


def test_the_likely_deals_decide():
    """Two deals, one e^2 times as likely: weights, the agent's own word, and who is dropped."""
    tried = Tried(np.array([0.5, 0.5, 0.4]), belief=0.0, z=2.0)
    tried.add(np.array([0.0, -2.0]), np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]))
    assert tried.best() == 1 and not tried.drop()
    tried.add(np.full(400, 0.0), np.tile([0.6, 0.5, 0.1], (400, 1)))
    assert tried.best() == 0
    assert tried.drop() and tried.alive.tolist() == [True, False, False]
    stubborn = Tried(np.array([0.5, 0.4]), belief=1e5, z=2.0)
    stubborn.add(np.zeros(10), np.tile([0.0, 1.0], (10, 1)))
    assert stubborn.best() == 0
