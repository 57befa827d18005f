"""Whole games through a pseudo-terminal, as a person plays them: screens, colours, languages."""

import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ddz_env import read_replays
from ddz_env.play.terminal import paint, wants_colour
from ddz_env.render import cell_width

pty = pytest.importorskip("pty")
ROOT = Path(__file__).resolve().parent.parent
ALONE = """
import runpy, sys
for name in ("torch", "agents", "eval", "train", "rich", "tyro", "PIL", "pygame"):
    sys.modules[name] = None
sys.argv = ["ddz_env", *sys.argv[1:]]
runpy.run_module("ddz_env", run_name="__main__")
"""
"""The wheel's command in a process where nothing else of this checkout can be imported."""
QUESTION = re.compile(r"> $")
LIMIT = 120.0


class Terminal:
    """A program on a pseudo-terminal of 80 columns."""

    def __init__(self, *words, **environment):
        leader, follower = pty.openpty()
        env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
        env |= {"TERM": "xterm", "COLUMNS": "80", "PYTHONPATH": str(ROOT)} | environment
        self.process = subprocess.Popen(
            [sys.executable, *map(str, words)],
            stdin=follower, stdout=follower, stderr=follower, close_fds=True, env=env, cwd=ROOT,
        )  # fmt: skip
        os.close(follower)
        self.leader, self.raw = leader, ""

    def read(self):
        """What the program writes until it asks or ends; without control codes."""
        end, data, text = time.monotonic() + LIMIT, b"", ""
        while time.monotonic() < end:
            if select.select([self.leader], [], [], 0.05)[0]:
                try:
                    more = os.read(self.leader, 65536)
                except OSError:  # the other end is closed
                    break
                if not more:
                    break
                data += more
                text = data.decode(errors="ignore")  # a character may be half there
            elif QUESTION.search(plain(text)) or self.process.poll() is not None:
                break
        self.raw += text
        return plain(text)

    def type(self, line):
        os.write(self.leader, line.encode() + b"\n")
        return self.read()

    def close(self):
        """The exit code."""
        code = self.process.wait(timeout=LIMIT)
        os.close(self.leader)
        return code


def plain(text):
    """Text without escape sequences."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).replace("\r", "").replace("\x07", "")


def answer(text):
    """What a simple person types at a screen: no to all, calls, leads his lowest rank, passes."""
    question = text.rstrip("\n").splitlines()[-2]
    if "p to pass" in question or "Enter passes" in question:
        return ""
    if "you lead" in question:
        hand = re.findall(r"your hand: (.*) \(\d+ cards\)", text)[-1].split()
        return hand[0]
    return "y" if "Call the landlord" in question or "Rob the" in question else "n"


COMMANDS = {
    "play_only": ["-c", ALONE, "greedy", "--rules", "play_only", "--seat", "0"],
    "happy": ["eval/play.py", "greedy", "--helper", "greedy", "--rules", "happy"],
    "happy_laizi": ["-m", "ddz_env", "greedy", "random", "--rules", "happy_laizi"],
}


@pytest.mark.parametrize("rules", COMMANDS)
def test_a_deal_to_its_end(rules, tmp_path):
    """With an answer that can't be used, a hint, a take-back and the help on the way."""
    kept = tmp_path / "games.jsonl"
    terminal = Terminal(*COMMANDS[rules], "--deals", "1", "--seed", "11", "--replays", kept)
    text = whole = terminal.read()
    assert "deal 1" in text and rules in text
    told = terminal.type("nonsense")
    assert sum("expected" in line for line in told.splitlines()) == 1
    assert "would choose" in terminal.type("h")
    assert "small joker" in terminal.type("?")
    steps = 0
    while "left over" not in text:
        text = terminal.type(answer(text))
        whole += text
        if steps == 3:
            text = terminal.type("u")
            assert "taken back" in text
        steps += 1
        assert steps < 120, text
    assert "landlord wins" in text or "farmers win" in text
    assert not kept.exists()
    last = terminal.type("q")
    assert "you leave; deals played: 1" in last and terminal.close() == 0
    for line in plain(terminal.raw).splitlines():
        assert cell_width(line) <= 80 or line.startswith("ddz_env: compiling"), line
    ((game, names),) = read_replays(kept)
    assert game.over and game.rules.name == rules and names.count("human") == 1
    points = game.scores[names.index("human")]
    assert f"points {points:g}" in last


@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours(environment, coloured):
    terminal = Terminal("-m", "ddz_env", "--seat", "0", "--seed", "1", **environment)
    text = terminal.read() + terminal.type("XYZ")
    assert ("\x1b[1;33m" in terminal.raw) == coloured and ("\x1b[31m" in terminal.raw) == coloured
    assert "landlord" in text and " > player_0" in text and "expected" in text
    terminal.process.send_signal(signal.SIGINT)  # Ctrl-C
    assert "stopped" in terminal.read() and terminal.close() == 130


class Stream:
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("name", "value", "option", "wanted"),
    [
        ("TERM", "xterm", False, True),
        ("TERM", "dumb", False, False),
        ("NO_COLOR", "1", False, False),
        ("NO_COLOR", "", False, True),
        ("TERM", "xterm", True, False),
    ],
)
def test_who_gets_colours(name, value, option, wanted, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name, value)
    assert wants_colour(Stream(), option) is wanted
    line = [("33 ", ""), ("W", "wild")]
    assert paint(line, False) == "33 W" and plain(paint(line, True)) == "33 W" != paint(line, True)


def run(*words, typed=""):
    """(exit code, output, errors) of a command without a terminal."""
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        input=typed, text=True, capture_output=True, cwd=ROOT, env=env, timeout=LIMIT,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_without_a_terminal_in_chinese():
    """No colours; the lines that were typed stand in the output; a script may end anywhere."""
    typed = "33\n99999\n?\nq\n1\n"
    line = ("-m", "ddz_env", "--seat", "0", "--seed", "1", "--deals", "1", "--lang", "zh")
    code, out, _ = run(*line, typed=typed)
    assert code == 0 and "\x1b" not in out
    words = ("手牌: 33 55 66", "> 33\n", "应为手里的牌", "小王", "要离开牌桌吗", "托管", "地主胜")
    for word in (*words, "你离开了: 打了 1 局"):
        assert word in out, word
    assert run(*line, typed=typed)[1] == out  # the same seed, the same game
