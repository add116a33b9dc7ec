"""Bytes of pictures and files, addressed by their content."""

import asyncio
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Self

import obstore
from obstore.store import LocalStore

from settings.settings import Settings

if TYPE_CHECKING:
    from obstore.store import ObjectStore


def private_folder(path: Path) -> Path:
    """Make `path`, closed to other users of the machine (0700)."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.chmod(0o700)
    return path


def blob_key(data: bytes, *, suffix: str = "") -> str:
    """`ab/cd/<sha-256><suffix>`: the same bytes always have the same key."""
    digest = hashlib.sha256(data).hexdigest()
    return f"{digest[:2]}/{digest[2:4]}/{digest}{suffix}"


class BlobStore:
    """Content-addressed bytes in an object store. A write is whole or absent, a delete removes the bytes."""

    def __init__(self, store: "ObjectStore") -> None:
        self._store = store

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """The local store below the data folder, which is made if absent."""
        folder = private_folder(private_folder(settings.data_dir) / "blobs")
        return cls(LocalStore(folder, automatic_cleanup=True))

    async def put(self, data: bytes, *, suffix: str = "") -> str:
        key = await asyncio.to_thread(blob_key, data, suffix=suffix)
        if not await self.exists(key):
            await obstore.put_async(self._store, key, data)
        return key

    async def get(self, key: str) -> bytes:
        """Raises FileNotFoundError for an unknown key."""
        found = await obstore.get_async(self._store, key)
        return bytes(await found.bytes_async())

    async def exists(self, key: str) -> bool:
        try:
            await obstore.head_async(self._store, key)
        except FileNotFoundError:
            return False
        return True

    async def delete(self, key: str) -> None:
        """Remove the bytes; an unknown key is no error."""
        try:
            await obstore.delete_async(self._store, key)
        except FileNotFoundError:
            return
