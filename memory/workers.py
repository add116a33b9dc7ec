"""Names for the processes that work on one data folder: stable, unique among the living, free again however a process ends."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Self

from memory.blobs import private_folder
from settings.settings import Settings

_NEVER_BUSY = 0.0
_LONGEST_SETUP = 60.0


class WorkerSlot:
    """The lowest slot that no living process has. All calls here block for a moment of file access.

    The lock is that of an SQLite file: held within and between processes, on every system, and gone with its process.
    """

    def __init__(self, name: str, lock: sqlite3.Connection) -> None:
        self.name = name
        self._lock = lock

    @classmethod
    def acquire(cls, settings: Settings) -> Self:
        folder = _folder(settings)
        for number in count():
            name = f"worker-{number}"
            lock = _lock(folder / f"{name}.lock", timeout=_NEVER_BUSY)
            if lock is not None:
                return cls(name, lock)
        raise AssertionError("count() does not end")

    @classmethod
    def acquire_abandoned(cls, settings: Settings) -> list[Self]:
        """Every slot used before that is free now. Holding them keeps a new process from taking one over meanwhile."""
        paths = sorted(_folder(settings).glob("worker-*.lock"))
        return [cls(path.stem, lock) for path in paths if (lock := _lock(path, timeout=_NEVER_BUSY)) is not None]

    def release(self) -> None:
        self._lock.close()


@contextmanager
def one_at_a_time(settings: Settings, task: str) -> Iterator[None]:
    """Only one process at a time is inside; the others wait. Raises TimeoutError after a minute."""
    lock = _lock(_folder(settings) / f"{task}.lock", timeout=_LONGEST_SETUP)
    if lock is None:
        raise TimeoutError(f"another process is in {task} for too long")
    try:
        yield
    finally:
        lock.close()


def _folder(settings: Settings) -> Path:
    return private_folder(private_folder(settings.data_dir) / "workers")


def _lock(path: Path, *, timeout: float) -> sqlite3.Connection | None:
    connection = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        connection.close()
        return None
    return connection
