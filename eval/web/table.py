"""A table on the server: one session, those who look at it, auto-play and the limit of time."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from ddz_env.checks import brief
from ddz_env.errors import DdzError
from ddz_env.game import Game
from ddz_env.play.command import HUMAN
from ddz_env.words import check_lang
from eval.web.limits import text_of
from eval.web.payload import state_json
from eval.web.sessions import BrowserSession

PACE = 0.9
"""Seconds between two decisions of auto-play for the person."""
GRACE = 4.0
"""Seconds more than the limit, for what is shown before the person can decide."""
KEPT = 30
"""Finished deals of a table whose replays can be asked for."""
MOST_LISTENERS = 4
ANSWERS = {"answer": None, "next": "", "again": "r", "back": "u", "leave": "q"}
"""Messages that are lines of the conversation: the line, None where the client gives it."""

Message = dict[str, Any]


class WebTable:
    """One person's table; used from the server's event loop alone, which waits in threads.

    Args:
        token: what only the person's browser knows.
        pool: threads for decisions.
        limit: seconds to decide before auto-play takes over; None for no limit.
    """

    def __init__(self, token: str, pool: Executor, limit: float | None) -> None:
        self.token, self.limit = token, limit
        self.listeners: set[asyncio.Queue[Message]] = set()
        self.used = time.monotonic()
        self.ended: dict[int, tuple[Game, list[str]]] = {}
        """Finished deals by number, with the names at the seats."""
        self._pool, self._lock = pool, asyncio.Lock()
        self._session: BrowserSession | None = None
        self._number, self._deadline = 0, 0.0
        self._timer: asyncio.Task[None] | None = None
        self._asked: set[asyncio.Task[Message | None]] = set()

    @property
    def session(self) -> BrowserSession:
        """What is played.

        Raises:
            DdzError: the table is not ready yet.
        """
        if self._session is None:
            raise DdzError("table: not ready yet")
        return self._session

    async def start(self, make: Callable[[], BrowserSession]) -> None:
        """Make the session and deal, in a thread."""

        def begin() -> BrowserSession:
            session = make()
            session.begin()
            return session

        self._session = await self._in_thread(begin)
        self._changed()

    async def _in_thread(self, call: Callable[[], Any]) -> Any:
        """What a call returns that may think for long."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    def stop(self) -> None:
        """No more timers; who looks at the table is told."""
        if self._timer is not None:
            self._timer.cancel()
        self._send_all({"type": "gone"})

    # ---------------------------------------------------------------------------------- messages

    def listen(self) -> asyncio.Queue[Message]:
        """A queue of everything that is told of the table.

        Raises:
            DdzError: too many look at it.
        """
        if len(self.listeners) >= MOST_LISTENERS:
            raise DdzError(f"table: {MOST_LISTENERS} connections look at it already")
        queue: asyncio.Queue[Message] = asyncio.Queue(32)
        self.listeners.add(queue)
        return queue

    def _send_all(self, message: Message) -> None:
        """Tell everybody; who does not read what comes is left out and has to come again."""
        for queue in list(self.listeners):
            try:
                queue.put_nowait(message)
            except asyncio.QueueFull:
                self.listeners.discard(queue)

    def state(self) -> Message:
        """The table as it stands."""
        left = None if self.limit is None else max(self._deadline - time.monotonic(), 0.0)
        return state_json(self.session, self._number, left)

    async def handle(self, message: Message) -> Message | None:
        """Do what a client asks; what it alone is told.

        A client that leaves in the middle cancels its wait, not what it asked for: the thread that
        decides would go on without the lock, and nobody would hear of what it did.

        Raises:
            DdzError: a message that can't be used; nothing has been changed.
        """
        task = asyncio.create_task(self._handle(message))
        self._asked.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    def _done(self, task: "asyncio.Task[Message | None]") -> None:
        """A message has been dealt with; what was wrong with it is told to who waits, if any."""
        self._asked.discard(task)
        if not task.cancelled():
            task.exception()

    async def _handle(self, message: Message) -> Message | None:
        kind = text_of(message, "type")
        self.used = time.monotonic()
        session = self.session
        if kind == "state":
            async with self._lock:
                return self.state()
        if kind in ("hint", "try"):
            return await self._ask(kind, message)
        if kind == "lang":
            lang = check_lang(text_of(message, "lang"))
            async with self._lock:
                session.lang = lang
                self._tell()
            return None
        if kind == "auto":
            return await self._switch(message.get("on"))
        if kind in ANSWERS:
            return await self._answer(kind, message)
        raise DdzError(f"type: unknown {kind!r}")

    async def _ask(self, kind: str, message: Message) -> Message:
        """A question that changes nothing: what the helper thinks, what cards would be."""
        session, number = self.session, message.get("n")
        cards = text_of(message, "cards", "")
        async with self._lock:
            if number != self._number:
                return self.state()
            if kind == "hint":
                hints = await self._in_thread(lambda: _hints(session))
                return {"type": "hint", "n": number, "hints": hints}
            tried = await self._in_thread(lambda: session.tried(cards))
            return {"type": "tried", "n": number, "cards": cards, **tried}

    async def _switch(self, on: Any) -> Message | None:
        """Auto-play on or off."""
        if not isinstance(on, bool):
            raise DdzError("on: expected true or false")
        async with self._lock:
            self.session.auto = on
            self._tell()
        self._set_timer()
        return None

    async def _answer(self, kind: str, message: Message) -> Message | None:
        """An answer to the state that it names; to an older one the state is told again."""
        line, number = ANSWERS[kind], message.get("n")
        line = text_of(message, "line") if line is None else line
        async with self._lock:
            if number != self._number:
                return self.state()
            session = self.session
            if kind in ("next", "again") and session.prompt.kind != "next":
                raise DdzError(f"{kind}: the deal is not over")
            reply = await self._in_thread(lambda: session.answer(line))
            if reply.kind == "refused":
                return {"type": "told", "kind": "refused", "lines": reply.lines}
            self._changed()
            return {"type": "told", "kind": reply.kind, "lines": reply.lines}

    # ------------------------------------------------------------------------------------- moves

    def _changed(self) -> None:
        """A new state: it is told, and time runs anew."""
        self._number += 1
        session = self.session
        if session.prompt.kind == "next":  # ended by its plays: who fled leaves no replay
            names = [session.names[seat] or HUMAN for seat in range(3)]
            self.ended[session.table.deals] = session.game.clone(), names
            for deal in list(self.ended)[:-KEPT]:
                del self.ended[deal]
        if self.limit is not None:
            self._deadline = time.monotonic() + self.limit + GRACE
        self._tell()
        self._set_timer()

    def _tell(self) -> None:
        """Send the state, once with what happened on the way."""
        self._send_all(self.state())
        self.session.frames = []

    def _set_timer(self) -> None:
        """Wait for auto-play's next decision, or for the end of the person's time."""
        if self._timer is not None and self._timer is not asyncio.current_task():
            self._timer.cancel()
        self._timer = None
        session = self.session
        if session.done or session.game.over or not (session.auto or self.limit):
            return
        wait = PACE if session.auto else self._deadline - time.monotonic()
        self._timer = asyncio.get_running_loop().create_task(self._after(wait))

    async def _after(self, seconds: float) -> None:
        """Auto-play decides after some time, unless the person has."""
        number = self._number
        await asyncio.sleep(max(seconds, 0.0))
        async with self._lock:
            if number != self._number:
                return
            self.session.auto = True
            await self._in_thread(self.session.auto_step)
            self._changed()


def _hints(session: BrowserSession) -> list[Message]:
    """What the helper thinks.

    Raises:
        DdzError: nothing is asked, or the helper fails.
    """
    try:
        return session.hints()
    except DdzError:
        raise
    except Exception as error:  # whatever somebody else's agent may do
        why = brief(str(error) or type(error).__name__)
        raise DdzError(f"{session.adviser_name} failed: {why}") from error
