import hashlib
import stat

import pytest

from memory.blobs import BlobStore
from settings.settings import Settings


@pytest.fixture
def blobs(tmp_path):
    return BlobStore.open(Settings(data_dir=tmp_path / "data"))


async def test_the_same_bytes_have_one_key_and_one_file(blobs, tmp_path) -> None:
    key = await blobs.put(b"picture", suffix=".png")
    assert key == await blobs.put(b"picture", suffix=".png")
    digest = hashlib.sha256(b"picture").hexdigest()
    assert key == f"{digest[:2]}/{digest[2:4]}/{digest}.png"
    assert [path for path in (tmp_path / "data").rglob("*") if path.is_file()] == [tmp_path / "data" / "blobs" / key]
    assert await blobs.get(key) == b"picture"


async def test_delete_removes_the_bytes(blobs, tmp_path) -> None:
    key = await blobs.put(b"secret")
    await blobs.delete(key)
    await blobs.delete(key)
    assert not await blobs.exists(key)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    with pytest.raises(FileNotFoundError):
        await blobs.get(key)


async def test_keys_stay_below_the_folder(blobs, tmp_path) -> None:
    (tmp_path / "outside").write_bytes(b"x")
    with pytest.raises(ValueError):
        await blobs.get("../../outside")


async def test_the_data_folder_is_made_private_at_first_use(blobs, tmp_path) -> None:
    assert not (tmp_path / "data").exists()
    await blobs.put(b"x")
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "data" / "blobs").stat().st_mode) == 0o700
