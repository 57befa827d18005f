"""The server of `eval/play.py --web`: limits, nonsense, arguments that can not be used."""

import json
import random
import socket

import pytest
from starlette.websockets import WebSocketDisconnect
from web_person import Person

from eval import play
from eval.web.limits import Bucket


def test_requests_that_can_not_be_used(client, house):
    wishes = [
        b"", b"{", b"[]", b"7", b"\xff", b"[" * 3000, b'{"rules": 7}', b'{"rules": "mahjong"}',
        b"x" * 9999, b'{"rules": "happy", "next": "os:system"}',
        b'{"rules": "happy", "next": "dmc:/etc/passwd"}',
        b'{"rules": "happy", "seat": "9"}', b'{"rules": "happy", "lang": "de"}',
        b'{"rules": "happy", "limit": true}', b'{"rules": "happy", "limit": 1e999}',
        b'{"rules": "happy", "open": 1}', b'{"rules": "jj_classic", "next": "dmc"}',
    ]  # fmt: skip
    for wish in wishes:
        answer = client.post("/api/tables", content=wish)
        assert answer.status_code in (422, 429) and answer.json()["error"].count("\n") == 0, wish
    assert not house.tables
    assert client.get("/static/../app.py").status_code == 404
    assert client.get("/static/%2e%2e/app.py").status_code == 404
    assert client.delete("/api/tables").status_code == 405


def test_messages_that_can_not_be_used(client):
    """Each is answered with one line or ends the connection; the table stays as it was."""
    rng = random.Random(1)
    odd = [None, True, -1, 1e308, "", "x" * 300, [], {}, "\u0000", "pass", "q", "?", "3" * 60]
    kinds = [
        "state",
        "answer",
        "hint",
        "try",
        "next",
        "back",
        "auto",
        "lang",
        "leave",
        "x",
        7,
        None,
    ]
    person = Person(client, rules="qq_classic")
    with person:
        before = person.state
    sent = 0
    while sent < 600:
        with person:
            try:
                for _ in range(50):
                    number = rng.choice([person.state["n"], 0, "1", None])
                    message = {"type": rng.choice(kinds), "n": number}
                    if message["type"] in ("answer", "next", "leave"):
                        message["n"] = "old"
                    message |= {name: rng.choice(odd) for name in ("line", "cards", "on", "lang")}
                    if message["on"] is True:
                        message["on"] = 1
                    text = (
                        json.dumps(message) if rng.random() < 0.8 else rng.choice(["", "{", "[]"])
                    )
                    person.socket.send_text(text)
                    sent += 1
            except WebSocketDisconnect:
                continue
    with person:
        after = person.state
    assert {**after, "n": 0, "lang": ""}.keys() == before.keys()
    assert after["players"][after["you"]]["hand"] == before["players"][before["you"]]["hand"]


def test_too_many_tables(client, house):
    house.most = 2
    for _ in range(2):
        assert client.post("/api/tables", json={"rules": "play_only"}).status_code == 201
    answer = client.post("/api/tables", json={"rules": "play_only"})
    assert answer.status_code == 422 and "2 are in use" in answer.json()["error"]
    next(iter(house.tables.values())).used -= 10_000
    assert client.post("/api/tables", json={"rules": "play_only"}).status_code == 201
    assert len(house.tables) == 2


def test_too_many_requests(client):
    codes = [client.post("/api/tables", content=b"x").status_code for _ in range(40)]
    assert codes[:30] == [422] * 30 and 429 in codes[30:]


def test_buckets():
    now = [0.0]
    bucket = Bucket(2.0, 3.0, lambda: now[0])
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
    now[0] = 0.5
    assert [bucket.take(), bucket.take()] == [True, False] and not bucket.full
    now[0] = 9.0
    assert bucket.full


# --------------------------------------------------------------------------------------- command


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["nobody"], ["nobody", "greedy"]),
        (["dmc", "--rules", "jj_classic", "--set", "spring=false"], ["dmc", "weights"]),
        (["dmc:agents/weights/play_only.pt", "--rules", "happy"], ["play_only", "happy"]),
        (["greedy", "--port", "-1"], ["--port", "-1"]),
        (["greedy", "--host", "no.such.host.invalid"], ["--host", "no.such.host"]),
        (["greedy", "--replays", "."], ["--replays", "folder"]),
    ],
)
def test_arguments(line, words, capsys):
    assert play.main([*line, "--helper", "greedy", "--web"]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith("play: ") and shown.err.count("\n") == 1
    assert all(word in shown.err for word in words), shown.err


def test_a_port_in_use(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert play.main(["greedy", "--helper", "greedy", "--web", "--port", port]) == 2
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1 and port in shown.err and "in use" in shown.err
