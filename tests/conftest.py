import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from settings import Settings
from tests.fakes.provider import ScriptedProvider


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    """The scripted provider, the only fake."""
    with ScriptedProvider() as scripted:
        yield scripted


@pytest.fixture(scope="session")
def demo_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder into which the demo screenshots were imported, by OCR and rules."""
    from server.library import import_paths
    from server.tour import DEMO

    folder = tmp_path_factory.mktemp("demo") / "data"
    asyncio.run(import_paths(Settings(data_dir=folder, timezone="Asia/Shanghai"), [DEMO]))
    return folder


@pytest.fixture
def demo_library(demo_template: Path, tmp_path: Path) -> Path:
    """A copy of the demo library, to do with as one likes."""
    return Path(shutil.copytree(demo_template, tmp_path / "library"))
