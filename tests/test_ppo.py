"""PPO: what is computed against closed forms and plain loops, a toy, and whole tiny runs."""

import copy
import dataclasses
import json
import os
import signal

import numpy as np
import pytest
import torch
from checkpoints import TINY_NET
from scipy import stats
from tables import many_positions
from training_runs import end_all, finish, start, wait_for

import agents
from agents.dmc_net import NetConfig
from agents.inputs import FACTS
from agents.ppo import PolicyAgent, draw, from_checkpoint, header, make_nets, read_checkpoint
from agents.role_agent import BEFORE, ROLES, net_names
from ddz_env import PRESETS
from ddz_env.catalogue import ACTIONS
from ddz_env.features import ACTION_SIZE, STATE_SIZE
from ddz_env.listed import Bits, Legal
from train import selfplay
from train.common import save_checkpoint
from train.ppo import (
    Learner,
    PPOConfig,
    clipped_loss,
    gae,
    log_softmax,
    minibatches,
    schedule,
)
from train.rewards import by_points, reward_of
from train.rollouts import CHOICE, Roller, Rollout, join

SMALL = NetConfig(hidden=24, state=16, head=8)
CONFIG = PPOConfig(workers=1, games=32, batch=256, minibatch=64, net=SMALL)
TINY = [
    *("--algo", "ppo", "--ppo.games", "32", "--ppo.batch", "128", "--ppo.minibatch", "64"),
    *("--ppo.net.hidden", "32", "--ppo.net.state", "16", "--ppo.net.head", "16"),
    *("--eval-deals", "8", "--final-deals", "16"),
]


@pytest.fixture(autouse=True)
def no_run_is_left_behind():
    yield
    end_all()


# ------------------------------------------------------------------------------ pure functions


def advantages(values, rewards, episodes, gamma, lam):
    out = np.zeros(len(values), np.float32)
    gae(
        np.array(values, np.float32), np.array(episodes), np.array(rewards, np.float32),
        gamma, lam, out,
    )  # fmt: skip
    return out


def test_gae_in_closed_form():
    """Of one episode by hand; several episodes do not touch."""
    v = [0.5, -0.25, 0.125]
    assert np.allclose(advantages(v, [1.0], [0, 3], 1.0, 1.0), [0.5, 1.25, 0.875])  # reward - v
    assert np.allclose(advantages(v, [1.0], [0, 3], 1.0, 0.0), [-0.75, 0.375, 0.875])
    # g = .5, l = .5: deltas .5(-.25) - .5, .5(.125) + .25, 1 - .125; weights 1, 1/4, 1/16
    d = [-0.625, 0.3125, 0.875]
    wanted = [d[0] + d[1] / 4 + d[2] / 16, d[1] + d[2] / 4, d[2]]
    assert np.allclose(advantages(v, [1.0], [0, 3], 0.5, 0.5), wanted)
    two = advantages(v + v[:2], [1.0, -1.0], [0, 3, 5], 0.5, 0.5)
    assert np.allclose(two[:3], wanted)
    assert np.allclose(two[3:], advantages(v[:2], [-1.0], [0, 2], 0.5, 0.5))


@pytest.mark.parametrize(("gamma", "lam"), [(1.0, 0.95), (0.9, 0.5), (1.0, 1.0), (0.99, 0.0)])
def test_gae_is_its_definition(gamma, lam):
    """The sum over later steps of (gamma lambda)^k times the error of the next value."""
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 9, 20)
    episodes = np.concatenate([[0], np.cumsum(sizes)])
    values = rng.normal(size=episodes[-1]).astype(np.float32)
    rewards = rng.normal(size=20).astype(np.float32)
    got = advantages(values, rewards, episodes, gamma, lam)
    for e in range(20):
        v, n = values[episodes[e] : episodes[e + 1]].astype(float), sizes[e]
        after = np.append(gamma * v[1:], rewards[e])
        delta = after - v
        for t in range(n):
            wanted = sum((gamma * lam) ** (k - t) * delta[k] for k in range(t, n))
            assert got[episodes[e] + t] == pytest.approx(wanted, abs=1e-5)
        if lam == 1.0 and gamma == 1.0:
            assert np.allclose(got[episodes[e] : episodes[e + 1]] + v, rewards[e], atol=1e-5)


def test_softmax_is_that_of_each_list():
    torch.manual_seed(1)
    sizes = [1, 5, 2, 30]
    logits = (20 * torch.randn(sum(sizes))).requires_grad_()
    row = torch.repeat_interleave(torch.arange(4), torch.tensor(sizes))
    got = log_softmax(logits, row, 4)
    wanted = torch.cat([torch.log_softmax(part, 0) for part in logits.split(sizes)])
    assert torch.allclose(got, wanted, atol=1e-5)
    weights = torch.randn(sum(sizes))
    (mine,) = torch.autograd.grad((got * weights).sum(), logits, retain_graph=True)
    (its,) = torch.autograd.grad((wanted * weights).sum(), logits)
    assert torch.allclose(mine, its, atol=1e-5)


def test_clipped_loss_by_hand():
    """A choice is pushed as far as the clip, and back from beyond it."""
    ratio = torch.tensor([1.0, 1.5, 0.5, 1.5, 0.5])
    gain = torch.tensor([2.0, 2.0, 2.0, -2.0, -2.0])
    log_chance = ratio.log().requires_grad_()
    loss = clipped_loss(log_chance, torch.zeros(5), gain, 0.2)
    assert torch.allclose(loss, torch.tensor([-2.0, -2.4, -1.0, 3.0, 1.6]))
    (slope,) = torch.autograd.grad(loss.sum(), log_chance)
    assert torch.allclose(slope, torch.tensor([-2.0, 0.0, -1.0, 3.0, 0.0]))


def test_rewards():
    points = np.array([3.0, -1.0, -7.0, 2.0**40])
    assert reward_of(points, False).tolist() == [1, -1, -1, 1]
    assert np.allclose(reward_of(points, True), [2, -1, -3, 40], atol=1e-3)
    rooms = (PRESETS["play_only"],), (PRESETS["play_only"], PRESETS["happy"])
    assert [by_points("auto", room) for room in rooms] == [False, True]
    for objective, wanted in (("wp", False), ("points", True)):
        assert {by_points(objective, room) for room in rooms} == {wanted}


def test_schedules():
    config = PPOConfig(lr=1e-3, lr_end=0.1, entropy=0.02, entropy_end=0.0)
    assert schedule(config, 0.0) == {"learning_rate": 1e-3, "entropy": 0.02}
    assert schedule(config, 1.0) == pytest.approx({"learning_rate": 1e-4, "entropy": 0.0})
    assert schedule(config, 0.5) == pytest.approx({"learning_rate": 5.5e-4, "entropy": 0.01})


def test_minibatches_hold_every_choice_once_and_not_too_many_actions(monkeypatch):
    monkeypatch.setattr("train.ppo.MOST_LISTED", 100)
    rng = np.random.default_rng(3)
    sizes = rng.integers(2, 40, 200)
    sizes[7] = 300  # more than all: alone
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    order = rng.permutation(200)
    parts = minibatches(order, offsets, 50)
    assert np.concatenate(parts).tolist() == order.tolist()
    assert all(sizes[part].sum() <= 100 or part.tolist() == [7] for part in parts)
    assert max(map(len, parts)) <= 50


def test_draws_follow_the_policy():
    """Frequencies by a chi-squared test; logarithms of probabilities to float precision."""
    logits = np.array([0.0, 1.0, -2.0, 3.0, 3.0, 500.0, -500.0], np.float32)
    offsets = np.array([0, 4, 5, 7])
    n = 20000
    many = np.concatenate([[0], np.cumsum(np.tile(np.diff(offsets), n))])
    rng = np.random.default_rng(5)
    places, log_chance = np.zeros(3 * n, np.int64), np.zeros(3 * n, np.float32)
    draw(many, np.tile(logits, n), rng.random(3 * n), places, log_chance)
    first = (places - many[:-1])[::3]
    chances = np.exp(logits[:4]) / np.exp(logits[:4]).sum()
    assert stats.chisquare(np.bincount(first, minlength=4), n * chances).pvalue > 1e-4
    assert np.allclose(log_chance[::3], np.log(chances)[first], atol=1e-5)
    assert set((places - many[:-1])[1::3]) == {0} and set((places - many[:-1])[2::3]) == {0}
    assert np.allclose(log_chance[1::3], 0)
    for uniform, place in ((0.0, 0), (np.nextafter(1, 0), 3)):
        draw(offsets[:2], logits, np.array([uniform]), places[:1], log_chance[:1])
        assert places[0] == place


# -------------------------------------------------------------------------------------- learner


def toy_rollout(learner, rng, games=64):
    """Games of two choices between two actions; those that choose 1, then 0, are won."""
    n = 2 * games
    step = np.tile([0, 1], games)
    state = Bits(np.arange(n + 1), step.astype(np.uint16))
    lists = Legal(np.arange(0, 2 * n + 1, 2), np.tile([0, 1], n).astype(np.int32))
    actions = Bits(np.arange(2 * n + 1), np.tile([3, 4], n).astype(np.uint16))
    facts = np.zeros((2 * n, FACTS), np.float16)
    with torch.no_grad():
        net = learner.nets[0]
        embedded = net.embed(state).repeat_interleave(2, dim=0)
        logits = net.score(embedded, actions, torch.zeros(2 * n, FACTS))[:, 0].numpy()
    choices = np.zeros(n, CHOICE)
    places, log_chance = np.zeros(n, np.int64), np.zeros(n, np.float32)
    draw(lists.offsets, logits, rng.random(n), places, log_chance)
    choices["chosen"], choices["log_chance"] = places - lists.offsets[:-1], log_chance
    won = (choices["chosen"][::2] == 1) & (choices["chosen"][1::2] == 0)
    points = np.where(won, 1.0, -1.0).astype(np.float32)
    return Rollout(choices, state, lists, actions, facts, np.arange(0, n + 1, 2), points)


@pytest.mark.parametrize("critic", [0, 8])
def test_a_toy_is_solved(critic):
    """Two choices, and only 1 followed by 0 is rewarded; fresh policies find it by chance."""
    config = dataclasses.replace(CONFIG, lr=3e-3, entropy=0.01, critic=critic)
    learner, rng = Learner(config, ROLES, 1), np.random.default_rng(2)
    shares = []
    for _ in range(60):
        rollout = toy_rollout(learner, rng)
        shares.append((rollout.points > 0).mean())
        learner.update(rollout, rollout.points, schedule(config, 0.0))
    assert shares[0] < 0.5 and np.mean(shares[-5:]) > 0.95
    assert learner.metrics["value/explained_landlord"] <= 1
    assert all(np.isfinite(value) for value in learner.metrics.values())


def played(rules="play_only", games=24, choices=200, league=0.0, former=()):
    """A rollout of small nets, and the nets."""
    torch.manual_seed(4)
    nets = make_nets(SMALL, net_names((PRESETS[rules],))).eval()
    roller = Roller(PRESETS[rules], games, 7, np.random.default_rng(3), league)
    roller.seating.number = len(former)
    with torch.no_grad():
        while roller.ready < choices:
            roller.step(nets, list(former))
        return roller.take(), nets


@pytest.mark.parametrize("rules", ["play_only", "happy_laizi"])
def test_rollouts_are_what_was_seen_and_drawn(rules):
    """Recorded probabilities are those of the policy; episodes are of one seat; points sum to 0."""
    rollout, nets = played(rules)
    names = net_names((PRESETS[rules],))
    assert set(rollout.choices["net"]) == set(range(len(names)))
    assert len(rollout.points) + 1 == len(rollout.episodes)
    assert rollout.episodes[-1] == rollout.size == len(rollout.lists.offsets) - 1
    sizes = np.diff(rollout.lists.offsets)
    assert sizes.min() >= 2 and np.all(rollout.choices["chosen"] < sizes)
    assert (np.diff(rollout.episodes) > 0).all() and rollout.points.all()
    for begin, end in zip(rollout.episodes[:-1], rollout.episodes[1:], strict=True):
        assert len(set(rollout.choices["seat"][begin:end])) == 1
    row = torch.from_numpy(np.repeat(np.arange(rollout.size), sizes))
    with torch.no_grad():
        for k, net in enumerate(nets):
            embedded = net.embed(rollout.state)[row]
            facts = torch.from_numpy(rollout.facts.astype(np.float32))
            logits = net.score(embedded, rollout.actions, facts)[:, 0]
            all_ = log_softmax(logits, row, rollout.size).numpy()
            mine = rollout.choices["net"] == k
            chosen = rollout.lists.offsets[:-1] + rollout.choices["chosen"]
            assert np.allclose(all_[chosen][mine], rollout.choices["log_chance"][mine], atol=2e-2)


@pytest.mark.parametrize(("league", "sides"), [(1.0, {1, 2}), (0.0, {3})])
def test_of_games_with_an_earlier_policy_one_side_is_learned(league, sides):
    """Landlord (1) or farmers (2) of each game; without a league both (3)."""
    nets = make_nets(SMALL, ROLES).eval()
    roller = Roller(PRESETS["play_only"], 1, 7, np.random.default_rng(3), league)
    roller.seating.number = 1
    found = []
    with torch.no_grad():
        while len(found) < 25:
            roller.step(nets, [nets])
            rollout = roller.take()
            if rollout.size:
                learned = set(rollout.choices["net"].tolist())
                found.append(int(0 in learned) + 2 * int(bool(learned & {1, 2})))
    assert sides <= set(found) and np.mean([side in sides for side in found]) > 0.8


def test_joined_rollouts_are_theirs_in_order():
    one, _ = played(choices=100)
    two, _ = played("happy", choices=80)
    both = join([one, two])
    assert both.size == one.size + two.size and len(both.points) == len(one.points) + len(
        two.points
    )
    for i in (0, one.size - 1):
        assert both.lists.ids[both.lists.offsets[i]] == one.lists.ids[one.lists.offsets[i]]
    for i in (0, two.size - 1):
        j = one.size + i
        mine = both.state.bits[both.state.offsets[j] : both.state.offsets[j + 1]]
        its = two.state.bits[two.state.offsets[i] : two.state.offsets[i + 1]]
        assert np.array_equal(mine, its)
    assert both.episodes[len(one.points)] == one.size
    assert both.actions.offsets[-1] == one.actions.offsets[-1] + two.actions.offsets[-1]


@pytest.mark.parametrize("critic", [0, 8])
def test_learner_round_trip(critic):
    """A learner that goes on from a saved one takes the same steps, and averages them."""
    config = dataclasses.replace(CONFIG, critic=critic)
    rollout, _ = played()
    rewards = reward_of(rollout.points, False)
    learner, other = Learner(config, ROLES, 1), Learner(config, ROLES, 1)
    before = copy.deepcopy(learner.nets.state_dict())
    learner.update(rollout, rewards, schedule(config, 0.0))
    assert any(not torch.equal(before[k], v) for k, v in learner.nets.state_dict().items())
    other.load_state_dict(copy.deepcopy(learner.state_dict()))
    for one in (learner, other):
        one.update(rollout, rewards, schedule(config, 0.5))
    for part in ("nets", "average", "critics"):
        mine, its = getattr(learner, part).state_dict(), getattr(other, part).state_dict()
        assert all(torch.equal(mine[key], its[key]) for key in mine)
    assert learner.metrics == other.metrics and other.updates == 2


# ---------------------------------------------------------------------------------------- agent


def saved(path, rules="play_only", **more):
    rooms = (PRESETS[rules],)
    nets = make_nets(TINY_NET, net_names(rooms))
    for net in nets:
        torch.nn.init.normal_(net.out.weight)
    data = header(rooms, TINY_NET, "wp") | {"average": nets.state_dict()} | more
    save_checkpoint(path, data)
    return nets


def test_the_agent_plays_the_likeliest_or_draws(tmp_path):
    """Draws depend on seed, deal and ply alone, and follow the policy."""
    nets = saved(tmp_path / "x.pt")
    spec = f"ppo:{tmp_path / 'x.pt'}"
    views, legal = many_positions(num_envs=200, stops=(1, 20, 40))
    likeliest, sampling, again, another = (
        agents.load(spec + more, PRESETS["play_only"])
        for more in ("", ",sample=true", ",sample=true,seed=0", ",sample=true,seed=1")
    )
    drawn = sampling.act(views, legal)
    assert np.array_equal(drawn, again.act(views, legal))
    assert (drawn != another.act(views, legal)).mean() > 0.1
    order = np.random.default_rng(0).permutation(len(views))
    assert np.array_equal(drawn[order], sampling.act(views[order], legal.take(order)))
    choice = likeliest.act(views, legal)
    agent = PolicyAgent(nets.eval(), (PRESETS["play_only"],))
    assert np.array_equal(choice, agent.act(views, legal))
    # The likeliest is drawn as often as its probability says, in the mean over all rows.
    inputs = agent.reader.read(views, legal)
    free = (inputs.sure < 0) & (np.diff(legal.offsets) > 1)
    chances = np.zeros(len(views))
    role = (views["seat"] - views["landlord"]) % 3
    for i in np.flatnonzero(free):
        part = agent.reader.read(views[i : i + 1], legal.part(i, i + 1))
        logits = torch.from_numpy(nets[int(role[i])].score_lists(part)[:, 0])
        chances[i] = torch.softmax(logits, 0).max().item()
    spread = np.sqrt((chances * (1 - chances))[free].sum())
    found = (drawn == choice)[free].sum()
    assert abs(found - chances[free].sum()) < 4 * spread
    assert np.array_equal(drawn[inputs.sure >= 0], choice[inputs.sure >= 0])


@pytest.mark.parametrize(
    ("argument", "named"),
    [
        ("", "ppo:PATH"),
        ("nothing.pt", "nothing.pt: no such file"),
        ("x.pt,sample=maybe", "sample"),
        ("x.pt,temperature=2", "temperature"),
        ("x.pt,seed=-1", "seed"),
        ("y.pt", "ddz-dmc-2"),
        ("z.pt", "ddz-obs-v9"),
    ],
)
def test_bad_specs(argument, named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saved(tmp_path / "x.pt")
    saved(tmp_path / "y.pt", format="ddz-dmc-2")
    saved(tmp_path / "z.pt", schema="ddz-obs-v9")
    with pytest.raises(agents.AgentError, match=named) as error:
        agents.load(f"ppo:{argument}")
    assert "\n" not in str(error.value)


def test_another_room_is_refused(tmp_path):
    saved(tmp_path / "x.pt", "happy")
    with pytest.raises(agents.AgentError, match=r"happy.*play_only"):
        agents.load(f"ppo:{tmp_path / 'x.pt'}", PRESETS["play_only"])


# ----------------------------------------------------------------------------------------- runs


def same_bits(one, other):
    mine, its = one["learner"]["nets"], other["learner"]["nets"]
    return all(torch.equal(mine[key], its[key]) for key in mine)


def test_equal_seeds_give_equal_bits(inline, tmp_path):
    """To a run's end, with the league; another seed gives other bits; the agent plays."""
    line = ["--deterministic", "--updates", 3, "--ppo.workers", 1, *TINY]
    line += ["--ppo.league", 0.5, "--ppo.league-every", 1, "--ppo.critic", 8]
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert inline("--out", tmp_path / name, "--seed", seed, *line) == 0
    one, same, other = (read_checkpoint(tmp_path / name / "last.pt") for name in "abc")
    assert same_bits(one, same) and not same_bits(one, other)
    summaries = [json.loads((tmp_path / n / "summary.json").read_text()) for n in "ab"]
    assert summaries[0]["evaluation"] == summaries[1]["evaluation"]
    assert summaries[0]["updates"] == 3 and summaries[0]["decisions"] > 0
    config = json.loads((tmp_path / "a" / "config.json").read_text())
    assert config["ppo"]["league"] == 0.5 and "dmc" not in config
    agent = agents.load(f"ppo:{tmp_path / 'a' / 'last.pt'}", PRESETS["play_only"])
    views, legal = many_positions(num_envs=20, stops=(3, 20))
    assert len(agent.act(views, legal)) == len(views)


@pytest.mark.parametrize("rules", ["happy_laizi", "qq_classic"])
def test_all_phases_are_learned(rules, inline, tmp_path):
    line = ["--rules", rules, "--updates", 2, "--ppo.workers", 1, *TINY]
    assert inline("--out", tmp_path / "a", *line) == 0
    data = read_checkpoint(tmp_path / "a" / "last.pt")
    assert data["objective"] == "points"
    fresh = Learner(PPOConfig(net=NetConfig(32, 16, 16)), (*ROLES, BEFORE), 1).nets.state_dict()
    for k in range(4):
        assert not torch.equal(data["learner"]["nets"][f"{k}.out.weight"], fresh[f"{k}.out.weight"])
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    assert "greedy, whole deals" in summary["evaluation"]


def test_killed_in_the_middle_and_resumed(tmp_path):
    """A run of two processes, killed at any moment, goes on from its last checkpoint to the end."""
    out = tmp_path / "run"
    long = ["--minutes", "30", "--eval-minutes", "0.02"]
    process = start("--out", out, *long, *TINY)
    wait_for((out / "last.pt").exists, process)
    begun = read_checkpoint(out / "last.pt")["learner"]["updates"]
    wait_for(lambda: read_checkpoint(out / "last.pt")["learner"]["updates"] > begun, process)
    os.kill(process.pid, signal.SIGKILL)
    finish(process)
    killed = read_checkpoint(out / "last.pt")
    updates = killed["learner"]["updates"]
    code, text = finish(start("--out", out, "--resume", "--updates", updates + 2, *TINY))
    assert code == 0, text
    summary = json.loads((out / "summary.json").read_text())
    assert summary["updates"] == updates + 2
    assert summary["decisions"] > killed["counts"]["decisions"]
    agent = from_checkpoint(out / "last.pt")
    assert len(agent.nets) == 3


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (["--ppo.minibatch", "0"], "--ppo.minibatch"),
        (["--ppo.epochs", "0"], "--ppo.epochs"),
        (["--ppo.clip", "0"], "--ppo.clip"),
        (["--ppo.gamma", "1.5"], "--ppo.gamma"),
        (["--ppo.gae-lambda", "-0.1"], "--ppo.gae-lambda"),
        (["--ppo.league", "2"], "--ppo.league"),
        (["--ppo.critic", "-1"], "--ppo.critic"),
        (["--ppo.objective", "adp"], "auto, wp or points"),
        (["--ppo.net.head", "0"], "--ppo.net.head"),
        (["--ppo.lr", "nan"], "--ppo.lr"),
        (["--init-from", "dmc.pt"], "ddz-dmc-2"),
        (["--resume"], "last.pt"),
    ],
)
def test_bad_arguments(line, named, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saved(tmp_path / "dmc.pt", format="ddz-dmc-2")
    assert selfplay.main(["--algo", "ppo", *line, "--out", "run"]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("selfplay: ") and shown.err.count("\n") == 1
    assert named in shown.err and not (tmp_path / "run").exists()


def test_sizes_of_the_first_layers_are_the_schemas():
    net = make_nets(SMALL, ROLES)[0]
    assert net.state_in.shape[0] == STATE_SIZE and net.action_in.shape[0] == ACTION_SIZE
    assert len(ACTIONS) > 27_000 and max(p.shape[0] for p in net.parameters()) < 3000
