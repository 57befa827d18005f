"""Deep Monte-Carlo: kernels, network, samples, learning, checkpoints."""

import copy
import dataclasses
from dataclasses import asdict
from itertools import pairwise

import numpy as np
import pytest
import torch
from checkpoints import fresh
from tables import alone, many_positions, positions, row_of

import agents
from agents.dmc import from_checkpoint, header, make_nets, read_checkpoint
from agents.dmc_net import NetConfig, RoleNet, add_to_rows, repeat_rows, sum_rows
from agents.inputs import FACTS, SCALE, Reader, pieces
from agents.planner_features import situation
from agents.planner_weights import read_weights
from agents.value_agent import (
    BEFORE,
    ROLES,
    ValueAgent,
    best_of,
    net_names,
    net_of,
    values_of,
)
from ddz_env import PRESETS
from ddz_env.catalogue import ACTIONS
from ddz_env.features import (
    ACTION_OFFSETS,
    ACTION_SIZE,
    CARDS,
    SCHEMA_NAME,
    STATE_OFFSETS,
    STATE_SIZE,
    dense,
    schema_hash,
)
from ddz_env.scoring import QUARTERS
from ddz_env.state import Phase
from ddz_env.vector import VecEnv
from train.collect import Behaviour, Collector
from train.common import save_checkpoint
from train.dmc import final_objective, schedule
from train.guests import Guests
from train.learner import DMCConfig, Learner, calibration_error, losses_of, score_loss
from train.samples import SAMPLE, Batch, Window, keep, load, results_of, store

SMALL = NetConfig(hidden=24, state=16, head=8)
CONFIG = DMCConfig(workers=1, games=48, batch=64, window=512, net=SMALL)
CPU = torch.device("cpu")
GREEDILY, RANDOMLY = Behaviour(0.0, False), Behaviour(1.0, False)


def small_nets(rules="play_only"):
    """Fresh networks for a room."""
    return make_nets(SMALL, net_names((PRESETS[rules],))).eval()


@pytest.fixture(autouse=True)
def quiet():
    """Fixed weights, and one thread, as in the workers of a run."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(threads)


def random_lists(rng, rows, size, longest=11):
    """Lists of ones of 0..longest entries, as offsets, bits and a dense matrix of counts."""
    lengths = rng.integers(0, longest + 1, rows)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    bits = rng.integers(0, size, offsets[-1]).astype(np.uint16)
    matrix = np.zeros((rows, size))
    for i in range(rows):
        np.add.at(matrix[i], bits[offsets[i] : offsets[i + 1]], 1)
    return offsets, bits, matrix


def read(views, legal):
    """A batch as networks read it."""
    return Reader().read(views, legal)


def first_actions(legal):
    """Lists of the first action of each row alone."""
    ids = np.ascontiguousarray(legal.ids[legal.offsets[:-1]])
    return legal._replace(offsets=np.arange(len(ids) + 1), ids=ids)


def matrix_of(lists, size):
    """The dense form of lists of ones, `float64[B, size]`."""
    offsets, bits = lists
    rows = [dense(bits[i:j], size) for i, j in pairwise(offsets)]
    return torch.tensor(np.array(rows), dtype=torch.float64)


def dense_outputs(net, inputs):
    """The network's outputs by plain matrix products in double precision."""
    state = matrix_of(inputs.state, STATE_SIZE)
    if not net.history:
        state[:, STATE_OFFSETS["history"] :] = 0
    hidden = state @ net.state_in + net.state_bias
    sizes = torch.from_numpy(np.diff(inputs.legal.offsets))
    embedded = hidden if net.joint else net.state_out(torch.relu(hidden))
    mixed = embedded.repeat_interleave(sizes, dim=0)
    added = matrix_of(inputs.actions, ACTION_SIZE) @ net.action_in
    added = added + torch.from_numpy(inputs.facts).double() @ net.facts_in
    mixed = mixed + added
    if net.joint:
        mixed = net.state_out(torch.relu(mixed))
    return net.out(torch.relu(net.head(torch.relu(mixed))))


# ------------------------------------------------------------------------------------- kernels


@pytest.mark.parametrize("width", [1, 7, 32])
def test_sums_of_rows(width):
    rng = np.random.default_rng(width)
    offsets, bits, matrix = random_lists(rng, 40, 90)
    weight = rng.standard_normal((90, width)).astype(np.float32)
    out = rng.standard_normal((40, width)).astype(np.float32)
    wanted = out + matrix @ weight
    sum_rows(offsets, bits, weight, out)
    assert np.allclose(out, wanted, atol=1e-5)


@pytest.mark.parametrize("width", [1, 7, 32])
def test_adding_to_rows_is_the_transpose(width):
    rng = np.random.default_rng(width)
    offsets, bits, matrix = random_lists(rng, 40, 90)
    grad = rng.standard_normal((40, width)).astype(np.float32)
    out = rng.standard_normal((90, width)).astype(np.float32)
    wanted = out + matrix.T @ grad
    add_to_rows(offsets, bits, grad, out)
    assert np.allclose(out, wanted, atol=1e-5)


def test_repeated_rows():
    rng = np.random.default_rng(0)
    sizes = np.array([3, 1, 4, 2])
    offsets = 5 + np.concatenate([[0], np.cumsum(sizes)])
    rows = rng.standard_normal((4, 6)).astype(np.float32)
    out = np.zeros((10, 6), np.float32)
    repeat_rows(offsets, rows, out)
    assert np.array_equal(out, np.repeat(rows, sizes, axis=0))


def test_best_of_lists():
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 9, 200)
    offsets = 3 + np.concatenate([[0], np.cumsum(sizes)])
    values = rng.integers(0, 4, sizes.sum()).astype(np.float32)  # with many ties
    cuts = np.split(values, np.cumsum(sizes)[:-1])
    wanted = offsets[:-1] + [int(np.argmax(cut)) for cut in cuts]
    assert np.array_equal(best_of(offsets, values), wanted)


# ------------------------------------------------------------------------------------- network


def random_batch(role, n=48):
    """Samples of one role from random play, with random results of 1 to 8 points."""
    views, legal = many_positions(num_envs=60, stops=(1, 20, 45), seed=role)
    rows = np.flatnonzero((views["seat"] - views["landlord"]) % 3 == role)[:n]
    inputs = read(views[rows], first_actions(legal.take(rows)))
    rng = np.random.default_rng(role)
    points = rng.choice([-1, 1], len(rows)) * 2.0 ** rng.integers(0, 4, len(rows))
    facts, points = torch.from_numpy(inputs.facts), torch.from_numpy(points).float()
    return inputs, Batch(inputs.state, inputs.actions, facts, points, results_of(points))


KINDS = [{}, {"history": False}, {"joint": True}]


@pytest.mark.parametrize("more", KINDS)
def test_losses_and_gradients_are_those_of_matrix_products(more):
    inputs, batch = random_batch(0)
    torch.manual_seed(1)
    net = RoleNet(dataclasses.replace(SMALL, **more))
    assert np.allclose(
        net.score_lists(inputs),
        dense_outputs(copy.deepcopy(net).double(), inputs).detach(),
        atol=1e-5,
    )
    double = copy.deepcopy(net).double()
    chance, points, _, predicted, _, _ = losses_of(net, batch, CPU)
    (chance + points).backward()
    out = dense_outputs(double, inputs)
    won, size = batch.points > 0, batch.points.abs().double()
    p = torch.sigmoid(out[:, 0])
    wanted = -torch.where(won, p.log(), (1 - p).log()).mean()
    z = torch.where(won, out[:, 1], out[:, 2])
    deviance = (z + size / z.exp()).mean()  # no ratio is above the bound here
    assert (size / z.exp()).max() < 8
    (wanted + deviance).backward()
    assert chance.item() == pytest.approx(wanted.item(), abs=1e-5)
    assert points.item() == pytest.approx(deviance.item(), abs=1e-5)
    assert np.allclose(predicted.numpy(), p.detach().numpy(), atol=1e-5)
    pairs = zip(net.named_parameters(), double.named_parameters(), strict=True)
    for (name, got), (_, want) in pairs:
        assert want.grad.abs().max() > 1e-6, name
        assert torch.allclose(got.grad.double(), want.grad, atol=1e-5), name


def test_facts_can_be_left_out():
    """A network without facts doesn't see them, nor learn anything about them."""
    inputs, batch = random_batch(1)
    net = RoleNet(dataclasses.replace(SMALL, facts=False))
    with_, without = (net.score_lists(inputs._replace(facts=f)) for f in
                      (inputs.facts, np.zeros_like(inputs.facts)))  # fmt: skip
    assert inputs.facts.any() and np.array_equal(with_, without)
    other = RoleNet(SMALL)
    assert not np.allclose(
        other.score_lists(inputs), other.score_lists(inputs._replace(facts=0 * inputs.facts))
    )
    losses_of(net, batch, CPU)[0].backward()
    assert not net.facts_in.any() and net.facts_in.grad is None


def test_lists_are_scored_as_row_by_row():
    views, legal = positions(num_envs=40, steps=30)
    net = RoleNet(SMALL).eval()
    got = net.score_lists(read(views, legal))
    wanted = []
    for i in range(len(views)):
        for j in range(legal.offsets[i], legal.offsets[i + 1]):
            alone_ = read(views[i : i + 1], legal._replace(
                offsets=np.array([0, 1]), ids=legal.ids[j : j + 1]))  # fmt: skip
            wanted.append(net.score_lists(alone_)[0])
    assert len(wanted) == len(legal.ids) > 150
    assert np.allclose(got, np.array(wanted), atol=1e-5)


@pytest.mark.parametrize("most", [1, 7, 50, 10**6])
def test_pieces_cover_a_batch(most):
    """In order, without a gap, as large as they may be, and none is larger unless it is one row."""
    sizes = np.random.default_rng(most).integers(1, 30, 200)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    cut = pieces(offsets, most)
    assert cut[0][0] == 0 and cut[-1][1] == 200
    assert all(a[1] == b[0] for a, b in pairwise(cut))
    for begin, end in cut:
        assert end > begin
        assert offsets[end] - offsets[begin] <= most or end == begin + 1
        assert end == 200 or offsets[end + 1] - offsets[begin] > most


def test_facts_are_the_planners():
    """Its weights over the facts choose what it plays, where it follows no other rule."""
    views, legal = many_positions(num_envs=30, stops=(3, 20, 33))
    rows = np.flatnonzero((views["phase"] == Phase.PLAY) & (np.diff(legal.offsets) > 1))
    views, legal = views[rows], legal.take(rows)
    inputs, chosen = read(views, legal), agents.load("planner").act(views, legal)
    weights = read_weights()
    same = 0
    for i, view in enumerate(views):
        begin, end = legal.offsets[i], legal.offsets[i + 1]
        if inputs.sure[i] >= 0:
            assert begin <= inputs.sure[i] < end
            assert legal.ids[inputs.sure[i]] == chosen[i] or not_only_way_out(view, legal, i)
            continue
        facts = inputs.facts[begin:end, :-1] / SCALE[:-1]
        best = begin + int(np.argmax(facts @ weights[situation(view)]))
        same += legal.ids[best] == chosen[i]
        assert legal.ids[best] == chosen[i] or view["counts"][view["landlord"]] == 1
    assert same > 40


def not_only_way_out(view, legal, i):
    """Whether several listed actions empty the hand: any of them wins."""
    need = ACTIONS["need"][row_of(legal, i)]
    return (need == view["hand"]).sum() > 1


@pytest.mark.parametrize("rules", sorted(PRESETS))
def test_a_row_does_not_see_its_neighbours(rules):
    """Where the two best values are no tie to within rounding, the batch chooses as one by one."""
    views, legal = many_positions(rules, num_envs=40)
    agent = ValueAgent(small_nets(rules), (PRESETS[rules],))
    together, single = agent.act(views, legal), alone(agent, views, legal)
    differ = np.flatnonzero(together != single)
    assert len(differ) <= 0.01 * len(views)
    for i in differ:
        best = agent.ranked(views[i : i + 1], legal.take(np.array([i])))[0]
        assert best[0].chance - best[1].chance < 1e-5
    assert all(together[i] in row_of(legal, i) for i in range(len(views)))


@pytest.mark.parametrize("objective", ["wp", "adp"])
@pytest.mark.parametrize("rules", ["play_only", "happy"])
def test_the_agent_plays_the_highest_value_of_its_network(rules, objective):
    """By chance or points; before the play always by points; a certain win before all else."""
    views, legal = many_positions(rules, num_envs=20, stops=(1, 2, 5, 30, 31, 32))
    nets = small_nets(rules)
    agent = ValueAgent(nets, (PRESETS[rules],), objective)
    chosen, used, sure = agent.act(views, legal), set(), 0
    ranked = agent.ranked(views, legal)
    for i, view in enumerate(views):
        inputs = read(views[i : i + 1], legal.take(np.array([i])))
        k = int(net_of(view["phase"], view["seat"], view["landlord"]))
        used.add(k)
        assert sorted(r.action for r in ranked[i]) == sorted(row_of(legal, i))
        place = int(np.searchsorted(inputs.legal.ids, chosen[i]))
        if inputs.sure[0] >= 0:
            sure += 1
            assert place == inputs.sure[0] and ranked[i][0].action == chosen[i]
            continue
        out = dense_outputs(copy.deepcopy(nets[k]).double(), inputs).detach().numpy()
        p, won, lost = 1 / (1 + np.exp(-out[:, 0])), np.exp(out[:, 1]), np.exp(out[:, 2])
        points = p * won - (1 - p) * lost
        value = points if objective == "adp" or k == 3 else p
        assert value[place] == pytest.approx(value.max(), abs=1e-5)
        at = [r.action for r in ranked[i]].index(chosen[i])
        assert ranked[i][at].chance == pytest.approx(p[place], abs=1e-5)
        assert ranked[i][at].points == pytest.approx(points[place], abs=1e-4)
    assert used == ({0, 1, 2} if rules == "play_only" else {0, 1, 2, 3})
    assert sure


def test_without_a_network_for_them_choices_before_the_play_are_greedys():
    views, legal = positions("qq_classic", num_envs=100, steps=0)
    assert np.all(views["phase"] == Phase.CALL_POINTS)
    agent = ValueAgent(small_nets(), (PRESETS["qq_classic"],))
    assert np.array_equal(agent.act(views, legal), agents.load("greedy").act(views, legal))


# ------------------------------------------------------------------------------ closed forms


def test_points_expected():
    """p x won - (1 - p) x lost, in points; finite whatever the network says."""
    out = np.array([[0.0, np.log(6), np.log(2)], [np.log(3), 0, 0], [99, 99, -99]], np.float32)
    values = values_of(out)
    assert values.points[:2] == pytest.approx([2.0, 0.5], rel=1e-5)
    assert np.isfinite(values.points).all() and values.points[2] > 1e8


def test_score_loss_has_its_minimum_at_the_mean():
    """The network puts out a logarithm, but what it learns is the mean of the points."""
    points = torch.tensor([2.0, 2.0, 2.0, 4.0, 4.0, 16.0])
    z = torch.tensor(1.0, requires_grad=True)
    optimiser = torch.optim.SGD([z], lr=0.2)
    for _ in range(300):
        optimiser.zero_grad()
        score_loss(z.expand(6), points).mean().backward()
        optimiser.step()
    assert z.exp().item() == pytest.approx(points.mean().item(), rel=1e-3)


def test_score_loss_of_one_monstrous_deal_is_bounded():
    z = torch.tensor([1.0], requires_grad=True)
    loss = score_loss(z, torch.tensor([1e6]))
    loss.backward()
    assert z.grad.item() == pytest.approx(-7.0) and torch.isfinite(loss)


def test_calibration_error():
    chance = np.array([0.05, 0.05, 0.95, 0.95, 1.0])
    assert calibration_error(chance, np.array([0, 0, 1, 1, 1.0])) == pytest.approx(0.04)
    assert calibration_error(np.full(10, 0.5), np.repeat([0.0, 1.0], 5)) == pytest.approx(0)
    assert calibration_error(np.full(10, 0.9), np.zeros(10)) == pytest.approx(0.9)


def test_networks_of_a_room():
    assert ROLES == ("landlord", "landlord_down", "landlord_up")
    assert net_names((PRESETS["play_only"],)) == ROLES
    assert net_names((PRESETS["play_only"], PRESETS["happy"])) == (*ROLES, BEFORE)
    phase = np.array([Phase.PLAY, Phase.FILL, Phase.PLAY, Phase.CALL, Phase.DOUBLE])
    seat, landlord = np.array([1, 0, 0, 2, 2]), np.array([1, 2, 1, -1, 2])
    assert net_of(phase, seat, landlord).tolist() == [0, 1, 2, 3, 3]


@pytest.mark.parametrize(
    ("done", "lr", "explore"),
    [(0.0, 1.0, 0.3), (0.35, 0.685, 0.2), (0.5, 0.55, 0.3 - 0.2 / 1.4), (0.7, 0.37, 0.1),
     (0.9, 0.19, 0.1), (1.0, 0.1, 0.1)],
)  # fmt: skip
def test_schedule(done, lr, explore):
    config = DMCConfig(lr=1.0, lr_end=0.1, explore=0.3, explore_end=0.1)
    got, how = schedule(config, done)
    assert (got, how.explore) == pytest.approx((lr, explore))


def test_objectives():
    """mixed: the chance of winning in the first half, then points."""
    goes_by_points = {
        name: [schedule(DMCConfig(objective=name), done)[1].adp for done in (0, 0.49, 0.5, 1)]
        for name in ("wp", "adp", "mixed")
    }
    assert goes_by_points == {
        "wp": [False] * 4, "adp": [True] * 4, "mixed": [False, False, True, True],
    }  # fmt: skip
    finals = [final_objective(DMCConfig(objective=name)) for name in ("wp", "adp", "mixed")]
    assert finals == ["wp", "adp", "adp"]


def test_average_of_the_weights():
    """The first average after n updates keeps k / (k + 10) of the old one, k the k-th averaging."""
    config = dataclasses.replace(CONFIG, average_every=2, average=0.15)
    learner = Learner(config, ROLES, 1)
    start = [p.detach().clone() for p in learner.nets.parameters()]
    batches = [random_batch(role)[1] for role in range(3)]
    learner.update(batches, 1e-2)
    for mean, old in zip(learner.average.parameters(), start, strict=True):
        assert torch.equal(mean, old)  # no averaging yet
    for kept in (1 / 11, 0.15):  # 1 / 11; then 2 / 12 is above the limit of .15
        before = [p.detach().clone() for p in learner.average.parameters()]
        while learner.updates % 2 or learner.updates == 0:
            learner.update(batches, 1e-2)
        now = zip(learner.average.parameters(), before, learner.nets.parameters(), strict=True)
        for mean, old, new in now:
            assert torch.allclose(mean, kept * old + (1 - kept) * new, atol=1e-6)
        learner.update(batches, 1e-2)


def test_learns_a_small_batch_by_heart():
    """Who wins, and the mean of the points."""
    learner = Learner(dataclasses.replace(CONFIG, net=NetConfig(64, 32, 32)), ROLES, 1)
    batches = [random_batch(role)[1] for role in range(3)]
    learner.update(batches, 3e-3)
    losses = [f"loss/chance_{name}" for name in ROLES]
    assert min(learner.metrics[name] for name in losses) > 0.4
    for _ in range(200):
        learner.update(batches, 3e-3)
    assert max(learner.metrics[name] for name in losses) < 0.1
    assert all(np.isfinite(value) for value in learner.metrics.values())


def test_a_network_without_samples_is_left_as_it_is():
    learner = Learner(CONFIG, (*ROLES, BEFORE), 1)
    before = copy.deepcopy(learner.nets[3].state_dict())
    learner.update([*(random_batch(role)[1] for role in range(3)), None], 1e-2)
    assert all(torch.equal(before[k], v) for k, v in learner.nets[3].state_dict().items())


# ------------------------------------------------------------------------------------- samples


def test_store_and_load_are_inverse():
    rng = np.random.default_rng(3)
    offsets, bits, _ = random_lists(rng, 50, 700)
    out = np.zeros((80, 12), np.uint16)
    slots = rng.permutation(80)[:50]
    which = rng.permutation(50)
    store(out, slots, offsets, bits, which)
    back_offsets, back = np.zeros(51, np.int64), np.zeros(len(bits), np.uint16)
    assert load(out, slots, back_offsets, back) == len(bits)
    for i in range(50):
        wanted = bits[offsets[which[i]] : offsets[which[i] + 1]]
        assert np.array_equal(back[back_offsets[i] : back_offsets[i + 1]], wanted)


def numbered(values):
    """Samples of which each tells its number: as the only one of its lists, and in its points."""
    samples = np.zeros(len(values), SAMPLE)
    samples["state"][:, :2] = np.stack([np.ones(len(values)), values], axis=1)
    samples["action"][:, :2] = np.stack([np.ones(len(values)), np.add(values, 100)], axis=1)
    samples["facts"][:, 0] = samples["points"] = samples["target"] = values
    return samples


def test_window_overwrites_the_oldest_and_keeps_samples_whole():
    window, rng, value = Window(10), np.random.default_rng(0), 0
    for size in (3, 4, 0, 5, 2, 10, 1, 25, 3):
        window.add(numbered(np.arange(value, value + size)))
        value += size
        batch = window.draw(400, rng)
        numbers = batch.state.bits[:400]
        assert window.added == value
        assert set(numbers.tolist()) == set(range(max(0, value - 10), value))
        assert np.array_equal(batch.actions.bits[:400], numbers + 100)
        assert np.array_equal(batch.state.offsets, np.arange(401))
        assert np.array_equal(batch.points.numpy(), numbers)
        assert np.array_equal(batch.target.numpy(), numbers)
        assert np.array_equal(batch.facts[:, 0].numpy(), numbers)
        assert batch.facts.shape == (400, FACTS) and batch.points.dtype == torch.float32


def test_kept_samples_are_their_inputs():
    views, legal = positions(num_envs=40, steps=30)
    inputs, out = read(views, legal), np.zeros(100, SAMPLE)
    rows = np.array([3, 7, 30])
    chosen = legal.offsets[rows + 1] - 1
    keep(out, np.array([5, 50, 0]), 2, inputs, rows, chosen)
    for slot, row, place in zip((5, 50, 0), rows, chosen, strict=True):
        sample = out[slot]
        for name, lists, i in (("state", inputs.state, row), ("action", inputs.actions, place)):
            ones = lists.bits[lists.offsets[i] : lists.offsets[i + 1]]
            assert sample[name][0] == len(ones)
            assert np.array_equal(sample[name][1 : 1 + len(ones)], ones)
        assert np.allclose(sample["facts"], inputs.facts[place], rtol=1e-3)
        assert sample["net"] == 2
    assert not out[[1, 6, 49, 51]]["state"].any()


def choices_of(collector, nets, rng):
    """Play a game to its end; choices by network in the last deal, points by seat, samples."""
    counts, games = [0] * (len(ROLES) + 1), collector.counts["games"]
    while True:
        state = collector.env.states[0].copy()
        if len(collector.env.legal().ids) > 1:
            view = collector.env.views()
            sure = read(view, collector.env.legal()).sure[0]
            k = int(net_of(state["phase"], state["turn"], state["landlord"]))
            counts[k] += k < len(nets) and sure < 0
        samples = collector.step(nets, RANDOMLY)
        if collector.counts["games"] > games:
            return counts, collector.env.scores[0] / QUARTERS, samples
        if collector.env.states["redeals"][0] > state["redeals"]:  # a deal that nobody played
            assert np.bincount(samples["net"], minlength=4).tolist() == counts
            assert len(samples) and not samples["points"].any()
            assert (samples["target"] == 0.5).all()
            counts = [0] * (len(ROLES) + 1)
        else:
            assert len(samples) == 0


@pytest.mark.parametrize("rules", sorted(PRESETS))
def test_a_games_choices_become_its_samples(rules):
    """Each choice of a game that wins nothing for certain is a sample once the game has ended."""
    collector = Collector(PRESETS[rules], 1, 7, np.random.default_rng(0))
    nets, played = small_nets(rules), 0
    for _ in range(16):
        counts, points, samples = choices_of(collector, nets, np.random.default_rng(0))
        assert np.bincount(samples["net"], minlength=4).tolist() == counts
        if not points.any():
            assert not samples["points"].any()  # a void deal
            assert (samples["target"] == 0.5).all()
            continue
        played += 1
        assert set(samples["points"].tolist()) <= set(points.tolist())
        for k in range(3):
            assert len(set(samples["points"][samples["net"] == k].tolist())) <= 1
    assert played >= 3 and collector.counts["games"] == 16


def test_samples_are_what_was_seen_and_chosen():
    """Of every sample: the state's role is the network's, and hand = cards taken + cards left."""
    collector = Collector(PRESETS["play_only"], 48, 3, np.random.default_rng(0))
    nets, found = small_nets(), []
    while sum(map(len, found)) < 900:
        found.append(collector.step(nets, Behaviour(0.1, False)))
    s, a = STATE_OFFSETS, ACTION_OFFSETS
    for sample in np.concatenate(found):
        state = dense(sample["state"][1 : 1 + sample["state"][0]], STATE_SIZE)
        action = dense(sample["action"][1 : 1 + sample["action"][0]], ACTION_SIZE)
        wanted = [int(r == sample["net"]) for r in range(4)]
        assert state[s["role"] : s["role"] + 4].tolist() == wanted
        hand = state[s["hand"] : s["hand"] + CARDS]
        taken = action[a["cards"] : a["cards"] + CARDS]
        left = action[a["left"] : a["left"] + CARDS]
        assert hand.sum() == taken.sum() + left.sum() > 0
        assert np.all(left <= hand) and sample["points"] != 0


def guest_games(guests, share, games=60, rules="play_only"):
    """Sets of networks that each game's samples are of, and the points of a sample of each."""
    rng = np.random.default_rng(4)
    collector = Collector(PRESETS[rules], 1, 7, rng, guests, share)
    nets, found, points = small_nets(rules), [], []
    while len(found) < games:
        samples = collector.step(nets, RANDOMLY)
        if len(samples):
            found.append(frozenset(samples["net"].tolist()) & {0, 1, 2})
            points.append(samples["points"][-1])
    return found, np.array(points)


@pytest.mark.parametrize("rules", ["play_only", "happy"])
def test_guests_take_one_side(rules):
    """Of a game with a guest, choices of one side alone are learned; random play loses to it."""
    found, points = guest_games("greedy", 1.0, rules=rules)
    sides = [bool(f & {0}) + 2 * bool(f & {1, 2}) for f in found if f]
    assert set(sides) == {1, 2} and (points < 0).mean() > 0.7
    found, _ = guest_games("greedy", 0.4, rules=rules)
    both = np.mean([f > {0} for f in found])
    assert 0.3 < both < 0.85
    found, points = guest_games("", 1.0, rules=rules)
    assert np.mean([f > {0} for f in found]) > 0.9


def test_several_guests_take_turns():
    """Each one of a list comes, for either side, and decides as it does alone."""
    env = VecEnv(60, PRESETS["play_only"], 5)
    guests = Guests("greedy,planner", 1.0, env.rules, 60, np.random.default_rng(1))
    greedy, planner = (agents.load(name, env.rules) for name in ("greedy", "planner"))
    differed = 0
    for _ in range(12):
        legal = env.legal()
        who = guests.deciding(env.states)
        assert set(who.tolist()) == {-1, 0, 1}
        rows, ids = guests.act(env, legal, who)
        assert sorted(rows.tolist()) == np.flatnonzero(who >= 0).tolist()
        choices = [agent.act(env.views(), legal) for agent in (greedy, planner)]
        assert np.array_equal(ids, np.array(choices)[who[rows], rows])
        differed += int((choices[0] != choices[1]).sum())
        env.step(choices[0])
    assert differed > 20


def games_alike(states):
    """Pairs of rows that hold the same game, whatever deals come after it."""
    games = states.copy()
    games["seed"] = 0
    first = {}
    return [
        (first[key], row)
        for row, key in enumerate(game.tobytes() for game in games)
        if first.setdefault(key, row) != row
    ]


@pytest.mark.parametrize("rules", ["play_only", "happy_laizi"])
def test_copies_of_games_take_another_action(rules):
    """A copy differs from its model by the first choice that wins nothing for certain."""
    collector = Collector(PRESETS[rules], 96, 5, np.random.default_rng(1), forks=0.6)
    nets, copies, alike, found = small_nets(rules), 0, 0, []
    for _ in range(150):
        states = collector.env.states
        assert len(set(states["seed"].tolist())) == 96  # other deals come after a copy
        pairs = games_alike(states)
        views, legal = collector.env.views(), collector.env.legal()
        sure, sizes = read(views, legal).sure, np.diff(legal.offsets)
        forced = [(sizes[i] == 1) or (sure[i] >= 0) for i, _ in pairs]
        found.append(collector.step(nets, GREEDILY))
        still = set(games_alike(collector.env.states))
        over = collector.env.done
        for (i, j), same in zip(pairs, forced, strict=True):
            copies += not same
            if same:
                alike += 1
            elif not (over[i] or over[j]):
                assert (i, j) not in still and (j, i) not in still
    assert copies > 40 and alike > 5
    samples = np.concatenate(found)
    assert np.all(samples["points"] != 0)
    keys = [s.tobytes() for s in np.column_stack([samples["state"], samples["action"]])]
    if rules == "play_only":  # elsewhere seats choose without seeing what others just chose
        # Nothing is learned from twice; two ways to one position are rare.
        assert len(set(keys)) > 0.998 * len(keys)


def test_without_copies_no_games_are_alike():
    collector = Collector(PRESETS["play_only"], 96, 5, np.random.default_rng(1))
    for _ in range(60):
        collector.step(small_nets(), GREEDILY)
        assert not games_alike(collector.env.states)


def test_exploration_is_random_and_its_absence_is_not():
    """Without exploration the nets alone decide; the generator then changes nothing."""
    nets = small_nets()
    traces = []
    for how, seed in ((GREEDILY, 1), (GREEDILY, 2), (RANDOMLY, 1), (RANDOMLY, 2)):
        collector = Collector(PRESETS["play_only"], 48, 5, np.random.default_rng(seed))
        for _ in range(30):
            collector.step(nets, how)
        traces.append(collector.env.states.tobytes())
    assert traces[0] == traces[1] and len(set(traces)) == 3


def test_exploration_before_the_play_is_its_own():
    """Of the first call, and of the first play."""
    for rules, calls, explore in (("qq_classic", 0.0, 1.0), ("play_only", 1.0, 0.0)):
        nets, traces = small_nets(rules), []
        for how in (Behaviour(explore, False, calls), Behaviour(1 - explore, False, 1 - calls)):
            for seed in (1, 2):
                collector = Collector(PRESETS[rules], 48, 5, np.random.default_rng(seed))
                collector.step(nets, how)
                traces.append(collector.env.states.tobytes())
        assert traces[0] == traces[1] and traces[2] != traces[3]


def test_a_deal_that_nobody_played_counts_as_half_won():
    """And says nothing of the points: a network that is asked learns a chance of a half."""
    inputs, batch = random_batch(0)
    net = RoleNet(SMALL)
    nothing = batch._replace(points=0 * batch.points, target=results_of(0 * batch.points))
    found = losses_of(net, nothing, CPU)
    logits = torch.from_numpy(net.score_lists(inputs)[:, 0])
    wanted = -(torch.sigmoid(logits).log() + torch.sigmoid(-logits).log()).mean() / 2
    assert found.chance.item() == pytest.approx(wanted.item(), abs=1e-5)
    assert found.points.item() == 0
    (found.chance + found.points).backward()
    assert net.out.weight.grad[0].any() and not net.out.weight.grad[1:].any()


def test_what_happened_is_counted():
    collector = Collector(PRESETS["happy"], 64, 5, np.random.default_rng(1))
    nets, ended = small_nets("happy"), 0
    for _ in range(120):
        collector.step(nets, RANDOMLY)
        ended += int(collector.env.done.sum())
    counts = collector.counts
    assert counts["games"] == ended > 20 and counts["decisions"] == 64 * 120
    assert 0 < counts["landlord_wins"] < ended
    for name in ("call", "rob", "double", "show"):
        assert 0.2 < counts[name] / counts[f"{name} asked"] < 0.8, name
    assert counts["bombs"] > 0


# --------------------------------------------------------------------------------- checkpoints


@pytest.fixture
def saved(tmp_path):
    """(path, content, agent) of a checkpoint."""
    nets, rooms = small_nets(), (PRESETS["play_only"],)
    data = header(rooms, SMALL, "wp") | {"average": nets.state_dict()}
    path = tmp_path / "last.pt"
    save_checkpoint(path, data)
    assert [p.name for p in tmp_path.iterdir()] == ["last.pt"]
    return path, data, ValueAgent(nets, rooms)


@pytest.mark.parametrize(("spec", "objective"), [("", "wp"), (",objective=adp", "adp")])
def test_objective_of_a_spec(saved, spec, objective):
    assert agents.load(f"dmc:{saved[0]}{spec}").objective == objective


@pytest.mark.parametrize("rest", [",objective=gold", ",objective=", ",x", ",speed=3"])
def test_wrong_options_of_a_spec(saved, rest):
    with pytest.raises(agents.AgentError, match="dmc") as error:
        agents.load(f"dmc:{saved[0]}{rest}")
    assert "\n" not in str(error.value)


def test_several_rooms(tmp_path):
    path = tmp_path / "last.pt"
    save_checkpoint(path, fresh("play_only,happy"))
    for name in ("play_only", "happy"):
        views, legal = positions(name, num_envs=20)
        assert len(agents.load(f"dmc:{path}", PRESETS[name]).act(views, legal)) == 20
    with pytest.raises(agents.AgentError, match="play_only or happy, not for laidou"):
        agents.load(f"dmc:{path}", PRESETS["laidou"])


def test_checkpoint_round_trip(saved):
    path, _, agent = saved
    back = agents.load(f"dmc:{path}", PRESETS["play_only"])
    assert back.rooms == agent.rooms
    views, legal = positions(num_envs=50)
    assert np.array_equal(back.act(views, legal), agent.act(views, legal))
    for mine, its in zip(agent.nets.parameters(), back.nets.parameters(), strict=True):
        assert torch.equal(mine, its)


def test_learner_round_trip():
    """A learner that goes on from a saved one takes the same steps."""
    learner = Learner(CONFIG, ROLES, 1)
    batches = [random_batch(role)[1] for role in range(3)]
    for _ in range(12):
        learner.update(batches, 1e-3)
    other = Learner(CONFIG, ROLES, 2)
    other.load_state_dict(copy.deepcopy(learner.state_dict()))
    for _ in range(12):
        learner.update(batches, 5e-4)
        other.update(batches, 5e-4)
        assert learner.metrics == other.metrics
    for mine, its in zip(learner.average.parameters(), other.average.parameters(), strict=True):
        assert torch.equal(mine, its)
    assert other.updates == 24


def test_begin_from_another_players_weights():
    """A network that it lacks stays fresh; larger networks are refused."""
    data = fresh(net=SMALL)
    learner = Learner(CONFIG, (*ROLES, BEFORE), 1)
    own = copy.deepcopy(learner.nets[3].state_dict())
    learner.begin_from(data)
    for name, value in learner.average.state_dict().items():
        wanted = data["average"].get(name)
        assert torch.equal(value, own[name.partition(".")[2]] if wanted is None else wanted)
    with pytest.raises(agents.AgentError, match=r"--init-from.*sizes"):
        Learner(CONFIG, ROLES, 1).begin_from(fresh(net=dataclasses.replace(SMALL, head=16)))


@pytest.mark.parametrize("wider", ["hidden", "state", "head"])
def test_grown_networks_value_as_before(wider):
    """Begun with smaller networks, larger ones say the same; and all their units learn."""
    size = NetConfig(**(asdict(SMALL) | {wider: 2 * getattr(SMALL, wider)}))
    config = dataclasses.replace(CONFIG, net=size)
    small, large = Learner(CONFIG, ROLES, 1), Learner(config, ROLES, 2)
    large.begin_from(fresh(net=SMALL) | {"average": small.average.state_dict()})
    for role in range(3):
        inputs, _ = random_batch(role)
        assert np.allclose(
            large.nets[role].score_lists(inputs), small.nets[role].score_lists(inputs), atol=1e-5
        )
    before = copy.deepcopy(large.nets.state_dict())
    for _ in range(5):
        large.update([random_batch(role)[1] for role in range(3)], 1e-3)
    for name, value in small.nets.state_dict().items():
        learned = large.nets.state_dict()[name] != before[name]
        learned[tuple(slice(0, n) for n in value.shape)] = False
        assert learned.any() == (learned.shape != value.shape), name
    with pytest.raises(agents.AgentError, match=r"--init-from.*larger"):
        large.begin_from(fresh(net=SMALL) | {"net": asdict(SMALL) | {"facts": False}})


def test_checkpoint_of_another_room(saved):
    path, _, _ = saved
    with pytest.raises(agents.AgentError, match=r"last\.pt.*play_only.*qq_classic"):
        agents.load(f"dmc:{path}", PRESETS["qq_classic"])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("schema_hash", "0" * 12),
        ("schema", "ddz-obs-v9"),
        ("format", "ddz-dmc-9"),
        ("facts_hash", "1" * 12),
    ],
)
def test_checkpoint_of_another_version(saved, key, value):
    path, data, _ = saved
    save_checkpoint(path, data | {key: value})
    with pytest.raises(agents.AgentError) as error:
        from_checkpoint(path)
    text = str(error.value)
    assert value in text and str(data[key]) in text and str(path) in text and "\n" not in text
    assert schema_hash() in text and SCHEMA_NAME in text


@pytest.mark.parametrize(
    "broken",
    [
        lambda whole: b"",
        lambda whole: b"not a checkpoint",
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:-1],
        lambda whole: bytes(len(whole)),
    ],
)
def test_broken_file(saved, broken):
    path, _, _ = saved
    path.write_bytes(broken(path.read_bytes()))
    with pytest.raises(agents.AgentError, match=r"last\.pt.*not a checkpoint") as error:
        agents.load(f"dmc:{path}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: {},
        lambda data: {k: v for k, v in data.items() if k != "average"},
        lambda data: data | {"net": dataclasses.asdict(NetConfig(8, 8, 8))},
        lambda data: data | {"net": {"depth": 3}},
        lambda data: data | {"rooms": [data["rooms"][0] | {"unheard_of": 1}]},
        lambda data: [1, 2],
    ],
)
def test_incomplete_checkpoint(saved, change):
    path, data, _ = saved
    save_checkpoint(path, change(data))
    with pytest.raises(agents.AgentError, match=r"last\.pt") as error:
        agents.load(f"dmc:{path}")
    assert "\n" not in str(error.value)


def test_no_file(tmp_path):
    for path in (tmp_path / "none.pt", tmp_path):
        with pytest.raises(agents.AgentError, match="no such file"):
            read_checkpoint(path)


def test_saving_replaces_whole_files(saved, monkeypatch):
    """A write that fails half-way leaves the former checkpoint and no other file."""
    path, data, _ = saved

    def fail(data, file):
        file.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(torch, "save", fail)
    before = path.read_bytes()
    with pytest.raises(OSError, match="disk full"):
        save_checkpoint(path, data)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["last.pt"]
