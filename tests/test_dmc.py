"""Deep Monte-Carlo: kernels, network, samples, learning, checkpoints."""

import copy
import dataclasses
from itertools import pairwise

import numpy as np
import pytest
import torch
from tables import alone, many_positions, positions, row_of
from torch.nn.functional import binary_cross_entropy_with_logits

import agents
from agents.dmc import (
    ROLES,
    DMCAgent,
    NetConfig,
    RoleNet,
    add_to_rows,
    best_of,
    from_checkpoint,
    header,
    make_nets,
    read_checkpoint,
    repeat_rows,
    sum_rows,
)
from ddz_env import PRESETS
from ddz_env.catalogue import TABLES
from ddz_env.features import (
    ACTION_OFFSETS,
    ACTION_SIZE,
    CARDS,
    MAX_ACTION_BITS,
    MAX_STATE_BITS,
    SCHEMA_NAME,
    STATE_OFFSETS,
    STATE_SIZE,
    dense,
    schema_hash,
)
from ddz_env.state import Phase
from ddz_env.vector import Bits, encode_actions, encode_views
from train.common import save_checkpoint
from train.dmc import Collector, DMCConfig, Learner, loss_of, schedule, targets
from train.samples import Window, load, store

SMALL = NetConfig(hidden=24, state=16, head=8)
CONFIG = DMCConfig(workers=1, games=48, batch=64, window=512, net=SMALL)


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


def encoded(views, legal):
    """State and action bits of a batch."""
    states = Bits(np.zeros(len(views) + 1, np.int64), np.zeros(len(views) * MAX_STATE_BITS, "u2"))
    encode_views(views, TABLES, *states)
    n = len(legal.ids)
    actions = Bits(np.zeros(n + 1, np.int64), np.zeros(n * MAX_ACTION_BITS, "u2"))
    encode_actions(np.ascontiguousarray(views["hand"]), *legal, TABLES, *actions)
    return states, actions


def matrix_of(lists, size):
    """The dense form of lists of ones, `float64[B, size]`."""
    offsets, bits = lists
    rows = [dense(bits[i:j], size) for i, j in pairwise(offsets)]
    return torch.tensor(np.array(rows), dtype=torch.float64)


def dense_logits(net, states, actions):
    """The network's logits by plain matrix products in double precision."""
    hidden = torch.relu(matrix_of(states, STATE_SIZE) @ net.state_in + net.state_bias)
    mixed = net.state_out(hidden) + matrix_of(actions, ACTION_SIZE) @ net.action_in
    return net.out(torch.relu(net.head(torch.relu(mixed))))[:, 0]


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


def test_logits_and_gradients_are_those_of_matrix_products():
    views, legal = positions(num_envs=30, steps=25)
    first = legal.take(np.arange(len(views)))
    one = first._replace(
        offsets=np.arange(len(views) + 1), ids=np.ascontiguousarray(first.ids[first.offsets[:-1]])
    )
    states, actions = encoded(views, one)
    target = torch.from_numpy(np.random.default_rng(0).integers(0, 2, 30).astype(np.float32))
    net = RoleNet(SMALL)
    double = copy.deepcopy(net).double()
    loss = loss_of(net, (states, actions, target))
    loss.backward()
    wanted = binary_cross_entropy_with_logits(
        dense_logits(double, states, actions), target.double()
    )
    wanted.backward()
    assert loss.item() == pytest.approx(wanted.item(), abs=1e-5)
    for (name, got), (_, want) in zip(
        net.named_parameters(), double.named_parameters(), strict=True
    ):
        assert want.grad.abs().max() > 1e-6, name
        assert torch.allclose(got.grad.double(), want.grad, atol=1e-6), name


def test_lists_are_scored_as_row_by_row():
    views, legal = positions(num_envs=40, steps=30)
    states, actions = encoded(views, legal)
    net = RoleNet(SMALL).eval()
    got = net.score_lists(*states, legal.offsets, *actions)
    wanted = []
    for i in range(len(views)):
        for j in range(legal.offsets[i], legal.offsets[i + 1]):
            embedded = net.embed(*piece(states, i))
            wanted.append(net.score(embedded, *piece(actions, j)).item())
    assert len(wanted) == len(legal.ids) > 150
    assert np.allclose(got.numpy(), wanted, atol=1e-5)


def piece(lists, i):
    """One list of ones, as lists of one."""
    offsets, bits = lists
    begin, end = offsets[i], offsets[i + 1]
    return np.array([0, end - begin]), bits[begin:end]


@pytest.mark.parametrize("rules", sorted(PRESETS))
def test_a_row_does_not_see_its_neighbours(rules):
    """Where the two best values are no tie to within rounding, the batch chooses as one by one."""
    views, legal = many_positions(rules, num_envs=40)
    agent = DMCAgent(make_nets(SMALL).eval(), PRESETS[rules])
    together, single = agent.act(views, legal), alone(agent, views, legal)
    differ = np.flatnonzero(together != single)
    assert len(differ) <= 0.01 * len(views)
    for i in differ:
        role = int(views[i]["seat"] - views[i]["landlord"]) % 3
        values = np.sort(agent.values(role, views[i : i + 1], legal.take(np.array([i]))))
        assert values[-1] - values[-2] < 1e-5
    assert all(together[i] in row_of(legal, i) for i in range(len(views)))


def test_the_agent_plays_the_highest_value_of_its_role():
    views, legal = many_positions(num_envs=20, stops=(30, 31, 32))
    nets = make_nets(SMALL).eval()
    agent = DMCAgent(nets, PRESETS["play_only"])
    chosen = agent.act(views, legal)
    roles = set()
    for i, view in enumerate(views):
        role = int(view["seat"] - view["landlord"]) % 3
        row = legal.take(np.array([i]))
        states, actions = encoded(views[i : i + 1], row)
        logits = dense_logits(copy.deepcopy(nets[role]).double(), expand(states, row), actions)
        place = int(np.searchsorted(row.ids, chosen[i]))
        assert logits[place].item() == pytest.approx(logits.max().item(), abs=1e-5)
        roles.add(role)
    assert roles == {0, 1, 2}


def expand(states, legal):
    """The single state's list, once for every listed action."""
    n = len(legal.ids)
    size = int(states.offsets[1])
    return Bits(np.arange(n + 1) * size, np.tile(states.bits[:size], n))


def test_calls_as_greedy():
    views, legal = positions("qq_classic", num_envs=100, steps=0)
    assert np.all(views["phase"] == Phase.CALL_POINTS)
    agent = DMCAgent(make_nets(SMALL).eval(), PRESETS["qq_classic"])
    assert np.array_equal(agent.act(views, legal), agents.load("greedy").act(views, legal))


# ------------------------------------------------------------------------------ closed forms


def test_targets():
    assert targets(True) == (1.0, 0.0, 0.0)
    assert targets(False) == (0.0, 1.0, 1.0)
    assert ROLES == ("landlord", "landlord_down", "landlord_up")


@pytest.mark.parametrize(
    ("done", "lr", "explore"),
    [(0.0, 1.0, 0.3), (0.35, 0.685, 0.2), (0.5, 0.55, 0.3 - 0.2 / 1.4), (0.7, 0.37, 0.1),
     (0.9, 0.19, 0.1), (1.0, 0.1, 0.1)],
)  # fmt: skip
def test_schedule(done, lr, explore):
    config = DMCConfig(lr=1.0, lr_end=0.1, explore=0.3, explore_end=0.1)
    assert schedule(config, done) == pytest.approx((lr, explore))


def test_average_of_the_weights():
    """The first average after n updates keeps k / (k + 10) of the old one, k the k-th averaging."""
    learner = Learner(dataclasses.replace(CONFIG, average_every=2, average=0.15), 1)
    start = [p.detach().clone() for p in learner.nets.parameters()]
    batches = [random_batch(role) for role in range(3)]
    learner.update(batches, 1e-2)
    for mean, old in zip(learner.average.parameters(), start, strict=True):
        assert torch.equal(mean, old)  # no averaging yet
    for keep in (1 / 11, 0.15):  # 1 / 11; then 2 / 12 is above the limit of .15
        before = [p.detach().clone() for p in learner.average.parameters()]
        while learner.updates % 2 or learner.updates == 0:
            learner.update(batches, 1e-2)
        now = zip(learner.average.parameters(), before, learner.nets.parameters(), strict=True)
        for mean, old, new in now:
            assert torch.allclose(mean, keep * old + (1 - keep) * new, atol=1e-6)
        learner.update(batches, 1e-2)


def random_batch(role, n=48):
    """Samples of one role from random play, with random targets."""
    views, legal = many_positions(num_envs=60, stops=(1, 20, 45), seed=role)
    rows = np.flatnonzero((views["seat"] - views["landlord"]) % 3 == role)[:n]
    views, legal = views[rows], legal.take(rows)
    one = legal._replace(
        offsets=np.arange(len(rows) + 1), ids=np.ascontiguousarray(legal.ids[legal.offsets[:-1]])
    )
    states, actions = encoded(views, one)
    target = np.random.default_rng(role).integers(0, 2, len(rows)).astype(np.float32)
    return states, actions, torch.from_numpy(target)


def test_learns_a_small_batch_by_heart():
    learner = Learner(dataclasses.replace(CONFIG, net=NetConfig(64, 32, 32)), 1)
    batches = [random_batch(role) for role in range(3)]
    first = learner.update(batches, 3e-3)
    assert min(first) > 0.4
    for _ in range(200):
        losses = learner.update(batches, 3e-3)
    assert max(losses) < 0.1


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


def sample_rows(values, width):
    """Stored lists of a single one each: the value."""
    rows = np.zeros((len(values), width), np.uint16)
    rows[:, 0], rows[:, 1] = 1, values
    return rows


def test_window_overwrites_the_oldest():
    window = Window(10)
    rng = np.random.default_rng(0)
    value = 0
    for size in (3, 4, 0, 5, 2, 10, 1):
        values = np.arange(value, value + size)
        value += size
        state = sample_rows(values, 1 + MAX_STATE_BITS)
        action = sample_rows(values + 100, 1 + MAX_ACTION_BITS)
        window.add(state, action, float(value % 2))
        held = set(range(max(0, value - 10), value))
        (s_offsets, s_bits), (a_offsets, a_bits), target = window.draw(400, rng)
        assert window.added == value
        assert set(s_bits[:400].tolist()) == held
        assert np.array_equal(a_bits[:400], s_bits[:400] + 100)
        assert np.array_equal(s_offsets, np.arange(401))
        assert np.array_equal(a_offsets, np.arange(401))
        assert target.dtype == torch.float32 and target.shape == (400,)


def test_window_keeps_targets_with_their_samples():
    window, rng = Window(6), np.random.default_rng(0)
    for value in range(20):
        row = np.array([value, value])
        states, actions = (sample_rows(row, 1 + n) for n in (MAX_STATE_BITS, MAX_ACTION_BITS))
        window.add(states, actions, value / 100)
        (_, bits), _, target = window.draw(50, rng)
        assert np.allclose(bits[:50] / 100, target.numpy())


def window_rows(window):
    """(state, action, target) of everything that a window holds, in dense form."""
    for i in range(min(window.added, window.size)):
        state, action = window.state[i], window.action[i]
        yield (
            dense(state[1 : 1 + state[0]], STATE_SIZE),
            dense(action[1 : 1 + action[0]], ACTION_SIZE),
            window.target[i],
        )


@pytest.mark.parametrize("rules", sorted(PRESETS))
def test_a_games_choices_become_its_samples(rules):
    """Each choice of a game is a sample of its role, in order, once the game has ended."""
    config = dataclasses.replace(CONFIG, games=1)
    collector = Collector(config, PRESETS[rules], 7, np.random.default_rng(0))
    nets = make_nets(SMALL).eval()
    results = set()
    for _ in range(16):
        before = [window.added for window in collector.windows]
        choices, games = [0, 0, 0], collector.games
        while collector.games == games:
            assert [window.added for window in collector.windows] == before
            state = collector.env.states[0]
            landlord = int(state["landlord"])
            playing = state["phase"] in (Phase.PLAY, Phase.FILL)
            if playing and len(collector.env.legal().ids) > 1:
                choices[(state["turn"] - landlord) % 3] += 1
            collector.step(nets, explore=1.0)
        won = bool(collector.env.scores[0, landlord] > 0)
        results.add(won)
        for role, window in enumerate(collector.windows):
            assert window.added - before[role] == choices[role]
            new = window.target[before[role] : window.added]
            assert np.all(new == targets(won)[role])
    assert results == {True, False}
    assert collector.games == 16


def test_samples_are_what_was_seen_and_chosen():
    """Of every sample: the state's role is the window's, and hand = cards taken + cards left."""
    collector = Collector(CONFIG, PRESETS["play_only"], 3, np.random.default_rng(0))
    nets = make_nets(SMALL).eval()
    while min(window.added for window in collector.windows) < 300:
        collector.step(nets, explore=0.1)
    s, a = STATE_OFFSETS, ACTION_OFFSETS
    for role, window in enumerate(collector.windows):
        for state, action, target in window_rows(window):
            assert state[s["role"] : s["role"] + 4].tolist() == [int(r == role) for r in range(4)]
            hand = state[s["hand"] : s["hand"] + CARDS]
            taken = action[a["cards"] : a["cards"] + CARDS]
            left = action[a["left"] : a["left"] + CARDS]
            assert hand.sum() == taken.sum() + left.sum() > 0
            assert np.all(left <= hand) and target in (0, 1)


def test_exploration_is_random_and_its_absence_is_not():
    """Without exploration the nets alone decide; the generator then changes nothing."""
    nets = make_nets(SMALL).eval()
    traces = []
    for explore, seed in ((0.0, 1), (0.0, 2), (1.0, 1), (1.0, 2)):
        collector = Collector(CONFIG, PRESETS["play_only"], 5, np.random.default_rng(seed))
        for _ in range(30):
            collector.step(nets, explore)
        traces.append(collector.env.states.tobytes())
    assert traces[0] == traces[1] and len(set(traces)) == 3


# --------------------------------------------------------------------------------- checkpoints


@pytest.fixture
def saved(tmp_path):
    """(path, content, agent) of a checkpoint."""
    nets = make_nets(SMALL).eval()
    rules = PRESETS["play_only"]
    data = header(rules, SMALL) | {"average": nets.state_dict()}
    path = tmp_path / "last.pt"
    save_checkpoint(path, data)
    assert [p.name for p in tmp_path.iterdir()] == ["last.pt"]
    return path, data, DMCAgent(nets, rules)


def test_checkpoint_round_trip(saved):
    path, _, agent = saved
    back = agents.load(f"dmc:{path}", PRESETS["play_only"])
    assert back.rules == agent.rules
    views, legal = positions(num_envs=50)
    assert np.array_equal(back.act(views, legal), agent.act(views, legal))
    for mine, its in zip(agent.nets.parameters(), back.nets.parameters(), strict=True):
        assert torch.equal(mine, its)


def test_learner_round_trip():
    """A learner that goes on from a saved one takes the same steps."""
    learner = Learner(CONFIG, 1)
    batches = [random_batch(role) for role in range(3)]
    for _ in range(12):
        learner.update(batches, 1e-3)
    other = Learner(CONFIG, 2)
    other.load_state_dict(copy.deepcopy(learner.state_dict()))
    for _ in range(12):
        assert learner.update(batches, 5e-4) == other.update(batches, 5e-4)
    for mine, its in zip(learner.average.parameters(), other.average.parameters(), strict=True):
        assert torch.equal(mine, its)
    assert other.updates == 24


def test_checkpoint_of_another_room(saved):
    path, _, _ = saved
    with pytest.raises(agents.AgentError, match=r"last\.pt.*play_only.*qq_classic"):
        agents.load(f"dmc:{path}", PRESETS["qq_classic"])


@pytest.mark.parametrize(
    ("key", "value"),
    [("schema_hash", "0" * 12), ("schema", "ddz-obs-v9"), ("format", "ddz-dmc-9")],
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
        lambda data: data | {"rules": data["rules"] | {"unheard_of": 1}},
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
