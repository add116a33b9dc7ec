"""Screenshots from folders into the library: stored and analysed, in parallel and resumable.

A stored photo's pending row is the only note of work to do, so that a killed import loses nothing: the next one goes on with it.
"""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memory.assets import put_media
from memory.blobs import BlobStore
from memory.capture_time import capture_time
from memory.media import MediaError
from memory.photo_file import read_photo_file
from memory.photos import NewPhoto, Photos, StoredPhoto
from memory.processes import WorkerPool
from memory.scope import Scope
from memory.workers import WorkerSlot
from server.clock import now_in, zone_of
from server.pictures import at_rest, find_pictures, is_passed_over, shown
from settings import Settings

if TYPE_CHECKING:
    from graph.services import Services

Analyze = Callable[[int], Awaitable[str]]


@dataclass(slots=True)
class ImportReport:
    """Counts of pictures. `waiting` are those that an earlier import left to analyse; `failed` are (name, reason)."""

    found: int = 0
    waiting: int = 0
    added: int = 0
    duplicates: int = 0
    analysed: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)

    @property
    def total(self) -> int:
        return self.found + self.waiting

    @property
    def finished(self) -> int:
        return self.duplicates + self.analysed + len(self.failed)


Progress = Callable[[ImportReport], None]


class Importer:
    """`analyze` reads one claimed photo, stores or fails its analysis, and returns the status that it ended in.

    `worker` names this process among those that claim photos; `skip` is a folder that is never looked into.
    """

    def __init__(
        self,
        *,
        photos: Photos,
        blobs: BlobStore,
        workers: WorkerPool,
        analyze: Analyze,
        owner: str,
        device_id: str,
        worker: str,
        zone: tzinfo,
        clock: Callable[[], datetime],
        skip: Path,
    ) -> None:
        self._photos = photos
        self._blobs = blobs
        self._workers = workers
        self._analyze = analyze
        self._scope = Scope(owner)
        self._device_id = device_id
        self._worker = worker
        self._zone = zone
        self._clock = clock
        self._skip = skip

    async def run(self, paths: Iterable[Path], *, on_progress: Progress | None = None) -> ImportReport:
        """Import the pictures at and below `paths`, then return. A file that cannot be imported is in the report, and stops nothing."""
        files = await asyncio.to_thread(find_pictures, paths, skip=self._skip)
        run = _Run(
            ImportReport(found=len(files), waiting=await self._photos.pending(scope=self._scope)),
            files=iter(files),
            storing=self._workers.workers,
            tell=on_progress or (lambda _: None),
        )
        run.tell(run.report)
        try:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(self._workers.workers):
                    tasks.create_task(self._store_files(run))
                # Twice the workers: while one photo's row is written, the next picture is in the worker's queue.
                for _ in range(2 * self._workers.workers):
                    tasks.create_task(self._analyse_pending(run))
        finally:
            await self._photos.release(self._worker)
        return run.report

    async def watch(self, paths: Sequence[Path], *, on_progress: Progress | None = None) -> AsyncGenerator[ImportReport, None]:
        """Import, and go on importing what is new or changed, a report each time that there was a picture, until cancelled."""
        from watchfiles import Change, awatch

        roots = [path.absolute() for path in paths]

        def is_wanted(change: Change, path: str) -> bool:
            return change is not Change.deleted and not is_passed_over(Path(path), below=roots)

        changes = awatch(*roots, watch_filter=is_wanted)
        upcoming = asyncio.ensure_future(anext(changes))
        try:
            await asyncio.sleep(0)  # watching begins before the folders are read: nothing falls in between
            yield await self.run(roots, on_progress=on_progress)
            while True:
                changed = {Path(path) for _, path in await upcoming}
                upcoming = asyncio.ensure_future(anext(changes))
                report = await self.run(await at_rest(changed), on_progress=on_progress)
                if report.total:
                    yield report
        finally:
            upcoming.cancel()
            await asyncio.gather(upcoming, return_exceptions=True)

    async def _store_files(self, run: "_Run") -> None:
        for path in run.files:
            try:
                added = await self._store(path)
            except (OSError, MediaError, BrokenProcessPool) as error:
                run.report.failed.append((shown(path), str(error) or type(error).__name__))
            else:
                run.report.added += added
                run.report.duplicates += not added
            await run.stored_one()
        await run.stored_all()

    async def _store(self, path: Path) -> bool:
        """False: these bytes are in the library."""
        data = await asyncio.to_thread(path.read_bytes)
        digest = await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest())
        if await self._photos.find(owner=self._scope.owner, sha256=digest) is not None:
            return False
        picture = await self._workers.run(read_photo_file, data)
        mtime = (await asyncio.to_thread(path.stat)).st_mtime
        taken = capture_time(file_name=path.name, exif=picture.exif, mtime=mtime, zone=self._zone, now=self._clock())
        new = NewPhoto(
            owner=self._scope.owner,
            device_id=self._device_id,
            sha256=digest,
            filename=shown(path.name),
            source_path=shown(path),
            mime_type=picture.media.mime_type,
            byte_size=len(data),
            width=picture.width,
            height=picture.height,
            captured_at=taken.at,
            time_source=taken.source,
            dhash=picture.dhash,
            **await put_media(data, picture.media, blobs=self._blobs),
        )
        return not (await self._photos.add(new)).dedup

    async def _analyse_pending(self, run: "_Run") -> None:
        """Until everything is stored and no row is left that this process may claim."""
        while True:
            seen, all_stored = run.stored, run.storing == 0
            claimed = await self._photos.claim_pending(scope=self._scope, worker=self._worker)
            if claimed:
                await self._analyse(claimed[0], run)
            elif all_stored:
                return
            else:
                await run.wait_for_more(seen)

    async def _analyse(self, stored: StoredPhoto, run: "_Run") -> None:
        photo_id = stored.photo.id
        try:
            done = await self._analyze(photo_id) == "done"
        except Exception as error:  # an analysis meets whatever is in a picture; the others go on
            await self._photos.fail(photo_id, f"{type(error).__name__}: {error}")
            done = False
        now = await self._photos.get(photo_id, scope=self._scope)
        if now is None:
            return  # deleted meanwhile
        if done:
            run.report.analysed += 1
        elif now.analysis.status == "error":
            run.report.failed.append((now.photo.filename, now.analysis.error_message or ""))
        run.tell(run.report)


class _Run:
    """What the tasks of one import share."""

    def __init__(self, report: ImportReport, *, files: Iterator[Path], storing: int, tell: Progress) -> None:
        self.report = report
        self.files = files
        self.storing = storing
        self.stored = 0
        self.tell = tell
        self._more = asyncio.Condition()

    async def stored_one(self) -> None:
        self.tell(self.report)
        async with self._more:
            self.stored += 1
            self._more.notify_all()

    async def stored_all(self) -> None:
        async with self._more:
            self.storing -= 1
            self._more.notify_all()

    async def wait_for_more(self, seen: int) -> None:
        async with self._more:
            await self._more.wait_for(lambda: self.stored != seen or self.storing == 0)


@asynccontextmanager
async def open_importer(services: "Services", *, device_id: str | None = None) -> AsyncIterator[Importer]:
    """An importer into the user's library; what killed processes have left is free for it."""
    settings = services.settings
    slot = await asyncio.to_thread(WorkerSlot.acquire, settings)
    try:
        await _free_abandoned(settings, services.photos, slot)
        yield Importer(
            photos=services.photos,
            blobs=services.blobs,
            workers=services.workers,
            analyze=partial(services.analyze, owner=settings.owner),
            owner=settings.owner,
            device_id=device_id or settings.device_id,
            worker=slot.name,
            zone=zone_of(settings),
            clock=lambda: now_in(settings),
            skip=settings.data_dir,
        )
    finally:
        await asyncio.to_thread(slot.release)


async def _free_abandoned(settings: Settings, photos: Photos, slot: WorkerSlot) -> None:
    abandoned = await asyncio.to_thread(WorkerSlot.acquire_abandoned, settings)
    try:
        await photos.end_leases(workers=[slot.name, *(gone.name for gone in abandoned)])
    finally:
        for gone in abandoned:
            await asyncio.to_thread(gone.release)
