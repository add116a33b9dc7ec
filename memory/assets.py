"""Stored pictures, videos and files: a row with an owner each, bytes in the blob store."""

import asyncio
import hashlib
import re
import uuid
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Literal, Protocol

from sqlalchemy import Text, cast, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from typing_extensions import TypedDict

from memory.attachments import extract_text
from memory.blobs import BlobStore
from memory.database import Database
from memory.media import CHAT_LIMITS, Limits, PreparedMedia, prepare_image
from memory.scope import Scope
from memory.sniff import MediaKind
from memory.tables import Asset, Message, Photo

Variant = Literal["original", "working", "thumbnail"]
Origin = Literal["upload", "edit", "image_gen", "batch", "video_keyframe"]

_OWN_ASSET = re.compile(r"/api/assets/([\w-]{1,64})(?:/content|/thumbnail)?/?")
_OWN_PHOTO = re.compile(r"/api/photos/(\d{1,18})(?:/image|/thumbnail)?/?")
_SUFFIXES = {
    "image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp", "image/gif": ".gif", "image/bmp": ".bmp", "image/tiff": ".tif",
    "image/heic": ".heic", "image/heif": ".heif", "image/avif": ".avif", "video/mp4": ".mp4", "video/webm": ".webm",
    "video/quicktime": ".mov",
}  # fmt: skip
_SAYS_LITTLE = frozenset({"application/octet-stream", "text/plain", "application/zip"})


class BlobKeys(TypedDict):
    blob_key: str
    working_key: str | None
    thumbnail_key: str | None


class Run(Protocol):
    """Runs a blocking, picklable call off the event loop: `asyncio.to_thread`, or a process pool."""

    def __call__(self, call: Callable[[], PreparedMedia], /) -> Awaitable[PreparedMedia]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAsset:
    """One row as its readers see it. A document's working copy is its text; `width` and `height` are upright pixels."""

    id: str
    sha256: str
    kind: MediaKind
    mime_type: str
    byte_size: int
    width: int | None
    height: int | None
    file_name: str | None
    blob_key: str
    working_key: str | None
    thumbnail_key: str | None

    @property
    def url(self) -> str:
        return f"asset://{self.id}"

    def key(self, variant: Variant) -> str | None:
        return {"original": self.blob_key, "working": self.working_key, "thumbnail": self.thumbnail_key}[variant]


class Assets:
    """The asset store. Every read takes a scope; a row of another owner is as absent as one that never was."""

    def __init__(
        self, db: Database, blobs: BlobStore, *, run: Run = asyncio.to_thread, clock: Callable[[], datetime] | None = None
    ) -> None:
        self._db = db
        self._blobs = blobs
        self._run = run
        self._clock = clock or (lambda: datetime.now().astimezone())
        self._bytes_in_use = asyncio.Lock()  # from the look for equal bytes to the row, and from the row's end to that of its bytes

    async def store(
        self,
        data: bytes,
        *,
        owner: str,
        limits: Limits = CHAT_LIMITS,
        origin: Origin = "upload",
        mime_type: str = "",
        file_name: str | None = None,
        conversation_id: str | None = None,
        message_uid: str | None = None,
    ) -> StoredAsset:
        """Check, normalise and keep `data`; the same bytes in the same message are one asset.

        `mime_type` is the sender's word and counts for files only. Raises MediaError as `prepare_image` does.
        """
        prepared = await self._run(partial(prepare_image, data, limits=limits))
        digest = await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest())
        place = {"conversation_id": conversation_id, "message_uid": message_uid}
        kind_of_file = mime_type if prepared.kind == "file" and prepared.mime_type in _SAYS_LITTLE and mime_type else prepared.mime_type
        text = await extract_text(data, mime_type=kind_of_file, file_name=file_name) if prepared.kind == "file" else None
        async with self._bytes_in_use:
            known = await self._find(owner=owner, sha256=digest, origin=origin, **place)
            if known is not None:
                return known
            keys = await put_media(data, prepared, blobs=self._blobs, text=text)
            row = Asset(
                id=uuid.uuid4().hex,
                owner=owner,
                sha256=digest,
                kind=prepared.kind,
                origin=origin,
                mime_type=kind_of_file,
                byte_size=len(data),
                width=prepared.width,
                height=prepared.height,
                file_name=file_name,
                tags=[],
                **self._now(),
                **keys,
                **place,
            )
            stored = _stored(row)
            async with self._db.begin() as session:
                session.add(row)
        return stored

    async def get(self, asset_id: str, *, scope: Scope) -> StoredAsset | None:
        async with self._db.session() as session:
            row = await session.scalar(_visible(scope).where(Asset.id == asset_id))
        return None if row is None else _stored(row)

    async def at_path(self, path: str, *, scope: Scope) -> StoredAsset | None:
        """The asset behind a path of our own REST API (`/api/assets/{id}/content`, `/api/photos/{id}/image`)."""
        asset = _OWN_ASSET.fullmatch(path)
        if asset:
            return await self.get(asset[1], scope=scope)
        photo = _OWN_PHOTO.fullmatch(path)
        if photo is None:
            return None
        query = _visible(scope).join(Photo, Photo.asset_id == Asset.id).where(Photo.id == int(photo[1]))
        if scope.devices is not None:
            query = query.where(Photo.device_id.in_(scope.devices))
        async with self._db.session() as session:
            row = await session.scalar(query)
        return None if row is None else _stored(row)

    async def read(self, asset_id: str, *, scope: Scope, variant: Variant = "working") -> bytes:
        """The bytes of one variant. Raises FileNotFoundError for an asset or variant that is not there for this scope."""
        asset = await self.get(asset_id, scope=scope)
        key = asset.key(variant) if asset else None
        if key is None:
            raise FileNotFoundError(f"asset {asset_id} has no {variant} copy here")
        return await self._blobs.get(key)

    async def delete(self, asset_id: str, *, scope: Scope) -> bool:
        """Mark the row deleted and remove its bytes unless another living row uses them. False: nothing to delete."""
        async with self._bytes_in_use:
            async with self._db.begin() as session:
                row = await session.scalar(_visible(scope).where(Asset.id == asset_id))
                if row is None:
                    return False
                row.deleted_at = self._clock()
                await session.flush()
                unused = await unused_blobs(session, [row.blob_key, row.working_key, row.thumbnail_key])
            for key in unused:
                await self._blobs.delete(key)
        return True

    async def forget_message(self, message_uid: str, *, scope: Scope) -> None:
        """Remove what was stored for a message that was then not accepted."""
        await self._forget(Asset.message_uid == message_uid, scope=scope)

    async def forget_conversation(self, conversation_id: str, *, scope: Scope) -> None:
        """Remove the conversation's assets for good. One that another conversation mentions stays, and belongs to none."""
        mentioned = select(Message.asset_ids).where(Message.owner == scope.owner, Message.conversation_id != conversation_id)
        here = Asset.conversation_id == conversation_id
        async with self._db.begin() as session:
            kept = {asset_id for ids in await session.scalars(mentioned.where(cast(Message.asset_ids, Text) != "[]")) for asset_id in ids}
            moved = update(Asset).where(Asset.owner == scope.owner, here, Asset.id.in_(kept))
            await session.execute(moved.values(conversation_id=None, message_uid=None))
        await self._forget(here, scope=scope)

    async def _forget(self, chosen: Any, *, scope: Scope) -> None:
        """Rows first: a crash in between leaves bytes that nothing shows."""
        async with self._bytes_in_use:
            async with self._db.begin() as session:
                rows = (await session.scalars(select(Asset).where(Asset.owner == scope.owner, chosen))).all()
                for row in rows:
                    await session.delete(row)
                await session.flush()
                unused = await unused_blobs(session, [key for row in rows for key in (row.blob_key, row.working_key, row.thumbnail_key)])
            for key in unused:
                await self._blobs.delete(key)

    async def _find(self, *, owner: str, **columns: Any) -> StoredAsset | None:
        query = _visible(Scope(owner)).filter_by(**columns).limit(1)
        async with self._db.session() as session:
            row = await session.scalar(query)
        return None if row is None else _stored(row)

    def _now(self) -> dict[str, Any]:
        now = self._clock()
        offset = now.utcoffset()
        return {"created_at": now, "created_offset": int(offset.total_seconds() // 60) if offset else 0}


async def put_media(data: bytes, prepared: PreparedMedia, *, blobs: BlobStore, text: str | None = None) -> BlobKeys:
    """Keep the original, its working copy (`text` is that of a document) and its thumbnail."""
    blob_key = await blobs.put(data, suffix=_SUFFIXES.get(prepared.mime_type, ""))
    working_key = blob_key if prepared.kind == "image" else None
    if prepared.working is not None:
        working_key = await blobs.put(prepared.working, suffix=_SUFFIXES[prepared.working_mime_type or "image/png"])
    elif text is not None:
        working_key = await blobs.put(text.encode(), suffix=".txt")
    thumbnail_key = await blobs.put(prepared.thumbnail, suffix=".jpg") if prepared.thumbnail else None
    return BlobKeys(blob_key=blob_key, working_key=working_key, thumbnail_key=thumbnail_key)


async def unused_blobs(session: AsyncSession, keys: Collection[str | None]) -> list[str]:
    """Those of `keys` that no living asset of any owner uses."""
    unused = []
    for key in dict.fromkeys(filter(None, keys)):
        users = or_(Asset.blob_key == key, Asset.working_key == key, Asset.thumbnail_key == key)
        if await session.scalar(select(Asset.id).where(Asset.deleted_at.is_(None), users).limit(1)) is None:
            unused.append(key)
    return unused


def _visible(scope: Scope) -> Any:
    return select(Asset).where(Asset.owner == scope.owner, Asset.deleted_at.is_(None))


def _stored(row: Asset) -> StoredAsset:
    return StoredAsset(
        id=row.id,
        sha256=row.sha256,
        kind=row.kind,  # type: ignore[arg-type]
        mime_type=row.mime_type,
        byte_size=row.byte_size,
        width=row.width,
        height=row.height,
        file_name=row.file_name,
        blob_key=row.blob_key,
        working_key=row.working_key,
        thumbnail_key=row.thumbnail_key,
    )
