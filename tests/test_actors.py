"""Processes that play for a learner: blocks, questions, weights, and what happens when one ends."""

import os
import signal
import time

import numpy as np
import pytest
import torch
from torch import nn

from train.actors import ActorDied, Actors, Player, Weights
from train.samples import SAMPLE

SIZE = 4
BASE = 1_000_000
"""More than an actor counts while another one still starts; exact in float32."""


class Counter(Player):
    """Writes a running number into its blocks; does other things when it is told to."""

    def __init__(self, base, rank):
        self.base, self.rank, self.n = base, rank, 0

    def play(self, out, word):
        if word == "raise":
            raise RuntimeError("no cards today")
        if word == "exit":
            os._exit(3)
        if word == "hang":
            time.sleep(600)
        for row in out:
            row["points"] = self.base * self.rank + self.n
            self.n += 1
        return {"played": self.n}

    def evaluate(self, word):
        return (self.rank, word)


@pytest.fixture
def make():
    """Starts actors, and ends them after the test."""
    started = []

    def start(number, ahead=1):
        started.append(Actors(number, Counter, (BASE,), SIZE, ahead))
        return started[-1]

    yield start
    for actors in started:
        actors.close()


def pids(actors):
    return [process.pid for process in actors._processes]


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_blocks_questions_and_a_quiet_end(make):
    actors = make(2, ahead=2)
    seen = {1: [], 2: []}
    actors.go("play")
    while min(map(len, seen.values())) < 5 * SIZE:
        for block in actors.collect(None):
            assert block.samples.dtype == SAMPLE
            points = block.samples["points"].copy()
            seen[int(points[0]) // BASE].extend(points.tolist())
        actors.go("play")
    for rank, points in seen.items():
        assert points == [float(BASE * rank + i) for i in range(len(points))]
    actors.ask(["a", "b"])
    assert actors.answers() == [(1, "a"), (2, "b")]
    begin, processes = time.monotonic(), pids(actors)
    actors.close()
    assert time.monotonic() - begin < 10 and all(map(gone, processes))


def test_one_block_of_each_in_order(make):
    actors = make(2)
    for turn in range(3):
        actors.go("play")
        blocks = actors.collect(None, each=True)
        firsts = [float(block.samples["points"][0]) for block in blocks]
        assert firsts == [BASE + SIZE * turn, 2 * BASE + SIZE * turn]
        assert actors.counts == [{"played": SIZE * (turn + 1)}] * 2


@pytest.mark.parametrize(
    ("word", "said"), [("raise", "no cards today"), ("exit", "exit code 3"), ("hang", "SIGKILL")]
)
def test_an_actor_that_dies_is_told_within_seconds(make, word, said):
    actors = make(2)
    actors.go("play")
    actors.collect(None, each=True)
    actors._send(1, ("go", actors._free[1].pop(), word))
    if word == "hang":
        os.kill(pids(actors)[1], signal.SIGKILL)
    begin = time.monotonic()
    with pytest.raises(ActorDied, match=said) as error:
        while True:
            actors.collect(None)
    assert "actor 2" in str(error.value) and time.monotonic() - begin < 10
    assert ("Traceback" in str(error.value)) == (word == "raise")


def test_without_actors_there_is_nothing_to_wait_for():
    with Actors(0, Counter, (), SIZE, 1) as actors:
        actors.go("play")
        assert actors.collect(None, each=True) == [] == actors.answers()


@pytest.fixture
def two_nets():
    torch.manual_seed(0)
    return [nn.ModuleList([nn.Linear(3, 2), nn.Linear(2, 1)]) for _ in range(2)]


def equal(mine, its):
    pairs = zip(mine.parameters(), its.parameters(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def test_weights_are_fetched_as_published(two_nets):
    mine, its = two_nets
    weights = Weights(mine)
    version = weights.fetch(its, -1)
    assert version == 0 and equal(mine, its)
    for _ in range(3):
        with torch.no_grad():
            mine[0].weight += 1
        weights.publish(mine)
        version = weights.fetch(its, version)
        assert equal(mine, its)
    assert version == weights.version == 3
    with torch.no_grad():
        its[0].weight += 5  # a copy: what is shared does not change
    weights.fetch(its, -1)
    assert equal(mine, its) and np.isfinite(its[0].weight.detach().numpy()).all()


def test_weights_that_are_being_written_are_not_fetched(two_nets):
    """Not even half; nobody waits, so a learner that was killed while writing stops nobody."""
    mine, its = two_nets
    weights = Weights(mine)
    version = weights.fetch(its, -1)
    before = [p.clone() for p in its.parameters()]
    weights._begun += 1
    weights._flat += 7
    assert weights.fetch(its, version - 1) == version - 1
    assert all(torch.equal(a, b) for a, b in zip(before, its.parameters(), strict=True))
    weights._ended += 1
    assert weights.fetch(its, version) == version + 1
    assert torch.equal(its[1].bias, before[3] + 7)


def orphan(pipe):
    """A learner that starts an actor which never comes to an end of its own, and tells its id."""
    actors = Actors(1, Counter, (BASE,), SIZE, 1)
    actors.go("play")
    actors.collect(None, each=True)
    pipe.send(pids(actors)[0])
    time.sleep(600)


def test_actors_end_when_the_learner_is_killed():
    context = torch.multiprocessing.get_context("spawn")
    mine, its = context.Pipe()
    learner = context.Process(target=orphan, args=(its,))
    learner.start()
    actor = mine.recv()
    assert not gone(actor)
    learner.kill()
    learner.join()
    end = time.monotonic() + 30
    while not gone(actor) and time.monotonic() < end:
        time.sleep(0.1)
    assert gone(actor)
