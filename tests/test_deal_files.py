"""Sets of deals: files that are what their commands make, tournaments that play them."""

import json

import numpy as np
import pytest

from ddz_env import PRESETS
from ddz_env.replay import read_replays
from ddz_env.vector import deal_seeds
from eval import deal_files, tournament
from eval.store import read_folder


def run(*words):
    """A tournament in this process; its exit code."""
    return tournament.main([*map(str, words), "--processes", "0"])


def results(folder):
    return json.loads((folder / "results.json").read_text())


def games_of(folder):
    return [games.tobytes() for _, _, games in read_folder(folder)[1]]


def test_the_deals_of_a_file_are_those_of_its_seed(tmp_path):
    """Played from the file and from the seed it is the same tournament, redeals included."""
    path = tmp_path / "deals.txt"
    assert deal_files.main(["--out", str(path), "--deals", "40", "--seed", "3"]) == 0
    line = ["greedy", "random", "--rules", "happy_laizi"]
    assert run(*line, "--deals-file", path, "--out", tmp_path / "file") == 0
    assert run(*line, "--deals", "40", "--seed", "3", "--out", tmp_path / "seed") == 0
    one, two = results(tmp_path / "file"), results(tmp_path / "seed")
    assert one["deals_hash"] == two["deals_hash"] and one["pairings"] == two["pairings"]
    assert (one["deals"], one["seed"], one["deals_file"]) == (40, None, "deals.txt")
    assert games_of(tmp_path / "file") == games_of(tmp_path / "seed")


def test_the_cards_of_a_file_are_what_is_played(tmp_path):
    """Not the key's: a set keeps its deals when shuffling changes."""
    rules = PRESETS["play_only"]
    keys = deal_seeds(1, 8)
    decks = deal_files.shuffled(deal_seeds(2, 8), rules)
    path, games = tmp_path / "other.txt", tmp_path / "games.jsonl"
    deal_files.write_deals(path, keys, decks, {})
    assert run("greedy", "random", "--deals-file", path, "--replays", games) == 0
    seen = [game.given for game, _ in read_replays(games)]
    assert np.array_equal(seen, np.repeat(decks, 2, axis=0))


def test_some_of_a_file(tmp_path, capsys):
    line = ["greedy", "random", "--deals-file", "eval/deals/shuffled_10000.txt"]
    assert run(*line, "--deals", "5", "--out", tmp_path / "out") == 0
    assert results(tmp_path / "out")["deals"] == 5
    capsys.readouterr()
    assert run(*line, "--deals", "10001", "--out", tmp_path / "no") == 2
    assert "has 10000" in capsys.readouterr().err and not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("name", "rules", "deals", "seed"),
    [("shuffled_10000", "play_only", 10_000, 1), ("red_sevens_2000", "laidou", 2000, 1)],
)
def test_the_sets_of_deals(name, rules, deals, seed):
    """Each is what its own command makes, and its head says so."""
    path = deal_files.Path("eval/deals") / f"{name}.txt"
    found, head = deal_files.read_deals(path, PRESETS[rules])
    keys = deal_seeds(seed, deals)
    assert np.array_equal(found.keys, keys)
    assert np.array_equal(found.decks, deal_files.shuffled(keys, PRESETS[rules]))
    assert head["sha256"] == deal_files.deals_hash(found.keys, found.decks)
    assert head["command"].startswith("python eval/deal_files.py --out eval/deals/")
    assert rules in head["rooms"].split(", ")


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (lambda text: text[:-30], "54 cards"),
        (lambda text: text[:-72], "cut off or edited"),
        (lambda text: text.replace("# format", "# form"), "ddz-deals-1"),
        (lambda text: text.replace("deals: 3", "deals: 4"), "cut off or edited"),
        (lambda text: text[:-2] + ("X" if text[-2] != "X" else "3") + "\n", "line 9"),
        (lambda text: text[:-2] + "Z\n", "54 cards of"),
        (lambda text: text.replace("\n", "\nxyz ", 9), "16 hexadecimal digits"),
        (lambda text: text.split("sha256")[0], "no deals"),
        (lambda text: "", "ddz-deals-1"),
    ],
)
def test_a_damaged_set_of_deals(edit, named, tmp_path, capsys):
    path = tmp_path / "deals.txt"
    assert deal_files.main(["--out", str(path), "--deals", "3"]) == 0
    path.write_text(edit(path.read_text()))
    capsys.readouterr()
    assert run("greedy", "random", "--deals-file", path, "--out", tmp_path / "out") == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1 and named in shown.err
    assert not (tmp_path / "out").exists()


def test_a_set_of_deals_that_is_no_text(tmp_path, capsys):
    path = tmp_path / "deals.txt"
    path.write_bytes(b"\x9b\x00\xff")
    assert run("greedy", "random", "--deals-file", path) == 2
    assert f"{path}: expected a file of ddz-deals-1" in capsys.readouterr().err


def test_a_set_for_other_rooms(capsys):
    line = ["greedy", "random", "--deals-file", "eval/deals/shuffled_10000.txt"]
    assert run(*line, "--rules", "laidou") == 2
    assert "for room laidou" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--deals", "0"], "--deals"),
        (["--deals", "1" + 20 * "0"], "--deals"),
        (["--seed", "-1"], "seed"),
        (["--rules", "nowhere"], "nowhere"),
    ],
)
def test_bad_arguments_of_deal_files(words, named, tmp_path, capsys):
    out = tmp_path / "deals.txt"
    assert deal_files.main(["--out", str(out), *words]) == 2
    assert named in capsys.readouterr().err and not out.exists()


def test_a_set_of_deals_is_not_overwritten(tmp_path, capsys):
    out = tmp_path / "deals.txt"
    out.write_text("kept")
    assert deal_files.main(["--out", str(out), "--deals", "3"]) == 2
    assert "is there already" in capsys.readouterr().err and out.read_text() == "kept"
