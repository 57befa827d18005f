"""The server of `eval/play.py --web`: what a client is told, what it may do, what it may not."""

import json
import random
import re
import threading

import pytest
from starlette.websockets import WebSocketDisconnect
from test_leaks import places, swap_hands, swap_places
from web_person import Person, check_heard

from ddz_env import PRESETS
from ddz_env.bots import make_bot
from ddz_env.cards import from_text
from ddz_env.play.questions import adviser_of
from ddz_env.table import Table
from eval.web.house import keys_of
from eval.web.payload import state_json
from eval.web.sessions import BrowserSession

ROOMS = list(PRESETS)


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
    table.rekey(keys[0])
    assert len(set(keys)) == 3 and keys_of(None, 1)() != keys_of(None, 1)()
    assert keys == [key for key, _ in zip(iter(keys_of(1, 1), None), range(3), strict=False)]


@pytest.mark.parametrize("room", ROOMS)
def test_what_a_client_received(client, room):
    with Person(client, seed=1, rules=room) as person:
        person.play()
        assert check_heard(person) >= person.decided > 0


class Slow:
    """An agent that thinks until it is told to choose."""

    def __init__(self, agent):
        self.agent, self.begun, self.go_on = agent, threading.Event(), threading.Event()

    def act(self, views, legal):
        self.begun.set()
        assert self.go_on.wait(30)
        return self.agent.act(views, legal)


def test_who_comes_while_others_think_sees_what_they_chose(client, house):
    """Never a table in the middle of it."""
    with Person(client, rules="play_only", seat="0") as one:
        slow = Slow(make_bot("greedy"))
        session = house.find(one.token).session
        session.players[1] = session.players[2] = slow
        line = one.ask("hint", "hint")["hints"][0]["play"]
        one.socket.send_json({"type": "answer", "n": one.state["n"], "line": line})
        assert slow.begun.wait(30)
        with client.websocket_connect("ws://127.0.0.1/ws") as other:
            other.send_json({"token": one.token})
            threading.Timer(0.5, slow.go_on.set).start()
            first = json.loads(other.receive_text())
        assert first["type"] == "state" and first["n"] == one.state["n"] + 1


@pytest.mark.parametrize("room", ROOMS)
def test_a_connection_cut_at_every_decision(client, room):
    """Between decisions, and after an answer was sent: it is done once, sent twice."""
    person, state, phases = Person(client, seed=2, rules=room), None, set()
    while len(phases) < 2 and not (room == "play_only" and phases):
        while state is None or not state["over"]:
            with person:
                assert state is None or person.state | {"frames": []} == state
                phases.add(person.state["phase"])
                answer = {"type": "answer", "n": person.state["n"], "line": person.choice()}
                person.socket.send_json(answer)
            with person:
                assert person.state["n"] - answer["n"] in (0, 1)
                person.socket.send_json(answer)  # once more
                while person.hear("state")["n"] == answer["n"]:
                    pass
                state = person.state | {"frames": []}
                assert state["n"] == answer["n"] + 1
        with person:
            person.ask("next", "told")
            state = person.state | {"frames": []}
    assert "play" in phases


def test_the_same_deal_again(client):
    with Person(client, rules="play_only", seat="0") as person:
        scores = [one["points"] for one in person.play()["players"]]
        assert person.ask("again", "told")["kind"] == "moved" and person.state["you"] == 1
        points = [one["points"] for one in person.state["players"]]
        assert points == [scores[2], *scores[:2]]
        assert person.state["landlord"] == 0 and person.state["deal"] == 2
        told = person.ask("again", "told")
        assert (told["kind"], told["lines"]) == ("refused", ["again: the deal is not over"])
        names = [one["name"] for one in person.state["players"]]
        assert names[1] == "" and person.state["ledger"][0]["deal"] == 1
        assert all(one["hand"] is None or seat == 1
                   for seat, one in enumerate(person.state["players"]))  # fmt: skip
        assert person.play()["over"]


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


def test_cards_of_a_payload_are_cards():
    session = seated("happy_laizi", 2)
    told = state_json(session, 1, None)
    from_text(told["unseen"] or "3", wild=True)
