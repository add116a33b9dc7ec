"""An import of phone screenshots against bare OCR of the same pictures with the same number of workers, in turns."""

import asyncio
import time
from pathlib import Path

import pytest

from graph.services import Services
from models.embedded.ocr import read_text
from server.importer import open_importer
from settings import Settings
from tests.server.screens import draw

pytestmark = pytest.mark.bench

WORKERS = 2
ROUNDS = 3
DEMO = Path(__file__).parents[2] / "server/demo"


async def bare_ocr(services: Services, pictures: list[bytes]) -> float:
    start = time.perf_counter()
    await asyncio.gather(*(services.workers.run(read_text, picture) for picture in pictures))
    return time.perf_counter() - start


async def whole_import(services: Services, folder: Path) -> float:
    async with open_importer(services) as importer:
        start = time.perf_counter()
        report = await importer.run([folder])
        elapsed = time.perf_counter() - start
    assert report.failed == []
    assert report.analysed == report.found
    return elapsed


def read(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in {".png", ".jpg"}]


async def warmed_up(data_dir: Path, folder: Path) -> Services:
    """With its database open and the workers' engines loaded: neither side is measured with that."""
    services = Services(Settings(data_dir=data_dir, ocr_workers=WORKERS))
    await bare_ocr(services, read(folder) * 2 * WORKERS)
    await whole_import(services, folder)
    return services


async def test_an_import_keeps_the_workers_reading(tmp_path: Path) -> None:
    """The fastest of several rounds counts: all that others do on the machine only adds."""
    one = draw(tmp_path / "one" / "warm.png", "warm up").parent
    pictures = read(DEMO)
    bare: list[float] = []
    whole: list[float] = []
    for number in range(ROUNDS):
        services = await warmed_up(tmp_path / str(number), one)
        try:
            bare.append(await bare_ocr(services, pictures))
            whole.append(await whole_import(services, DEMO))
        finally:
            await services.close()
    ratio = min(bare) / min(whole)
    rate = len(pictures) / min(whole)
    print(f"\nimport of {len(pictures)} with {WORKERS} workers: {rate:.2f}/s, {ratio:.2f} of bare OCR (s: bare {bare}, import {whole})")
    assert ratio >= 0.9
