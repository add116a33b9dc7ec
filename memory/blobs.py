"""Bytes of pictures and files, addressed by their content."""

import asyncio
import hashlib
from collections.abc import Callable
from functools import partial
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


def _local_store(data_dir: Path) -> LocalStore:
    return LocalStore(private_folder(private_folder(data_dir) / "blobs"), automatic_cleanup=True)


class BlobStore:
    """Content-addressed bytes in an object store, opened at its first use. A write is whole or absent, a delete removes the bytes."""

    def __init__(self, opener: Callable[[], "ObjectStore"]) -> None:
        self._opener = opener
        self._opened: ObjectStore | None = None

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """The local store below the data folder, which is made if absent."""
        return cls(partial(_local_store, settings.data_dir))

    async def _store(self) -> "ObjectStore":
        if self._opened is None:
            self._opened = await asyncio.to_thread(self._opener)
        return self._opened

    async def put(self, data: bytes, *, suffix: str = "") -> str:
        key = await asyncio.to_thread(blob_key, data, suffix=suffix)
        if not await self.exists(key):
            await obstore.put_async(await self._store(), key, data)
        return key

    async def get(self, key: str) -> bytes:
        """Raises FileNotFoundError for an unknown key."""
        found = await obstore.get_async(await self._store(), key)
        return bytes(await found.bytes_async())

    async def exists(self, key: str) -> bool:
        try:
            await obstore.head_async(await self._store(), key)
        except FileNotFoundError:
            return False
        return True

    async def delete(self, key: str) -> None:
        """Remove the bytes; an unknown key is no error."""
        try:
            await obstore.delete_async(await self._store(), key)
        except FileNotFoundError:
            return
