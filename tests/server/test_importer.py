import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graph.services import Services
from memory.photos import TRIES, AnalysisResult, StoredPhoto
from memory.scope import Scope
from server.importer import Importer, ImportReport, open_importer
from settings import Settings
from tests.server import import_once
from tests.server.screens import draw

SCOPE = Scope("local")
NOW = datetime(2026, 5, 20, 9, 30, tzinfo=UTC)
WORDS = ["apple", "bridge", "candle", "desert", "engine", "forest"]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", timezone="Asia/Shanghai", ocr_workers=1)


@pytest.fixture
async def services(settings: Settings) -> AsyncIterator[Services]:
    async with Services.open(settings) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six screens, some of them in folders."""
    for seed, word in enumerate(WORDS):
        draw(tmp_path / "shots" / ("deep/er" if seed % 2 else "") / f"{word}.png", word, seed=seed)
    return tmp_path / "shots"


class Analyst:
    """Takes a photo's name for its text, and cannot read some."""

    def __init__(self, services: Services, *unreadable: str) -> None:
        self.services = services
        self.unreadable = unreadable
        self.tries: list[str] = []

    async def __call__(self, photo_id: int) -> str:
        stored = await self.services.photos.get(photo_id, scope=SCOPE)
        assert stored is not None
        name = Path(stored.photo.filename).stem
        self.tries.append(name)
        if name in self.unreadable:
            raise ValueError(f"cannot read {name}")
        text = name.split("-")[0]
        said = AnalysisResult(
            summary=text, app_name="", content_category="other", intent="note", entities=[], ocr_text=text, confidence=1, engine="name"
        )
        await self.services.photos.save_analysis(photo_id, said)
        return "done"


def importer(services: Services, analyst: Analyst, *, worker: str = "a") -> Importer:
    return Importer(
        photos=services.photos,
        blobs=services.blobs,
        workers=services.workers,
        analyze=analyst,
        owner="local",
        device_id="phone",
        worker=worker,
        zone=UTC,
        clock=lambda: NOW,
        skip=services.settings.data_dir,
    )


async def library(services: Services) -> list[StoredPhoto]:
    return (await services.photos.list(scope=SCOPE)).items


async def test_pictures_of_all_folders_are_stored_once(services: Services, folder: Path) -> None:
    shutil.copy(folder / "apple.png", folder / "apple again.png")
    draw(folder / ".hidden/secret.png", "secret", seed=20)
    draw(folder / "Cache/thumb.png", "thumb", seed=21)
    (folder / "notes.txt").write_text("no picture")
    (folder / "empty.png").touch()
    run = importer(services, Analyst(services)).run
    first = await run([folder, folder / "apple.png"])
    assert first == ImportReport(found=7, added=6, duplicates=1, analysed=6)
    assert first.finished == first.total
    assert await run([folder]) == ImportReport(found=7, duplicates=7)
    stored = {item.photo.filename: item for item in await library(services)}
    assert set(stored) - {"apple again.png"} >= {f"{word}.png" for word in WORDS[1:]}
    bridge = stored["bridge.png"]
    assert (bridge.asset.width, bridge.asset.height, bridge.photo.device_id, bridge.photo.time_source) == (360, 640, "phone", "mtime")
    assert bridge.photo.source_path == str(folder / "deep/er/bridge.png")
    assert bridge.asset.thumbnail_key is not None
    assert await services.blobs.get(bridge.asset.blob_key) == (folder / "deep/er/bridge.png").read_bytes()


async def test_the_data_folder_is_not_imported_into_itself(services: Services, folder: Path) -> None:
    run = importer(services, Analyst(services)).run
    await run([folder])
    assert await run([folder.parent]) == ImportReport(found=6, duplicates=6)


async def test_a_broken_file_stops_nothing(services: Services, folder: Path) -> None:
    whole = (folder / "apple.png").read_bytes()
    (folder / "cut.png").write_bytes(whole[: len(whole) // 2])
    draw(folder / "gone.png", "gone", seed=9)
    seen: list[tuple[int, int]] = []

    def progress(report: ImportReport) -> None:
        if not seen:
            (folder / "gone.png").unlink()
        seen.append((report.finished, report.total))

    report = await importer(services, Analyst(services)).run([folder], on_progress=progress)
    assert report.analysed == 6
    assert sorted(Path(path).name for path, _reason in report.failed) == ["cut.png", "gone.png"]
    assert seen == sorted(seen)
    assert seen[-1] == (8, 8)


async def test_an_analysis_that_fails_is_tried_thrice_and_told(services: Services, folder: Path) -> None:
    analyst = Analyst(services, "candle")
    report = await importer(services, analyst).run([folder])
    assert report.failed == [("candle.png", "ValueError: cannot read candle")]
    assert (report.analysed, analyst.tries.count("candle")) == (5, TRIES)
    again = await importer(services, analyst).run([folder])
    assert (again.waiting, again.failed, analyst.tries.count("candle")) == (0, [], TRIES)


async def test_near_duplicates_are_grouped(services: Services, folder: Path) -> None:
    draw(folder / "apple-2.png", "apple", clock="10:02")
    draw(folder / "anchor.png", "apple", clock="10:03")
    await importer(services, Analyst(services)).run([folder])
    groups = {item.photo.filename: item.photo.group_id for item in await library(services)}
    assert groups["apple.png"] == groups["apple-2.png"] is not None
    assert {groups["anchor.png"], groups["bridge.png"]} == {None}


async def test_a_cancelled_import_gives_its_claims_back(services: Services, folder: Path) -> None:
    started = asyncio.Event()

    class Endless(Analyst):
        async def __call__(self, photo_id: int) -> str:
            started.set()
            await asyncio.Event().wait()
            return False

    running = asyncio.create_task(importer(services, Endless(services)).run([folder]))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    counts = await services.photos.counts(scope=SCOPE)
    assert counts.status == {"pending": counts.total}
    report = await importer(services, Analyst(services), worker="b").run([folder])
    assert (report.analysed, report.waiting) == (6, counts.total)


async def test_watching_imports_what_comes_later(services: Services, folder: Path) -> None:
    reports = importer(services, Analyst(services)).watch([folder])
    assert (await anext(reports)).analysed == 6
    draw(folder / ".hidden.png", "hidden", seed=8)
    draw(folder / "new/garden.png", "garden", seed=7)
    while not (later := await anext(reports)).analysed:
        assert later.failed == []
    await reports.aclose()
    assert "garden.png" in {item.photo.filename for item in await library(services)}
    assert ".hidden.png" not in {item.photo.filename for item in await library(services)}


async def test_a_killed_import_is_gone_on_with(settings: Settings, folder: Path) -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", import_once.__name__, str(settings.data_dir), str(folder)]
    process = await asyncio.create_subprocess_exec(*command, cwd=root, env={**os.environ}, stdout=subprocess.PIPE)
    assert process.stdout is not None
    async for line in process.stdout:
        added, analysed = map(int, line.split())
        if added == len(WORDS) and analysed:
            break
    process.kill()
    await process.wait()

    async with Services.open(settings) as services, open_importer(services) as resumed:
        report = await resumed.run([folder])
        stored = await library(services)
        found = {word: await services.knowledge.search(word, scope=SCOPE) for word in WORDS}
    assert report.failed == []
    assert 0 < report.waiting < len(WORDS)
    assert sorted(item.photo.filename for item in stored) == [f"{word}.png" for word in WORDS]
    assert {item.analysis.status for item in stored} == {"done"}
    assert {word: [hit.filename for hit in result.hits][:1] for word, result in found.items()} == {w: [f"{w}.png"] for w in WORDS}
    assert {word: sorted(hit.photo_id for hit in result.hits) for word, result in found.items()} == {w: brute(w, stored) for w in WORDS}


def brute(word: str, stored: Sequence[StoredPhoto]) -> list[int]:
    """The photos that hold `word` as a word anywhere, found by looking into all of them."""
    texts = {item.photo.id: f"{item.photo.filename} {item.analysis.summary} {item.analysis.ocr_text}".lower() for item in stored}
    return sorted(photo_id for photo_id, text in texts.items() if word in re.findall(r"[a-z]+", text))
