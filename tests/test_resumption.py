"""Tournaments that are killed: workers, the whole command, Ctrl-C; the same command goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from eval import tournament
from eval.store import read_folder

ROOT = Path(__file__).resolve().parent.parent


def start(out, *words):
    """The tournament command as its own process, in its own group."""
    line = [sys.executable, "eval/tournament.py", *words, "--out", str(out)]
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    return subprocess.Popen(
        line,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def games_of(folder):
    return [games.tobytes() for _, _, games in read_folder(folder)[1]]


def children(pid):
    """Processes whose parent is one."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def ddz_workers(pid):
    """The workers among them: not the tracker that multiprocessing starts too."""
    lines = {p: Path(f"/proc/{p}/cmdline").read_bytes() for p in children(pid)}
    return [p for p, line in lines.items() if b"spawn_main" in line]


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)
    return found


SLOW = ["greedy", "faulty_agents:Naps:seconds=0.004", "--deals", "12", "--chunk", "2"]


def test_kills_and_resumption(tmp_path):
    """A worker is killed, then everything; the same command goes on and loses nothing."""
    out = tmp_path / "cut"
    first = start(out, *SLOW, "--processes", "2")
    victim = wait_for(lambda: ddz_workers(first.pid))[0]
    wait_for(lambda: list(out.glob("games/*/*.npz")))
    os.kill(victim, signal.SIGKILL)
    wait_for(lambda: len(list(out.glob("games/*/*.npz"))) >= 3)
    assert first.poll() is None  # it went on without that worker
    orphans = children(first.pid)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in orphans))
    kept = {p: p.read_bytes() for p in out.glob("games/*/*.npz")}
    assert 3 <= len(kept) < 6 and not (out / "results.json").exists()

    second = start(out, *SLOW, "--processes", "1")
    shown, errors = second.communicate(timeout=120)
    assert second.returncode == 0, errors
    assert errors == "" and "going on after" in shown
    assert {p: p.read_bytes() for p in kept} == kept
    whole = tmp_path / "whole"
    assert tournament.main([*SLOW, "--processes", "0", "--out", str(whole)]) == 0
    assert games_of(out) == games_of(whole)
    one, two = (json.loads((x / "results.json").read_text()) for x in (out, whole))
    for data in (one, two):
        data["command"] = ""
        for row in data["standings"]:
            row["seconds"] = {}
    assert one == two


def test_ctrl_c(tmp_path):
    process = start(tmp_path / "out", *SLOW, "--processes", "1")
    wait_for(lambda: list(tmp_path.glob("out/games/*/*.npz")))
    os.killpg(process.pid, signal.SIGINT)
    shown, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and shown == ""
    assert errors == "tournament: stopped; the same command goes on\n"
    assert not children(process.pid)
