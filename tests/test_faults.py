"""Agents that raise, answer nonsense, sleep, hang or crash, and workers that are killed."""

import json
import os
import signal
import threading
import time

import numpy as np
import pytest
from faulty_agents import Faulty

import agents
import eval.workers as workers
from ddz_env import PRESETS
from ddz_env.bots import GreedyBot, TrusteeBot
from ddz_env.vector import deal_seeds
from eval import tournament
from eval.chunks import Chunk, Pairing, play_chunk
from eval.games import FAULTS, Fault
from eval.guard import Guard, Late, within
from eval.match import Deals
from eval.workers import WorkerError, play_chunks


def chunk(a, b="greedy", deals=10, rules="play_only", number=0, **options):
    pairing = Pairing(a, b, PRESETS[rules], **options)
    return Chunk(0, number, pairing, Deals(deal_seeds(number, deals), 10 * number))


def played_by(chunks, processes):
    found = {}
    play_chunks(chunks, processes, lambda c, result: found.__setitem__(c.number, result))
    return [found[c.number] for c in chunks]


def faults(result, side=0):
    """Faults of the games of a chunk by name, those of one side."""
    counts = np.bincount(result.games["faults"][result.games["by"] == side], minlength=5)
    return {name: n for name, n in zip(FAULTS, counts[1:].tolist(), strict=True) if n}


# ------------------------------------------------------------------------------- in a process


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("Raises", "raised"),
        ("Exits", "raised"),
        ("Nonsense", "illegal"),
        ("Shapeless", "illegal"),
    ],
)
def test_one_seat_of_one_game_is_taken_over(name, fault):
    """Each of the three instances, one a seat and layout, fails in its 40th decision."""
    result = play_chunk(chunk(f"faulty_agents:{name}:at=40"))
    assert faults(result) == {fault: 3} and not faults(result, 1)
    clean = play_chunk(chunk("greedy"))
    same = result.games["faults"].max(axis=2) == 0
    assert same.size - 3 <= same.sum() <= same.size - 2  # both farmers of one game may fail
    assert np.array_equal(result.games["scores"][same], clean.games["scores"][same])
    assert len(result.notes[0]) == 3 and not result.notes[1]
    assert all(note.startswith(f"{fault} at deal ") for note in result.notes[0])
    assert "\n" not in "".join(result.notes[0])
    assert name != "Raises" or "RuntimeError: boom" in result.notes[0][0]


@pytest.mark.parametrize(
    ("name", "fault", "options"),
    [
        ("Raises", "raised", {}),
        ("Exits", "raised", {}),
        ("Shapeless", "illegal", {}),
        ("Sleeps", "late", {"move_time": 0.5}),
    ],
)
def test_a_fault_that_does_not_come_back_is_counted(name, fault, options):
    """In a call for several, none of which fails when it is asked alone: one seat an instance."""
    result = play_chunk(chunk(f"faulty_agents:{name}:at=40,again=false", **options))
    assert faults(result) == {fault: 3} and not faults(result, 1)
    assert all("in a call for" in note for note in result.notes[0])
    clean = play_chunk(chunk("greedy"))
    same = result.games["faults"].max(axis=2) == 0
    assert same.size - 3 <= same.sum() <= same.size - 1
    assert np.array_equal(result.games["scores"][same], clean.games["scores"][same])


def test_who_answers_one_decision_only_loses_one_seat():
    """It is asked one by one from its first failed call on."""

    class Single:
        def act(self, views, legal):
            return GreedyBot().act(views[:1], legal.take(np.array([0])))

    guard = Guard([0], 60)
    for _ in range(2):
        ask(guard, Single())
    assert guard.faults[0, 0] == Fault.ILLEGAL and guard.faults.astype(bool).sum() == 1
    assert len(guard.notes[0]) == 1


def test_the_trustee_plays_on():
    """Who fails in every first decision is the trustee from the first one on."""
    result = play_chunk(chunk("faulty_agents:Always", deals=30))
    by_trustee = play_chunk(chunk("trustee", deals=30))
    assert np.array_equal(result.games["scores"], by_trustee.games["scores"])
    assert np.array_equal(result.games["winner"], by_trustee.games["winner"])
    seats = result.games["by"] == 0
    asked = result.games["faults"][seats]
    assert set(asked) <= {0, Fault.ILLEGAL} and np.mean(asked > 0) > 0.9


def test_what_the_trustee_plays_from_the_fault_on():
    """Decision by decision: greedy's choices before the fault, the trustee's from it on."""
    room = PRESETS["play_only"]
    states = Deals(deal_seeds(3, 1)).start(room)
    guard, agent = Guard([0], 1), Faulty(at=4)
    agent.fail = lambda views, legal: np.array([-1])
    from ddz_env import core
    from eval.guard import cut

    chosen = []
    while states["phase"][0] < 12:
        rows = np.array([0])
        legal, _ = core.list_rows(states, rows, room.params())
        legal = legal.take(np.array([0]))
        lord = states["turn"][0] == 0
        if len(legal.ids) > 1 and lord:
            views = cut(states, rows, room.params())
            wanted = GreedyBot() if len(chosen) < 3 else TrusteeBot()
            action = guard(0, agent, states, rows, legal, room.params())
            assert action == wanted.act(views, legal)
            chosen.append(int(action[0]))
        else:
            action = legal.ids[:1].astype(np.int64)
        core.apply_rows(states, rows, action, room.params())
    assert len(chosen) > 4 and guard.faults[0].tolist() == [Fault.ILLEGAL, 0, 0]


def test_faults_in_calls_are_counted_apart():
    """The agent that makes all calls is replaced for the calls of that seat, and nobody else."""
    spoiled = chunk("greedy", "random", rules="qq_classic", calls="faulty_agents:Always")
    result = play_chunk(spoiled)
    assert result.calling_faults["illegal"] > 10 and not result.games["faults"].any()
    clean = play_chunk(chunk("greedy", "random", rules="qq_classic", calls="trustee"))
    assert np.array_equal(result.games["scores"], clean.games["scores"])


def test_an_agent_that_fails_itself_plays_on_elsewhere():
    result = play_chunk(chunk("faulty_agents:Raises:at=1", "faulty_agents:Always", deals=5))
    assert faults(result) == {"raised": 3} and set(faults(result, 1)) == {"illegal"}


# ---------------------------------------------------------------------------------- time


def test_a_sleeper_is_late():
    begin = time.monotonic()
    result = play_chunk(chunk("faulty_agents:Sleeps:at=40", move_time=0.3), warm=False)
    assert time.monotonic() - begin < 20
    assert faults(result) == {"late": 3}
    assert "took longer than 0.3 s" in result.notes[0][0]
    clean = play_chunk(chunk("greedy", move_time=0.3))
    same = result.games["faults"].max(axis=2) == 0
    assert np.array_equal(result.games["scores"][same], clean.games["scores"][same])


def test_a_limit_changes_nothing_for_who_keeps_it():
    free = play_chunk(chunk("greedy", "rlcard_rule", deals=50))
    limited = play_chunk(chunk("greedy", "rlcard_rule", deals=50, move_time=5.0))
    assert limited.games.tobytes() == free.games.tobytes()
    assert limited.times.sum() == free.times.sum()  # forced choices aren't asked, all others once


class Slow:
    """Sleeps a fixed time a decision."""

    def __init__(self, seconds):
        self.seconds, self.calls = seconds, []

    def act(self, views, legal):
        self.calls.append(len(views))
        time.sleep(self.seconds * len(views))
        return GreedyBot().act(views, legal)


def ask(guard, agent, games=60):
    room = PRESETS["play_only"]
    states = Deals(deal_seeds(1, games)).start(room)
    from ddz_env import core

    rows = np.arange(games)
    legal, _ = core.list_rows(states, rows, room.params())
    return guard(0, agent, states, rows, legal.take(rows), room.params())


def test_who_is_slow_and_in_time_is_never_late():
    """Sixty decisions of 10 ms within a limit of 100 ms each: asked in numbers that keep it."""
    guard, agent = Guard([0], 60, limit=0.1), Slow(0.01)
    ask(guard, agent)
    assert not guard.faults.any()
    assert sum(agent.calls) == guard.times[0].sum() == 60


def test_a_call_for_several_may_take_longer_than_one_decision():
    """Each is in time alone, all together they never are: late is nobody."""
    guard = Guard([0], 60, limit=0.2)
    ask(guard, Slow(0.0))
    ask(guard, Slow(0.02))
    assert not guard.faults.any() and not guard.notes[0]


def test_who_is_fast_is_asked_many_at_once():
    guard, agent = Guard([0], 60, limit=1.0), Slow(0.0)
    ask(guard, agent)
    ask(guard, agent)
    assert not guard.faults.any() and len(agent.calls) < 15 and max(agent.calls) > 25


def test_who_is_always_late_costs_a_limit_each():
    guard, agent = Guard([0], 4, limit=0.05), Slow(0.2)
    begin = time.monotonic()
    ask(guard, agent, 4)
    assert guard.faults[:, 0].tolist() == [Fault.LATE] * 4
    assert time.monotonic() - begin < 1


def test_late_without_a_timer():
    """Outside the main thread nothing rings, but a late answer is still late."""
    guard = Guard([0], 2, limit=0.05)
    thread = threading.Thread(target=ask, args=(guard, Slow(0.1), 2))
    thread.start()
    thread.join()
    assert guard.faults[:, 0].tolist() == [Fault.LATE] * 2


def test_the_timer_leaves_no_trace():
    before = signal.getsignal(signal.SIGALRM)
    assert within(30.0, lambda: 5) == 5
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    with pytest.raises(Late):
        within(0.01, lambda: time.sleep(5))
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_the_timer_may_ring_at_any_moment():
    """Calls that end just when it rings: late or not, but nothing rings afterwards."""
    begin, late = time.monotonic(), 0
    while time.monotonic() - begin < 2:
        try:
            within(0.001, lambda: time.sleep(0.0009))
        except Late:
            late += 1
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    time.sleep(0.01)
    assert late


def test_the_first_game_compiles_at_leisure():
    """What an agent loads in its first decision of a process counts with the warm-up."""
    spec = "faulty_agents:LoadsFirst"
    cold = play_chunk(chunk(spec, deals=2, move_time=0.1, warm_up=0.0), warm=False)
    assert set(faults(cold)) == {"late"}
    import faulty_agents

    faulty_agents.LoadsFirst.loaded = False
    warm = play_chunk(chunk(spec, deals=2, move_time=0.1, warm_up=5.0))
    assert not faults(warm)


def test_decision_times():
    agent = "faulty_agents:Naps:seconds=0.004"
    result = play_chunk(chunk(agent, deals=2, move_time=2.0), warm=False)
    from eval.results import quantile

    for share in (0.05, 0.5):
        assert 0.004 <= quantile(result.times[0], share) < 0.02
    assert quantile(result.times[1], 0.5) < 0.004
    assert quantile(np.zeros(440, int), 0.5) is None


# ------------------------------------------------------------------------ processes that end


def test_several_processes_play_the_same():
    """Also with agents that remember, and with those that share the process's random numbers."""
    names = "faulty_agents:Memory", "faulty_agents:Dice"
    chunks = [chunk(*names, 4, "qq_classic", number=i) for i in range(3)]
    together, here = played_by(chunks, 2), [play_chunk(c) for c in chunks[::-1]][::-1]
    for one, two in zip(together, here, strict=True):
        assert one.games.tobytes() == two.games.tobytes()
    assert len({r.games.tobytes() for r in here}) == 3


def test_a_worker_that_is_killed_costs_nothing(tmp_path):
    """The first end of a worker may have come from outside: the chunk is played again."""
    spec = f"faulty_agents:Kills:at=40,once={tmp_path / 'killed'}"
    (result,) = played_by([chunk(spec)], 1)
    assert (tmp_path / "killed").exists()
    assert not faults(result)
    assert result.games.tobytes() == play_chunk(chunk("greedy")).games.tobytes()


def test_a_crash_in_one_game_costs_one_seat():
    (result,) = played_by([chunk("faulty_agents:Kills:at=0,deal=3,seat=0")], 1)
    assert faults(result) == {"crashed": 1}
    assert result.games["faults"][3, 0].tolist() == [Fault.CRASHED, 0, 0]
    clean = play_chunk(chunk("greedy"))
    others = result.games["faults"].max(axis=2) == 0
    assert np.array_equal(result.games["scores"][others], clean.games["scores"][others])


def test_native_code_that_hangs_is_late(monkeypatch):
    monkeypatch.setattr(workers, "GRACE", 1.0)
    spec = "faulty_agents:Hangs:at=0,deal=3,seat=0"
    (result,) = played_by([chunk(spec, move_time=0.5, warm_up=20.0)], 1)
    assert faults(result) == {"late": 1}
    assert "hung" in result.notes[0][0]


def test_an_agent_that_always_crashes_is_the_trustees(monkeypatch):
    monkeypatch.setattr(workers, "MOST_ENDS", 3)
    (result,) = played_by([chunk("faulty_agents:Kills:at=1", deals=5)], 1)
    assert set(faults(result)) == {"crashed"}
    clean = play_chunk(chunk("trustee", deals=5))
    assert np.array_equal(result.games["scores"], clean.games["scores"])


def test_workers_that_end_by_themselves():
    """No agent was asked: one line instead of an endless loop."""
    broken = chunk("greedy")
    object.__setattr__(broken, "deals", Bomb())
    with pytest.raises(WorkerError, match="ended twice"):
        played_by([broken], 1)


class Bomb:
    """Ends the process that unpickles it."""

    def __reduce__(self):
        return os._exit, (1,)


def test_an_agent_that_can_not_be_made_in_a_worker(tmp_path):
    with pytest.raises(agents.AgentError, match="no such weights"):
        played_by([chunk("faulty_agents:Refuses")], 1)


def test_a_fault_of_this_package_is_no_agents_fault(monkeypatch):
    monkeypatch.setattr("eval.guard.cut", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        play_chunk(chunk("greedy"))


NAMES = ["faulty_agents:Raises", "faulty_agents:Nonsense", "greedy"]


def test_faults_are_counted_and_reported(tmp_path, capsys):
    words = [*NAMES, "--deals", "40", "--processes", "0", "--out", str(tmp_path)]
    assert tournament.main(words) == 0
    shown = capsys.readouterr()
    assert "seats that the trustee took over" in shown.out and "boom" in shown.out
    data = json.loads((tmp_path / "results.json").read_text())
    rows = {row["agent"]: row for row in data["standings"]}
    assert rows[NAMES[0]]["faults"] == {"raised": 6, "illegal": 0, "late": 0, "crashed": 0}
    assert rows[NAMES[1]]["faults"] == {"raised": 0, "illegal": 6, "late": 0, "crashed": 0}
    assert not any(rows["greedy"]["faults"].values())
    assert rows[NAMES[0]]["notes"][0].startswith("raised at deal ")
