"""`python eval/play.py --web`: checks what it was started with, then serves until Ctrl-C."""

import socket
from ipaddress import ip_address

import uvicorn

from ddz_env.errors import DdzError
from ddz_env.play.command import check_replays
from eval.cli import check_count
from eval.play import Command, prepare
from eval.web.app import make_app
from eval.web.house import House
from eval.web.limits import LOOPBACK, MOST_BYTES


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        DdzError: the port is in use or may not be used, or no such host.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        made = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise DdzError(f"--host {host}: {error.strerror}") from error
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(128)
    except OSError as error:
        made.close()
        raise DdzError(f"--port {port} on {host}: {error.strerror}; expected a free one") from error
    return made


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host in LOOPBACK


def serve(command: Command) -> int:
    """Serve tables until Ctrl-C.

    Raises:
        DdzError: an argument that can't be used, by its option; nothing has been served.
    """
    check_count("--port", command.port, 0, 65535)
    if command.replays is not None:
        check_replays(command.replays)
    prepare(command)  # room, agents, seat, seed: said now, not when the page asks for a table
    house = House(command)
    made = bind(command.host, command.port)
    app = make_app(house, is_loopback(command.host))
    config = uvicorn.Config(
        app, log_level="error", server_header=False, ws_max_size=MOST_BYTES, ws_max_queue=8,
        limit_concurrency=600, timeout_graceful_shutdown=2,
    )  # fmt: skip
    name = f"[{command.host}]" if ":" in command.host else command.host
    print(f"http://{name}:{made.getsockname()[1]}/  (Ctrl-C stops)", flush=True)
    uvicorn.Server(config).run(sockets=[made])
    return 0
