"""The training command: whole tiny runs, what stops them, and arguments that can't be used."""

import dataclasses
import errno
import json
import os
import signal
import sys

import pytest
import torch
from checkpoints import TINY_NET, save_fresh
from tables import positions
from training_runs import LONG, ROOT, TINY, alive, end_all, finish, start, wait_for, workers_of

import agents
from agents.dmc import read_checkpoint
from ddz_env import PRESETS
from train import run, selfplay
from train.common import OPPONENTS

RESULT = {"wp", "ci", "landlord", "farmers", "adp", "deals"}
DETERMINISTIC = ["--deterministic", "--updates", 4, "--dmc.workers", 1]
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds workers in /proc")


def tensors(data, prefix=""):
    """All tensors of a nested checkpoint, by path."""
    found = {}
    pairs = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in pairs:
        if isinstance(value, torch.Tensor):
            found[f"{prefix}{key}"] = value
        elif isinstance(value, (dict, list, tuple)):
            found |= tensors(value, f"{prefix}{key}.")
    return found


def same_bits(one, other):
    mine, its = tensors(one), tensors(other)
    assert mine.keys() == its.keys() and len(mine) > 60
    return all(torch.equal(mine[key], its[key]) for key in mine)


def plays(path, rules):
    """Whether a checkpoint is an agent that plays."""
    agent = agents.load(f"dmc:{path}", PRESETS[rules])
    views, legal = positions(rules, num_envs=30)
    return len(agent.act(views, legal)) == 30


def check_summary(out, rules, updates):
    summary = json.loads((out / "summary.json").read_text())
    whole = [] if rules == "play_only" else ["greedy, whole deals"]
    assert list(summary["evaluation"]) == [*OPPONENTS, *whole]
    for result in summary["evaluation"].values():
        assert set(result) >= RESULT
        assert (
            result["deals"] == 16 and 0 <= result["ci"][0] <= result["wp"] <= result["ci"][1] <= 1
        )
    assert summary["rules"] == rules and summary["updates"] == updates
    assert summary["decisions"] > 0 and summary["games"] > 0
    assert [p.name for p in out.iterdir() if p.name.startswith(".")] == []
    return summary


@pytest.fixture(autouse=True)
def no_run_is_left_behind():
    yield
    end_all()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder and output of a run to its end, as a process of its own."""
    out = tmp_path_factory.mktemp("runs") / "a"
    code, text = finish(start("--out", out, *DETERMINISTIC, *TINY))
    assert code == 0, text
    return out, text


def test_a_run_to_its_end(finished):
    out, text = finished
    check_summary(out, "play_only", 4)
    names = {path.name for path in out.iterdir()}
    assert {"last.pt", "best.pt", "config.json", "summary.json", "tensorboard"} <= names
    assert list((out / "tensorboard").iterdir())
    config = json.loads((out / "config.json").read_text())
    assert config["dmc"]["games"] == 32 and config["settings"]["updates"] == 4
    assert plays(out / "last.pt", "play_only") and plays(out / "best.pt", "play_only")
    for word in ("random", "rlcard_rule", "greedy", "eval/tournament.py", "summary.json"):
        assert word in text, word
    assert "Traceback" not in text and "Warning" not in text


def test_equal_seeds_give_equal_bits(finished, inline, tmp_path):
    """Here as in another process; another seed gives other bits."""
    out, _ = finished
    assert inline("--out", tmp_path / "same", *DETERMINISTIC, *TINY) == 0
    assert inline("--out", tmp_path / "other", "--seed", 2, *DETERMINISTIC, *TINY) == 0
    for file in ("last.pt", "best.pt"):
        first = read_checkpoint(out / file)
        assert same_bits(first, read_checkpoint(tmp_path / "same" / file))
        assert not same_bits(first, read_checkpoint(tmp_path / "other" / file))
    one, same, other = (json.loads((d / "summary.json").read_text())
                        for d in (out, tmp_path / "same", tmp_path / "other"))  # fmt: skip
    assert one["evaluation"] == same["evaluation"]
    assert one["decisions"] != other["decisions"]
    assert one["decisions"] == same["decisions"] and one["games"] == same["games"]


def test_guests_and_samples_drawn_often(inline, tmp_path):
    """Drawn often, samples of fewer games are enough; config.json keeps what was asked for."""
    line = [*DETERMINISTIC, *TINY, "--dmc.block", 32, "--dmc.guests", "planner"]
    decisions = []
    for reuse in (1, 8):
        out = tmp_path / str(reuse)
        assert inline("--out", out, *line, "--dmc.reuse", reuse) == 0
        decisions.append(check_summary(out, "play_only", 4)["decisions"])
    assert decisions[1] < decisions[0]
    config = json.loads((out / "config.json").read_text())
    assert config["dmc"]["guests"] == "planner" and config["dmc"]["reuse"] == 8


def test_a_room_with_calling(inline, tmp_path):
    out = tmp_path / "calling"
    line = ["--rules", "qq_classic", "--updates", 3, "--dmc.workers", 1, "--out", out, *TINY]
    assert inline(*line, "--keep", 1e-4, 900) == 0
    kept = read_checkpoint(out / "minute-0.0001.pt")  # the player alone, of that moment
    assert "learner" not in kept and plays(out / "minute-0.0001.pt", "qq_classic")
    assert 0 < kept["elapsed"] <= read_checkpoint(out / "last.pt")["elapsed"]
    assert len(list(out.glob("minute-*"))) == 1
    summary = check_summary(out, "qq_classic", 3)
    assert all("score" in result for result in summary["evaluation"].values())
    assert plays(out / "last.pt", "qq_classic")
    with pytest.raises(agents.AgentError, match=r"qq_classic.*play_only"):
        agents.load(f"dmc:{out / 'last.pt'}", PRESETS["play_only"])


@linux
def test_stopped_killed_and_resumed(tmp_path):
    """Ctrl-C saves; a killed run leaves no workers behind; what follows goes on to the end."""
    out = tmp_path / "run"
    last = out / "last.pt"
    process = start("--out", out, *LONG, *TINY)
    wait_for(last.exists, process)
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to the workers too
    code, text = finish(process)
    assert code == 0, text
    assert "--resume" in text and "Traceback" not in text
    stopped = read_checkpoint(last)
    assert plays(last, "play_only") and stopped["learner"]["updates"] > 0

    process = start("--out", out, "--resume", *LONG, *TINY)
    wait_for(lambda: read_checkpoint(last)["part"] > stopped["part"], process)
    workers = workers_of(process)
    assert len(workers) == 1 and all(map(alive, workers))
    process.kill()
    assert finish(process)[0] == -signal.SIGKILL
    wait_for(lambda: not any(map(alive, workers)))
    killed = read_checkpoint(last)
    updates = killed["learner"]["updates"]
    assert plays(last, "play_only") and updates > stopped["learner"]["updates"]
    assert (
        killed["counts"]["decisions"] > stopped["counts"]["decisions"]
        and killed["elapsed"] > stopped["elapsed"]
    )

    code, text = finish(start("--out", out, "--resume", "--updates", updates + 2, *TINY))
    assert code == 0, text
    summary = check_summary(out, "play_only", updates + 2)
    assert summary["decisions"] > killed["counts"]["decisions"]
    assert len(summary["curve"]) > len(killed["history"]) >= 2
    steps = [point["updates"] for point in summary["curve"]]
    assert steps == sorted(steps) and steps[-1] == updates + 2


@linux
def test_a_worker_that_dies_ends_the_run(tmp_path):
    process = start("--out", tmp_path / "run", *LONG, *TINY)
    wait_for((tmp_path / "run" / "last.pt").exists, process)
    workers = workers_of(process)
    assert len(workers) == 1
    os.kill(workers[0], signal.SIGKILL)
    code, text = finish(process)
    assert code not in (0, None) and "SIGKILL" in text
    wait_for(lambda: not any(map(alive, workers)))
    assert plays(tmp_path / "run" / "last.pt", "play_only")


@linux
def test_a_killed_deterministic_run_goes_on_as_if_unbroken(finished_pair, tmp_path):
    """To the bit, with two processes: the averaged player, the optimiser, the counts."""
    line, whole = finished_pair
    out = tmp_path / "killed"
    last = out / "last.pt"
    process = start("--out", out, *line)
    wait_for(lambda: last.exists() and read_checkpoint(last)["learner"]["updates"] >= 4, process)
    process.kill()
    finish(process)
    assert 4 <= read_checkpoint(last)["learner"]["updates"] < 40
    code, text = finish(start("--out", out, "--resume", *line))
    assert code == 0, text
    one, other = read_checkpoint(whole / "last.pt"), read_checkpoint(last)
    assert same_bits(one, other) and one["counts"] == other["counts"]
    results = [json.loads((d / "summary.json").read_text())["evaluation"] for d in (whole, out)]
    assert results[0] == results[1]


@pytest.fixture(scope="module")
def finished_pair(tmp_path_factory):
    """(the command line, the folder) of an unbroken deterministic run of two processes."""
    out = tmp_path_factory.mktemp("unbroken") / "run"
    line = ["--deterministic", "--updates", 40, *TINY, "--dmc.restart-every", 4]
    line += ["--dmc.block", 64]
    code, text = finish(start("--out", out, *line))
    assert code == 0, text
    return line, out


def test_several_rooms_and_weights_to_begin_with(inline, tmp_path):
    """One network for two rooms; another run begins with its weights."""
    line = ["--updates", 2, "--dmc.workers", 1, *TINY]
    assert inline("--rules", "play_only,happy_laizi", "--out", tmp_path / "a", *line) == 0
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    assert {"play_only greedy", "happy_laizi greedy", "happy_laizi greedy, whole deals"} <= set(
        summary["evaluation"]
    )
    last = tmp_path / "a" / "last.pt"
    assert plays(last, "play_only") and plays(last, "happy_laizi")
    more = ["--init-from", last, "--rules", "happy_laizi", "--dmc.objective", "mixed"]
    assert inline("--out", tmp_path / "b", *line, *more, "--dmc.lr", 1e-9) == 0
    first, then = (read_checkpoint(tmp_path / name / "last.pt")["average"] for name in "ab")
    assert all(torch.allclose(first[k], then[k], atol=1e-6) for k in first)
    assert read_checkpoint(tmp_path / "b" / "last.pt")["objective"] == "adp"


def test_a_full_disk_does_not_end_a_run(inline, tmp_path, monkeypatch, capsys):
    """Checkpoints on the way: said and passed over. The last one: one line, exit code 2."""
    calls = []

    def fail(path, data):
        calls.append(path.name)
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(run, "save_checkpoint", fail)
    line = ["--updates", 6, "--eval-minutes", 0.001, "--dmc.workers", 1, *TINY]
    assert inline("--out", tmp_path / "run", *line) == 2
    shown = capsys.readouterr()
    assert len(calls) > 2 and "training on" in shown.out
    assert shown.err.count("\n") == 1 and "No space left" in shown.err
    assert not list((tmp_path / "run").glob("*.pt"))


@pytest.mark.slow
def test_200_updates_are_equal_to_the_bit(tmp_path):
    """With the default sizes of the networks and batches, and two workers."""
    line = ["--deterministic", "--updates", 200, "--eval-deals", 50, "--final-deals", 50]
    for name in ("a", "b"):
        process = start("--out", tmp_path / name, *line)
        text, _ = process.communicate()
        assert process.returncode == 0, text
    assert same_bits(*(read_checkpoint(tmp_path / name / "last.pt") for name in "ab"))


# ---------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (["--rules", "nowhere"], "nowhere"),
        (["--minutes", "0"], "--minutes"),
        (["--minutes", "nan"], "--minutes"),
        (["--eval-minutes", "-1"], "--eval-minutes"),
        (["--keep", "1", "0"], "--keep"),
        (["--updates", "0"], "--updates"),
        (["--eval-deals", "0"], "--eval-deals"),
        (["--final-deals", "0"], "--final-deals"),
        (["--seed", "-1"], "seed"),
        (["--dmc.workers", "0"], "--dmc.workers"),
        (["--dmc.games", "0"], "--dmc.games"),
        (["--dmc.batch", "-5"], "--dmc.batch"),
        (["--dmc.window", "0"], "--dmc.window"),
        (["--deterministic"], "--updates"),
        (["--resume"], "last.pt"),
        (["--rules", "play_only,play_only"], "play_only is given twice"),
        (["--rules", "play_only,"], "unknown room ''"),
        (["--dmc.objective", "gold"], "wp, adp or mixed"),
        (["--dmc.block", "0"], "--dmc.block"),
        (["--dmc.score-weight", "-1"], "--dmc.score-weight"),
        (["--dmc.reuse", "0"], "--dmc.reuse"),
        (["--dmc.guests", "nobody"], "--dmc.guests"),
        (["--dmc.guests", "planner", "--dmc.guest-games", "2"], "--dmc.guest-games"),
        (["--init-from", "nothing.pt"], "nothing.pt: no such file"),
        (["--init-from", "nothing.pt", "--resume"], "--init-from"),
    ],
)
def test_bad_arguments(line, named, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert selfplay.main([*line, "--out", "run"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("selfplay: ") and shown.err.count("\n") == 1
    assert named in shown.err
    assert not any(tmp_path.iterdir())


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_no_cuda_device(tmp_path, capsys):
    assert selfplay.main(["--device", "cuda", "--out", str(tmp_path / "run")]) == 2
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1 and "--device cuda" in shown.err
    assert not any(tmp_path.iterdir())


def test_weights_of_another_schema_to_begin_with(tmp_path, capsys):
    path = save_fresh(tmp_path / "old.pt", schema="ddz-obs-v0")
    assert selfplay.main(["--init-from", str(path), "--out", str(tmp_path / "run")]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1 and "ddz-obs-v0" in line and "ddz-obs-v1" in line
    assert [p.name for p in tmp_path.iterdir()] == ["old.pt"]


@pytest.mark.parametrize(
    "net", [{"hidden": 1024}, {"state": 999}, {"head": 999}, {"joint": True}, {"history": False}]
)
def test_networks_that_can_not_be_begun_with(net, tmp_path, capsys):
    """Larger ones, and such that read something else: nothing is written."""
    path = save_fresh(tmp_path / "other.pt", net=dataclasses.replace(TINY_NET, **net))
    assert selfplay.main(["--init-from", str(path), "--out", str(tmp_path / "run")]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert shown.err.startswith("selfplay: --init-from: networks of sizes")
    assert [p.name for p in tmp_path.iterdir()] == ["other.pt"]


def test_resume_needs_a_folder(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert selfplay.main(["--resume"]) == 2
    assert "--out" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


@pytest.fixture
def former(tmp_path):
    """A folder with the checkpoint of a former run."""
    save_fresh(tmp_path / "last.pt")
    return tmp_path


@pytest.mark.parametrize(
    ("line", "named"),
    [([], "--resume"), (["--resume", "--rules", "qq_classic"], "play_only, not qq_classic")],
)
def test_a_former_run_is_not_overwritten(line, named, former, capsys):
    before = (former / "last.pt").read_bytes()
    assert selfplay.main([*line, "--out", str(former)]) == 2
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1 and named in shown.err and shown.out == ""
    assert [path.name for path in former.iterdir()] == ["last.pt"]
    assert (former / "last.pt").read_bytes() == before


def test_a_broken_checkpoint_is_not_resumed(former, capsys):
    path = former / "last.pt"
    path.write_bytes(path.read_bytes()[:100])
    assert selfplay.main(["--resume", "--out", str(former)]) == 2
    assert str(path) in capsys.readouterr().err
    assert [p.name for p in former.iterdir()] == ["last.pt"]


def test_out_that_is_a_file(tmp_path, capsys):
    path = tmp_path / "file"
    path.write_text("kept")
    assert selfplay.main(["--updates", "1", "--out", str(path)]) == 2
    assert "is a file" in capsys.readouterr().err and path.read_text() == "kept"


@pytest.mark.parametrize("line", [["--algo", "magic"], ["--dmc.depth", "3"], ["--minutes", "x"]])
def test_words_that_the_parser_refuses(line, tmp_path):
    with pytest.raises(SystemExit) as stop:
        selfplay.main([*line, "--out", str(tmp_path / "run")])
    assert stop.value.code == 2
    assert not any(tmp_path.iterdir())


def test_the_script_is_the_command():
    assert (ROOT / "train" / "selfplay.py").samefile(selfplay.__file__)
