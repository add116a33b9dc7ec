from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from graph.services import Services
from memory.checkpoints import open_saver
from server.turn import Turns
from settings import Settings
from tests.library import LUNCH, PARCEL, TRAIN, add


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", timezone="Asia/Shanghai", ocr_workers=1)


@pytest.fixture
async def services(settings: Settings) -> AsyncIterator[Services]:
    """Over a library of three screenshots: #1 a parcel, #2 a train ticket, #3 a lunch order."""
    async with Services.open(settings) as opened:
        for shot in (PARCEL, TRAIN, LUNCH):
            await add(opened, shot)
        yield opened


@pytest.fixture
async def turns(services: Services, settings: Settings) -> AsyncIterator[Turns]:
    async with open_saver(settings) as saver:
        yield Turns(services=services, saver=saver)
