"""Ratings for one against two: known strengths, conservation, order, what results can't tell."""

import json
import math
from itertools import permutations

import numpy as np
import pytest
from scipy.special import logit
from simulated import THREE, World

from ddz_env import DdzError
from eval import ratings, tournament
from eval.games import GAME
from eval.ratings import ELO, Games, rate

FOUR = {**THREE, "lord": (0.9, -0.6)}


def played(world, deals, seed=0, name="deals"):
    games = world.play(deals, np.random.default_rng(seed))
    return [Games(a, b, g, name) for (a, b), g in zip(world.pairs, games, strict=True)]


def strengths(result):
    return {r.agent: (r.landlord, r.farmers) for r in result.agents}


@pytest.mark.parametrize("room", ["play_only", "qq_classic"])
def test_known_strengths_are_found(room):
    world = World(FOUR, room=room)
    result = rate(played(world, 20_000), resamples=50)
    both = np.array(list(FOUR.values()))
    for name, found in strengths(result).items():
        assert np.allclose(found, world.rating(name) * ELO, atol=12), name
    bias = (world.bias + both[:, 0].mean() - both[:, 1].mean()) * ELO
    assert result.bias == pytest.approx(bias, abs=12)
    assert result.bias_ci[0] < result.bias < result.bias_ci[1]


def test_roles_are_told_apart():
    """A good landlord who is a poor farmer, between the others over both roles."""
    result = rate(played(World(FOUR), 5000), resamples=50)
    names = [r.agent for r in result.agents]
    assert names[0] == "good" and names[-1] == "poor"
    lord = next(r for r in result.agents if r.agent == "lord")
    assert lord.landlord_ci[0] > 60 and lord.farmers_ci[1] < -50


def test_fitted_chances_are_those_of_the_games():
    world = World(THREE)
    result = rate(played(world, 20_000), resamples=5)
    names = [r.agent for r in result.agents]
    for i, lord in enumerate(names):
        for j, farmer in enumerate(names):
            true = 1 / (1 + math.exp(-world.logit(lord, [farmer, farmer])))
            assert result.chances["landlord"][i][j] == pytest.approx(true, abs=0.02)


def test_ratings_are_conserved():
    """Whatever is added, the sums stay 0: results move strength and never make any."""
    results = played(World(FOUR), 300)
    for part in (results[:3], results[:5], results, results + results):
        found = rate(part, resamples=2)
        assert sum(r.rating for r in found.agents) == pytest.approx(0, abs=1e-6)
        if len(part) > 3:
            assert np.allclose(np.sum(list(strengths(found).values()), axis=0), 0, atol=1e-6)
    more = rate([*results, *played(World({"good": (5, 5), "new": (-5, -5)}), 300, 1, "b")], 2)
    assert sum(r.rating for r in more.agents) == pytest.approx(0, abs=1e-6)


def test_the_same_results_again_change_nothing_but_their_number():
    results = played(World(THREE), 2000)
    once, twice = rate(results, 20), rate([*results, *results], 20)
    for one, two in zip(once.agents, twice.agents, strict=True):
        assert two.games == 2 * one.games
        assert two.rating == pytest.approx(one.rating, abs=0.2)
        assert two.ci == pytest.approx(one.ci, abs=0.5)  # the same deals again tell nothing new


def test_the_order_of_results_is_all_one():
    results = played(World(THREE), 200) + played(World(THREE), 100, 1, "more")
    first = rate(results, resamples=20)
    for order in list(permutations(results))[::97]:
        assert rate(order, resamples=20) == first


def test_who_is_named_first_is_all_one():
    swapped = []
    for r in played(World(THREE), 200):
        games = r.games.copy()
        games["by"] = 1 - games["by"]
        swapped.append(Games(r.b, r.a, games, r.deals))
    assert rate(swapped, 20) == rate(played(World(THREE), 200), 20)


def test_two_agents_in_closed_form():
    results = played(World({"a": (0.5, 0.2), "b": (0.0, 0.0)}), 4000)
    games = results[0].games
    won = (games["winner"] == games["landlord"]).mean(axis=0)  # A as landlord, then B
    result = rate(results, resamples=50)
    first, second = result.agents
    assert first.rating == pytest.approx((logit(won[0]) - logit(won[1])) / 4 * ELO, abs=0.1)
    assert first.rating == pytest.approx(-second.rating)
    assert result.bias == pytest.approx((logit(won[0]) + logit(won[1])) / 2 * ELO, abs=0.1)
    # Whether A is the better landlord or B the worse farmer can't be told.
    assert math.isnan(first.landlord) and math.isnan(first.farmers)
    assert result.to_json()["agents"][0]["landlord"] is None
    chances = result.chances["landlord"]
    assert chances[0][1] == pytest.approx(won[0], abs=1e-3) and math.isnan(chances[0][0])


def test_a_gauntlet_tells_ratings_and_not_roles():
    world = World(FOUR)
    gauntlet = [r for r in played(world, 4000) if "good" in (r.a, r.b)]
    all_told = {r.agent: r for r in rate(played(world, 4000), 50).agents}
    for r in rate(gauntlet, 50).agents:
        assert math.isnan(r.landlord)
        assert r.rating == pytest.approx(all_told[r.agent].rating, abs=25)


def test_agents_that_never_met():
    apart = played(World({"a": (0, 0), "b": (0, 0)}), 50)
    apart += played(World({"c": (0, 0), "d": (0, 0)}), 50)
    with pytest.raises(DdzError, match="a and c never met"):
        rate(apart)


def test_who_wins_everything_has_a_bound():
    results = played(World({"a": (0.0, 0.0), "b": (0.1, 0.0), "c": (30, 30)}), 300)
    found = {r.agent: r for r in rate(results, 20).agents}
    assert not found["c"].bounded and found["c"].rating > 400
    assert all(math.isfinite(x) for r in found.values() for x in (r.rating, *r.ci))


def test_void_deals_do_not_count():
    games = played(World(THREE), 400)
    broken = []
    for r in games:
        cut = r.games.copy()
        cut["landlord"][::2] = cut["winner"][::2] = -1
        broken.append(Games(r.a, r.b, cut, r.deals))
    halves = [Games(r.a, r.b, r.games[1::2], "half") for r in games]
    one, two = rate(broken, 2), rate(halves, 2)
    assert [r.rating for r in one.agents] == pytest.approx([r.rating for r in two.agents])
    assert one.agents[0].games == two.agents[0].games == 800


def test_nothing_to_rate():
    with pytest.raises(DdzError, match="no games"):
        rate([])
    void = np.zeros((3, 2), GAME)
    void["landlord"] = void["winner"] = -1
    with pytest.raises(DdzError, match="no games"):
        rate([Games("a", "b", void, "x")])


# -------------------------------------------------------------------------------- the command


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Tournaments: one and another of play_only, one of another room."""
    root = tmp_path_factory.mktemp("ratings")
    plans = {
        "one": ["greedy", "random", "trustee"],
        "other": ["rlcard_rule", "greedy", "--seed", "5"],
        "room": ["greedy", "random", "--rules", "jj_classic"],
    }
    for name, words in plans.items():
        out = root / name
        line = [*words, "--deals", "60", "--processes", "0", "--out", str(out)]
        assert tournament.main(line) == 0
    return root


def test_the_command_rates_tournaments_together(folders, tmp_path, capsys):
    path = tmp_path / "ratings.json"
    line = [str(folders / "one"), str(folders / "other"), "--json", str(path)]
    assert ratings.main(line) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    data = json.loads(path.read_text())
    names = [row["agent"] for row in data["agents"]]
    assert sorted(names) == ["greedy", "random", "rlcard_rule", "trustee"]
    assert names[-1] == "random" and all(name in shown.out for name in names)
    assert data["rules"] == "play_only" and data["command"].startswith("python eval/ratings.py")
    again = tmp_path / "again.json"
    assert ratings.main([line[1], line[0], "--json", str(again)]) == 0
    other = json.loads(again.read_text())
    assert {**data, "command": ""} == {**other, "command": ""}


def test_a_tournaments_own_ratings_are_the_same(folders, tmp_path):
    path = tmp_path / "ratings.json"
    assert ratings.main([str(folders / "one"), "--json", str(path)]) == 0
    data = json.loads((folders / "one" / "results.json").read_text())
    assert data["ratings"]["agents"] == json.loads(path.read_text())["agents"]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ([], "one folder"),
        (["nowhere"], "nowhere"),
        (["ONE", "ROOM"], "different rooms"),
        (["ONE", "--resamples", "1"], "--resamples"),
        (["ONE", "--json", "ONE/results.json/x.json"], "is a file"),
    ],
)
def test_bad_arguments(words, named, folders, capsys):
    places = {"ONE": str(folders / "one"), "ROOM": str(folders / "room")}
    for key, place in places.items():
        words = [word.replace(key, place) for word in words]
    assert ratings.main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert shown.err.startswith("ratings: ") and named in shown.err


def test_an_unfinished_tournament(folders, tmp_path, capsys):
    folder = tmp_path / "cut"
    folder.mkdir()
    text = (folders / "one" / "tournament.json").read_text()
    (folder / "tournament.json").write_text(text)
    assert ratings.main([str(folder)]) == 2
    assert "not finished" in capsys.readouterr().err


def test_another_agent_under_the_same_name(folders, tmp_path, capsys):
    """A checkpoint that went on being trained is not the same agent."""
    for name in ("one", "two"):
        folder = tmp_path / name
        source = folders / "one"
        for path in sorted(source.rglob("*")):
            place = folder / path.relative_to(source)
            if path.is_file():
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(path.read_bytes())
        data = json.loads((folder / "tournament.json").read_text())
        data["files"] = {"greedy": {"last.pt": name}}
        (folder / "tournament.json").write_text(json.dumps(data))
    assert ratings.main([str(tmp_path / "one"), str(tmp_path / "two")]) == 2
    assert "greedy is of other files" in capsys.readouterr().err
