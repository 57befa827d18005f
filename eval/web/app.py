"""The addresses of the server: the page, new tables, the connection of a table, replays."""

import asyncio
import json
from base64 import b64encode
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from ddz_env.errors import DdzError
from eval.web.house import House, Wish
from eval.web.limits import Bucket, Buckets, body_of, from_here, parse
from eval.web.replays import replay_page
from eval.web.table import WebTable

STATIC = Path(__file__).parent / "static"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}
SIT_WITHIN = 10.0
"""Seconds in which a connection has to name its table."""
MOST_CONNECTIONS = 300


class Guard:
    """Headers on every answer; requests of other sites' pages are refused."""

    def __init__(self, app: ASGIApp, loopback: bool) -> None:
        self.app, self.loopback = app, loopback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As of an ASGI application."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if from_here(HTTPConnection(scope), self.loopback):
            await self.app(scope, receive, with_headers)
        elif scope["type"] == "http":
            refused = PlainTextResponse("not from here", 403)
            await refused(scope, receive, with_headers)
        else:
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": "not from here"})


class Server:
    """What the addresses answer.

    Args:
        house: the tables.
    """

    def __init__(self, house: House) -> None:
        self.house = house
        self.connections = 0
        self._new = Buckets(1.0, 30.0)
        self._pages = Buckets(0.5, 10.0)

    async def page(self, request: Request) -> Response:
        """The page."""
        return FileResponse(STATIC / "index.html")

    async def options(self, request: Request) -> Response:
        """What can be chosen for a new table."""
        return JSONResponse(self.house.options())

    async def new_table(self, request: Request) -> Response:
        """A new table: its token."""
        client = request.client.host if request.client else ""
        if not self._new.take(client):
            return JSONResponse({"error": "too many new tables; wait a little"}, 429)
        try:
            table = await self.house.open(Wish.of(await body_of(request)))
        except DdzError as error:
            return JSONResponse({"error": str(error)}, 422)
        return JSONResponse({"token": table.token}, 201)

    async def replay(self, request: Request) -> Response:
        """The replay of a finished deal of a table."""
        table = self.house.find(request.path_params["token"])
        number = request.path_params["deal"]
        if table is None or number not in table.ended:
            return PlainTextResponse("no such deal", 404)
        client = request.client.host if request.client else ""
        if not self._pages.take(client):
            return PlainTextResponse("too many replays; wait a little", 429)
        game, names = table.ended[number]
        lang, loop = table.session.lang, asyncio.get_running_loop()
        text, script = await loop.run_in_executor(
            self.house.pool, replay_page, game, names, lang, number
        )
        digest = b64encode(sha256(script.encode()).digest()).decode()
        policy = (
            f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline';"
            " img-src data:; base-uri 'none'; frame-ancestors 'none'"
        )
        headers = {"content-security-policy": policy, "cache-control": "no-store"}
        return Response(text, media_type="text/html", headers=headers)

    # ------------------------------------------------------------------------------- connections

    async def connect(self, socket: WebSocket) -> None:
        """A browser at its table; the first message names the table by its token."""
        if self.connections >= MOST_CONNECTIONS:
            await socket.close(1013, "too many connections")
            return
        self.connections += 1
        try:
            await socket.accept()
            await self._serve(socket)
        except (WebSocketDisconnect, RuntimeError):
            pass  # gone in the middle of a message: the table stays
        finally:
            self.connections -= 1

    async def _serve(self, socket: WebSocket) -> None:
        """Find the table, then pass messages both ways."""
        try:
            first = parse(await asyncio.wait_for(_text(socket), SIT_WITHIN))
        except (DdzError, TimeoutError):
            await socket.close(1008, "expected a token")
            return
        table = self.house.find(first.get("token"))
        if table is None:
            await socket.send_json({"type": "gone"})
            await socket.close(1000)
            return
        try:
            queue = table.listen()
        except DdzError as error:
            await socket.close(1013, str(error))
            return
        writer = asyncio.create_task(_write(socket, queue, table))
        try:
            queue.put_nowait(await table.handle({"type": "state"}))
            await _read(socket, queue, table)
        finally:
            table.listeners.discard(queue)
            writer.cancel()


async def _text(socket: WebSocket) -> str:
    """The next message, whatever its kind, as text."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    text = message.get("text")
    return text if text is not None else (message.get("bytes") or b"").decode(errors="replace")


async def _write(
    socket: WebSocket, queue: "asyncio.Queue[dict[str, Any]]", table: WebTable
) -> None:
    """Send what the table says, as long as somebody reads it."""
    while queue in table.listeners:
        message = await queue.get()
        await socket.send_text(json.dumps(message, ensure_ascii=False, separators=(",", ":")))
    await socket.close(1013, "too slow")


async def _read(socket: WebSocket, queue: "asyncio.Queue[dict[str, Any]]", table: WebTable) -> None:
    """Take messages until the connection ends or asks for too much."""
    bucket, strikes = Bucket(20.0, 60.0), 0
    while True:
        text = await _text(socket)
        try:
            if not bucket.take():
                raise DdzError("too many messages; wait a little")
            answer = await table.handle(parse(text))
        except DdzError as error:
            strikes += 1
            answer = {"type": "told", "kind": "refused", "lines": [str(error)]}
            if strikes > 100:
                await socket.close(1008, "too many messages that can't be used")
                return
        if answer is not None:
            await queue.put(answer)


def make_app(house: House, loopback: bool = True) -> ASGIApp:
    """The ASGI application of a house.

    Args:
        house: its tables.
        loopback: whether only this machine is listened to.
    """
    server = Server(house)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> Any:
        yield
        house.stop()

    routes = [
        Route("/", server.page),
        Route("/api/options", server.options),
        Route("/api/tables", server.new_table, methods=["POST"]),
        Route("/replay/{token}/{deal:int}", server.replay),
        WebSocketRoute("/ws", server.connect),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Guard(Starlette(routes=routes, lifespan=lifespan), loopback)
