"""The server of tables under nonsense and under many tables: slow, run with `-m slow`."""

import asyncio
import http.client
import json
import os
import random
import statistics
import time
from urllib.parse import urlsplit

import pytest
from web_person import Person, check_heard, housed
from web_server import served
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from ddz_env import PRESETS
from eval.web.limits import Bucket

pytestmark = pytest.mark.slow


def memory():
    """MiB of this process, in which the server runs."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def nonsense(rng):
    """A request's method, path, body and headers, none of which can be used."""
    path = rng.choice(
        ["/", "/ws", "/api/tables", "/api/options", "/replay/x/1", "/replay/x/-9", "/static/../x",
         "/static/%00", "/" + "a" * 2000, "/replay/%ff/99999999999999999999"]
    )  # fmt: skip
    body = rng.choice(
        [b"", b"{", rng.randbytes(300), b"[" * 4000, b"x" * 20_000, b'{"rules": []}',
         b'{"rules": "play_only", "next": "x:y"}', json.dumps({"token": "x" * 3000}).encode()]
    )  # fmt: skip
    method = rng.choice(["GET", "POST", "PUT", "HEAD", "OPTIONS", "BREW"])
    header = rng.choice([{}, {"Origin": "http://evil"}, {"Host": "evil"}, {"Upgrade": "websocket"},
                         {"Content-Length": "5"}, {"X": "y" * 3000}])  # fmt: skip
    return method, path, body, header


def request(address, *given):
    """The status of a request, 0 where the server ended the connection."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=10)
    try:
        connection.request(given[0], given[1], given[2], given[3])
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


async def babble(address, rng, n):
    """Messages that can't be used, over as many connections as it takes."""
    sent = 0
    while sent < n:
        try:
            async with connect(address.replace("http", "ws") + "/ws") as socket:
                for _ in range(20):
                    sent += 1
                    await socket.send(rng.choice(["", "{}", "[", rng.randbytes(50), "x" * 5000]))
        except (ConnectionClosed, OSError):
            continue


@pytest.mark.parametrize("room", PRESETS)
def test_what_a_client_received_in_many_deals(room, monkeypatch):
    """25 deals of each room, 200 in all."""
    monkeypatch.setattr("eval.web.app.Bucket", lambda *given: Bucket(1e6, 1e6))
    with housed() as (_, client):
        with Person(client, seed=5, rules=room) as person:
            for _ in range(25):
                person.play()
                person.ask("next", "told")
            assert check_heard(person) > 100


def test_nonsense():
    """5,000 requests and messages: the server answers as before, its memory stays flat."""
    rng = random.Random(1)
    with served() as (address, house):
        codes, sizes = [], []
        for part in range(5):
            codes += [request(address, *nonsense(rng)) for _ in range(800)]
            asyncio.run(babble(address, rng, 200))
            sizes.append(memory())
            assert request(address, "GET", "/", None, {}) == 200, part
        print(f"memory {sizes}")
        assert not any(code >= 500 for code in codes) and not house.tables
        assert sizes[-1] < sizes[0] + 20


async def crowd(address, n, measured):
    """`n` tables on auto-play, deal after deal, and one person's answers; seconds of each."""
    seconds = []

    async def new(**wish):
        loop = asyncio.get_running_loop()
        body = json.dumps({"rules": "happy_laizi", "next": "planner", **wish})

        def ask():
            while True:
                connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
                connection.request("POST", "/api/tables", body)
                answer = connection.getresponse()
                if answer.status == 201:
                    return json.loads(answer.read())["token"]
                assert answer.status == 429  # so many new tables take their time
                time.sleep(0.5)

        socket = await connect(address.replace("http", "ws") + "/ws")
        await socket.send(json.dumps({"token": await loop.run_in_executor(None, ask)}))
        return socket

    async def watch(socket):
        await socket.send('{"type": "auto", "on": true}')
        async for text in socket:
            state = json.loads(text)
            if state["type"] == "state" and state["over"]:
                await socket.send(json.dumps({"type": "next", "n": state["n"]}))

    async def until(socket, kind):
        while True:
            message = json.loads(await socket.recv())
            if message["type"] == kind:
                return message

    tasks = [asyncio.create_task(watch(await new())) for _ in range(n)]
    person = await new(rules="play_only", next="greedy")
    state = await until(person, "state")
    while len(seconds) < measured:
        await asyncio.sleep(0.2)
        if state["over"]:
            message = {"type": "next"}
        elif state["prompt"]["mayPass"]:
            message = {"type": "answer", "line": "pass"}
        else:
            await person.send(json.dumps({"type": "hint", "n": state["n"]}))
            hints = (await until(person, "hint"))["hints"]
            message = {"type": "answer", "line": hints[0]["play"]}
        start = time.perf_counter()
        await person.send(json.dumps({**message, "n": state["n"]}))
        state = await until(person, "state")
        seconds.append(time.perf_counter() - start)
    for task in tasks:
        task.cancel()
    return seconds


def test_fifty_tables():
    """A person's answer takes below 0.2 s in the median while fifty tables play."""
    with served() as (address, _):
        seconds = asyncio.run(crowd(address, 50, 60))
    print(f"median {statistics.median(seconds):.3f} s, most {max(seconds):.3f} s")
    assert statistics.median(seconds) < 0.2
