"""Figures, intervals, ratings and warnings are right: against agents of known strength."""

import math
from collections import Counter

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import binom
from simulated import THREE, World

from agents.rlcard_rule import RLCardRuleAgent
from ddz_env.bots import RandomBot
from eval import tournament
from eval.chunks import ChunkResult
from eval.figures import deals_needed, gain, interval, parts, summarise_games
from eval.match import play_match
from eval.ratings import ELO, Games, rate
from eval.results import Played, Tally

DEALS = 300


def covered(count, n):
    """Whether so many of n intervals are what nominal 95% intervals give.

    Of 500 tournaments 92 to 98%; of fewer as far off as chance alone takes them, once in 10,000.
    """
    low, high = binom.ppf([5e-5, 1 - 5e-5], n, 0.95) / n
    return min(low, 0.92) <= count / n <= max(high, 0.98)


def holds(ci, value):
    return ci[0] <= value <= ci[1]


def cover(world, tournaments, rated=True):
    """How many of the tournaments' intervals hold the truth, by figure."""
    found = Counter()
    for i in range(tournaments):
        played = world.play(DEALS, np.random.default_rng([7, i]))
        results = []
        for (a, b), games in zip(world.pairs, played, strict=True):
            results.append(Games(a, b, games, "deals"))
            result, truth = summarise_games(games, world.rules, seed=i), world.truth((a, b))
            for name, value in truth.items():
                ci = result.ci if name == "wp" else getattr(result, f"{name}_ci")
                found[f"{a}-{b} {name}"] += holds(ci, value)
        empty = np.zeros((3, 440), np.int64), [[], [], []]
        pairings = [Played(r.a, r.b, [ChunkResult(r.games, *empty)]) for r in results]
        (_, middle, _) = Tally(pairings, world.rules, False, seed=i).differences()
        good, poor = middle["a"], middle["b"]
        key, ci = ("wp", "ci") if world.room == "play_only" else ("score", "score_ci")
        truth = world.truth((good, "fair"))[key]
        other = world.truth(("fair", poor))[key]
        truth -= 1 - other if key == "wp" else -other
        found["difference"] += holds(middle[ci], truth)
        if not rated:
            continue
        ratings = rate(results, resamples=200, seed=i)
        for r in ratings.agents:
            lord, farmers = world.rating(r.agent) * ELO
            found[f"rating {r.agent}"] += holds(r.ci, (lord + farmers) / 2)
            found[f"rating {r.agent} landlord"] += holds(r.landlord_ci, lord)
            found[f"rating {r.agent} farmers"] += holds(r.farmers_ci, farmers)
    return found


def check_coverage(found, tournaments):
    for name, count in found.items():
        print(f"{name}: {count / tournaments:.3f}")
    assert len(found) >= 9
    wrong = {name: n / tournaments for name, n in found.items() if not covered(n, tournaments)}
    assert not wrong


@pytest.mark.parametrize("room", ["play_only", "qq_classic"])
def test_intervals_hold_the_truth(room):
    check_coverage(cover(World(THREE, room=room), 40), 40)


@pytest.mark.slow
@pytest.mark.parametrize("room", ["play_only", "qq_classic"])
def test_intervals_of_500_tournaments_hold_the_truth(room):
    check_coverage(cover(World(THREE, room=room), 500), 500)


def test_intervals_that_resample_games_would_not():
    """The games of one deal hang together: taken for independent they claim too much."""
    world = World(THREE, room="qq_classic", luck=0.4)
    by_deal, by_game = 0, 0
    for i in range(150):
        games = world.play(100, np.random.default_rng([8, i]))[0]
        truth = world.truth(world.pairs[0])["landlord"]
        value = (games["winner"] == games["landlord"]).astype(float)
        lords = np.take_along_axis(games["by"], games["landlord"][..., None].astype(int), 2)[..., 0]
        alone = value[lords == 0]
        by_game += holds(interval(alone, seed=i), truth)
        by_deal += holds(summarise_games(games, world.rules, seed=i).landlord_ci, truth)
    assert covered(by_deal, 150) and not covered(by_game, 150)


# -------------------------------------------------------------------------------- equal agents


@pytest.mark.parametrize("make", [RandomBot, RLCardRuleAgent])
def test_two_copies_of_an_agent_do_not_differ(make):
    """Copies that draw other random numbers: no more is significant than chance makes so."""
    significant = 0
    for i in range(20):
        result = play_match(make(2 * i), make(2 * i + 1), "play_only", 150, seed=i)
        assert result.ci[0] < result.ci[1]
        significant += not holds(result.ci, 0.5)
    assert significant <= binom.ppf(0.9999, 20, 0.06)


def test_copies_of_equal_strength_in_a_room_with_calling():
    result = play_match(RandomBot(1), RandomBot(2), "qq_classic", 300, seed=1)
    assert holds(result.score_ci, 0) and result.score_ci[0] < result.score_ci[1]


# -------------------------------------------------------------------------- gain of duplicates


def test_gain_of_known_values():
    # Both games of a deal go the same way: worth half. One each: no variance is left at all.
    same = np.array([[0.5, 0.5], [0, 0], [0.5, 0.5], [0, 0]])
    assert gain(same) == pytest.approx(0.5)
    assert math.isnan(gain(np.array([[0.5, 0], [0, 0.5], [0.5, 0]])))
    rng = np.random.default_rng(1)
    free = rng.choice([0, 0.5], (100_000, 2))
    assert gain(free) == pytest.approx(1, abs=0.02)


def test_gain_is_that_of_games_on_deals_of_their_own():
    """The variance over many tournaments, of duplicate deals and of as many games apart."""
    world, deals = World(THREE, luck=0.5), 200
    means = {"duplicate": [], "apart": []}
    gains = []
    for i in range(300):
        rng = np.random.default_rng([9, i])
        games = world.play(deals, rng)[0]
        values = parts(games, world.rules, 0, False)["wp"]
        gains.append(gain(values))
        means["duplicate"].append(values.sum(axis=1).mean())
        other = parts(world.play(deals, rng)[0], world.rules, 0, False)["wp"]
        means["apart"].append(values[:, 0].mean() + other[:, 1].mean())
    ratio = np.var(means["apart"]) / np.var(means["duplicate"])
    assert np.mean(gains) > 1.3
    assert np.mean(gains) == pytest.approx(ratio, rel=0.3)  # of 300 variances: 16% for one sigma


def test_duplicate_deals_gain_where_agents_are_near():
    result = play_match(RLCardRuleAgent(1), RLCardRuleAgent(2), "play_only", 1000, seed=3)
    print(f"a game of a duplicate deal is worth {result.gain:.2f} games on deals of their own")
    assert result.gain > 1.2


# ---------------------------------------------------------------------------------- few deals


def test_deals_needed():
    values = np.array([0.0, 1.0] * 500) + 0.05  # mean .55, variance .25
    assert deals_needed(values, 0.5) == pytest.approx(0.25 * (2.802 / 0.05) ** 2, rel=1e-6)
    assert deals_needed(np.array([0.0, 1.0]), 0.5) == math.inf


def test_so_many_deals_do_tell():
    """Four times in five, as said."""
    world = World({"a": (0.15, 0.15), "b": (0.0, 0.0)}, luck=0.9)
    pair, rng = world.pairs[0], np.random.default_rng(4)
    values = parts(world.play(40_000, rng)[0], world.rules, 0, False)["wp"].sum(axis=1)
    needed = round(deals_needed(values, 0.5))
    told = 0
    for i in range(200):
        games = world.play(needed, np.random.default_rng([5, i]))[0]
        told += summarise_games(games, world.rules).ci[0] > 0.5
    assert world.truth(pair)["wp"] > 0.5
    assert 0.7 <= told / 200 <= 0.9


@pytest.mark.parametrize(
    ("agents", "deals", "few", "undecided"),
    [
        (["greedy", "random"], 99, True, False),
        (["greedy", "random"], 100, False, False),
        (["random", "random:seed=2"], 30, True, True),
        (["random", "random:seed=2"], 150, False, True),
    ],
)
def test_too_few_deals_are_marked(agents, deals, few, undecided, capsys, monkeypatch):
    monkeypatch.setattr(tournament, "Console", lambda: Console(width=100))
    assert tournament.main([*agents, "--deals", str(deals), "--processes", "0"]) == 0
    shown = capsys.readouterr().out
    row = next(line for line in shown.splitlines() if line.split()[:2] == agents)
    assert ("!" in row, "?" in row) == (few, undecided)
    assert ("fewer than 100 deals" in shown) == few
    assert ("too few deals to say who is better" in shown) == undecided
    assert ("deals would tell" in shown) == undecided
    assert "gain" in shown
