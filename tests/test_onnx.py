"""ONNX files of trained agents: equal to what they were made of, and bad files."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from checkpoints import TINY_NET, fresh, save_fresh
from tables import many_positions

import agents
from agents import onnx_agent
from agents.dmc import from_checkpoint
from ddz_env import PRESETS

onnx = pytest.importorskip("onnx", reason="the package onnx is not installed")
pytest.importorskip("onnxruntime", reason="the package onnxruntime is not installed")
ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module", params=["play_only", "happy", "crazy_laizi"])
def exported(request, tmp_path_factory):
    """(room, torch agent, file) of a fresh network; not all are factorised."""
    folder = tmp_path_factory.mktemp("onnx")
    net = replace(TINY_NET, joint=request.param == "happy")
    path = save_fresh(folder / "last.pt", request.param, objective="adp", net=net)
    assert onnx_agent.main([f"dmc:{path}", str(folder / "x.onnx")]) == 0
    assert sorted(p.name for p in folder.iterdir()) == ["last.pt", "x.onnx"]
    return PRESETS[request.param], from_checkpoint(path), folder / "x.onnx"


def test_values_are_equal(exported):
    rules, torch_agent, path = exported
    agent = agents.load(f"onnx:{path}", rules)
    assert agent.rooms == (rules,) and agent.objective == "adp"
    views, legal = many_positions(rules.name, num_envs=15, stops=(0, 2, 12, 30))
    for mine, its in zip(agent.values(views, legal), torch_agent.values(views, legal), strict=True):
        assert np.allclose(mine, its, rtol=1e-5, atol=1e-5)
    same = agent.act(views, legal) == torch_agent.act(views, legal)
    assert same.mean() > 0.98  # ties to within rounding may fall otherwise


def test_another_room_is_refused(exported):
    rules, _, path = exported
    with pytest.raises(agents.AgentError, match=f"made for room {rules.name}, not for laidou"):
        agents.load(f"onnx:{path}", PRESETS["laidou"])


def test_the_agent_runs_without_torch(exported):
    rules, _, path = exported
    code = (
        "import sys, agents; from ddz_env import PRESETS, vec_env;"
        f"room = PRESETS['{rules.name}']; agent = agents.load('onnx:{path}', room);"
        "batch = vec_env(4, rules=room, seed=1);"
        "[batch.step(agent.act(batch.views(), batch.legal())) for _ in range(60)];"
        "print('torch' in sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "False\n"


def test_files_that_are_none(exported, tmp_path):
    _, _, path = exported
    model = onnx.load(str(path))
    junk, old, cut = (tmp_path / name for name in ("junk.onnx", "old.onnx", "cut.onnx"))
    junk.write_text("not a model")
    cut.write_bytes(path.read_bytes()[:1000])
    for entry in model.metadata_props:
        if entry.key == "schema":
            entry.value = "ddz-obs-v0"
    onnx.save(model, str(old))
    for spec, named in (
        (f"onnx:{junk}", "not a file of this project"),
        (f"onnx:{cut}", "not a file of this project"),
        (f"onnx:{old}", "ddz-obs-v0"),
        (f"onnx:{tmp_path / 'none.onnx'}", "no such file"),
        ("onnx", "expected onnx:FILE"),
        (f"onnx:{path},objective=gold", "wp|adp"),
    ):
        with pytest.raises(agents.AgentError) as error:
            agents.load(spec)
        assert named in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("words", [[], ["dmc:x"], ["greedy", "x.onnx"], ["dmc:none.pt", "x.onnx"]])
def test_bad_arguments(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert onnx_agent.main(words) == 2
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1 and shown.out == ""
    assert not any(tmp_path.iterdir())


def test_metadata_is_the_checkpoints(exported):
    rules, _, path = exported
    known = {p.key: p.value for p in onnx.load(str(path)).metadata_props}
    data = fresh(rules.name)
    assert known["schema_hash"] == data["schema_hash"]
    assert json.loads(known["rooms"]) == json.loads(json.dumps(data["rooms"]))
