"""Tables as JSON: they go on as if nothing had happened; cut off, newer and edited files."""

import base64
import json
import os

import pytest
from seats import BOTS, CRAZY, a_table

from ddz_env import PRESETS, FormatError
from ddz_env.rules import RuleSet
from ddz_env.table import Table
from ddz_env.table_file import Entry, _digest


def test_files(tmp_path):
    table, path = a_table(), tmp_path / "table.json"
    table.save(path)
    loaded = Table.load(str(path))
    assert loaded.to_json() == table.to_json()
    assert (loaded.rules, loaded.room, loaded.autos) == (table.rules, table.room, table.autos)
    assert loaded.rules is not None and loaded.ledger[0] == table.ledger[0]
    assert isinstance(loaded.ledger[0], Entry)
    for each in (table, loaded):
        for _ in range(5):
            each.play([BOTS["greedy"]] * 3)
        each.escape(1)
    assert loaded.to_json() == table.to_json()
    data = json.loads(path.read_text(encoding="utf-8"))
    assert set(data["rules"]) == set(RuleSet.__dataclass_fields__)
    assert (data["format"], data["version"], data["seed"]) == ("ddz-table", 1, 11)
    table.save(path)  # over the old one
    loaded = Table.load(path)
    assert (loaded.to_json(), loaded.running) == (table.to_json(), False)
    assert loaded.game.to_bytes() == table.game.to_bytes()
    assert loaded.deal().hands == table.deal().hands
    assert [file.name for file in tmp_path.iterdir()] == ["table.json"]


@pytest.mark.parametrize("rules", [CRAZY, PRESETS["play_only"].replace(name="拖拉机")])
def test_files_of_custom_rooms(rules, tmp_path):
    table = Table(rules, seed=2)
    fresh = Table.from_json(table.to_json())
    assert (fresh.game, fresh.deals, fresh.rules) == (None, 0, rules)
    for each in (table, fresh):
        each.play([BOTS["random"]] * 3)
    table.save(tmp_path / "t")
    assert Table.load(tmp_path / "t").to_json() == fresh.to_json()


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    table, path = a_table(), tmp_path / "table.json"
    table.save(path)
    old = path.read_bytes()
    table.play([BOTS["greedy"]] * 3)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(FormatError, match=r"table\.json.*No space left"):
        table.save(path)
    assert path.read_bytes() == old
    assert [file.name for file in tmp_path.iterdir()] == ["table.json"]


def edited(change, sign=False):
    """The text of a table with something changed; signed anew, so that the checks are reached."""
    data = json.loads(a_table().to_json())
    change(data)
    if sign:
        data["sha256"] = _digest(data)
    return json.dumps(data)


def other_game(data):
    raw = base64.b64decode(data["game"])
    data["game"] = base64.b64encode(raw[:-1]).decode()


EDITS = [
    (lambda d: d.update(version=2), "version 2"),
    (lambda d: d.update(version=True), "version True"),
    (lambda d: d.update(format="ddz-replay"), "format"),
    (lambda d: d.pop("beans"), "'beans' is missing"),
    (lambda d: d.update(more=1), "'more' is unknown"),
    (lambda d: d["beans"].__setitem__(0, 10**9), "beans of seat 0"),
    (lambda d: d["beans"].__setitem__(1, -1), "beans of seat 1.*-1"),
    (lambda d: d.update(start=[1, 2]), "start"),
    (lambda d: d["ledger"][0].__setitem__(3, 77), "deal 1 sums to"),
    (lambda d: d["ledger"][0].__setitem__(2, "gift"), "ledger: line 0"),
    (lambda d: d["ledger"][0].__setitem__(1, 3), "ledger: line 0"),
    (lambda d: d["ledger"][0].__setitem__(1, True), "ledger: line 0"),
    (lambda d: d["ledger"][0].__setitem__(2, []), "ledger: line 0"),
    (lambda d: d["ledger"][1].__setitem__(0, 9), "ledger line 1: deal"),
    (lambda d: d["ledger"].pop(), "deal 3 sums to"),
    (lambda d: d.update(ledger=None), "ledger"),
    (lambda d: d.update(points=[0, 0, "1"]), "points of seat 2"),
    (lambda d: d.update(winnings={}), "winnings"),
    (lambda d: d.update(auto=[1, 0, 0]), "auto"),
    (lambda d: d.update(first=3), "first.*3"),
    (lambda d: d.update(key=-1), "key.*-1"),
    (lambda d: d.update(seed=None), "seed"),
    (lambda d: d.update(deals=5), "game: deal 4, expected 5"),
    (lambda d: d.update(game=None), "game"),
    (lambda d: d.update(game="###"), "game"),
    (other_game, "game"),
    (lambda d: d.update(fled=1), "fled: 1"),
    (lambda d: d.update(deals=0, ledger=[], beans=d["start"], game=None, fled=True), "fled: True"),
    (lambda d: d["rules"].update(escape="never"), "escape.*never"),
    (lambda d: d["rules"].update(jokers=3), "rules: field 'jokers' is unknown"),
    (lambda d: d["rules"].pop("spring"), "rules: field 'spring' is missing"),
    (lambda d: d.update(rules="happy"), "rules"),
    (lambda d: d["rules"].update(name="sad"), "game"),
    (lambda d: d["room"].update(fee=0.5), "fee.*0.5"),
    (lambda d: d.update(room=[]), "room"),
]


@pytest.mark.parametrize("row", EDITS, ids=lambda row: row[1])
def test_edited_files(row):
    with pytest.raises(FormatError, match=row[1]) as caught:
        Table.from_json(edited(row[0], sign=True))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["points", "winnings", "key", "seed", "auto", "sha256"])
def test_edits_that_only_the_hash_can_tell(name):
    other = {"points": [4, 4, -8], "winnings": [1, 2, 3], "auto": [True] * 3, "sha256": ""}
    text = edited(lambda data: data.update({name: other.get(name, 12345)}))
    with pytest.raises(FormatError, match="sha256"):
        Table.from_json(text)


def test_files_that_were_cut_off(tmp_path):
    text = a_table().to_json()
    for end in (0, 1, 10, len(text) // 3, len(text) // 2, len(text) - 1):
        (tmp_path / "t").write_text(text[:end], encoding="utf-8")
        with pytest.raises(FormatError, match="table"):
            Table.load(tmp_path / "t")
    (tmp_path / "t").write_bytes(b"\xff\xfe")
    with pytest.raises(FormatError, match="no text"):
        Table.load(tmp_path / "t")
    with pytest.raises(FormatError, match="nowhere"):
        Table.load(tmp_path / "nowhere")
    with pytest.raises(FormatError, match="nowhere"):
        a_table().save(tmp_path / "nowhere" / "table.json")
    for value in (None, 3, b"{}", "[]", "3", "[" * 10**5):
        with pytest.raises(FormatError, match="table"):
            Table.from_json(value)
