"""Ablations: what is compared, and a whole comparison of tiny runs."""

import json

import pytest

from train import ablations


def summary(wp, decisions=10):
    return {
        "decisions": decisions,
        "evaluation": {name: {"wp": wp} for name in ("rlcard_rule", "greedy", "planner")},
    }


def test_differences_are_paired_by_seed():
    """Seeds that all gain alike have no spread, however far apart they lie."""
    rows = ablations.compared(
        {
            "default": [summary(0.5), summary(0.7), summary(0.6)],
            "alike": [summary(0.6), summary(0.8), summary(0.7)],
            "other": [summary(0.6, 30), summary(0.5, 20), summary(0.7, 40)],
        }
    )
    assert rows["default"]["greedy"]["gap"] == 0 and rows["other"]["decisions"] == 30
    assert rows["alike"]["planner"]["gap"] == pytest.approx(0.1)
    assert rows["alike"]["planner"]["half"] == pytest.approx(0, abs=1e-9)
    # gaps .1, -.2, .1: standard error .1, and t of two degrees of freedom 4.303
    assert rows["other"]["planner"]["half"] == pytest.approx(0.4303, abs=1e-4)


def test_a_comparison_is_made_once(tmp_path, capsys):
    """Trains each variant, writes table and picture; asked again, trains nothing."""
    line = ["--minutes", "0.08", "--seeds", "1", "--deals", "20", "--out", str(tmp_path)]
    line += ["--variants", "default,smaller network"]
    assert ablations.main(line) == 0
    found = json.loads((tmp_path / "ablations.json").read_text())
    assert set(found["variants"]) == {"default", "smaller network"}
    assert all(row["decisions"] > 0 for row in found["variants"].values())
    config = json.loads((tmp_path / "smaller-network-1" / "config.json").read_text())
    assert config["dmc"]["net"]["hidden"] == 256 and config["dmc"]["workers"] == 1
    assert (tmp_path / "ablations.png").stat().st_size > 5000
    before = (tmp_path / "default-1" / "summary.json").stat().st_mtime_ns
    assert ablations.main(line) == 0
    assert (tmp_path / "default-1" / "summary.json").stat().st_mtime_ns == before
    shown = capsys.readouterr().out
    assert "smaller" in shown and str(tmp_path / "ablations.png") in shown and "nan" not in shown


def test_names_of_variants_can_be_listed():
    assert not any("," in name or "/" in name for name in ablations.VARIANTS)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (["--variants", "default,nothing"], "'nothing'"),
        (["--variants", "no facts"], "default"),
        (["--minutes", "0"], "--minutes"),
        (["--seeds", "0"], "--seeds"),
        (["--deals", "0"], "--deals"),
        (["--jobs", "0"], "--jobs"),
        (["--rules", "nowhere"], "nowhere"),
    ],
)
def test_bad_arguments(line, named, tmp_path, capsys):
    assert ablations.main([*line, "--out", str(tmp_path / "x")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and named in error and not (tmp_path / "x").exists()
