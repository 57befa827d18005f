"""Duplicate matches: layouts, mirror images, independent recounts, intervals, bad agents."""

import math

import numpy as np
import pytest

import agents
import eval.match as match
from ddz_env import PRESETS, DdzError, Game, IllegalActionError
from ddz_env.state import Phase
from ddz_env.vector import deal_seeds
from eval.match import interval, layouts, play_deals, play_match, summarise

ROOMS = sorted(PRESETS)
NO_REDEALS = PRESETS["qq_classic"].replace(max_redeals=0)


class Fixed:
    """Always the given id where it is legal, else the first legal one."""

    def __init__(self, wanted):
        self.wanted = wanted

    def act(self, views, legal):
        lists = [legal.ids[i:j] for i, j in zip(legal.offsets, legal.offsets[1:], strict=False)]
        return np.array([self.wanted if self.wanted in ids else ids[0] for ids in lists])


class Nonsense:
    """Answers whatever it was given."""

    def __init__(self, answer):
        self.answer = answer

    def act(self, views, legal):
        return self.answer(len(views))


def load(*names):
    return [agents.load(name) for name in names]


def close(one, other):
    return one == pytest.approx(other, abs=1e-12)


# ------------------------------------------------------------------------------------- layouts


def test_layouts_of_fixed_roles():
    assert layouts(PRESETS["play_only"]).tolist() == [[0, 1, 1], [1, 0, 0]]


def test_six_layouts_with_calling():
    table = layouts(PRESETS["qq_classic"])
    assert table.shape == (6, 3)
    assert {tuple(row) for row in table.tolist()} == {
        *((0, 1, 1), (1, 0, 1), (1, 1, 0)),
        *((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    }


@pytest.mark.parametrize("rules", ROOMS)
def test_layouts_share_their_deals(rules):
    room = PRESETS[rules]
    seeds = deal_seeds(4, 20)
    states = play_deals(*load("random", "greedy"), room, seeds, first_number=100)
    assert states.shape == (20, len(layouts(room)))
    assert np.all(states["phase"] == Phase.OVER)
    assert np.array_equal(
        states["deal"], np.repeat(np.arange(100, 120)[:, None], len(states[0]), 1)
    )
    once = states["redeals"] == 0  # a redeal comes where all passed, which may be in some layouts
    for row, whole in zip(states, once, strict=True):
        assert len({state["first"].tobytes() for state in row[whole]}) <= 1
        assert len({state["deck"].tobytes() for state in row[whole]}) <= 1
    decks = {states[d, 0]["deck"].tobytes() for d in range(20)}
    assert len(decks) == 20


def test_the_deals_of_a_seed_do_not_depend_on_their_number():
    few, many = (play_deals(*load("greedy", "random"), PRESETS["play_only"], deal_seeds(1, n))
                 for n in (5, 40))  # fmt: skip
    assert few.tobytes() == many[:5].tobytes()


# ------------------------------------------------------------------------------ mirror images


@pytest.mark.parametrize("name", ["greedy", "rlcard_rule", "random"])
def test_an_agent_against_itself_is_even(name):
    result = play_match(*load(name, name), "play_only", 60, seed=5)
    assert (result.wp, result.ci, result.score) == (0.5, (0.5, 0.5), 0.0)
    assert close(result.landlord + result.farmers, 1.0)


def test_an_agent_against_itself_is_even_with_calling():
    result = play_match(*load("greedy", "greedy"), "qq_classic", 40, seed=5)
    assert close(result.score, 0) and close(result.adp, 0)
    assert result.score_ci[0] == pytest.approx(0) and result.score_ci[1] == pytest.approx(0)


def test_swapping_the_agents_mirrors_the_result():
    one = play_match(*load("greedy", "random"), "play_only", 80, seed=6)
    other = play_match(*load("random", "greedy"), "play_only", 80, seed=6)
    assert one.deals == other.deals == 80
    assert close(one.wp, 1 - other.wp) and one.wp != 0.5
    assert close(one.landlord, 1 - other.farmers) and close(one.farmers, 1 - other.landlord)
    assert close(one.adp, -other.adp) and close(one.score, -other.score)
    assert one.ci[0] < one.wp < one.ci[1]


def test_swapping_the_agents_mirrors_the_score_with_calling():
    one = play_match(*load("greedy", "random"), "qq_classic", 60, seed=6)
    other = play_match(*load("random", "greedy"), "qq_classic", 60, seed=6)
    assert close(one.score, -other.score) and one.score != 0
    # Each agent sits at nine of the eighteen seats of a deal, and a deal's scores sum to 0.
    assert close(one.adp, -other.adp) and close(one.score, 2 * one.adp)


@pytest.mark.parametrize("rules", ROOMS)
def test_chunks_do_not_matter(rules, monkeypatch):
    whole = play_match(*load("greedy", "random"), rules, 30, seed=2)
    done = []
    monkeypatch.setattr(match, "CHUNK", 7)
    parts = play_match(*load("greedy", "random"), rules, 30, seed=2, progress=done.append)
    assert parts == whole
    assert done == [7, 14, 21, 28, 30]


# ---------------------------------------------------------------------------- a slow recount


@pytest.mark.parametrize("rules", ROOMS)
def test_recount(rules):
    """The same figures from the final records, counted game by game."""
    room = PRESETS[rules]
    table = layouts(room)
    states = play_deals(*load("rlcard_rule", "random"), room, deal_seeds(9, 50))
    result = summarise(states, room)
    won, lost_and_won, points = {0: [], 1: []}, [], {0: [], 1: []}
    for deal in states:
        for seats, state in zip(table, deal, strict=True):
            scores = state["scores"] / 4
            assert scores.sum() == 0
            landlord, winner = state["landlord"], state["winner"]
            for seat in range(3):
                wins = (winner == landlord) == (seat == landlord)
                assert wins == (scores[seat] > 0)
                points[seats[seat]].append(scores[seat])
                if seats[seat] == 0:
                    won[int(seat == landlord)].append(wins)
                    lost_and_won.append(wins)
    assert close(result.landlord, np.mean(won[1])) or rules != "play_only"
    assert close(result.farmers, np.mean(won[0])) or rules != "play_only"
    if rules == "play_only":
        assert close(result.wp, (np.mean(won[0]) + np.mean(won[1])) / 2)
        assert close(result.adp, sum(points[0]) / (50 * len(table)))
    else:
        assert close(result.wp, np.mean(lost_and_won))
        assert close(result.adp, np.mean(points[0]))
        assert close(result.score, np.mean(points[0]) - np.mean(points[1]))


def test_what_was_played_can_be_replayed():
    """Every game of a match is legal step by step for the readable face."""
    room, seeds = PRESETS["qq_classic"], deal_seeds(3, 4)
    states = play_deals(*load("greedy", "random"), room, seeds)
    for deal, seed in zip(states, seeds, strict=True):
        for state in deal[state_without_redeal(deal)]:
            game = Game(room, seed=int(seed))
            for action in state["history_action"][: state["n_history"]]:
                game.step(int(action))
            assert game.over and game.scores == [s / 4 for s in state["scores"]]


def state_without_redeal(deal):
    return deal["redeals"] == 0


def test_only_choices_are_asked():
    class Counting:
        asked = 0

        def __init__(self, inner):
            self.inner = inner

        def act(self, views, legal):
            assert np.all(np.diff(legal.offsets) > 1)
            assert len(views) == len(legal.offsets) - 1
            assert np.all(views["seat"] == views["turn"])
            self.asked += len(views)
            return self.inner.act(views, legal)

    agent = Counting(agents.load("greedy"))
    play_match(agent, agents.load("random"), "play_only", 10)
    assert agent.asked > 100


# ----------------------------------------------------------------------------------- intervals


@pytest.mark.parametrize("kind", ["shares", "points"])
def test_intervals_cover(kind):
    """95% intervals of 200 samples hold the true mean as often as they should."""
    rng = np.random.default_rng(2)
    covered = 0
    for i in range(200):
        if kind == "shares":
            values, mean = rng.choice([0.0, 0.5, 1.0], 150, p=[0.2, 0.3, 0.5]), 0.65
        else:
            values, mean = 2.0 ** rng.integers(0, 3, 150) * rng.choice([-1, 1], 150), 0.0
        low, high = interval(values, seed=i)
        covered += low <= mean <= high
    assert 180 <= covered <= 198


def test_intervals_at_the_edges():
    nan = float("nan")
    assert interval(np.array([0.25] * 9)) == (0.25, 0.25)
    assert interval(np.array([0.5, nan])) == (0.5, 0.5)
    assert all(math.isnan(x) for x in interval(np.array([nan, nan])))
    values = np.random.default_rng(0).random(400)
    assert interval(values) == interval(np.append(values, nan)) == interval(values, seed=0)
    low, high = interval(values)
    wide_low, wide_high = interval(values[:25])
    assert low < values.mean() < high and wide_high - wide_low > 2 * (high - low)


# ---------------------------------------------------------------------------------- void deals


def test_void_deals_are_left_out_and_counted():
    room, passer = NO_REDEALS, Fixed(0)
    states = play_deals(passer, agents.load("greedy"), room, deal_seeds(0, 60))
    void = (states["landlord"] < 0).any(axis=1)
    assert 0 < void.sum() < 60
    result = play_match(passer, agents.load("greedy"), room, 60, seed=0)
    assert (result.deals, result.void) == (60 - void.sum(), void.sum())
    counted = summarise(states[~void], room)
    assert counted.to_json() | {"void": result.void} == result.to_json()


def test_a_match_of_void_deals_only():
    with pytest.raises(DdzError, match="void"):
        play_match(Fixed(0), Fixed(0), NO_REDEALS, 5)


def test_who_is_never_landlord_has_no_share_as_one():
    result = play_match(Fixed(0), Fixed(3), "qq_classic", 10)
    assert math.isnan(result.landlord) and not math.isnan(result.farmers)
    data = result.to_json()
    assert data["landlord"] is None and data["landlord_ci"] == [None, None]
    assert data["deals"] == 10 and isinstance(data["ci"], list)


# ---------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "answer",
    [
        lambda n: np.zeros(n + 1, np.int64),
        lambda n: np.zeros((n, 1), np.int64),
        lambda n: np.full(n, -1),
        lambda n: np.full(n, 63),
        lambda n: np.full(n, 10**9),
        lambda n: np.full(n, 0.5),
        lambda n: np.full(n, np.nan),
        lambda n: ["pass"] * n,
        lambda n: None,
    ],
)
def test_nonsense_is_refused(answer):
    with pytest.raises(IllegalActionError, match="Nonsense"):
        play_match(Nonsense(answer), agents.load("random"), "play_only", 3)


def test_an_illegal_play_is_named():
    with pytest.raises(IllegalActionError, match=r"Nonsense.*action 64,"):
        play_match(agents.load("random"), Nonsense(lambda n: np.full(n, 64)), "play_only", 50)


@pytest.mark.parametrize("deals", [0, -1, 1.0, True, "5", None])
def test_bad_number_of_deals(deals):
    with pytest.raises(DdzError, match="deals"):
        play_match(*load("random", "random"), "play_only", deals)


def test_bad_room_and_seed():
    with pytest.raises(DdzError, match="nowhere"):
        play_match(*load("random", "random"), "nowhere", 1)
    with pytest.raises(DdzError, match="seed"):
        play_match(*load("random", "random"), "play_only", 1, seed=-1)


@pytest.mark.parametrize("spec", ["nobody", "", "greedy:1", "random:x", "dmc:", 3, None])
def test_unknown_agents(spec):
    with pytest.raises(agents.AgentError, match="agent"):
        agents.load(spec)


# ----------------------------------------------------------------------------------- strengths


@pytest.mark.parametrize(
    ("a", "b", "least"), [("greedy", "rlcard_rule", 0.60), ("rlcard_rule", "random", 0.90)]
)
def test_strength(a, b, least):
    result = play_match(*load(a, b), "play_only", 1000, seed=11)
    print(f"{a} against {b}: WP {result.wp:.3f} {result.ci} on {result.deals} duplicate deals")
    assert result.wp >= least
    assert result.ci[1] - result.ci[0] < 0.06
