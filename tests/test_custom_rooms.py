"""Custom rooms: TOML files, settings, hashes, and every field that a user can turn."""

import ast
from dataclasses import fields
from pathlib import Path

import pytest

import ddz_env
from ddz_env import PRESETS, Game, RuleError, load_rules
from ddz_env.params import PARAMS
from ddz_env.rooms import parse_settings, rules_from_dict, rules_hash, rules_to_dict


def test_toml_changes_a_preset(tmp_path):
    path = tmp_path / "house.toml"
    path.write_text('base = "happy"\nspring = false\nmax_redeals = 3\nshows_combine = "product"\n')
    rules = load_rules(str(path))
    assert rules == PRESETS["happy"].replace(
        name="house", spring=False, max_redeals=3, shows_combine="product"
    )
    assert load_rules(str(path), ["spring=true"]).spring is True
    assert Game(rules, seed=1).phase == "show_before_deal"


def test_settings_change_a_preset():
    rules = load_rules("happy", ["spring=false", "max_redeals=7", "shower=everybody"])
    assert (rules.spring, rules.max_redeals, rules.shower) == (False, 7, "everybody")
    assert load_rules("happy") is PRESETS["happy"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("base = ", "not TOML"),
        ('base = "nowhere"', "nowhere"),
        ("no_such_field = 1", "no_such_field"),
        ("spring = 3", "spring"),
        ("max_redeals = -1", "max_redeals"),
        ('auction = "loud"', "auction"),
        ("[table]\nspring = false", "table"),
    ],
)
def test_bad_toml_is_named(text, named, tmp_path):
    path = tmp_path / "house.toml"
    path.write_text(text)
    with pytest.raises(RuleError, match=named) as caught:
        load_rules(str(path))
    assert str(path) in str(caught.value) or named == "nowhere"
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(RuleError, match=r"none\.toml"):
        load_rules(str(tmp_path / "none.toml"))


@pytest.mark.parametrize(
    "settings", [["spring"], ["=1"], ["spring=false", "spring=true"], ["spring=maybe"], ["x=1"]]
)
def test_bad_settings_are_named(settings):
    with pytest.raises(RuleError, match=settings[-1].split("=")[0] or "="):
        load_rules("happy", settings)
    if settings[0].count("=") == 0:
        with pytest.raises(RuleError, match="field=value"):
            parse_settings(settings)


def test_a_hash_tells_rooms_apart_and_ignores_the_name():
    hashes = {rules_hash(rules) for rules in PRESETS.values()}
    assert len(hashes) == len(PRESETS)
    renamed = PRESETS["happy"].replace(name="other")
    assert rules_hash(renamed) == rules_hash(PRESETS["happy"])


def other_value(field, rules):
    """A value of a field that differs from the room's, None where there is none to try."""
    value = getattr(rules, field.name)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        low, high = field.metadata["range"]
        return value + 1 if value < high else low
    return None


@pytest.mark.parametrize("room", PRESETS)
def test_every_field_counts_in_the_hash_and_survives_a_dictionary(room):
    rules, changed = PRESETS[room], 0
    assert rules_from_dict(rules_to_dict(rules)) is rules
    for field in fields(rules):
        value = other_value(field, rules)
        if value is None:
            continue
        try:
            other = rules.replace(**{field.name: value})
        except RuleError as error:  # fields that go together
            assert "expected" in str(error)
            continue
        changed += 1
        assert rules_hash(other) != rules_hash(rules), field.name
        assert rules_from_dict(rules_to_dict(other)) == other
    assert changed > 30


def test_every_field_is_used():
    """By a name that the package reads somewhere, besides where rules are checked and described."""
    package = Path(ddz_env.__file__).parent
    read = {
        node.attr
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
    }
    assert {field.name for field in fields(PRESETS["happy"])} - read == set()


def test_kernels_get_every_field_that_they_need():
    names = {field.name for field in fields(PRESETS["happy"])}
    bombs = {"soft_bomb", "bomb", "pure_bomb", "rocket"}
    assert {f"{bomb}_multiplier" for bomb in bombs} <= names
    assert set(PARAMS.names) - {"categories", "kickers", *bombs} <= names
