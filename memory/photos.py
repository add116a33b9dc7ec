"""The screenshot library: photos and the work of analysing them."""

import json
import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Literal, NamedTuple, Protocol

from sqlalchemy import ColumnElement, Select, and_, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from memory.assets import unused_blobs
from memory.database import Database
from memory.groups import Groups
from memory.scope import Scope
from memory.search.rows import index_row
from memory.search.types import SearchIndex
from memory.tables import Analysis, Asset, Photo, offset_minutes, stamp

Status = Literal["pending", "processing", "done", "error"]
TimeSource = Literal["exif", "filename", "mtime", "client"]
TRIES = 3
LEASE = timedelta(minutes=10)
CUT_OFF = f"the analysis was cut off {TRIES} times"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPhoto:
    """A photo whose bytes are in the blob store already. `captured_at` is aware, with the offset of the place."""

    owner: str
    sha256: str
    filename: str
    mime_type: str
    byte_size: int
    width: int
    height: int
    blob_key: str
    working_key: str | None
    thumbnail_key: str | None
    captured_at: datetime
    time_source: TimeSource
    source_path: str | None = None
    source_type: str = "screenshot"
    device_id: str = "unknown"
    device_name: str | None = None
    local_media_store_id: str | None = None
    dhash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisResult:
    """What an analysis found. `entities` are `{"type", "value"}`; `engine` names what read and what extracted."""

    summary: str
    app_name: str
    content_category: str
    intent: str
    entities: list[dict[str, str]]
    ocr_text: str
    confidence: float
    engine: str


class Added(NamedTuple):
    """`dedup`: the photo was there before, under this id."""

    photo_id: int
    dedup: bool


class StoredPhoto(NamedTuple):
    photo: Photo
    asset: Asset
    analysis: Analysis

    @property
    def taken_at(self) -> datetime:
        """When it was taken, at the offset of the place."""
        return self.photo.captured_at.astimezone(timezone(timedelta(minutes=self.photo.captured_offset)))


class Page(NamedTuple):
    total: int
    items: list[StoredPhoto]


@dataclass(frozen=True, slots=True)
class Counts:
    """`category` and `intent` count analysed photos only."""

    total: int
    status: dict[str, int]
    category: dict[str, int]
    intent: dict[str, int]


class Photos:
    """Every read takes a scope; a photo outside it is as absent as one that never was."""

    def __init__(self, db: Database, index: SearchIndex, *, clock: Callable[[], datetime] | None = None) -> None:
        self._db = db
        self._index = index
        self._groups = Groups()
        self._clock = clock or (lambda: datetime.now().astimezone())

    async def find(self, *, owner: str, sha256: str, device_id: str = "unknown", local_media_store_id: str | None = None) -> int | None:
        """The photo that the same bytes, or the same picture of the device, was stored as."""
        async with self._db.session() as session:
            return await _known(session, owner, sha256, device_id, local_media_store_id)

    async def add(self, new: NewPhoto) -> Added:
        """Asset, photo and its pending analysis, or the photo that is there already."""
        try:
            async with self._db.begin() as session:
                known = await _known(session, new.owner, new.sha256, new.device_id, new.local_media_store_id)
                return Added(known, True) if known is not None else Added(await _insert(session, new, self._clock()), False)
        except IntegrityError:  # on PostgreSQL another process may have stored the same bytes meanwhile
            known = await self.find(owner=new.owner, sha256=new.sha256)
            if known is None:
                raise
            return Added(known, True)

    async def get(self, photo_id: int, *, scope: Scope) -> StoredPhoto | None:
        async with self._db.session() as session:
            return await _one(session, _visible(scope).where(Photo.id == photo_id))

    async def list(
        self,
        *,
        scope: Scope,
        status: Status | None = None,
        category: str | None = None,
        intent: str | None = None,
        page: int = 1,
        page_size: int = 50,
    ) -> Page:
        """Newest capture first."""
        wanted = {Analysis.status: status, Analysis.content_category: category, Analysis.intent: intent}
        query = _visible(scope).where(*(column == value for column, value in wanted.items() if value is not None))
        newest = query.order_by(Photo.captured_at.desc(), Photo.id.desc()).limit(page_size).offset((page - 1) * page_size)
        async with self._db.session() as session:
            total = await session.scalar(select(func.count()).select_from(query.with_only_columns(Photo.id).subquery()))
            return Page(total or 0, await _all(session, newest))

    async def delete(self, photo_id: int, *, scope: Scope) -> Sequence[str] | None:
        """Remove photo, analysis, vector and index entries. Returns the blobs that nothing uses now; None: no such photo."""
        async with self._db.begin() as session:
            found = await _one(session, _visible(scope).where(Photo.id == photo_id))
            if found is None:
                return None
            photo, asset, _analysis = found
            await self._index.remove(session, photo_id)
            await session.delete(asset)
            await session.flush()
            if photo.group_id is not None:
                await self._groups.left(session, photo.group_id)
            return await unused_blobs(session, [asset.blob_key, asset.working_key, asset.thumbnail_key])

    async def pending(self, *, scope: Scope) -> int:
        """How many photos wait for their analysis or are in it."""
        query = _visible(scope).where(Analysis.status.in_(["pending", "processing"])).with_only_columns(func.count())
        async with self._db.session() as session:
            return await session.scalar(query) or 0

    async def claim_pending(self, *, scope: Scope, worker: str, limit: int = 1, lease: timedelta = LEASE) -> Sequence[StoredPhoto]:
        """Take up to `limit` photos that nobody analyses, oldest first; each has one taker until the lease ends.

        A claim whose lease ended (its process was killed) is free again; it counted as one of the tries.
        """
        now = self._clock()
        cut_off = and_(Analysis.status == "processing", Analysis.lease_until <= now)
        free = or_(Analysis.status == "pending", cut_off)
        query = _visible(scope).where(free, Analysis.attempts < TRIES).order_by(Photo.id).limit(limit)
        async with self._db.begin() as session:
            hopeless = update(Analysis).where(Analysis.owner == scope.owner, cut_off, Analysis.attempts >= TRIES)
            await session.execute(hopeless.values(status="error", error_message=CUT_OFF, completed_at=now, **_UNCLAIMED))
            claimed = await _all(session, query.with_for_update(of=Analysis, skip_locked=True))
            for _photo, _asset, analysis in claimed:
                analysis.status, analysis.claimed_by, analysis.lease_until = "processing", worker, now + lease
                analysis.attempts += 1
        return claimed

    async def release(self, worker: str) -> None:
        """Give back what `worker` has claimed and will not finish; no try is counted."""
        mine = update(Analysis).where(Analysis.status == "processing", Analysis.claimed_by == worker)
        async with self._db.begin() as session:
            await session.execute(mine.values(status="pending", attempts=Analysis.attempts - 1, **_UNCLAIMED))

    async def end_leases(self, *, workers: Collection[str]) -> None:
        """Make what these killed workers had claimed free at once, instead of when their leases end."""
        gone = update(Analysis).where(Analysis.status == "processing", Analysis.claimed_by.in_(workers))
        async with self._db.begin() as session:
            await session.execute(gone.values(lease_until=self._clock()))

    async def save_analysis(self, photo_id: int, result: AnalysisResult) -> bool:
        """Row, index entry and group of near-duplicates in one transaction. False: the photo was deleted meanwhile, nothing is written."""
        async with self._db.begin() as session:
            found = await _one(session, _joined().where(Photo.id == photo_id).with_for_update(of=Analysis))
            if found is None:
                return False
            photo, _asset, analysis = found
            analysis.status, analysis.error_message, analysis.completed_at = "done", None, self._clock()
            analysis.claimed_by = analysis.lease_until = None
            analysis.summary = result.summary
            analysis.app_name = result.app_name
            analysis.content_category = result.content_category
            analysis.intent = result.intent
            analysis.entities = json.dumps(result.entities, ensure_ascii=False)
            analysis.ocr_text = result.ocr_text
            analysis.confidence = result.confidence
            analysis.engine = result.engine
            await session.flush()
            await self._index.put(session, index_row(photo, analysis))
            await self._groups.join(session, photo, result.ocr_text)
        return True

    async def fail(self, photo_id: int, message: str) -> Status:
        """Note why the analysis failed. The photo is pending again, or after `TRIES` tries in error."""
        async with self._db.begin() as session:
            analysis = await session.scalar(select(Analysis).where(Analysis.photo_id == photo_id).with_for_update())
            if analysis is None:
                return "error"
            status: Status = "error" if analysis.attempts >= TRIES else "pending"
            analysis.status, analysis.error_message = status, message
            analysis.claimed_by = analysis.lease_until = None
            analysis.completed_at = self._clock() if status == "error" else None
        return status

    async def requeue(self, *, scope: Scope, photo_ids: Collection[int] | None = None) -> int:
        """Analyse these again, or (None) all that are in error. Until then they are not found. Returns how many."""
        chosen = Analysis.status == "error" if photo_ids is None else Photo.id.in_(photo_ids)
        async with self._db.begin() as session:
            rows = await _all(session, _visible(scope).where(chosen))
            for photo, _asset, analysis in rows:
                if analysis.status == "done":
                    await self._index.remove(session, photo.id)
                analysis.status, analysis.attempts, analysis.error_message = "pending", 0, None
                analysis.claimed_by = analysis.lease_until = analysis.completed_at = None
        return len(rows)

    async def counts(self, *, scope: Scope) -> Counts:
        async with self._db.session() as session:
            status = await _count_by(session, Analysis.status, scope)
            category = await _count_by(session, Analysis.content_category, scope, Analysis.status == "done")
            intent = await _count_by(session, Analysis.intent, scope, Analysis.status == "done")
        return Counts(total=sum(status.values()), status=status, category=category, intent=intent)


class Blobs(Protocol):
    async def delete(self, key: str) -> None: ...


async def delete_photo(photo_id: int, *, scope: Scope, photos: Photos, blobs: Blobs) -> bool:
    """Remove a photo for good, rows first: a crash in between leaves bytes that nothing shows. False: no such photo."""
    unused = await photos.delete(photo_id, scope=scope)
    if unused is None:
        return False
    for key in unused:
        await blobs.delete(key)
    return True


_UNCLAIMED: dict[str, Any] = {"claimed_by": None, "lease_until": None}


def _joined() -> Select[Photo, Asset, Analysis]:
    return select(Photo, Asset, Analysis).join(Asset, Asset.id == Photo.asset_id).join(Analysis, Analysis.photo_id == Photo.id)


def _visible(scope: Scope) -> Select[Photo, Asset, Analysis]:
    owned = _joined().where(Photo.owner == scope.owner)
    return owned if scope.devices is None else owned.where(Photo.device_id.in_(scope.devices))


async def _one(session: AsyncSession, query: Select[Photo, Asset, Analysis]) -> StoredPhoto | None:
    return next(iter(await _all(session, query)), None)


async def _all(session: AsyncSession, query: Select[Photo, Asset, Analysis]) -> list[StoredPhoto]:
    return [StoredPhoto(photo, asset, analysis) for photo, asset, analysis in await session.execute(query)]


async def _known(session: AsyncSession, owner: str, sha256: str, device_id: str, local_id: str | None) -> int | None:
    same = Photo.sha256 == sha256
    if local_id is not None:
        same = or_(same, and_(Photo.device_id == device_id, Photo.local_media_store_id == local_id))
    return await session.scalar(select(func.min(Photo.id)).where(Photo.owner == owner, same))


async def _insert(session: AsyncSession, new: NewPhoto, now: datetime) -> int:
    made = {"owner": new.owner, **stamp(now)}
    asset = Asset(
        id=uuid.uuid4().hex,
        sha256=new.sha256,
        kind="image",
        origin="upload",
        mime_type=new.mime_type,
        byte_size=new.byte_size,
        width=new.width,
        height=new.height,
        file_name=new.filename,
        blob_key=new.blob_key,
        working_key=new.working_key,
        thumbnail_key=new.thumbnail_key,
        **made,
    )
    session.add(asset)
    await session.flush()
    photo = Photo(
        asset_id=asset.id,
        sha256=new.sha256,
        filename=new.filename,
        source_path=new.source_path,
        source_type=new.source_type,
        device_id=new.device_id,
        device_name=new.device_name,
        local_media_store_id=new.local_media_store_id,
        captured_at=new.captured_at,
        captured_offset=offset_minutes(new.captured_at),
        time_source=new.time_source,
        dhash=new.dhash,
        **made,
    )
    session.add(photo)
    await session.flush()
    session.add(Analysis(photo_id=photo.id, **made))
    return photo.id


async def _count_by(session: AsyncSession, column: Any, scope: Scope, *conditions: ColumnElement[bool]) -> dict[str, int]:
    query = (
        _visible(scope).where(*conditions).with_only_columns(column, func.count()).group_by(column).order_by(func.count().desc(), column)
    )
    return dict((await session.execute(query)).all())
