"""Replays: a line reads back to the same record; what is cut off, newer or edited is refused."""

import json
import random

import pytest

from ddz_env import PRESETS, FormatError, Game, RuleSet, read_replays
from ddz_env.replay import from_line, to_line, write_replays

ROOMS = [*PRESETS, PRESETS["happy"].replace(name="mine", spring=False, redeal_rotates=True)]
rooms = pytest.mark.parametrize("room", ROOMS, ids=str)


def play_randomly(game: Game, seed: int) -> None:
    rng = random.Random(seed)
    while not game.over:
        game.step(rng.choice(game.legal()))


def finished(room: str | RuleSet, seed: int, **options) -> Game:
    game = Game(room, seed=seed, **options)
    play_randomly(game, seed)
    return game


@rooms
def test_reads_back_to_the_same_record(room):
    redeals = 0
    for seed in range(30):
        game = finished(room, seed, first=seed % 3 if seed % 2 else None)
        redeals += game.redeals
        again, agents = from_line(to_line(game, ["a", "b", "c"]))
        assert again.to_bytes() == game.to_bytes()
        assert again.rules == game.rules
        assert agents == ["a", "b", "c"]
    rules = Game(room).rules
    assert redeals > 0 or rules.auction != "points" or rules.all_pass != "redeal"


@pytest.mark.parametrize(
    "room", [room for room in ROOMS if room not in ("play_only", "laidou")], ids=str
)
def test_redeals_are_kept(room):
    game = Game(room, seed=3, first=1)
    while game.redeals < 2:
        game.step("pass" if "pass" in game.legal() else "look")
    play_randomly(game, 1)
    again, _ = from_line(to_line(game))
    assert again.redeals == game.redeals >= 2
    assert again.to_bytes() == game.to_bytes()


def test_given_cards_are_kept():
    deal = {
        "hands": ["3333444455556666A", "7777888899990000A".replace("0", "T"), "JJJJQQQQKKKK22AAX"],
        "bottom": "22D",
    }
    game = finished("qq_classic", 5, deal=deal)
    again, _ = from_line(to_line(game))
    assert again.to_bytes() == game.to_bytes()


def test_a_deal_in_the_middle_is_kept():
    game = Game("qq_classic", seed=4, first=1)
    game.step("call_3")
    game.step(game.legal()[0])
    again, _ = from_line(to_line(game))
    assert again.to_bytes() == game.to_bytes() and not again.over


def test_a_file_holds_many(tmp_path):
    path = tmp_path / "games" / "all.jsonl"
    games = [finished(room, 7) for room in PRESETS]
    write_replays(path, [to_line(game) for game in games[:2]])
    write_replays(path, [to_line(game) for game in games[2:]])
    read = [game.to_bytes() for game, _ in read_replays(path)]
    assert read == [game.to_bytes() for game in games]


def edited(line: str, **changes) -> str:
    return json.dumps(json.loads(line) | changes)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda line: line[: len(line) // 2], "cut off"),
        (lambda line: "", "cut off"),
        (lambda line: "[]", "not a ddz-replay"),
        (lambda line: edited(line, version=99), "version 99"),
        (lambda line: edited(line, format="other"), "not a ddz-replay"),
        (lambda line: edited(line, more=1), "more"),
        (lambda line: edited(line, seed=-1), "seed"),
        (lambda line: edited(line, seed="1"), "seed"),
        (lambda line: edited(line, first=3), "first"),
        (lambda line: edited(line, seed=2**64), "seed"),
        (lambda line: edited(line, redeals=900), "redeals"),
        (lambda line: edited(line, deck="3" * 54), "deal"),
        (lambda line: edited(line, deck="?" * 54), "replay"),
        (lambda line: edited(line, rules={"name": "x", "no_such_rule": 1}), "no_such_rule"),
        (lambda line: edited(line, decisions=[[0, 0, "pass"]]), "decision 0"),
        (lambda line: edited(line, scores=[0, 0, 0]), "scores"),
        (lambda line: edited(line, decisions=json.loads(line)["decisions"][:-1]), "scores"),
        (lambda line: edited(line, decisions=5), "replay"),
    ],
)
def test_what_is_no_replay_is_refused(change, named, tmp_path):
    line = to_line(finished("qq_classic", 6, first=1))
    with pytest.raises(FormatError, match=named) as caught:
        from_line(change(line))
    assert "\n" not in str(caught.value)
    path = tmp_path / "bad.jsonl"
    write_replays(path, [line, change(line)])
    if change(line):
        with pytest.raises(FormatError, match="line 2"):
            list(read_replays(path))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FormatError, match=r"none\.jsonl"):
        list(read_replays(tmp_path / "none.jsonl"))
