"""The tournament command, from its arguments to results.json."""

import json
import math

import pytest

import agents
from ddz_env import PRESETS
from eval import tournament
from eval.match import play_match

PAIRING = {"a", "b", "deals", "wp", "ci", "landlord", "farmers", "adp", "adp_ci"}


@pytest.fixture(scope="module", params=sorted(PRESETS))
def played(request, tmp_path_factory):
    """The room and results of a small tournament of three agents."""
    out = tmp_path_factory.mktemp("tournament") / "deep" / "er"
    names = ["greedy", "rlcard_rule", "random"]
    line = [*names, "--rules", request.param, "--deals", "20", "--seed", "3", "--out", str(out)]
    assert tournament.main(line) == 0
    assert sorted(path.name for path in out.iterdir()) == ["results.json"]
    return request.param, out, json.loads((out / "results.json").read_text())


def test_results(played):
    rules, out, data = played
    assert {"rules", "seed", "command", "pairings"} <= set(data)
    assert (data["rules"], data["seed"]) == (rules, 3)
    assert data["command"].startswith("python eval/tournament.py greedy rlcard_rule random")
    assert data["command"].endswith(f"--out {out}")
    pairs = [(row["a"], row["b"]) for row in data["pairings"]]
    assert pairs == [("greedy", "rlcard_rule"), ("greedy", "random"), ("rlcard_rule", "random")]
    for row in data["pairings"]:
        assert set(row) >= PAIRING and row["deals"] == 20
        assert 0 <= row["ci"][0] <= row["wp"] <= row["ci"][1] <= 1
        assert row["adp_ci"][0] <= row["adp"] <= row["adp_ci"][1]
        if rules != "play_only":
            assert row["score_ci"][0] <= row["score"] <= row["score_ci"][1]


def test_results_are_those_of_the_match(played):
    rules, _, data = played
    row = data["pairings"][1]
    result = play_match(agents.load("greedy"), agents.load("random"), rules, 20, seed=3)
    for key in ("wp", "landlord", "farmers", "adp", "score"):
        assert math.isclose(row[key], getattr(result, key), abs_tol=1e-5), key


def test_the_table_shows_each_pairing(capsys):
    assert tournament.main(["greedy", "random", "--deals", "5"]) == 0
    shown = capsys.readouterr()
    assert "greedy" in shown.out and "random" in shown.out and "5" in shown.out
    assert shown.err == ""


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A checkpoint of a room with calling."""
    torch = pytest.importorskip("torch")
    from agents.dmc import NetConfig, header, make_nets

    path = tmp_path_factory.mktemp("checkpoint") / "last.pt"
    net = NetConfig(hidden=8, state=8, head=8)
    data = header(PRESETS["qq_classic"], net) | {"average": make_nets(net).state_dict()}
    torch.save(data, path)
    return path


def test_a_checkpoint_plays(checkpoint, tmp_path):
    line = [f"dmc:{checkpoint}", "random", "--rules", "qq_classic", "--deals", "4"]
    assert tournament.main([*line, "--out", str(tmp_path)]) == 0
    row = json.loads((tmp_path / "results.json").read_text())["pairings"][0]
    assert row["a"] == f"dmc:{checkpoint}"


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (["greedy", "nobody"], "nobody"),
        (["greedy", ""], "agent"),
        (["greedy", "random:3"], "'3'"),
        (["greedy", "random", "--rules", "nowhere"], "nowhere"),
        (["greedy"], "two"),
        ([], "two"),
        (["greedy", "greedy"], "twice"),
        (["greedy", "random", "--deals", "0"], "--deals"),
        (["greedy", "random", "--deals", "-3"], "-3"),
        (["greedy", "random", "--seed", "-1"], "seed"),
        (["greedy", "dmc"], "dmc:PATH"),
        (["greedy", "dmc:no/such/file.pt"], "no/such/file.pt"),
        (["greedy", "dmc:CHECKPOINT"], "qq_classic"),  # of another room than play_only
    ],
)
def test_bad_arguments(line, named, checkpoint, tmp_path, capsys):
    line = [word.replace("CHECKPOINT", str(checkpoint)) for word in line]
    out = tmp_path / "out"
    assert tournament.main([*line, "--out", str(out)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("tournament: ") and shown.err.count("\n") == 1
    assert named in shown.err
    assert not out.exists()


def test_results_are_not_overwritten(tmp_path, capsys):
    path = tmp_path / "results.json"
    path.write_text("kept")
    assert tournament.main(["greedy", "random", "--deals", "2", "--out", str(tmp_path)]) == 2
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1 and str(tmp_path) in shown.err
    assert path.read_text() == "kept"
    assert [p.name for p in tmp_path.iterdir()] == ["results.json"]


@pytest.mark.parametrize("below", ["", "deeper"])
def test_out_that_is_a_file(below, tmp_path, capsys):
    path = tmp_path / "file"
    path.write_text("kept")
    line = ["greedy", "random", "--deals", "2", "--out", str(path / below)]
    assert tournament.main(line) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1 and "is a file" in shown.err
    assert path.read_text() == "kept"


@pytest.mark.parametrize("line", [["greedy", "random", "--deals", "many"], ["--unknown"]])
def test_words_that_the_parser_refuses(line, tmp_path):
    with pytest.raises(SystemExit) as stop:
        tournament.main([*line, "--out", str(tmp_path / "out")])
    assert stop.value.code == 2
    assert not (tmp_path / "out").exists()
