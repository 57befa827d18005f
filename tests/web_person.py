"""A person at a table of the server, for tests: messages, and what was received."""

import json
import random
from contextlib import contextmanager

from starlette.testclient import TestClient

from eval.play import Command
from eval.web.app import make_app
from eval.web.house import House


@contextmanager
def housed():
    """A house of tables, and a client of its server."""
    house = House(Command(("greedy",), helper="greedy", seed=1))
    with TestClient(make_app(house), base_url="http://127.0.0.1") as client:
        yield house, client
    house.stop()


class Person:
    """A client at a table: what it received, and how it plays."""

    def __init__(self, client, seed=0, **wish):
        answer = client.post("/api/tables", json={"next": "greedy", **wish})
        assert answer.status_code == 201, answer.text
        self.client, self.token, self.rng = client, answer.json()["token"], random.Random(seed)
        self.heard, self.decided = [], 0

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

    def choice(self):
        """An answer: what the helper would do, before the play anything."""
        prompt = self.state["prompt"]
        if prompt["kind"] == "choice":
            return self.rng.choice(prompt["options"])["value"]
        if prompt["kind"] == "which":
            return "1"
        return self.ask("hint", "hint")["hints"][0]["play"]

    def decide(self):
        """One decision."""
        prompt = self.state["prompt"]
        told = self.ask("answer", "told", line=self.choice())
        assert told["kind"] != "refused", (told, prompt)
        self.decided += 1

    def play(self):
        """To the end of the deal."""
        while not self.state["over"]:
            self.decide()
        return self.state


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
