"""One thread for each test process, as in the workers of runs and tournaments.

torch's own threads wait for each other in layers this small: two on a busy core play a tenth as
fast.
"""

import os
import signal

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell lets its background jobs ignore Ctrl-C, and so the programs that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def served():
    """A server of tables in this process: its house, and a client of it."""
    from web_person import housed  # imports the server

    with housed() as both:
        yield both


@pytest.fixture
def house(served):
    return served[0]


@pytest.fixture
def client(served):
    return served[1]


@pytest.fixture
def inline():
    """Runs `train/selfplay.py` in this process."""
    from training_runs import command  # imports torch

    with command() as run:
        yield run
