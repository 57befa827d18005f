"""Generated parts of the docs are those of the code, and the examples in them run."""

import doctest
import importlib.util
import re
from dataclasses import fields
from pathlib import Path

import pytest

from ddz_env import PRESETS, RuleSet, decode, vec_env
from ddz_env.catalogue import CHOICES

DOCS = Path(__file__).resolve().parent.parent / "docs"
_spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
assert _spec is not None and _spec.loader is not None
generate = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(generate)


def read(page):
    return (DOCS / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", generate.PARTS)
def test_generated_parts_are_fresh(page):
    assert read(page) == generate.generate(page), (
        f"docs/{page} is stale; `python docs/generate.py` makes it anew"
    )


@pytest.mark.parametrize("page", sorted(path.name for path in DOCS.glob("*.md")))
def test_every_marked_part_is_generated(page):
    marked = re.findall(r"<!-- begin (.*) -->", read(page))
    assert marked == list(generate.PARTS.get(page, {}))


def test_a_missing_mark_is_named(monkeypatch):
    monkeypatch.setitem(generate.PARTS, "training.md", {"speed": str})
    with pytest.raises(ValueError, match=r"docs/training.md: expected one <!-- begin speed -->"):
        generate.generate("training.md")


EXAMPLES = [path.name for path in sorted(DOCS.glob("*.md")) if ">>>" in read(path.name)]


@pytest.mark.parametrize("page", EXAMPLES)
def test_examples_run(page):
    """All of a page's, in order, as one session."""
    blocks = re.findall(r"```python\n(.*?)```", read(page), re.DOTALL)
    session = "\n".join(block for block in blocks if block.startswith(">>>"))
    test = doctest.DocTestParser().get_doctest(session, {}, page, page, 0)
    assert test.examples
    shown = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=shown.append)
    assert result.failed == 0, "".join(shown)


def test_which_pages_have_examples():
    assert {"observation.md", "actions.md", "wild_cards.md"} <= set(EXAMPLES)


def test_every_fact_and_every_choice_is_explained():
    for name in decode(vec_env(1).features()[0]):
        assert f"`{name}`" in read("observation.md"), name
    for text, action in CHOICES.items():
        row = f"| {action} | `{text}` |"
        assert row in read("actions.md") or text.startswith("wild_as_"), text


def test_every_field_says_what_it_means_and_where_it_comes_from():
    for field in fields(RuleSet):
        assert field.metadata["doc"] and field.metadata["source"], field.name


def test_every_room_has_a_row():
    for name in PRESETS:
        assert f"| `{name}` |" in read("rules.md")
        assert f"| `{name}` |" in read("actions.md")
