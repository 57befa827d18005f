"""RLlib: its environment, its module against the agent's network, and a run of one iteration."""

import http.server
import json
import os
import subprocess
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from tables import many_positions
from training_runs import ROOT

import agents
from agents.dmc_net import NetConfig
from agents.inputs import Reader
from agents.ppo import PolicyAgent, make_nets
from agents.role_agent import ROLES, net_names, net_of
from ddz_env import PRESETS
from train import rllib, selfplay

pytest.importorskip("ray", reason="the extra rllib is not installed")
from ray.rllib.core.columns import Columns

from train.rllib_env import DealEnv, PolicyModule, module_of, padded, spaces

SMALL = NetConfig(hidden=24, state=16, head=8)
TINY = [
    *("--algo", "rllib-ppo", "--rllib.batch", "256", "--rllib.minibatch", "128"),
    *("--rllib.envs", "4", "--rllib.net.hidden", "32", "--rllib.net.state", "16"),
    *("--rllib.net.head", "16", "--eval-deals", "8", "--final-deals", "16"),
]


def environment(rules="play_only", listed=64, seed=1):
    room = PRESETS[rules]
    return DealEnv({"rules": asdict(room), "listed": listed, "objective": "auto", "seed": seed})


def deal(env, rng):
    """One deal of random choices: what was asked of whom, and the rewards."""
    seen, _ = env.reset()
    asked = []
    while True:
        ((agent, observation),) = seen.items()
        assert env.observation_spaces[agent].contains(observation)
        asked.append(agent)
        seen, rewards, over, cut, _ = env.step({agent: int(rng.integers(observation["count"]))})
        assert not cut["__all__"]
        if over["__all__"]:
            assert not seen
            return asked, rewards
        assert rewards == {agent: 0.0}


@pytest.mark.parametrize("rules", ["play_only", "happy_laizi"])
def test_deals_from_first_choice_to_rewards(rules):
    """All who acted are rewarded, the farmers alike; agents are seats in parts of the game."""
    env, rng = environment(rules), np.random.default_rng(3)
    modules, played = set(), 0
    for _ in range(15):
        asked, rewards = deal(env, rng)
        assert set(asked) == set(rewards)
        modules |= {module_of(agent) for agent in asked}
        farmers = {v for k, v in rewards.items() if k.startswith("landlord_") and k[9] in "du"}
        lords = {v for k, v in rewards.items() if k[:-2] == "landlord"}
        if any(rewards.values()):
            played += 1
            assert len(farmers) <= 2 and len(lords) <= 1
            assert all(v * next(iter(lords)) < 0 for v in farmers if lords)
            seats = {}
            for agent, value in rewards.items():
                assert seats.setdefault(agent[-1], value) == value
    assert played > 5 and modules == set(net_names((PRESETS[rules],)))


def test_equal_seeds_give_equal_deals():
    rng = [np.random.default_rng(5) for _ in range(3)]
    one, two, other = (
        [deal(environment(seed=seed), r) for _ in range(2)]
        for seed, r in zip((1, 1, 2), rng, strict=True)
    )
    assert one == two != other


def test_of_too_many_actions_those_with_fewest_plays_to_go_are_listed():
    views, legal = many_positions("happy_laizi", num_envs=60, stops=(8, 12, 16, 20))
    sizes = np.diff(legal.offsets)
    i = int(np.argmax(sizes))
    assert sizes[i] > 40
    inputs = Reader().read(views[i : i + 1], legal.part(i, i + 1))
    seen, places = padded(inputs, 32)
    assert len(places) == seen["count"] == 32 and np.all(np.diff(places) > 0)
    whole, every = padded(inputs, 4000)
    assert every.tolist() == list(range(sizes[i])) and whole["count"] == sizes[i]
    assert np.array_equal(whole["actions"][places], seen["actions"])
    assert spaces(32)[0].contains(seen)


def observations(views, legal, rows, listed):
    """A batch of padded observations as RLlib stacks them."""
    parts = []
    for i in rows:
        inputs = Reader().read(views[i : i + 1], legal.part(i, i + 1))
        parts.append(padded(inputs, listed)[0])
    return {key: torch.from_numpy(np.stack([part[key] for part in parts])) for key in parts[0]}


def module_around(net):
    observation, action = spaces(512)
    module = PolicyModule(
        observation_space=observation, action_space=action, model_config={"net": asdict(SMALL)}
    )
    module.net.load_state_dict(net.state_dict())
    return module


def test_the_module_chooses_as_the_agent_does():
    """A policy that RLlib has trained, loaded as an agent: equal choices on 1,000 states."""
    views, legal = many_positions(num_envs=200, stops=(1, 7, 15, 25, 33, 40))
    free = np.diff(legal.offsets) > 1
    torch.manual_seed(2)
    nets = make_nets(SMALL, ROLES).eval()
    for net in nets:
        torch.nn.init.normal_(net.out.weight)
    agent = PolicyAgent(nets, (PRESETS["play_only"],))
    sure = agent.reader.read(views, legal).sure
    net = net_of(views["phase"], views["seat"], views["landlord"])
    choices, compared = agent.act(views, legal), 0
    for k in range(3):
        # As RLlib gives weights: arrays under the module's own names.
        module = module_around(nets[k])
        weights = {name: value.numpy() for name, value in module.state_dict().items()}
        back = make_nets(SMALL, ROLES)[0]
        rllib.load_policy(back, weights)
        assert all(map(torch.equal, back.state_dict().values(), nets[k].state_dict().values()))
        rows = np.flatnonzero(free & (sure < 0) & (net == k))
        with torch.no_grad():
            batch = {Columns.OBS: observations(views, legal, rows, 512)}
            out = module.forward_inference(batch)[Columns.ACTION_DIST_INPUTS].numpy()
            trained = module.forward_train(batch)
            value = module.compute_values(batch)
        ids = legal.ids[legal.offsets[rows] + out.argmax(axis=1)]
        assert np.array_equal(ids, choices[rows])
        assert np.allclose(trained[Columns.ACTION_DIST_INPUTS], out, atol=1e-4)
        with_embeddings = module.compute_values(batch, trained[Columns.EMBEDDINGS])
        assert torch.allclose(with_embeddings, value, atol=1e-5) and value.shape == (len(rows),)
        compared += len(rows)
    assert compared > 700


def test_who_plays_earlier_policies():
    """By the episode's id, for one side of a share of the games, and never before the play."""
    episodes = [SimpleNamespace(id_=f"{i:032x}") for i in range(400)]
    everybody = [f"{name}_{seat}" for name in (*ROLES, "before") for seat in range(3)]
    former = [
        {a for a in everybody if rllib.mapping(0.3)(a, e).startswith(rllib.FORMER)}
        for e in episodes
    ]
    assert 0.2 < np.mean([bool(f) for f in former]) < 0.4
    sides = {frozenset(module_of(a) for a in f) for f in former}
    assert sides == {frozenset(), frozenset({"landlord"}), frozenset(ROLES[1:])}
    assert not any(
        rllib.mapping(0.0)(a, e).startswith(rllib.FORMER) for a in everybody for e in episodes
    )


def start(*words, **more):
    """A run to its end, in a process of its own: exit code and output."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "train" / "selfplay.py"), *map(str, words)],
        capture_output=True,
        text=True,
        timeout=180,
        env={**os.environ, "PYTHONPATH": str(ROOT), **more},
    )
    return done.returncode, done.stdout + done.stderr


def test_one_iteration_and_its_resumption(tmp_path):
    """A smoke test: a run of one iteration plays as an agent, and goes on for another."""
    out = tmp_path / "run"
    code, text = start("--updates", 1, "--rllib.league", 0.5, "--out", out, *TINY)
    assert code == 0, text
    first = json.loads((out / "summary.json").read_text())
    assert first["updates"] == 1 and first["decisions"] >= 256
    agent = agents.load(f"ppo:{out / 'last.pt'}", PRESETS["play_only"])
    views, legal = many_positions(num_envs=20, stops=(3, 20))
    choices = agent.act(views, legal)
    assert len(choices) == len(views)
    line = ["--algo", "rllib-ppo", "--resume", "--updates", 2, "--out", out]
    code, text = start(*line, "--eval-deals", 8, "--final-deals", 16)
    assert code == 0, text
    second = json.loads((out / "summary.json").read_text())
    assert second["updates"] == 2 and second["decisions"] > first["decisions"]
    assert not list(Path(out).glob(".rllib-*"))


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (["--rllib.listed", "0"], "--rllib.listed"),
        (["--rllib.clip", "0"], "--rllib.clip"),
        (["--rllib.objective", "adp"], "auto, wp or points"),
        (["--num-env-runners", "-1"], "--num-env-runners"),
        (["--ray-address", "nowhere"], "HOST:PORT"),
        (["--ray-address", "127.0.0.1:99999"], "HOST:PORT"),
        (["--ray-address", "a..b:80"], "a..b:80: expected a Ray cluster there"),
        (["--ray-address", "127.0.0.1:1"], "127.0.0.1:1: expected a Ray cluster there"),
        (["--deterministic", "--updates", "2"], "--deterministic"),
        (["--rules", "happy,play_only"], "one room"),
        (["--init-from", "nothing.pt"], "nothing.pt"),
        (["--algo", "ppo", "--num-env-runners", "2"], "rllib-ppo"),
        (["--algo", "dmc", "--num-env-runners", "2"], "rllib-ppo"),
    ],
)
def test_bad_arguments(line, named, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert selfplay.main(["--algo", "rllib-ppo", *line, "--out", "run"]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("selfplay: ") and shown.err.count("\n") == 1
    assert named in shown.err and not any(tmp_path.iterdir())


def test_another_service_is_no_cluster(tmp_path, capsys):
    """A web server: said at once, where Ray would try for minutes."""
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"127.0.0.1:{server.server_port}"
        out = str(tmp_path / "run")
        assert selfplay.main(["--algo", "rllib-ppo", "--ray-address", address, "--out", out]) == 2
        server.shutdown()
    assert f"{address}: expected a Ray cluster there" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_without_the_extra(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert selfplay.main(["--algo", "rllib-ppo", "--out", str(tmp_path / "run")]) == 2
    assert "needs the extra rllib" in capsys.readouterr().err and not any(tmp_path.iterdir())
