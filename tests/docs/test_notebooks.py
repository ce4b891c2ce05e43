"""The notebooks of the guide run from the first cell to the last."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ROOT / "docs" / "notebooks"
ALL = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
EXECUTED = ALL if os.environ.get("NOTEBOOKS") == "all" else ["hospital", "asking"]
"""The suite executes a publisher's and a recipient's, `make notebooks` all of them."""


@pytest.mark.parametrize("name", EXECUTED)
def test_every_cell_of_the_notebook_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    monkeypatch.setenv("SFUMATO_RECEIPTS", str(tmp_path))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute(cwd=str(tmp_path))
    failed = [out for cell in notebook.cells for out in cell.get("outputs", ()) if out.output_type == "error"]
    assert not failed
    shown = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.outputs]
    assert len(shown) >= 5


def test_notebooks_are_kept_without_their_outputs() -> None:
    nbformat = pytest.importorskip("nbformat")
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        assert cells
        assert all(not cell.outputs and cell.execution_count is None for cell in cells)


def test_the_guide_lists_every_notebook_and_each_has_a_picture() -> None:
    listed = (ROOT / "docs" / "guide" / "notebooks.md").read_text(encoding="utf-8")
    assert len(ALL) == 8
    for name in ALL:
        assert f"`{name}.ipynb`" in listed
        text = (NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8")
        assert ".plot()" in text or ".picture()" in text
