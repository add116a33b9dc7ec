"""The notebooks run as they are."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


@pytest.mark.filterwarnings("default")  # the kernel's client warns of its own internals
@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook(path: Path, demo_library: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EVATAR_DATA_DIR", str(demo_library))
    monkeypatch.setenv("EVATAR_TIMEZONE", "Asia/Shanghai")
    for name in [name for name in os.environ if name.startswith("OPENAI_")]:
        monkeypatch.delenv(name)
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(NOTEBOOKS.parent)}}).execute()
    printed = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))
    assert "[截图#" in printed
    assert "resolve_media" in printed
