"""Weights that ship, and the command that makes them from a run."""

import hashlib
import json

import numpy as np
import pytest
import torch
from checkpoints import TINY_NET, fresh
from tables import many_positions

import agents
from agents.checkpoints import packed, unpacked
from agents.dmc import from_checkpoint, shipped
from agents.role_agent import ROLES
from agents.value_agent import ValueAgent
from ddz_env import PRESETS
from eval.match import play_match
from train import ship
from train.common import save_checkpoint
from train.learner import DMCConfig, Learner

SHIPPED = [path.stem for path in shipped()]


@pytest.fixture
def run(tmp_path):
    """The folder of a finished run."""
    folder = tmp_path / "run"
    save_checkpoint(folder / "last.pt", fresh(elapsed=60.0, counts={}, learner={}))
    (folder / "config.json").write_text(json.dumps({"command": "python train/selfplay.py"}))
    summary = {"version": "0", "minutes": 1.0, "evaluation": {}, "curve": [], "rules": "play_only"}
    (folder / "summary.json").write_text(json.dumps(summary))
    return folder


def test_a_run_becomes_weights(run, tmp_path, monkeypatch):
    out = tmp_path / "weights"
    assert ship.main([str(run), "--name", "mine", "--out", str(out)]) == 0
    assert sorted(path.name for path in out.iterdir()) == ["mine.json", "mine.pt"]
    notes = json.loads((out / "mine.json").read_text())
    assert notes["sha256"] == hashlib.sha256((out / "mine.pt").read_bytes()).hexdigest()
    assert notes["rooms"] == ["play_only"] and notes["command"] == "python train/selfplay.py"
    views, legal = many_positions(num_envs=20, stops=(3, 20))
    whole, half = from_checkpoint(run / "last.pt"), from_checkpoint(out / "mine.pt")
    for mine, its in zip(whole.values(views, legal), half.values(views, legal), strict=True):
        assert np.allclose(mine, its, rtol=0.02, atol=0.01)
    monkeypatch.setattr("agents.dmc.WEIGHTS", out)
    assert isinstance(agents.load("dmc", PRESETS["play_only"]), ValueAgent)
    assert isinstance(agents.load("dmc:mine,objective=adp"), ValueAgent)
    with pytest.raises(agents.AgentError, match=r"no weights for room laidou.*mine"):
        agents.load("dmc", PRESETS["laidou"])


@pytest.mark.parametrize("lacks", ["last.pt", "config.json", "summary.json"])
def test_an_unfinished_run(run, lacks, tmp_path, capsys):
    (run / lacks).unlink()
    assert ship.main([str(run), "--name", "mine", "--out", str(tmp_path / "weights")]) == 2
    line = capsys.readouterr().err
    assert lacks in line and line.count("\n") == 1
    assert not (tmp_path / "weights").exists()


@pytest.mark.parametrize("name", ["", "a/b", "..", "a b"])
def test_names_that_are_none(run, name, tmp_path, capsys):
    assert ship.main([str(run), "--name", name, "--out", str(tmp_path / "weights")]) == 2
    assert "--name" in capsys.readouterr().err and not (tmp_path / "weights").exists()


def test_dmc_alone_needs_the_room():
    agent = agents.load("dmc")
    views, legal = many_positions(num_envs=2, stops=(3,))
    with pytest.raises(agents.AgentError, match="needs the room"):
        agent.act(views, legal)


@pytest.mark.parametrize("name", SHIPPED)
def test_what_ships_is_what_its_notes_say(name):
    (path,) = [path for path in shipped() if path.stem == name]
    notes = json.loads(path.with_suffix(".json").read_text())
    assert notes["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    data = torch.load(path, weights_only=True)
    for part, value in data["average"].items():  # packed, and so small
        in_bytes = f"{part}.scale" in data["average"]
        kind = torch.float32 if part.endswith(".scale") else torch.float16
        assert value.dtype == (torch.int8 if in_bytes else kind), part
        assert in_bytes or not part.endswith("state_in")
    assert path.stat().st_size <= 8 * 2**20
    assert [room["name"] for room in data["rooms"]] == notes["rooms"]
    assert notes["evaluation"] and notes["command"].startswith("python train/selfplay.py")


@pytest.mark.parametrize("name", SHIPPED)
def test_what_ships_beats_rlcards_rules_in_card_play(name):
    (path,) = [path for path in shipped() if path.stem == name]
    for room in json.loads(path.with_suffix(".json").read_text())["rooms"]:
        rules = PRESETS[room]
        calls = agents.load("greedy") if rules.auction != "none" else None
        result = play_match(
            agents.load("dmc", rules), agents.load("rlcard_rule"), rules, 200, 3, calls=calls
        )
        assert result.ci[0] > 0.6


def test_there_are_weights():
    assert "play_only" in SHIPPED


def test_packed_weights_are_nearly_those_that_were():
    """Bytes err by half a step of their row at most; a run begins with what they unpack to."""
    whole = fresh()["average"]
    small = packed(whole)
    back = unpacked(small)
    assert back.keys() == whole.keys() and small["0.state_in"].dtype == torch.int8
    for name, value in whole.items():
        in_bytes = small[name].dtype == torch.int8
        step = value.abs().amax(dim=-1, keepdim=True) / 127 if in_bytes else 2e-3
        assert ((back[name] - value).abs() <= 0.51 * step + 1e-7).all(), name
    assert all(
        torch.equal(a, b) for a, b in zip(unpacked(whole).values(), whole.values(), strict=True)
    )
    learner = Learner(DMCConfig(net=TINY_NET), ROLES, 1)
    learner.begin_from(fresh() | {"average": packed(whole)})
    for name, value in learner.average.state_dict().items():
        assert torch.equal(value, back[name])
