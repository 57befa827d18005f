"""The speed command; the ratios to OpenSpiel only with `-m bench`."""

import importlib.util
import json
import sys

import pytest

from eval import speed
from eval.processes import starts, two_processes

NAMED = {
    *("core_games", "batch_legal", "batch_features", "aec", "dmc_train"),
    *("openspiel_legal", "openspiel_obs", "rlcard_env"),
}
QUICK = ["--rounds", "1", "--seconds", "0.05"]
LEAST = {
    "openspiel_legal": {"batch_legal": 5.0, "core_games": 5.3, "dmc_train": 0.025},
    "openspiel_obs": {"batch_features": 3.0},
    "rlcard_env": {"batch_features": 150.0, "aec": 5.0},
}
"""Least multiples of other engines' loops from Python, in the same run."""


def test_the_rows_that_others_rely_on():
    assert set(speed.ROWS) >= NAMED


def test_the_command_writes_its_rows(tmp_path, capsys):
    path = tmp_path / "deep" / "speed.json"
    ours = ["core_games", "batch_legal", "batch_features", "aec"]
    assert speed.main(["--only", *ours, *QUICK, "--json", str(path)]) == 0
    data = json.loads(path.read_text())
    assert list(data["rows"]) == ours
    assert all(figure > 0 for figure in data["rows"].values())
    assert data["command"].startswith("python eval/speed.py --only core_games")
    assert {"python", "ddz_env", "numpy", "numba"} <= set(data["versions"])
    assert [p.name for p in path.parent.iterdir()] == ["speed.json"]
    shown = capsys.readouterr().out
    assert str(path) in shown.replace("\n", "")


def test_what_is_not_installed_is_null(tmp_path, capsys, monkeypatch):
    for name in ("pyspiel", "rlcard", "torch"):
        monkeypatch.setitem(sys.modules, name, None)  # an import now raises ImportError
    path = tmp_path / "speed.json"
    absent = ["dmc_train", "openspiel_legal", "openspiel_obs", "rlcard_env"]
    assert speed.main(["--only", "core_games", *absent, *QUICK, "--json", str(path)]) == 0
    figures = json.loads(path.read_text())["rows"]
    assert figures.pop("core_games") > 0
    assert figures == dict.fromkeys(absent)
    assert capsys.readouterr().out.count("not installed") == 4


@pytest.mark.parametrize(
    ("name", "package"),
    [("openspiel_legal", "pyspiel"), ("openspiel_obs", "pyspiel"), ("rlcard_env", "rlcard")],
)
def test_other_engines(name, package, tmp_path):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"the package {package} is not installed")
    path = tmp_path / "speed.json"
    assert speed.main(["--only", name, *QUICK, "--json", str(path)]) == 0
    assert json.loads(path.read_text())["rows"][name] > 0


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (["--only", "walking"], "walking"),
        (["--rounds", "0"], "--rounds"),
        (["--seconds", "0"], "--seconds"),
    ],
)
def test_bad_arguments(line, named, tmp_path, capsys):
    assert speed.main([*line, "--json", str(tmp_path / "speed.json")]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1 and named in shown.err
    assert not any(tmp_path.iterdir())


@pytest.mark.bench
@pytest.mark.parametrize("base", LEAST)
def test_ratios_to_other_engines(base, tmp_path):
    package = "rlcard" if base == "rlcard_env" else "pyspiel"
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"the package {package} is not installed")
    path = tmp_path / "speed.json"
    assert speed.main(["--only", *LEAST[base], base, "--json", str(path)]) == 0
    rows = json.loads(path.read_text())["rows"]
    ratios = {name: rows[name] / rows[base] for name in LEAST[base]}
    print({name: round(ratio, 3) for name, ratio in ratios.items()})
    slow = {name: ratio for name, ratio in ratios.items() if ratio < LEAST[base][name]}
    assert not slow


@pytest.mark.bench
def test_a_second_process_pays():
    """As much as it pays a loop that only counts, or nearly."""
    gains = two_processes(1.0, 5)
    print(gains)
    assert gains["ratio"] > 0.9


def test_starts_and_processes():
    """A fresh start says that it compiles; a second process adds something on two cores or more."""
    start, gains = starts(1), two_processes(0.2, 1)
    assert "compiling" in start["cold_says"] and start["cold_s"] > start["warm_s"] > 0
    assert set(gains) == {"count_gain", "batch_gain", "ratio"} and min(gains.values()) > 0
