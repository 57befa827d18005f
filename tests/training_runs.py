"""Training runs in processes of their own, for the tests of trainers."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import torch

from train import selfplay

ROOT = Path(__file__).parent.parent
TINY = [
    *("--dmc.games", "32", "--dmc.batch", "32", "--dmc.window", "256"),
    *("--dmc.net.hidden", "32", "--dmc.net.state", "16", "--dmc.net.head", "16"),
    *("--eval-deals", "8", "--final-deals", "16"),
]
"""Sizes at which a run takes seconds."""
LONG = ["--minutes", "30", "--eval-minutes", "0.02"]
"""A run that ends when it is stopped, and saves every second or so."""
PATIENCE = 180
"""Seconds that anything may take on a busy machine before a test gives up."""


STARTED = []


def start(*words):
    """Start a run in a group of its own, as a shell does; its output goes to one pipe."""
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "train" / "selfplay.py"), *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    STARTED.append(process)
    return process


def end_all():
    """End every run that a failed test has left behind."""
    while STARTED:
        process = STARTED.pop()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def finish(process):
    """(exit code, output) of a run that is about to end."""
    try:
        output, _ = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return process.returncode, output


def wait_for(what, process=None):
    """Wait until `what()` is true; fails when that takes too long or the process has ended."""
    end = time.monotonic() + PATIENCE
    while not what():
        if process is not None and process.poll() is not None:
            raise AssertionError(f"ended early: {process.communicate()[0]}")
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.1)


def workers_of(process):
    """Process ids of a run's workers (Linux only)."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state = (entry / "stat").read_text().rpartition(")")[2].split()
                words = (entry / "cmdline").read_text()
            except OSError:
                continue
            if int(state[1]) == process.pid and "spawn_main" in words:
                found.append(int(entry.name))
    return found


def alive(pid):
    """Whether a process still runs; one that has ended but nobody has asked for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@contextmanager
def command():
    """Runs the command in this process, which saves the imports; undoes what it sets."""
    threads, handler = torch.get_num_threads(), signal.getsignal(signal.SIGTERM)
    torch.set_num_threads(1)
    yield lambda *words: selfplay.main(list(map(str, words)))
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)
    signal.signal(signal.SIGTERM, handler)
