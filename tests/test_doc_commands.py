"""Every command that README and docs name is one that its program takes; options in prose exist."""

import argparse
import contextlib
import importlib
import io
import re
import shlex
from pathlib import Path

import pytest
import tyro

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PROGRAMS = sorted(
    f"{folder}/{path.name}"
    for folder in ("agents", "eval", "train")
    for path in (ROOT / folder).glob("*.py")
    if "tyro.cli" in path.read_text(encoding="utf-8")
)
WITHOUT_OPTIONS = {"docs/generate.py": 0, "agents/onnx_agent.py": 2}
"""Programs without a parser, and how many words they take."""
EXAMPLES = {"room.toml", "house.toml"}
"""Files that a user writes."""
OTHERS = {"--no-deps", "--lambda", "--head", "--address"}
"""Options of programs that are not ours, and none."""


def commands(page):
    """The commands of a page: lines of blocks, and code in the text, which may be broken."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"```(?:sh|bash)?\n(.*?)```", text, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    lines += [code.replace("\n", " ") for code in re.findall(r"`([^`]+)`", prose)]
    found = [line.partition(" # ")[0].strip() for line in lines]
    return [line for line in found if re.match(r"(python|make) \S", line)]


class ParsedError(Exception):
    """The program's parser has taken the words."""


@pytest.fixture
def parsed(monkeypatch):
    """Whether a command's program takes its words; it goes no further."""

    def stop(parse):
        def wrapped(*given, **named):
            parse(*given, **named)
            raise ParsedError

        return wrapped

    monkeypatch.setattr(tyro, "cli", stop(tyro.cli))
    parser = argparse.ArgumentParser
    monkeypatch.setattr(parser, "parse_args", stop(parser.parse_args))

    def takes(main, words):
        try:
            main(words)
        except ParsedError:
            return True
        except SystemExit:
            return False
        return False

    return takes


ALL = [(page.name, line) for page in PAGES for line in dict.fromkeys(commands(page))]


@pytest.mark.parametrize(("page", "line"), ALL, ids=[f"{page}: {line}" for page, line in ALL])
def test_a_command(page, line, parsed, capsys):
    program, *words = shlex.split(line)
    if program == "make":
        targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert set(words) <= set(targets)
        return
    name = words.pop(0)
    if name == "-m":
        module = words.pop(0)
        if module != "ddz_env":
            assert module == "pytest"
            assert all((ROOT / word).exists() for word in words if word.startswith("tests/"))
            return
        main = importlib.import_module("ddz_env.play.command").main
    elif name in WITHOUT_OPTIONS:
        assert (ROOT / name).exists() and len(words) == WITHOUT_OPTIONS[name]
        return
    else:
        assert name in PROGRAMS, line
        main = importlib.import_module(name[:-3].replace("/", ".")).main
    assert parsed(main, words), (line, capsys.readouterr())


def test_that_commands_are_found():
    """As many as there are at least; a fault in the search finds none."""
    assert len(ALL) > 60
    assert {line.split()[0] for _, line in ALL} == {"python", "make"}
    assert not any("`" in line or line.endswith("\\") for _, line in ALL)


@pytest.fixture(scope="module")
def options():
    """All options of all programs."""
    found = {"--help"}
    mains = [importlib.import_module(name[:-3].replace("/", ".")).main for name in PROGRAMS]
    mains.append(importlib.import_module("ddz_env.play.command").main)
    for main in mains:
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):
            main(["--help"])
        found |= set(re.findall(r"--[a-z][\w.-]*[a-z]", shown.getvalue()))
    return found


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_options_in_the_text(page, options):
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w-])--[a-z][\w.-]*[a-z]", text))
    groups = {option[: dot.start()] for option in options for dot in re.finditer(r"\.", option)}
    unknown = named - options - groups - OTHERS
    assert not unknown, (page.name, unknown)


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_files_in_the_text(page):
    """Paths in code exist; a bare name is that of a file somewhere in the project."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    named = set(re.findall(r"`((?:[a-z_]+/)*[\w*]+\.(?:py|md|toml|ipynb))`", text)) - EXAMPLES
    folders = ("agents", "ddz_env", "docs", "eval", "notebooks", "tests", "train")
    files = {path.name for folder in folders for path in (ROOT / folder).rglob("*")}
    files |= {path.name for path in ROOT.iterdir()}
    for name in sorted(name for name in named if "NAME" not in name):
        found = list(ROOT.glob(name)) if "/" in name or "*" in name else name in files
        assert found, (page.name, name)
