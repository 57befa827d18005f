"""Behaviour cloning: what is learned from, that it is learned, runs that stop and go on."""

import json
from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pytest
import torch
from kept_games import choose, played, write
from training_runs import command, end_all, finish, start, wait_for

import agents
from agents.dmc_net import NetConfig
from agents.ppo import read_checkpoint
from ddz_env import PRESETS, Game
from ddz_env.bots import make_bot
from ddz_env.replay import decisions
from train import selfplay
from train.bc import BCConfig, Cloner, batch_rows
from train.common import RunSettings
from train.lessons import choices_of, is_held_out, read

NET = ("--bc.net.hidden", "64", "--bc.net.state", "32", "--bc.net.head", "32")
TINY = [*NET, "--bc.workers", "1", "--eval-deals", "8", "--final-deals", "16", "--algo", "bc"]
NAMES = ("anna", "ben", "ann")


@pytest.fixture(autouse=True)
def no_run_is_left_behind():
    yield
    end_all()


@pytest.fixture(scope="module")
def games():
    return [played("play_only", seed) for seed in range(160)]


@pytest.fixture(scope="module")
def file(games, tmp_path_factory):
    """What greedy chose at all seats."""
    return write(tmp_path_factory.mktemp("kept") / "greedy.jsonl", games, NAMES)


def settings(tmp_path, *files, rooms=("play_only",)):
    return RunSettings(
        rooms=tuple(PRESETS[room] for room in rooms), minutes=1, updates=None, seed=1, out=tmp_path,
        eval_minutes=1, eval_deals=8, final_deals=8, deterministic=False, device="cpu",
        replays=files,
    )  # fmt: skip


# ------------------------------------------------------------------------------ what is learned


def test_choices_with_an_alternative_are_learned():
    """Their views, their legal ids and what was chosen, in order; of the seats that are asked."""
    game = played("happy", 3, calls=True)
    for seats in ([True] * 3, [False, True, False]):
        found = list(choices_of(game, seats))
        wanted = []
        for now, text in decisions(game):
            ids = now.legal_ids()
            if len(ids) > 1 and seats[now.seat]:
                wanted.append((now.seat, ids.tolist(), now.action_id(text)))
        assert len(found) > 5
        assert [(int(v["seat"]), ids.tolist(), action) for v, ids, action in found] == wanted


def test_fillings_of_wild_cards_are_learned():
    """A declaration, then each question about it: what a game by ids asks."""
    asked = fills = 0
    for seed in range(12):
        game, again = played("happy_laizi", seed, calls=True), Game("happy_laizi", seed=seed)
        for view, ids, action in choices_of(game, [True] * 3):
            while len(again.legal_ids()) == 1:
                again.step(int(again.legal_ids()[0]))
            assert again.legal_ids().tolist() == ids.tolist()
            assert view.tobytes() == again.view().tobytes()
            fills += again.phase == "fill"
            asked += 1
            again.step(action)
    assert fills > 3 and asked > 200


def test_no_before_a_redeal_is_learned():
    game = Game("qq_classic", seed=3, first=1)
    for _ in range(3):
        game.step("pass")
    game.step("call_3")
    assert [action for _, _, action in choices_of(game, [True] * 3)] == [0, 0, 0, 3]


def test_a_deal_is_held_out_whoever_plays_it():
    deals = [Game("qq_classic", seed=seed) for seed in range(400)]
    held = [is_held_out(game, 0.25) for game in deals]
    assert 60 < sum(held) < 140
    for game, was in zip(deals, held, strict=True):
        game.step("call_3")
        assert is_held_out(game, 0.25) == was
        assert not is_held_out(game, 0.0) and is_held_out(game, 1.0)
        assert was <= is_held_out(game, 0.5)


def test_who_and_winners(games, tmp_path):
    """Each share of the choices by itself; the certain ones are always left out."""
    games = games[:60]
    file = write(tmp_path / "some.jsonl", games, NAMES)
    counts = {}
    for who in ("", "anna", "player_1", "ann"):
        for winners in (False, True):
            config = BCConfig(who=who, winners=winners)
            lessons = read(config, settings(tmp_path, file))
            both = [lessons.learned, lessons.held_out]
            counts[who, winners] = sum(part.size for part in both)
            seats = {int(s) for part in both for s in part.choices["seat"]}
            assert seats == {"": {0, 1, 2}, "anna": {0}, "player_1": {1}, "ann": {2}}[who]
            assert lessons.deals == len(games)
    for winners in (False, True):
        parts = [counts[who, winners] for who in ("anna", "player_1", "ann")]
        assert sum(parts) == counts["", winners] and min(parts) > 100
    assert counts["", True] < counts["", False]
    lord_wins = [game for game in games if game.scores[0] > 0]
    config = BCConfig(who="anna", winners=True)
    won = sum(len(list(choices_of(game, [True, False, False]))) for game in lord_wins)
    assert 0 < counts["anna", True] <= won
    assert sum(p.size for p in read(config, settings(tmp_path, file))[:2]) == counts["anna", True]


def test_each_row_once_in_each_pass():
    rows = np.arange(10, 33)
    for size in (5, 23, 100):
        drawn = np.concatenate([batch_rows(rows, i, size, 1) for i in range(23)])
        least, most = (f(np.bincount(drawn)[10:]) for f in (np.min, np.max))
        assert len(drawn) == 23 * min(size, 23) and least == most == min(size, 23)
        assert drawn[:23].tolist() != drawn[23:46].tolist() and set(drawn[:23]) == set(rows)
    again = batch_rows(rows, 3, 5, 1)
    assert (batch_rows(rows, 3, 5, 1) == again).all()
    assert (batch_rows(rows, 3, 5, 2) != again).any()


def test_a_fresh_policy_is_random(file, tmp_path):
    """Its cross-entropy is the mean logarithm of the number of choices."""
    lessons = read(BCConfig(held_out=0.5), settings(tmp_path, file)).held_out
    config = BCConfig(net=NetConfig(hidden=32, state=16, head=16))
    found = Cloner(config, ("landlord", "landlord_down", "landlord_up"), 1).agreement(lessons)
    sizes = np.diff(lessons.lists.offsets)
    for k, agreement in enumerate(found.values()):
        mine = lessons.choices["net"] == k
        first = (lessons.choices["chosen"][mine] == 0).mean()
        assert agreement.choices == mine.sum() > 100
        assert agreement.loss == pytest.approx(np.log(sizes[mine]).mean(), rel=1e-5)
        assert agreement.by_chance == pytest.approx((1 / sizes[mine]).mean())
        assert agreement.accuracy == pytest.approx(first)


# ---------------------------------------------------------------------------------------- runs


@pytest.fixture(scope="module")
def unbroken(file, tmp_path_factory):
    """(the words, the folder, the output) of a deterministic run to its end."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    words = ["--replays", file, "--deterministic", "--updates", 40, *TINY]
    words += ["--bc.batch", 256, "--bc.lr", 3e-3, "--bc.restart-every", 5]
    with command() as run, redirect_stdout(StringIO()) as output:
        assert run("--out", out, *words) == 0
    return words, out, output.getvalue()


def test_it_learns_what_greedy_chooses(unbroken):
    """On deals that it has not seen, far more often than by chance."""
    _, out, text = unbroken
    summary = json.loads((out / "summary.json").read_text())
    assert set(summary["held_out"]) == {"landlord", "landlord_down", "landlord_up"}
    for name, found in summary["held_out"].items():
        assert found["choices"] > 30 and found["by_chance"] < 0.35
        assert found["accuracy"] > 0.6, (name, found)
        assert f"{found['accuracy']:.3f}" in text and name in text
    assert summary["evaluation"]["random"]["wp"] > 0.7
    assert "ppo:" in text and "Traceback" not in text and "Warning" not in text
    assert list((out / "tensorboard").iterdir())


def test_a_clone_is_an_agent(unbroken):
    agent = agents.load(f"ppo:{unbroken[1] / 'last.pt'}", PRESETS["play_only"])
    greedy, game, same, asked = make_bot("greedy"), Game("play_only", seed=10_001), 0, 0
    while not game.over:
        action = choose(agent, game)
        assert action in game.legal_ids()
        if len(game.legal_ids()) > 1:
            asked += 1
            same += action == choose(greedy, game)
        game.step(action)
    assert asked > 5 and same / asked > 0.4


def tensors(data):
    if isinstance(data, torch.Tensor):
        return [data]
    if isinstance(data, dict):
        data = list(data.values())
    return [t for part in data for t in tensors(part)] if isinstance(data, (list, tuple)) else []


def test_killed_and_resumed(unbroken, inline, tmp_path):
    """To the bit as if unbroken; the files are those of the run unless they are given."""
    words, whole, _ = unbroken
    out = tmp_path / "killed"
    last = out / "last.pt"
    process = start("--out", out, *words)
    wait_for(lambda: last.exists() and read_checkpoint(last)["learner"]["updates"] >= 5, process)
    process.kill()
    finish(process)
    assert 5 <= read_checkpoint(last)["learner"]["updates"] < 40
    assert inline("--out", out, "--resume", *words[2:]) == 0
    one, other = (tensors(read_checkpoint(folder / "last.pt")) for folder in (whole, out))
    assert len(one) == len(other) > 30
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
    results = [json.loads((d / "summary.json").read_text()) for d in (whole, out)]
    assert results[0]["held_out"] == results[1]["held_out"]
    assert results[0]["evaluation"] == results[1]["evaluation"]


def test_calls_are_cloned_too(inline, tmp_path):
    path = write(tmp_path / "x.jsonl", [played("qq_classic", seed) for seed in range(40)])
    words = ["--replays", path, "--rules", "qq_classic", "--updates", 3, *TINY]
    assert inline("--out", tmp_path / "run", *words) == 0
    assert "before" in json.loads((tmp_path / "run" / "summary.json").read_text())["held_out"]
    assert agents.load(f"ppo:{tmp_path / 'run' / 'last.pt'}", PRESETS["qq_classic"])
    more = ["--algo", "ppo", "--resume", "--out", tmp_path / "run"]
    assert inline(*more) == 2


# ----------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (["--algo", "bc"], "--replays"),
        (["--algo", "bc", "--replays", "none.jsonl"], "none.jsonl"),
        (["--algo", "bc", "--replays", "CUT"], "line 2"),
        (["--algo", "bc", "--replays", "FILE", "--rules", "happy"], "play_only"),
        (["--algo", "bc", "--replays", "FILE", "--bc.who", "carl"], "ann, anna, ben"),
        (["--algo", "bc", "--replays", "EMPTY"], "no choices"),
        (["--algo", "bc", "--replays", "FORCED"], "no choices"),
        (["--algo", "bc", "--replays", "FILE", "--bc.held-out", "1"], "--bc.held-out"),
        (["--algo", "bc", "--replays", "FILE", "--bc.lr", "0"], "--bc.lr"),
        (["--algo", "bc", "--replays", "FILE", "--bc.batch", "0"], "--bc.batch"),
        (["--algo", "dmc", "--replays", "FILE"], "--algo bc"),
        (["--algo", "bc", "--resume"], "last.pt"),
    ],
)
def test_bad_arguments(line, named, file, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = file.read_text().splitlines()[0]
    (tmp_path / "CUT").write_text(f"{first}\n{first[:200]}\n")
    (tmp_path / "EMPTY").touch()
    forced = Game("play_only", seed=1)
    write(tmp_path / "FORCED", [forced])
    before = sorted(tmp_path.rglob("*"))
    line = [word.replace("FILE", str(file)) for word in line]
    assert selfplay.main([*line, "--out", "run"]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert shown.err.startswith("selfplay: ") and named in shown.err
    assert sorted(tmp_path.rglob("*")) == before


def test_other_games_do_not_go_on_with_a_run(unbroken, games, tmp_path, capsys):
    other = write(tmp_path / "other.jsonl", games[:20])
    words = ["--algo", "bc", "--resume", "--replays", str(other), "--out", str(unbroken[1])]
    assert selfplay.main(words) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1 and "not the games" in line
