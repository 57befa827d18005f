"""A server of tables for tests: in a thread of this process, on a free port."""

import threading
import time
from contextlib import contextmanager

import uvicorn

from eval.play import Command
from eval.web.app import make_app
from eval.web.house import House
from eval.web.serve import bind


@contextmanager
def served(command=None, most=100):
    """The address of a running server, and its house."""
    house = House(command or Command(("greedy",), helper="greedy", seed=1), most)
    made = bind("127.0.0.1", 0)
    config = uvicorn.Config(make_app(house), log_level="error", ws_max_size=4096)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [made]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{made.getsockname()[1]}", house
    finally:
        server.should_exit = True
        thread.join(10)
        made.close()
