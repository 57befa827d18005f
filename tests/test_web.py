"""The server of `eval/play.py --web`: what a client is told, what it may do, what it may not."""

import json
import random
import re
import socket

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from test_leaks import places, swap_hands, swap_places

from ddz_env import PRESETS
from ddz_env.bots import make_bot
from ddz_env.cards import from_text
from ddz_env.play.questions import adviser_of
from ddz_env.table import Table
from eval import play
from eval.play import Command
from eval.web.app import make_app
from eval.web.house import House, keys_of
from eval.web.limits import Bucket
from eval.web.payload import state_json
from eval.web.sessions import BrowserSession

ROOMS = list(PRESETS)


@pytest.fixture
def house():
    made = House(Command(("greedy",), helper="greedy"))
    yield made
    made.stop()


@pytest.fixture
def client(house):
    with TestClient(make_app(house), base_url="http://127.0.0.1") as made:
        yield made


class Person:
    """A client at a table: what it received, and how it plays."""

    def __init__(self, client, seed=0, **wish):
        answer = client.post("/api/tables", json={"next": "greedy", **wish})
        assert answer.status_code == 201, answer.text
        self.client, self.token, self.rng = client, answer.json()["token"], random.Random(seed)
        self.heard = []

    def __enter__(self):
        self.context = self.client.websocket_connect("ws://127.0.0.1/ws")
        self.socket = self.context.__enter__()
        self.socket.send_json({"token": self.token})
        self.state = self.hear("state")
        return self

    def __exit__(self, *error):
        self.context.__exit__(*error)

    def hear(self, kind):
        while True:
            text = self.socket.receive_text()
            self.heard.append(text)
            message = json.loads(text)
            if message["type"] == "state":
                self.state = message
            if message["type"] == kind:
                return message

    def ask(self, kind, wanted, **fields):
        self.socket.send_json({"type": kind, "n": self.state["n"], **fields})
        return self.hear(wanted)

    def decide(self):
        """One decision: what the helper would do, before the play anything."""
        prompt = self.state["prompt"]
        if prompt["kind"] == "choice":
            told = self.ask("answer", "told", line=self.rng.choice(prompt["options"])["value"])
        elif prompt["kind"] == "which":
            told = self.ask("answer", "told", line="1")
        else:
            line = self.ask("hint", "hint")["hints"][0]["play"]
            told = self.ask("answer", "told", line=line)
        assert told["kind"] != "refused", (told, prompt)

    def play(self):
        """To the end of the deal."""
        while not self.state["over"]:
            self.decide()
        return self.state


# ----------------------------------------------------------------------------------- whole deals


@pytest.mark.parametrize("room", ROOMS)
def test_a_deal_of_every_room(client, room):
    """Played to the end by messages; then its replay, and the next deal."""
    with Person(client, seed=3, rules=room) as person:
        state = person.play()
        assert state["prompt"]["kind"] == "next" and state["room"] == room
        assert all(one["hand"] is not None for one in state["players"])
        scores = [one["score"] for one in state["players"]]
        assert sum(scores) == 0 and state["ledger"][-1]["deal"] == 1
        page = client.get(f"/replay/{person.token}/1")
        assert page.status_code == 200 and "<!doctype html>" in page.text
        assert "sha256-" in page.headers["content-security-policy"]
        person.ask("next", "told")
        assert person.state["deal"] == 2 and not person.state["over"]
        assert client.get(f"/replay/{person.token}/2").status_code == 404


def test_the_multiplier_is_that_of_its_parts(client):
    for seed in range(3):
        with Person(client, seed=seed, rules="happy") as person:
            state = person.play()
            product = 1
            for _, _, factor in state["parts"]:
                product *= factor
            assert product == state["multiplier"]


def test_taking_back_and_auto_play(client):
    with Person(client, rules="play_only", seat="0") as person:
        hand = person.state["players"][0]["hand"]
        assert not person.state["back"]
        assert person.ask("back", "told")["kind"] == "refused"
        person.decide()
        assert person.state["back"] and person.state["players"][0]["hand"] != hand
        assert person.ask("back", "told")["lines"]
        assert person.state["players"][0]["hand"] == hand
        person.ask("auto", "state", on=True)
        assert person.state["auto"]
        before = person.state["n"]
        while person.state["n"] == before:
            person.hear("state")
        assert person.state["players"][0]["hand"] != hand


def test_auto_play_takes_over_when_time_is_up(client, house, monkeypatch):
    monkeypatch.setattr("eval.web.table.GRACE", 0.0)
    with Person(client, rules="play_only", seat="0", limit=15) as person:
        assert 14 < person.state["limit"] <= 15 and not person.state["auto"]
        house.find(person.token).limit = 0.1
        person.decide()
        while not person.state["over"] and not person.state["auto"]:
            person.hear("state")
        assert person.state["auto"]


def test_cards_are_tried(client):
    with Person(client, rules="play_only", seat="0") as person:
        hand = person.state["players"][0]["hand"]
        tried = person.ask("try", "tried", cards=hand[0])
        assert tried["plays"] == [{"text": hand[0], "name": "solo"}] and tried["why"] == ""
        tried = person.ask("try", "tried", cards=hand[0] + hand[-1])
        assert tried["plays"] == [] and "no play" in tried["why"]
        person.ask("lang", "state", lang="zh")
        assert "不成牌型" in person.ask("try", "tried", cards=hand[0] + hand[-1])["why"]
        for strange in ("", "Z", "33333", "*", "+"):
            assert person.ask("try", "tried", cards=strange)["plays"] == []


def test_who_flees_pays_and_leaves_no_replay(client):
    with Person(client, rules="play_only", seat="0") as person:
        person.decide()
        assert person.ask("leave", "told")["kind"] == "told"
        options = {o["value"]: o["key"] for o in person.state["prompt"]["options"]}
        person.ask("answer", "told", line=options["flee"])
        assert person.state["done"] and person.state["ledger"][0]["beans"][0] < 0
        assert client.get(f"/replay/{person.token}/1").status_code == 404


def test_a_helper_and_a_player_that_fail(client, house):
    """Auto-play goes on for the player, a hint is refused; nothing else changes."""

    class Broken:
        def act(self, views, legal):
            raise RuntimeError("out of order")

    with Person(client, rules="play_only", seat="0") as person:
        session = house.find(person.token).session
        session.players = dict.fromkeys(session.players, Broken())
        session._adviser = adviser_of(Broken())
        told = person.ask("hint", "told")
        assert told["kind"] == "refused" and "out of order" in told["lines"][0]
        hand = person.state["players"][0]["hand"]
        person.ask("answer", "told", line=hand[0])
        assert "failed" in person.state["events"][1]["text"]


def test_an_old_answer_changes_nothing(client):
    with Person(client, rules="play_only", seat="0") as person:
        first = dict(person.state)
        person.decide()
        after = person.state["n"]
        person.state = first
        person.ask("answer", "state", line="pass")
        assert person.state["n"] == after


def test_a_table_survives_a_lost_connection(client):
    with Person(client, rules="happy") as person:
        person.decide()
        seen = person.state
    with person:
        assert person.state | {"frames": []} == seen | {"frames": []}
        person.play()


# --------------------------------------------------------------------------------------- secrets


def seated(room, seed):
    """A session against bots, begun."""
    bot = make_bot("greedy")
    session = BrowserSession(
        Table(room), seed % 3, [bot, bot], ["greedy", "greedy"],
        adviser=("greedy", adviser_of(bot)), keys=keys_of(seed, 1),
    )  # fmt: skip
    session.begin()
    return session


@pytest.mark.parametrize("room", ROOMS)
def test_hidden_cards_leave_no_trace(room):
    """Other hands, cards not dealt yet, the bottom, the key: another deal tells the same."""
    checked = 0
    for seed in range(6):
        session, rng = seated(room, seed), random.Random(seed)
        while not session.game.over:
            game = session.game
            if game.phase in ("play", "over"):
                other = swap_hands(rng, game, session.seat)
            else:
                hidden = places(game, session.seat)[1]
                other = swap_places(rng, game, hidden, hidden)
            if other is not None:
                other.state["seed"] = rng.randrange(2**63)
                told = state_json(session, 1, None)
                session.table.game = other
                assert state_json(session, 1, None) == told
                session.table.game = game
                checked += 1
            prompt = session.prompt
            if prompt.kind == "choice":
                session.answer(rng.choice(prompt.options).value)
            else:
                session.auto_step()
    assert checked > 20


def test_frames_are_those_of_the_seat():
    for room in ("play_only", "happy", "happy_laizi"):
        session = seated(room, 5)
        while not session.game.over:
            session.auto_step()
            for frame in session.frames:
                assert frame.seat == session.seat
                for seat, shown in enumerate(frame.players):
                    showed = any(key == "show" for key, _ in shown.marks)
                    if seat != session.seat and shown.left and not showed:
                        assert shown.hand is None


def test_keys_of_deals_do_not_follow_from_each_other():
    session = seated("play_only", 1)
    keys = []
    for _ in range(3):
        session._auto()
        del session.players[session.seat]
        keys.append(int(session.game.state["seed"]))
        session.begin()
    table = Table("play_only", seed=0)
    table.deal()
    table._key = keys[0]
    assert len(set(keys)) == 3 and keys_of(None, 1)() != keys_of(None, 1)()
    assert keys == [key for key, _ in zip(iter(keys_of(1, 1), None), range(3), strict=False)]


def check_heard(person):
    """No key, no token, no card before it may be seen; how many tables were looked at."""
    looked = 0
    for text in person.heard:
        assert "seed" not in text and person.token not in text
        message = json.loads(text)
        if message["type"] != "state" or message["over"]:
            continue
        looked += 1
        assert (message["bottom"] is None) == (message["landlord"] is None)
        seen = ""
        for seat, one in enumerate(message["players"]):
            assert seat == message["you"] or "show" in one["marks"] or not one["hand"]
            seen += one["hand"] or ""
        for frame in message["frames"]:
            assert "unseen" not in frame and all("hand" not in one for one in frame["players"])
            assert frame["bottom"] is None or frame["landlord"] is not None
        left = sum(one["left"] for one in message["players"]) - len(seen)
        hidden = 0 if message["landlord"] is not None else 3
        if message["phase"] == "play":
            assert len(message["unseen"]) == left + hidden
    return looked


@pytest.mark.parametrize("room", ROOMS)
def test_what_a_client_received(client, room):
    with Person(client, seed=1, rules=room) as person:
        person.play()
        assert check_heard(person) > 3


def test_two_tables_keep_apart(client):
    with Person(client, rules="play_only", seat="0") as one:
        with Person(client, rules="play_only", seat="0") as two:
            assert one.token != two.token
            before = two.state
            one.decide()
            assert two.ask("state", "state") == before
            assert one.state["n"] == before["n"] + 1


@pytest.mark.parametrize("token", ["", "x", None, 7, ["a"], {"a": 1}, "a" * 32])
def test_only_the_token_opens_a_table(client, token):
    with client.websocket_connect("ws://127.0.0.1/ws") as socket_:
        socket_.send_json({"token": token})
        assert socket_.receive_json() == {"type": "gone"}
    assert client.get("/replay/x/1").status_code == 404


@pytest.mark.parametrize(
    "headers", [{"origin": "http://evil.example"}, {"host": "evil.example"}, {"origin": "null"}]
)
def test_pages_of_other_sites_are_refused(client, headers):
    for path in ("/", "/api/options"):
        assert client.get(path, headers=headers).status_code == 403
    assert client.post("/api/tables", json={}, headers=headers).status_code == 403
    with pytest.raises(WebSocketDisconnect):
        with client.websocket_connect("ws://127.0.0.1/ws", headers=headers):
            pass


def test_the_page_stands_alone(client):
    """No address of another site, nothing inline; every file that it names is there."""
    page = client.get("/")
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy
    files = {"static/main.js"} | set(re.findall(r'(?:src|href)="(static/[^"]+)"', page.text))
    seen = set()
    while files:
        name = files.pop()
        seen.add(name)
        answer = client.get("/" + name)
        assert answer.status_code == 200, name
        addresses = set(re.findall(r"[a-z]+://[^\s\"'<>`$]+", answer.text))
        assert addresses <= {"http://www.w3.org/2000/svg"}
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", answer.text
        )
        files |= {f"static/{n}" for n in re.findall(r'from "\./([^"]+)"', answer.text)} - seen
    assert len(seen) >= 10


# ---------------------------------------------------------------------------------------- limits


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


def test_cards_of_a_payload_are_cards():
    session = seated("happy_laizi", 2)
    told = state_json(session, 1, None)
    from_text(told["unseen"] or "3", wild=True)
