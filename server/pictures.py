"""Which files below given paths are pictures, told from their bytes."""

import asyncio
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from memory.sniff import HEAD, sniff

REST = 1.0
"""Seconds without a change after which a file counts as written."""

_CACHES = frozenset({"cache", "caches", "thumbnails", "thumbs", "__pycache__", "node_modules", "@eadir", "$recycle.bin", "lost+found"})


def find_pictures(paths: Iterable[Path], *, skip: Path) -> list[Path]:
    """The absolute path of every picture once, in the order of `paths`, folders sorted.

    Hidden and cache folders, hidden files and the folder `skip` are left out; a path that is named itself is not hidden. Files that
    cannot be read are in: whoever reads them can say so.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        for file in _files(path, skip=skip.resolve()) if path.is_dir() else [path]:
            if _may_be_picture(file):
                found.setdefault(file.resolve(), file.absolute())
    return list(found.values())


def is_passed_over(path: Path, *, below: Iterable[Path]) -> bool:
    """Whether `find_pictures` would not come to `path` on its way down from the folders `below`."""
    for folder in below:
        if path.is_relative_to(folder):
            *folders, name = path.relative_to(folder).parts or ("",)
            return name.startswith(".") or any(_is_passed_over(part) for part in folders)
    return True


async def at_rest(paths: Iterable[Path], *, seconds: float = REST) -> list[Path]:
    """Those of `paths` that nobody writes to for so long, sorted. The others change once more, and whoever watches them is told."""
    chosen = sorted(paths)
    before = await asyncio.to_thread(_marks, chosen)
    await asyncio.sleep(seconds)
    after = await asyncio.to_thread(_marks, chosen)
    return [path for path, was, now in zip(chosen, before, after, strict=True) if was == now]


def _marks(paths: list[Path]) -> list[tuple[int, int] | None]:
    """Size and time of change; None where there is no file."""
    marks: list[tuple[int, int] | None] = []
    for path in paths:
        try:
            found = path.stat()
        except OSError:
            marks.append(None)
        else:
            marks.append((found.st_size, found.st_mtime_ns))
    return marks


def _files(folder: Path, *, skip: Path) -> Iterator[Path]:
    for current, folders, files in os.walk(folder):
        here = Path(current)
        folders[:] = sorted(name for name in folders if not _is_passed_over(name) and (here / name).resolve() != skip)
        yield from (here / name for name in sorted(files) if not name.startswith("."))


def _is_passed_over(folder: str) -> bool:
    return folder.startswith(".") or folder.lower() in _CACHES


def _may_be_picture(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return sniff(file.read(HEAD)).kind == "image"
    except OSError:
        return True


def shown(name: Path | str) -> str:
    """A file's name as text: bytes that are not UTF-8 become the replacement character, since no database or output takes them."""
    return os.fsencode(name).decode("utf-8", "replace")
