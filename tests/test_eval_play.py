"""`eval/play.py`: agents, levels, hints of a model; what can't be used."""

import numpy as np
import pytest
from checkpoints import save_fresh

import agents
from ddz_env import DdzError
from ddz_env.listed import Legal
from ddz_env.play.questions import Advice
from ddz_env.rules import PRESETS
from eval import play
from eval.play import LEVELS, Command, Loader, adviser_of, level_agents, prepare


def test_levels():
    """Five, each by its English and its Chinese name, whose agents exist in every room."""
    assert list(LEVELS) == ["novice", "normal", "hard", "expert", "master"]
    for english, (chinese, specs) in LEVELS.items():
        assert level_agents(english) == level_agents(chinese) == specs
        for name in ("play_only", "laidou"):
            loader = Loader(PRESETS[name])
            assert loader.load(loader.first_of(specs))
    expert = LEVELS["expert"][1]
    assert Loader(PRESETS["play_only"]).first_of(expert) == "dmc"
    assert Loader(PRESETS["play_only"].replace(auction="points")).first_of(expert) == "search"
    master = LEVELS["master"][1]
    assert Loader(PRESETS["laidou"]).first_of(master).startswith("search:dmc")
    assert Loader(PRESETS["play_only"].replace(auction="points")).first_of(master) == "search"
    with pytest.raises(DdzError, match="novice 入门"):
        level_agents("easy")


def test_who_sits_down():
    session = prepare(Command(("greedy", "random"), seat="1", seed=3, helper="greedy"))
    assert session.names == {2: "greedy", 0: "random", 1: ""}
    session = prepare(Command(("greedy",), seat="1", seed=3, helper="trustee"))
    assert session.names == {2: "greedy", 0: "greedy", 1: ""} and session.adviser_name == "trustee"
    search = prepare(Command(("search:playouts=9",), seat="1", helper="greedy"))
    assert search.players[0] is not search.players[2]  # it remembers what it spent
    session = prepare(Command(level="困难", seat="0", rules="happy"))
    assert session.names == {1: "planner", 2: "planner", 0: ""}
    session = prepare(Command(seat="0"))
    assert session.names == {1: "dmc", 2: "dmc", 0: ""} and session.adviser_name == "dmc"
    custom = ("auction=points",)
    session = prepare(Command(seat="0", set=custom, beans=77))
    assert session.names[1] == "planner" and session.adviser_name == "planner"
    assert session.table.beans == [77] * 3 and session.table.rules.auction == "points"


def test_a_model_at_the_table_gives_the_hints(tmp_path):
    """Your own, not the one that ships; of players without values, the one that ships."""
    own = f"dmc:{save_fresh(tmp_path / 'own.pt')}"
    assert prepare(Command(("greedy", own), seat="0")).adviser_name == own
    assert prepare(Command(("greedy", own), seat="0", helper="greedy")).adviser_name == "greedy"
    assert prepare(Command(("greedy", "random"), seat="0")).adviser_name == "dmc"


def test_hints_are_the_values_of_the_model():
    session = prepare(Command(("greedy",), seat="0", seed=5))
    session.begin()
    model = agents.load("dmc", PRESETS["play_only"])
    ids = session.game.legal_ids()
    views = np.array([session.view])
    (ranked,) = model.ranked(views, Legal(np.array([0, len(ids)]), ids))
    lines = session.answer("h").lines
    assert lines[0] == "dmc: chance to win, points expected"
    for line, one in zip(lines[1:], ranked, strict=False):
        _, text, chance, points = line.split()
        assert text == session.game.action_text(one.action)
        assert chance == f"{one.chance:.1%}" and points == f"{one.points:+.2f}"


def test_helpers_without_values_for_a_choice():
    """An agent without `ranked`, and networks that know nothing of calls: the choice alone."""

    class Plain:
        def act(self, views, legal):
            return legal.ids[legal.offsets[1:] - 1].astype(np.int64)

    class Ranks(Plain):
        nets = (None, None, None)

        def ranked(self, views, legal):
            return [[Advice(int(action), 0.5, 0.0) for action in legal.ids]]

    before = prepare(Command(("greedy",), rules="happy", seat="0", helper="greedy"))
    after = prepare(Command(("greedy",), seat="0", helper="greedy"))
    for session in (before, after):
        session.begin()
        asked = session._asked()
        last = int(session.game.legal_ids()[-1])
        assert adviser_of(Plain())(*asked) == [Advice(last)]
        chances = [one.chance for one in adviser_of(Ranks())(*asked)]
        assert chances == ([None] if session is before else [0.5] * len(asked[1].ids))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["greedy", "--level", "hard"], ["--level", "not both"]),
        (["--level", "easy"], ["--level", "novice 入门", "'easy'"]),
        (["nobody"], ["nobody", "greedy"]),
        (["greedy", "greedy", "greedy"], ["players", "3"]),
        (["dmc", "--rules", "jj_classic", "--set", "spring=false"], ["dmc", "weights"]),
        (["dmc:no/such.pt"], ["no/such.pt"]),
        (["greedy", "--helper", "greedy:x"], ["greedy", "'x'"]),
        (["greedy", "--helper", "greedy", "--rules", "mahjong"], ["mahjong", "play_only"]),
        (["greedy", "--helper", "greedy", "--set", "springs=1"], ["springs", "spring"]),
        (["greedy", "--helper", "greedy", "--seat", "north"], ["--seat", "north"]),
        (["greedy", "--helper", "greedy", "--lang", "de"], ["lang", "'de'"]),
        (["greedy", "--helper", "greedy", "--deals", "-1"], ["--deals", "-1"]),
        (["greedy", "--helper", "greedy", "--seed", "-1"], ["seed", "-1"]),
        (["greedy", "--helper", "greedy", "--fee", "-1"], ["fee", "-1"]),
        (["greedy", "--helper", "greedy", "--replays", "."], ["--replays", "folder"]),
    ],
)
def test_arguments(line, words, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert play.main(line) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and not list(tmp_path.iterdir())
    assert shown.err.startswith("play: ") and shown.err.count("\n") == 1
    assert all(word in shown.err for word in words), shown.err
