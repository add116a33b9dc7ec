import io
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PIL import Image

from memory.assets import Assets
from memory.blobs import BlobStore
from memory.database import Database
from memory.media import Limits, MediaError
from memory.scope import Scope
from memory.tables import Photo
from settings import Settings
from tests.memory.pictures import encoded, picture

ME, YOU = Scope("me"), Scope("you")
NOW = datetime(2026, 5, 20, 9, 30, tzinfo=UTC)


@pytest.fixture
def blobs(sqlite_settings: Settings) -> BlobStore:
    return BlobStore.open(sqlite_settings)


@pytest.fixture
def assets(sqlite_db: Database, blobs: BlobStore) -> Assets:
    return Assets(sqlite_db, blobs, clock=lambda: NOW)


def files_below(folder: Path) -> int:
    return sum(path.is_file() for path in folder.rglob("*"))


async def test_a_picture_is_kept_with_its_working_copy_and_thumbnail(assets: Assets) -> None:
    data = encoded(picture(600, 300), "BMP")
    stored = await assets.store(data, owner="me", file_name="a.bmp")
    assert (stored.kind, stored.mime_type, stored.width, stored.height, stored.byte_size) == ("image", "image/bmp", 600, 300, len(data))
    assert await assets.read(stored.id, scope=ME, variant="original") == data
    assert Image.open(io.BytesIO(await assets.read(stored.id, scope=ME))).size == (600, 300)
    assert Image.open(io.BytesIO(await assets.read(stored.id, scope=ME, variant="thumbnail"))).size == (512, 256)
    assert await assets.get(stored.id, scope=ME) == stored


async def test_a_document_is_kept_with_its_text(assets: Assets) -> None:
    stored = await assets.store("预算 300 元".encode(), owner="me", file_name="a.txt")
    assert (stored.kind, stored.mime_type) == ("file", "text/plain")
    assert (await assets.read(stored.id, scope=ME)).decode() == "预算 300 元"
    with pytest.raises(FileNotFoundError):
        await assets.read(stored.id, scope=ME, variant="thumbnail")


async def test_the_same_bytes_in_one_message_are_one_asset(assets: Assets) -> None:
    first = await assets.store(encoded(), owner="me", message_uid="m1")
    assert await assets.store(encoded(), owner="me", message_uid="m1") == first
    assert (await assets.store(encoded(), owner="me", message_uid="m2")).id != first.id
    assert (await assets.store(encoded(), owner="you", message_uid="m1")).id != first.id


async def test_another_owners_asset_is_not_there(assets: Assets) -> None:
    stored = await assets.store(encoded(), owner="me")
    assert await assets.get(stored.id, scope=YOU) is None
    assert not await assets.delete(stored.id, scope=YOU)
    with pytest.raises(FileNotFoundError):
        await assets.read(stored.id, scope=YOU)


async def test_bytes_go_with_the_last_row_that_uses_them(assets: Assets, blobs: BlobStore, sqlite_settings: Settings) -> None:
    mine = await assets.store(encoded(), owner="me")
    yours = await assets.store(encoded(), owner="you")
    assert await assets.delete(mine.id, scope=ME)
    assert await assets.get(mine.id, scope=ME) is None
    assert await assets.read(yours.id, scope=YOU, variant="original") == encoded()
    assert await assets.delete(yours.id, scope=YOU)
    assert not await blobs.exists(yours.blob_key)
    assert files_below(sqlite_settings.data_dir / "blobs") == 0
    assert not await assets.delete(yours.id, scope=YOU)


async def test_a_refused_picture_leaves_nothing(assets: Assets, sqlite_settings: Settings) -> None:
    with pytest.raises(MediaError, match="too_large"):
        await assets.store(encoded(), owner="me", limits=Limits(max_bytes=10, max_pixels=10))
    with pytest.raises(MediaError, match="corrupt"):
        await assets.store(encoded()[:50], owner="me")
    assert files_below(sqlite_settings.data_dir / "blobs") == 0


async def test_our_own_addresses_lead_to_assets(assets: Assets, sqlite_db: Database) -> None:
    stored = await assets.store(encoded(), owner="me")
    async with sqlite_db.begin() as session:
        photo = Photo(
            asset_id=stored.id, sha256=stored.sha256, filename="a.png", device_id="phone", captured_at=NOW, time_source="mtime", owner="me",
            created_at=NOW, source_type="screenshot",
        )  # fmt: skip
        session.add(photo)
    for path in (f"/api/assets/{stored.id}", f"/api/assets/{stored.id}/content", f"/api/photos/{photo.id}/image"):
        assert await assets.at_path(path, scope=ME) == stored
        assert await assets.at_path(path, scope=YOU) is None
    assert await assets.at_path(f"/api/photos/{photo.id}", scope=Scope("me", ("tablet",))) is None
    assert await assets.at_path("/api/photos/x/image", scope=ME) is None
    assert await assets.at_path("/etc/passwd", scope=ME) is None
