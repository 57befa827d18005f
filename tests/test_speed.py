"""The speed command; the ratios to OpenSpiel only with `-m bench`."""

import importlib.util
import json
import sys

import pytest

from eval import speed

NAMED = {
    *("core_games", "batch_legal", "batch_features", "aec", "dmc_train"),
    *("openspiel_legal", "openspiel_obs", "rlcard_env"),
}
QUICK = ["--rounds", "1", "--seconds", "0.05"]
LEAST = {"batch_legal": 5.0, "batch_features": 1.3, "core_games": 5.3, "dmc_train": 0.025}
"""Least multiples of OpenSpiel's rules-only loop from Python, in the same run."""


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
def test_ratios_to_openspiel(tmp_path):
    if importlib.util.find_spec("pyspiel") is None:
        pytest.skip("the package open_spiel is not installed")
    path = tmp_path / "speed.json"
    assert speed.main(["--only", *LEAST, "openspiel_legal", "--json", str(path)]) == 0
    rows = json.loads(path.read_text())["rows"]
    ratios = {name: rows[name] / rows["openspiel_legal"] for name in LEAST}
    print({name: round(ratio, 3) for name, ratio in ratios.items()})
    slow = {name: ratio for name, ratio in ratios.items() if ratio < LEAST[name]}
    assert not slow
