"""Games that are played and kept, for the tests of replays."""

import random

import numpy as np

from ddz_env import Game
from ddz_env._jit import records
from ddz_env.bots import make_bot
from ddz_env.listed import Legal
from ddz_env.replay import to_line
from ddz_env.view import VIEW


def choose(agent, game):
    """The id that an agent chooses for the seat on turn."""
    rows, ids = records(VIEW, 1), game.legal_ids()
    rows[0] = game.view()
    return int(agent.act(rows, Legal(np.array([0, len(ids)]), ids))[0])


def played(room, seed, agent=None, calls=False, **options):
    """A finished deal, by greedy unless an agent is given; calls are random where `calls`."""
    game, rng = Game(room, seed=seed, **options), random.Random(seed)
    agent = agent or make_bot("greedy")
    while not game.over:
        if calls and game.phase not in ("play", "fill"):
            game.step(int(rng.choice(game.legal_ids())))
        else:
            game.step(choose(agent, game))
    return game


def write(path, games, agents=("anna", "greedy", "greedy")):
    """A file of replays."""
    path.write_text("".join(to_line(game, agents) + "\n" for game in games), encoding="utf-8")
    return path
