"""Generated parts of the docs are those of the code."""

import importlib.util
from dataclasses import fields
from pathlib import Path

import pytest

from ddz_env import PRESETS, RuleSet

DOCS = Path(__file__).resolve().parent.parent / "docs"
_spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
assert _spec is not None and _spec.loader is not None
generate = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(generate)


@pytest.mark.parametrize("page", generate.PARTS)
def test_generated_parts_are_fresh(page):
    assert (DOCS / page).read_text(encoding="utf-8") == generate.generate(page), (
        f"docs/{page} is stale; run python docs/generate.py"
    )


def test_every_field_says_what_it_means_and_where_it_comes_from():
    for field in fields(RuleSet):
        assert field.metadata["doc"] and field.metadata["source"], field.name


def test_every_room_has_a_row():
    text = (DOCS / "rules.md").read_text(encoding="utf-8")
    for name in PRESETS:
        assert f"| `{name}` |" in text
