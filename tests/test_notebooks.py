"""The notebooks: each runs from scratch, and none is kept with outputs."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="the package nbformat is not installed")
nbclient = pytest.importorskip("nbclient", reason="the package nbclient is not installed")
FOLDER = Path(__file__).parent.parent / "notebooks"
BOOKS = sorted(FOLDER.glob("*.ipynb"))
LENGTHS = {"02_train_and_evaluate": "0.4"}
"""Minutes of training where it is not what its text says."""


def test_all_are_there():
    assert [book.stem[:2] for book in BOOKS] == ["01", "02", "03", "04"]


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.stem)
def test_kept_without_outputs(book):
    for cell in nbformat.read(book, as_version=4).cells:
        assert not cell.get("outputs") and cell.get("execution_count") is None


@pytest.mark.notebooks
@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.stem)
def test_runs_from_scratch(book, tmp_path, monkeypatch):
    """Every cell, in a fresh kernel, in a folder of its own; within three minutes."""
    monkeypatch.setenv("MINUTES", LENGTHS.get(book.stem, "2"))
    monkeypatch.setenv("PYTHONPATH", str(FOLDER.parent))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    notebook = nbformat.read(book, as_version=4)
    where = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=180, resources=where).execute()
    texts = [str(o) for cell in notebook.cells for o in cell.get("outputs", ())]
    assert len(texts) >= 4 and not any("Traceback" in text for text in texts)
    if book.stem.startswith("02"):
        assert any("image/png" in text for text in texts)
