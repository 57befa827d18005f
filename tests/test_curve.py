"""The command that measures the players a run has kept."""

import json

import pytest
from checkpoints import fresh

from eval import curve
from train.common import save_checkpoint

KEPT = {"minute-1.pt": 60.0, "minute-2.5.pt": 150.0, "minute-10.pt": 600.0, "last.pt": 900.0}
SHORT = ["--deals", "6", "--final-deals", "8", "--search-deals", "0"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "x"
    for name, elapsed in KEPT.items():
        counts = {"decisions": int(elapsed * 1e4), "games": 3}
        save_checkpoint(folder / name, fresh(elapsed=elapsed, counts=counts))
    return folder


def test_table_and_picture(run, capsys):
    """In order of minutes, against everybody; the same command again plays nothing anew."""
    assert curve.main([str(run), *SHORT]) == 0
    found = json.loads((run / "curve" / "curve.json").read_text())
    points = found["points"]
    assert [p["player"] for p in points] == list(KEPT)
    assert [p["minutes"] for p in points] == [1, 2.5, 10, 15]
    for point in points:
        assert list(point["against"]) == ["random", "rlcard_rule", "greedy", "planner"]
        for row in point["against"].values():
            assert row["deals"] == (8 if point["player"] == "last.pt" else 6)
            assert row["ci"][0] <= row["wp"] <= row["ci"][1]
    table = (run / "curve" / "curve.md").read_text()
    assert table.count("\n") == 2 + 4 * 4 and "| 10 | 6.0 M | `random` |" in table
    assert (run / "curve" / "curve.png").stat().st_size > 10_000
    files = {path: path.stat().st_mtime_ns for path in run.rglob("*.npz")}
    capsys.readouterr()
    assert curve.main([str(run), *SHORT]) == 0
    assert files == {path: path.stat().st_mtime_ns for path in run.rglob("*.npz")}
    assert table.strip() in capsys.readouterr().out
    picture = (run / "curve" / "curve.png").read_bytes()
    assert curve.main([str(run), *SHORT, "--beside", str(run)]) == 0
    assert (run / "curve" / "curve.png").read_bytes() != picture  # the other one is drawn too


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (["--deals", "0"], "--deals"),
        (["--final-deals", "0"], "--final-deals"),
        (["--search-deals", "-1"], "--search-deals"),
        (["--rules", "nowhere"], "nowhere"),
        (["--rules", "happy"], "play_only"),
        (["--algo", "nobody"], "nobody"),
        (["--beside", "elsewhere"], "elsewhere"),
    ],
)
def test_bad_arguments(run, line, named, capsys):
    before = sorted(run.rglob("*"))
    assert curve.main([str(run), *line]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and named in error and sorted(run.rglob("*")) == before


def test_what_is_beside_is_no_curve(run, tmp_path, capsys):
    folder = tmp_path / "curve"
    folder.mkdir()
    for text in ("[", "[]", "{}"):
        (folder / "curve.json").write_text(text)
        assert curve.main([str(run), "--beside", str(tmp_path)]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and "is no curve" in error


def test_a_folder_without_players(tmp_path, capsys):
    assert curve.main([str(tmp_path)]) == 2
    assert "last.pt" in capsys.readouterr().err and not list(tmp_path.iterdir())
