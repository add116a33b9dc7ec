"""What bytes are, told from the bytes alone: names and headers lie."""

import codecs
import re
from dataclasses import dataclass
from typing import Literal

MediaKind = Literal["image", "video", "file"]

HEAD = 4096
"""Bytes that are enough to tell a type, except which office document a zip file is."""


@dataclass(frozen=True, slots=True)
class Sniffed:
    """`mime_type` is "application/octet-stream" for bytes that tell nothing."""

    kind: MediaKind
    mime_type: str


_PREFIXES: tuple[tuple[bytes, Sniffed], ...] = (
    (b"\xff\xd8\xff", Sniffed("image", "image/jpeg")),
    (b"\x89PNG\r\n\x1a\n", Sniffed("image", "image/png")),
    (b"GIF87a", Sniffed("image", "image/gif")),
    (b"GIF89a", Sniffed("image", "image/gif")),
    (b"II*\x00", Sniffed("image", "image/tiff")),
    (b"MM\x00*", Sniffed("image", "image/tiff")),
    (b"II+\x00", Sniffed("image", "image/tiff")),
    (b"MM\x00+", Sniffed("image", "image/tiff")),
    (b"%PDF-", Sniffed("file", "application/pdf")),
    (b"PK\x03\x04", Sniffed("file", "application/zip")),
    (b"PK\x05\x06", Sniffed("file", "application/zip")),
    (b"\x1f\x8b", Sniffed("file", "application/gzip")),
    (b"8BPS", Sniffed("file", "image/vnd.adobe.photoshop")),
    (b"\x00\x00\x01\x00", Sniffed("file", "image/x-icon")),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Sniffed("file", "application/x-ole-storage")),
)
_TIFF_RAW = re.compile(rb"CR\x02\x00")  # Canon raw files are TIFF by their first four bytes only

_AVIF = frozenset({b"avif", b"avis"})
_HEIF = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"mif2", b"msf1"})
_NO_PICTURE = {b"M4A ": "audio/mp4", b"M4B ": "audio/mp4", b"M4P ": "audio/mp4", b"F4A ": "audio/mp4", b"crx ": "image/x-canon-cr3"}
_QUICKTIME_ATOMS = frozenset({b"moov", b"mdat", b"wide", b"pnot"})
_BMP_HEADER_SIZES = frozenset({12, 16, 40, 52, 56, 64, 108, 124})
_OOXML = (
    (b"word/document.xml", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"xl/workbook.xml", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (b"ppt/presentation.xml", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
)
_MARKUP = re.compile(r"\s*(?:<\?xml[^>]*>|<!--.*?-->|<!DOCTYPE\s+svg[^\[>]*(?:\[.*?\])?\s*>|\s)*<svg[\s>]", re.DOTALL | re.IGNORECASE)
_HTML = re.compile(r"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.DOTALL | re.IGNORECASE)


def sniff(data: bytes) -> Sniffed:
    """The kind and type of `data` (its first `HEAD` bytes are enough but for office documents)."""
    head = data[:HEAD]
    for prefix, found in _PREFIXES:
        if head.startswith(prefix):
            if found.mime_type == "application/zip":
                return Sniffed("file", _office_type(data))
            if found.mime_type == "image/tiff" and _TIFF_RAW.match(head, 8):
                return Sniffed("file", "image/x-canon-cr2")
            return found
    return _container(head) or _text(head)


def _container(head: bytes) -> Sniffed | None:
    """Formats whose mark is not a fixed prefix: RIFF, ISO base media, Matroska and BMP."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return Sniffed("image", "image/webp")
    if head[4:8] == b"ftyp":
        return _iso_media(head)
    if head[4:8] in _QUICKTIME_ATOMS:
        return Sniffed("video", "video/quicktime")
    if head[:4] == b"\x1aE\xdf\xa3":
        return Sniffed("video", "video/webm") if b"webm" in head[:64] else Sniffed("file", "video/x-matroska")
    if head[:2] == b"BM" and int.from_bytes(head[14:18], "little") in _BMP_HEADER_SIZES:
        return Sniffed("image", "image/bmp")
    return None


def _iso_media(head: bytes) -> Sniffed:
    """Brands of the first box: the major one speaks first, then the compatible ones."""
    size = min(max(int.from_bytes(head[:4], "big"), 12), 512)
    major, box = head[8:12], head[16:size]
    brands = {major, *(box[i : i + 4] for i in range(0, len(box) - 3, 4))}
    if major in _AVIF or (major in {b"mif1", b"msf1", b"miaf"} and brands & _AVIF):
        return Sniffed("image", "image/avif")
    if major in _HEIF or (major == b"miaf" and brands & _HEIF):
        return Sniffed("image", "image/heic" if major.startswith(b"hei") else "image/heif")
    if major in _NO_PICTURE:
        return Sniffed("file", _NO_PICTURE[major])
    return Sniffed("video", "video/quicktime" if major == b"qt  " else "video/mp4")


def _office_type(data: bytes) -> str:
    return next((mime for part, mime in _OOXML if part in data), "application/zip")


def _text(head: bytes) -> Sniffed:
    text = _decoded(head)
    if text is None:
        return Sniffed("file", "application/octet-stream")
    if _MARKUP.match(text):
        return Sniffed("file", "image/svg+xml")
    return Sniffed("file", "text/html" if _HTML.match(text) else "text/plain")


def _decoded(head: bytes) -> str | None:
    """`head` as UTF-8 (a character cut off at the end is fine) or UTF-16 with its mark; None for binary bytes."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head.decode("utf-16", errors="replace")
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head)
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text
