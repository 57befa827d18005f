"""What a client may ask for: how much, how often, from where."""

import json
import time
from collections.abc import Callable
from typing import Any

from starlette.requests import ClientDisconnect, HTTPConnection, Request

from ddz_env.errors import DdzError

MOST_BYTES = 4096
"""Of a request's body and of a message."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Bucket:
    """Lets through so many a second, and a burst of more.

    Args:
        rate: a second.
        burst: at once.
        clock: seconds that only grow.
    """

    def __init__(
        self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate, self.burst, self._clock = rate, burst, clock
        self._left, self._at = burst, clock()

    def take(self) -> bool:
        """Whether one more is let through now."""
        now = self._clock()
        self._left = min(self.burst, self._left + (now - self._at) * self.rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True

    @property
    def full(self) -> bool:
        """Whether it has been left alone for so long that it may be forgotten."""
        return self._left + (self._clock() - self._at) * self.rate >= self.burst


class Buckets:
    """A bucket for each client; those that are full are forgotten when there are many."""

    MOST = 1000

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._of: dict[str, Bucket] = {}

    def take(self, client: str) -> bool:
        """Whether one more of a client is let through now."""
        if len(self._of) >= self.MOST:
            self._of = {name: bucket for name, bucket in self._of.items() if not bucket.full}
        if client not in self._of:
            if len(self._of) >= self.MOST:
                return False
            self._of[client] = Bucket(self._rate, self._burst)
        return self._of[client].take()


def host_name(host: str) -> str:
    """The name in a Host header, without its port."""
    name = host.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.rpartition(":")[0] if ":" in name else name


def from_here(connection: HTTPConnection, loopback: bool) -> bool:
    """Whether a request comes from the page itself or from no page.

    A page of another site must not play here, be it by its own name or by a name that it lets
    point at this machine.

    Args:
        connection: the request.
        loopback: whether the server listens on this machine alone.
    """
    host = connection.headers.get("host", "")
    if loopback and host_name(host) not in LOOPBACK:
        return False
    origin = connection.headers.get("origin")
    return origin is None or origin.partition("://")[2].lower() == host.lower()


def parse(text: str | bytes) -> dict[str, Any]:
    """A JSON object of a client.

    Raises:
        DdzError: too long, no JSON, no object.
    """
    if len(text) > MOST_BYTES:
        raise DdzError(f"expected at most {MOST_BYTES} bytes")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise DdzError("expected a JSON object") from None
    if not isinstance(data, dict):
        raise DdzError("expected a JSON object")
    return data


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object of a request's body; no more than the limit is read.

    Raises:
        DdzError: as `parse`.
    """
    body = b""
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_BYTES:
                break
    except ClientDisconnect:
        raise DdzError("expected a whole body") from None
    return parse(body)


def text_of(data: dict[str, Any], name: str, default: str | None = None, most: int = 64) -> str:
    """A text of a client's object.

    Raises:
        DdzError: missing without a default, no text, too long.
    """
    value = data.get(name, default)
    if not isinstance(value, str) or len(value) > most:
        raise DdzError(f"{name}: expected a text of at most {most} letters")
    return value
