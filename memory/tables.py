"""Every table, for SQLite and PostgreSQL. Owner and UTC time + offset (minutes east) on each of them."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, Dialect, ForeignKey, Index, Integer, LargeBinary, MetaData, String, Text, UniqueConstraint, text
from sqlalchemy import DateTime as SqlDateTime
from sqlalchemy.orm import DeclarativeBase, Mapped, declared_attr, mapped_column
from sqlalchemy.types import TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """Aware datetimes in and out, UTC in the database. A naive value is a programming error."""

    impl = SqlDateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a naive datetime has no place in the database")
        utc = value.astimezone(UTC)
        return utc if dialect.name == "postgresql" else utc.replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def offset_minutes(at: datetime) -> int:
    """How far east of UTC an aware time is."""
    offset = at.utcoffset()
    if offset is None:
        raise ValueError("a naive datetime has no offset")
    return int(offset.total_seconds() // 60)


def stamp(at: datetime) -> dict[str, Any]:
    """The columns that say when a row was made."""
    return {"created_at": at, "created_offset": offset_minutes(at)}


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class Owned:
    """Columns every table has."""

    owner: Mapped[str] = mapped_column(String(64), index=True)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    created_offset: Mapped[int] = mapped_column(Integer, default=0)


class Numbered:
    """An integer key that is never used twice, also after deletion."""

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)

    @declared_attr.directive
    def __table_args__(cls) -> tuple[Any, ...]:
        return (*getattr(cls, "__constraints__", ()), {"sqlite_autoincrement": True})


class Asset(Owned, Base):
    """Every stored picture, video or file. Bytes are in the blob store under the keys."""

    __tablename__ = "assets"
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    sha256: Mapped[str] = mapped_column(String(64), index=True)
    kind: Mapped[str] = mapped_column(String(8))  # image | video | file
    origin: Mapped[str] = mapped_column(String(16))  # upload | edit | image_gen | batch | video_keyframe
    mime_type: Mapped[str] = mapped_column(String(127))
    byte_size: Mapped[int]
    width: Mapped[int | None]
    height: Mapped[int | None]
    file_name: Mapped[str | None] = mapped_column(String(512))
    display_name: Mapped[str | None] = mapped_column(String(512))
    blob_key: Mapped[str] = mapped_column(String(255))
    working_key: Mapped[str | None] = mapped_column(String(255))
    thumbnail_key: Mapped[str | None] = mapped_column(String(255))
    source_asset_id: Mapped[str | None] = mapped_column(ForeignKey("assets.id", ondelete="SET NULL"))
    root_asset_id: Mapped[str | None] = mapped_column(String(32), index=True)
    conversation_id: Mapped[str | None] = mapped_column(String(64), index=True)
    message_uid: Mapped[str | None] = mapped_column(String(64))
    canvas_id: Mapped[str | None] = mapped_column(String(64))
    node_id: Mapped[str | None] = mapped_column(String(64))
    tags: Mapped[list[str]] = mapped_column(JSON, default=list)
    deleted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class Photo(Numbered, Owned, Base):
    """A library screenshot: an asset with an integer id, device fields and the time it was taken."""

    __tablename__ = "photos"
    __constraints__ = (
        UniqueConstraint("owner", "sha256"),
        Index(None, "owner", "device_id", "local_media_store_id"),
        Index(None, "owner", "captured_at"),
    )
    asset_id: Mapped[str] = mapped_column(ForeignKey("assets.id", ondelete="CASCADE"), unique=True)
    sha256: Mapped[str] = mapped_column(String(64))
    filename: Mapped[str] = mapped_column(String(512))
    source_path: Mapped[str | None] = mapped_column(Text)
    source_type: Mapped[str] = mapped_column(String(32), default="screenshot")
    device_id: Mapped[str] = mapped_column(String(256), default="unknown")
    device_name: Mapped[str | None] = mapped_column(String(256))
    local_media_store_id: Mapped[str | None] = mapped_column(String(128))
    captured_at: Mapped[datetime] = mapped_column(UtcDateTime)
    captured_offset: Mapped[int] = mapped_column(Integer, default=0)
    time_source: Mapped[str] = mapped_column(String(16))  # exif | filename | mtime | client
    dhash: Mapped[str | None] = mapped_column(String(64))  # 256 bits, hex
    group_id: Mapped[int | None] = mapped_column(Integer, index=True)  # smallest photo id of its near-duplicates


class Analysis(Numbered, Owned, Base):
    """What is known of one photo. `entities` is JSON text as the REST contract shows it."""

    __tablename__ = "analyses"
    __constraints__ = (Index(None, "owner", "status"),)
    photo_id: Mapped[int] = mapped_column(ForeignKey("photos.id", ondelete="CASCADE"), unique=True)
    status: Mapped[str] = mapped_column(String(16), default="pending")  # pending | processing | done | error
    summary: Mapped[str] = mapped_column(Text, default="")
    app_name: Mapped[str] = mapped_column(String(128), default="")
    content_category: Mapped[str] = mapped_column(String(32), default="other")
    intent: Mapped[str] = mapped_column(String(32), default="reference")
    entities: Mapped[str] = mapped_column(Text, default="[]")
    ocr_text: Mapped[str] = mapped_column(Text, default="")
    confidence: Mapped[float] = mapped_column(default=0.0)
    engine: Mapped[str] = mapped_column(String(128), default="")
    attempts: Mapped[int] = mapped_column(default=0)
    claimed_by: Mapped[str | None] = mapped_column(String(64))  # worker slot, while processing
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    error_message: Mapped[str | None] = mapped_column(Text)
    completed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class Conversation(Owned, Base):
    __tablename__ = "conversations"
    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    title: Mapped[str] = mapped_column(String(50), default="")
    device_id: Mapped[str | None] = mapped_column(String(256))
    tz: Mapped[str | None] = mapped_column(String(64))
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class Message(Numbered, Owned, Base):
    """The transcript. `uid` is made by the server before the run, so that a write is an upsert."""

    __tablename__ = "messages"
    __constraints__ = (UniqueConstraint("conversation_id", "uid"),)
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"), index=True)
    uid: Mapped[str] = mapped_column(String(64))
    role: Mapped[str] = mapped_column(String(16))
    content: Mapped[str] = mapped_column(Text)
    asset_ids: Mapped[list[str]] = mapped_column(JSON, default=list)
    tool_calls: Mapped[list[dict[str, Any]] | None] = mapped_column(JSON)
    tool_name: Mapped[str | None] = mapped_column(String(64))
    error_type: Mapped[str | None] = mapped_column(String(32))


class Attempt(Numbered, Owned, Base):
    """The ledger: every call to a model, whatever came of it. Never a prompt, never a key."""

    __tablename__ = "attempts"
    turn_id: Mapped[str] = mapped_column(String(64), index=True)
    role: Mapped[str] = mapped_column(String(32))
    model: Mapped[str] = mapped_column(String(128))
    ms: Mapped[float]
    outcome: Mapped[str] = mapped_column(String(32))  # ok, or an error class of models.errors
    asset_ids: Mapped[list[str]] = mapped_column(JSON, default=list)


class Run(Owned, Base):
    """One turn that was asked over REST. A conversation has at most one active run, over all processes."""

    __tablename__ = "runs"
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"), index=True)
    message_uid: Mapped[str] = mapped_column(String(64))  # the user's message, in the transcript before the run
    status: Mapped[str] = mapped_column(String(16), default="active")  # active | done | failed | cancelled
    input: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)  # message and context, to run again; empty once it ended
    resend_key: Mapped[str | None] = mapped_column(String(64), unique=True)  # who sends this again attaches to the run
    executor: Mapped[str] = mapped_column(String(64))  # worker slot
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    tries: Mapped[int] = mapped_column(default=1)
    cancel_requested: Mapped[bool] = mapped_column(default=False)
    error_type: Mapped[str | None] = mapped_column(String(32))
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)

    _ACTIVE = text("status = 'active'")
    __table_args__ = (Index("uq_runs_active", "conversation_id", unique=True, sqlite_where=_ACTIVE, postgresql_where=_ACTIVE),)


class RunEvent(Owned, Base):
    """What a run told its listeners, in the order of `seq`, so that one who lost the connection can go on."""

    __tablename__ = "run_events"
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    type: Mapped[str] = mapped_column(String(16))
    data: Mapped[dict[str, Any]] = mapped_column(JSON)


class Device(Numbered, Owned, Base):
    """A phone that called: how far it has synced, its zone, where it can be pushed to."""

    __tablename__ = "devices"
    __constraints__ = (UniqueConstraint("owner", "device_id"),)
    device_id: Mapped[str] = mapped_column(String(256))
    device_name: Mapped[str | None] = mapped_column(String(256))
    tz: Mapped[str | None] = mapped_column(String(64))
    synced_ms: Mapped[int] = mapped_column(BigInteger, default=0)  # epoch milliseconds of the newest picture it has sent
    platform: Mapped[str | None] = mapped_column(String(32))
    push_token: Mapped[str | None] = mapped_column(String(4096))
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)


class PhotoVector(Owned, Base):
    """The embedding of one photo's text: `dim` little-endian float32 numbers of unit length, made by `model`."""

    __tablename__ = "photo_vectors"
    photo_id: Mapped[int] = mapped_column(ForeignKey("photos.id", ondelete="CASCADE"), primary_key=True, autoincrement=False)
    model: Mapped[str] = mapped_column(String(128))
    dim: Mapped[int]
    vector: Mapped[bytes] = mapped_column(LargeBinary)


class Meta(Base):
    """Facts about the database itself, such as `index_version`."""

    __tablename__ = "meta"
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    value: Mapped[str] = mapped_column(Text)
