"""The tournament command, from its arguments to results.json."""

import csv
import json
import math

import pytest
from checkpoints import save_fresh

import agents
import ddz_env
from ddz_env import PRESETS
from ddz_env.replay import read_replays
from eval import tournament
from eval.match import play_match
from eval.store import read_folder
from eval.workers import WorkerError

PAIRING = {"a", "b", "deals", "wp", "ci", "landlord", "farmers", "adp", "adp_ci"}
FILES = ["games", "results.csv", "results.json", "tournament.json"]


def run(*words):
    """A tournament in this process; its exit code."""
    return tournament.main([*map(str, words), "--processes", "0"])


def results(folder):
    return json.loads((folder / "results.json").read_text())


def games_of(folder):
    return [games.tobytes() for _, _, games in read_folder(folder)[1]]


@pytest.fixture(scope="module", params=sorted(PRESETS))
def played(request, tmp_path_factory):
    """The room and results of a small tournament of three agents."""
    out = tmp_path_factory.mktemp("tournament") / "deep" / "er"
    names = ["greedy", "rlcard_rule", "random"]
    line = [*names, "--rules", request.param, "--deals", "20", "--seed", "3", "--out", str(out)]
    assert run(*line) == 0
    assert sorted(path.name for path in out.iterdir()) == FILES
    return request.param, out, json.loads((out / "results.json").read_text())


def test_results(played):
    rules, out, data = played
    assert {"rules", "seed", "command", "pairings"} <= set(data)
    assert (data["rules"], data["seed"]) == (rules, 3)
    assert data["command"].startswith("python eval/tournament.py greedy rlcard_rule random")
    assert data["command"].endswith(f"--out {out} --processes 0")
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
    assert run("greedy", "random", "--deals", "5") == 0
    shown = capsys.readouterr()
    assert "greedy" in shown.out and "random" in shown.out and "5" in shown.out
    assert shown.err == ""


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A checkpoint of a room with calling."""
    return save_fresh(tmp_path_factory.mktemp("checkpoint") / "last.pt", "qq_classic")


def test_a_checkpoint_plays(checkpoint, tmp_path):
    line = [f"dmc:{checkpoint}", "random", "--rules", "qq_classic", "--deals", "4"]
    assert run(*line, "--out", tmp_path / "out") == 0
    row = results(tmp_path / "out")["pairings"][0]
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
        (["greedy", "random", "--deals", "1" + 20 * "0"], "--deals"),
        (["greedy", "random", "--processes", "1" + 20 * "0"], "--processes"),
        (["greedy", "random", "--chunk", "1" + 20 * "0"], "--chunk"),
        (["greedy", "random", "--seed", "-1"], "seed"),
        (["greedy", "dmc", "--rules", "jj_classic"], "dmc:PATH"),  # no weights for it ship
        (["greedy", "dmc:no/such/file.pt"], "no/such/file.pt"),
        (["greedy", "dmc:CHECKPOINT"], "qq_classic"),  # of another room than play_only
        (["greedy", "random:sed=3"], "'sed', expected seed"),
        (["greedy", "random:seed=x"], "a whole number, got 'x'"),
        (["greedy", "random:seed=-1"], "-1"),
        (["greedy", "random:seed=1,seed=2"], "twice"),
        (["greedy", "random:seed="], "seed=value"),
        (["greedy", "no_module:Agent"], "no_module can't be imported"),
        (["greedy", "json:Agent"], "expected a class Agent"),
        (["greedy", "json:JSONDecoder"], "expected a class JSONDecoder with act"),
        (["greedy", "faulty_agents:Refuses"], "no such weights"),
        (["greedy", "faulty_agents:Raises:speed=3"], "can't be made"),
        (["greedy", "faulty_agents:Raises:at"], "'at': expected key=value"),
        (["greedy", "random", "--calls", "nobody"], "nobody"),
        (["greedy", "random", "--processes", "-1"], "--processes"),
        (["greedy", "random", "--chunk", "0"], "--chunk"),
        (["greedy", "random", "--move-time", "0"], "--move-time"),
        (["greedy", "random", "--move-time", "nan"], "--move-time"),
        (["greedy", "random", "--warm-up", "-1"], "--warm-up"),
        (["greedy", "random", "--deals-file", "no/such/deals.txt"], "no/such/deals.txt"),
        (["greedy", "random", "--deals-file", "README.md"], "README.md"),
        (["greedy", "random", "--replays", "."], "is a folder"),
        (["greedy", "random", "--replays", "CHECKPOINT/games.jsonl"], "--replays"),
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


@pytest.mark.parametrize("option", ["--out", "--replays"])
def test_a_place_that_can_not_be_written_to(option, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: path != tmp_path)
    assert run("greedy", "random", "--deals", "2", option, tmp_path / "a" / "b") == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert option in shown.err and "can't be written" in shown.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("step", ["save_json", "write_csv", "write_replays", "Store.save"])
def test_what_the_system_refuses_on_the_way_is_one_line(step, tmp_path, capsys, monkeypatch):
    """A full disk: the same command goes on once there is room."""

    def full(*_):
        raise OSError(28, "No space left on device", "some/file")

    line = ["greedy", "random", "--deals", "2", "--out", tmp_path / "out"]
    line += ["--replays", tmp_path / "games.jsonl"]
    with monkeypatch.context() as patch:
        patch.setattr(f"eval.tournament.{step}", full)
        assert run(*line) == 2
    shown = capsys.readouterr().err
    assert shown == "tournament: some/file: No space left on device\n"
    assert run(*line) == 0


@pytest.mark.parametrize("line", [["greedy", "random", "--deals", "many"], ["--unknown"]])
def test_words_that_the_parser_refuses(line, tmp_path):
    with pytest.raises(SystemExit) as stop:
        tournament.main([*line, "--out", str(tmp_path / "out")])
    assert stop.value.code == 2
    assert not (tmp_path / "out").exists()


# ------------------------------------------------------------------------------------ the files


def test_every_row_can_be_played_again(played):
    """The CSV has all figures of the JSON, and what it takes to play a row again."""
    rules, out, data = played
    with (out / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["a"], row["b"]) for row in rows] == [(r["a"], r["b"]) for r in data["pairings"]]
    for row, pairing in zip(rows, data["pairings"], strict=True):
        for key in ("wp", "landlord", "farmers", "adp", "adp_landlord", "adp_farmers", "score"):
            assert row[key] == ("" if pairing[key] is None else str(pairing[key]))
            ends = pairing["ci" if key == "wp" else f"{key}_ci"]
            name = "ci" if key == "wp" else f"{key}_ci"
            shown = [row[f"{name}_low"], row[f"{name}_high"]]
            assert shown == ["" if x is None else str(x) for x in ends]
        assert (row["rules"], row["seed"]) == (rules, "3")
        assert row["deals_hash"] == data["deals_hash"] and len(row["deals_hash"]) == 64
        assert row["command"] == data["command"]
        assert f"ddz_env={ddz_env.__version__}" in row["versions"]
        assert row["a_faults_late"] == "0" and float(row["b_rates_bombs"]) >= 0


def test_figures_in_all(played):
    """Over all opponents, by role; differences paired by deal; rates; times."""
    rules, _, data = played
    rows = {row["agent"]: row for row in data["standings"]}
    assert set(rows) == {"greedy", "rlcard_rule", "random"}
    pairings = data["pairings"]
    mean = (pairings[0]["wp"] + pairings[1]["wp"]) / 2
    assert rows["greedy"]["wp"] == pytest.approx(mean, abs=2e-5)
    for row in rows.values():
        assert row["ci"][0] <= row["wp"] <= row["ci"][1]
        assert 0 < row["seconds"]["median"] <= row["seconds"]["p95"] < 1
        assert row["decisions"] > 300 and 0 <= row["rates"]["bombs"] < 1
        assert not any(row["faults"].values())
    (first, second, third) = data["differences"]
    assert (first["a"], first["b"], first["common"]) == ("greedy", "rlcard_rule", ["random"])
    wanted = pairings[1]["wp"] - pairings[2]["wp"]
    assert first["wp"] == pytest.approx(wanted, abs=2e-5)
    assert second["common"] == ["rlcard_rule"] and third["common"] == ["greedy"]
    room = PRESETS[rules]
    has = {
        "call": room.auction != "none",
        "rob": room.rob,
        "double": room.double,
        "raise": room.raising,
        "blind": room.auction == "blind",
    }
    for name, there in has.items():
        assert (name in rows["greedy"]["rates"]) == there


def test_ratings_of_a_tournament(played):
    data = played[2]
    rows = data["ratings"]["agents"]
    assert [row["agent"] for row in rows][-1] == "random"
    assert sum(row["rating"] for row in rows) == pytest.approx(0, abs=1e-3)
    assert all(row["ci"][0] <= row["ci"][1] for row in rows)


def test_a_gauntlet(tmp_path):
    names = ["greedy", "random", "trustee"]
    line = [*names, "--schedule", "gauntlet", "--deals", "5", "--out", tmp_path / "out"]
    assert run(*line) == 0
    data = results(tmp_path / "out")
    assert [(row["a"], row["b"]) for row in data["pairings"]] == [
        ("greedy", "random"),
        ("greedy", "trustee"),
    ]
    assert [row["common"] for row in data["differences"]] == [["greedy"]]


def test_chunks_and_processes_do_not_matter(tmp_path):
    names = ["greedy", "random", "rlcard_rule"]
    common = [*names, "--deals", "23", "--rules", "qq_classic"]
    assert run(*common, "--out", tmp_path / "one", "--chunk", "23") == 0
    line = [*common, "--out", tmp_path / "two", "--chunk", "4", "--processes", "2"]
    assert tournament.main(list(map(str, line))) == 0
    one, two = results(tmp_path / "one"), results(tmp_path / "two")
    assert one["pairings"] == two["pairings"] and one["ratings"] == two["ratings"]
    assert one["differences"] == two["differences"]


def test_class_of_the_working_folder(tmp_path, monkeypatch):
    code = "class Last:\n    def act(self, views, legal):\n"
    code += "        return legal.ids[legal.offsets[1:] - 1].astype('int64')\n"
    (tmp_path / "my_own_agent.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    assert run("my_own_agent:Last", "random", "--deals", "20", "--out", "out") == 0
    data = results(tmp_path / "out")
    assert set(data["files"]["my_own_agent:Last"]) == {"my_own_agent.py"}
    assert not any(row["a_faults"][k] for row in data["pairings"] for k in row["a_faults"])


# ---------------------------------------------------------------------------------- resumption


def test_the_same_command_again_plays_nothing(tmp_path, capsys, monkeypatch):
    out, games = tmp_path / "out", tmp_path / "games.jsonl"
    line = ["greedy", "random", "--deals", "6", "--chunk", "2", "--out", out, "--replays", games]
    assert run(*line) == 0
    first, lines = results(out), games.read_text()
    shown = capsys.readouterr().out
    monkeypatch.setattr("eval.workers.play_chunk", lambda *_, **__: 1 / 0)
    assert run(*line) == 0
    assert results(out) == first and games.read_text() == lines
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize("kept", [True, False])
def test_workers_that_end_again_and_again(kept, tmp_path, capsys, monkeypatch):
    """One line that says how to go on, and doesn't promise what isn't kept."""

    def killed(chunks, processes, done):
        raise WorkerError("worker: ended twice")

    line = ["greedy", "random", "--deals", "2", *(["--out", tmp_path / "out"] if kept else [])]
    with monkeypatch.context() as patch:
        patch.setattr("eval.tournament.play_chunks", killed)
        assert run(*line) == 2
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1 and "ended twice" in shown.err
    assert ("same command goes on" in shown.err) == kept and ("with --out" in shown.err) != kept
    assert run(*line) == 0


def test_what_is_there_is_not_played_again(tmp_path):
    """A chunk that is missing is played, the others stay; replays are complete and in order."""
    out = tmp_path / "out"
    line = ["greedy", "random", "--deals", "6", "--chunk", "2", "--replays", tmp_path / "a.jsonl"]
    assert run(*line, "--out", out) == 0
    whole = games_of(out)
    (out / "games" / "000" / "00001.npz").unlink()
    (out / "results.json").unlink()
    times = {p: p.stat().st_mtime_ns for p in out.glob("games/*/*.npz")}
    (tmp_path / "a.jsonl").rename(tmp_path / "b.jsonl")
    assert run(*line, "--out", out) == 0
    assert games_of(out) == whole
    assert {p: p.stat().st_mtime_ns for p in times} == times
    assert (tmp_path / "a.jsonl").read_text() == (tmp_path / "b.jsonl").read_text()
    numbers = [int(game.state["deal"]) for game, _ in read_replays(tmp_path / "a.jsonl")]
    assert numbers == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (["greedy", "trustee"], "agents"),
        (["random", "greedy"], "agents"),
        (["greedy", "random", "--deals", "7"], "deals is 6 there, 7 here"),
        (["greedy", "random", "--seed", "1"], "seed is 0 there, 1 here"),
        (["greedy", "random", "--rules", "jj_classic"], "rules"),
        (["greedy", "random", "--set", "spring=false"], "rules"),
        (["greedy", "random", "--chunk", "3"], "chunk"),
        (["greedy", "random", "--move-time", "3"], "move_time"),
        (["greedy", "random", "--schedule", "gauntlet"], "schedule"),
    ],
)
def test_the_folder_of_another_tournament(change, named, tmp_path_factory, capsys):
    out = tmp_path_factory.getbasetemp() / "kept"
    if not out.exists():
        assert run("greedy", "random", "--deals", "6", "--out", out) == 0
    before = {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}
    capsys.readouterr()
    words = change if "--deals" in change else [*change, "--deals", "6"]
    assert run(*words, "--out", out) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert "holds another tournament" in shown.err and named in shown.err
    assert {p: p.read_bytes() for p in out.rglob("*") if p.is_file()} == before


def test_a_checkpoint_that_changed_since(checkpoint, tmp_path, capsys):
    own = tmp_path / "own.pt"
    own.write_bytes(checkpoint.read_bytes())
    line = [f"dmc:{own}", "random", "--rules", "qq_classic", "--deals", "2"]
    assert run(*line, "--out", tmp_path / "out") == 0
    import torch

    data = torch.load(own, weights_only=True)
    torch.save({**data, "elapsed": 1.0}, own)
    assert run(*line, "--out", tmp_path / "out") == 2
    assert "another tournament: files" in capsys.readouterr().err


@pytest.mark.parametrize("damage", [b"", b"PK no zip", b"\x00" * 100])
def test_a_damaged_chunk_is_named(damage, tmp_path, capsys):
    out = tmp_path / "out"
    line = ["greedy", "random", "--deals", "2", "--out", out]
    assert run(*line) == 0
    (out / "games" / "000" / "00000.npz").write_bytes(damage)
    capsys.readouterr()
    assert run(*line) == 2
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1 and "00000.npz" in shown.err and "delete" in shown.err
    (out / "games" / "000" / "00000.npz").unlink()
    assert run(*line) == 0


def test_a_damaged_manifest(tmp_path, capsys):
    (tmp_path / "tournament.json").write_text("{")
    assert run("greedy", "random", "--deals", "2", "--out", tmp_path) == 2
    assert "not JSON" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["tournament.json"]
