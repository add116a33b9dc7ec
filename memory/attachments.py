"""Text out of attached documents."""

import asyncio
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePath

_PLAIN = frozenset({".txt", ".md", ".markdown", ".csv", ".tsv", ".json", ".log"})
_SUFFIX_OF_TYPE = {
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "application/json": ".json",
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
}
_BLANK_LINES = re.compile(r"\n\s*\n\s*\n+")
_NOTE = re.compile(r"(?:^|\n\n)\[附件: .* \(\d+ bytes\)\]", re.M)
_CHILD = Path(__file__).with_name("extract.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionLimits:
    """`seconds` of wall clock and CPU, `memory_bytes` of address space of the child, `characters` of text kept."""

    seconds: float = 8.0
    memory_bytes: int = 2_000_000_000
    characters: int = 16_000


def words_of(text: str) -> str:
    """What the user wrote, without the notes of attachments and their text that follow it."""
    return _NOTE.split(text, maxsplit=1)[0].strip()


def attachment_note(name: str, byte_size: int) -> str:
    return f"[附件: {name} ({byte_size} bytes)]"


async def extract_text(data: bytes, *, mime_type: str, file_name: str | None = None, limits: ExtractionLimits | None = None) -> str | None:
    """The text of a txt, md, csv, json, html, pdf, docx or xlsx document, cut at the limit.

    None for other types, for documents without text, and for those that break or exceed a limit: an attachment without
    its text is still an attachment.
    """
    limits = limits or ExtractionLimits()
    suffix = _suffix(mime_type, file_name)
    if suffix is None:
        return None
    text = _decoded(data) if suffix in _PLAIN else await _converted(data, suffix, limits)
    text = _BLANK_LINES.sub("\n\n", text.replace("\x00", "")).strip() if text else ""
    return text[: limits.characters] or None


def _suffix(mime_type: str, file_name: str | None) -> str | None:
    """What the bytes said decides; the name only tells kinds of plain text apart."""
    suffix = _SUFFIX_OF_TYPE.get(mime_type.split(";")[0].strip().lower())
    named = PurePath(file_name or "").suffix.lower()
    return named if suffix in {".txt", None} and named in _PLAIN else suffix


def _decoded(data: bytes) -> str | None:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return None


async def _converted(data: bytes, suffix: str, limits: ExtractionLimits) -> str | None:
    """Convert in a child with its own limits, an empty environment and no shell."""
    command = [sys.executable, "-P", str(_CHILD), suffix, str(limits.memory_bytes), str(max(1, int(limits.seconds)))]
    child = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=tempfile.gettempdir(),
        env={"PATH": os.defpath, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    try:
        async with asyncio.timeout(limits.seconds):
            output, _ = await child.communicate(data)
    except TimeoutError:
        return None
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    return output.decode("utf-8", errors="replace") if child.returncode == 0 else None
