import io
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.sniff import sniff


def brand(major: bytes, *compatible: bytes) -> bytes:
    body = b"ftyp" + major + b"\0\0\0\0" + b"".join(compatible)
    return (len(body) + 4).to_bytes(4, "big") + body + b"\0\0\0\x08mdat"


@pytest.mark.parametrize(
    ("data", "kind", "mime_type"),
    [
        (brand(b"isom", b"mp42"), "video", "video/mp4"),
        (brand(b"qt  ", b"qt  "), "video", "video/quicktime"),
        (b"\0\0\0\x08wide\0\0\0\0mdat", "video", "video/quicktime"),
        (b"\x1aE\xdf\xa3\x01\0\0\0\0\0\0\x1fB\x82\x84webm", "video", "video/webm"),
        (b"\x1aE\xdf\xa3\x01\0\0\0\0\0\0\x1fB\x82\x88matroska", "file", "video/x-matroska"),
        (brand(b"M4A ", b"isom"), "file", "audio/mp4"),
        (brand(b"avif", b"mif1"), "image", "image/avif"),
        (brand(b"mif1", b"avif"), "image", "image/avif"),
        (brand(b"mif1", b"heic"), "image", "image/heif"),
        (brand(b"heic", b"mif1"), "image", "image/heic"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "file", "application/octet-stream"),
        (b"BMX is a sport", "file", "text/plain"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- c --><svg width='1'>", "file", "image/svg+xml"),
        (b"<!DOCTYPE svg [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><svg>&x;</svg>", "file", "image/svg+xml"),
        (b"<!doctype html><p>403 Forbidden", "file", "text/html"),
        ("中文文本".encode()[:-1], "file", "text/plain"),
        (b"", "file", "text/plain"),
    ],
)
def test_kind_and_type(data: bytes, kind: str, mime_type: str) -> None:
    found = sniff(data)
    assert (found.kind, found.mime_type) == (kind, mime_type)


@pytest.mark.parametrize(("part", "ending"), [("word/document.xml", ".document"), ("xl/workbook.xml", ".sheet")])
def test_office_documents_are_told_from_zip_files(part: str, ending: str) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("[Content_Types].xml", "x" * 10_000)
        archive.writestr(part, "<x/>")
    assert sniff(buffer.getvalue()).mime_type.endswith(ending)


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=64))
def test_any_bytes_have_a_kind(data: bytes) -> None:
    assert sniff(data).kind in {"image", "video", "file"}
