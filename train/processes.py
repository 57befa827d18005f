"""Worker processes of a run: started, joined by gloo, stopped by Ctrl-C, ended when one dies."""

import os
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist


def rank_and_world() -> tuple[int, int]:
    """This worker's number and how many there are."""
    return (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)


def exit_without_parent(parent: int) -> None:
    """End this worker when the process that started it is gone (killed, so it couldn't say)."""
    if os.getppid() != parent:
        os._exit(1)


def _enter(
    rank: int,
    body: Callable[..., None],
    arguments: tuple[Any, ...],
    workers: int,
    deterministic: bool,
    stop: Any,
    meeting: str,
) -> None:
    """What a worker process does first and last."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(deterministic)
    if workers > 1:
        dist.init_process_group(
            "gloo", init_method=f"file://{meeting}", rank=rank, world_size=workers
        )
    body(stop, *arguments)
    if workers > 1:
        dist.destroy_process_group()


def run_workers(
    body: Callable[..., None], arguments: tuple[Any, ...], workers: int, deterministic: bool
) -> None:
    """Run `body(stop, *arguments)` in every worker; returns when all have ended.

    Ctrl-C sets the event `stop`, which worker 0 is to look at now and then.

    Raises:
        torch.multiprocessing.ProcessException: a worker died, with its traceback; the others have
            been ended.
    """
    stop = torch.multiprocessing.get_context("spawn").Event()
    with tempfile.TemporaryDirectory() as folder:
        meeting = str(Path(folder) / "meeting")
        # Workers inherit that Ctrl-C is ignored, from before their first import.
        heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
        context = torch.multiprocessing.spawn(
            _enter,
            (body, arguments, workers, deterministic, stop, meeting),
            nprocs=workers,
            join=False,
            daemon=True,
        )
        signal.signal(signal.SIGINT, heard)
        while True:
            try:
                if context.join(timeout=1.0):
                    return
            except KeyboardInterrupt:
                stop.set()
