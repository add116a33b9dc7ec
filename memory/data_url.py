"""Bytes written as text: `data:` addresses and bare base64, read as tolerantly as the senders are careless."""

import base64
import binascii
import re
from urllib.parse import unquote_to_bytes

from memory.media import MediaError
from memory.sniff import sniff

_HEADER = re.compile(r"data:(?P<meta>[^,]{0,512}?)(?P<mark>;\s*base64\s*)?[,]", re.IGNORECASE)
_HEADER_WITHOUT_COMMA = re.compile(r"data:(?P<meta>[^,;]{0,128})(?P<mark>;\s*base64)\s*[;:]?", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_PROBE_CHARS = 1024


def is_data_url(value: str) -> bool:
    return value[:5].lower() == "data:"


def decode_data_url(value: str, *, max_bytes: int) -> tuple[bytes, str]:
    """The bytes and the declared type ("" if none) of a `data:` address.

    Tolerated: letter case, further parameters, white space and line breaks, percent-escapes, the URL-safe alphabet,
    missing padding, a missing `;base64` or comma, a prefix written twice. Raises MediaError `empty`, `corrupt`, `too_large`.
    """
    match = _HEADER.match(value) or _HEADER_WITHOUT_COMMA.match(value)
    if match is None:
        raise MediaError("corrupt", "a data: address without data")
    mime_type = match["meta"].split(";")[0].strip().lower()
    payload = value[match.end() :].strip().strip("\"'")
    if is_data_url(payload):
        return decode_data_url(payload, max_bytes=max_bytes)
    if match["mark"] or looks_like_media(payload):
        return decode_base64(payload, max_bytes=max_bytes), mime_type
    return _sized(unquote_to_bytes(payload), max_bytes), mime_type


def decode_base64(text: str, *, max_bytes: int) -> bytes:
    """Raises MediaError `empty`, `corrupt`, or `too_large` (before decoding)."""
    if "%" in text:
        text = unquote_to_bytes(text).decode("ascii", errors="replace")
    compact = _without_blanks(text)
    if not compact.strip("="):
        raise MediaError("empty", "no data")
    if len(compact) * 3 // 4 > max_bytes + 2:
        raise MediaError("too_large", f"about {len(compact) * 3 // 4} bytes, at most {max_bytes}")
    body = compact.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(body + "=" * (-len(body) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise MediaError("corrupt", "not base64") from error


def looks_like_media(text: str) -> bool:
    """Whether `text` is base64 whose first bytes are those of a picture or a video."""
    head = _without_blanks(text[:_PROBE_CHARS])
    head = head[: len(head) // 4 * 4] if len(text) > _PROBE_CHARS else head
    if len(head) < 16 or not _BASE64.fullmatch(head):
        return False
    try:
        return sniff(decode_base64(head, max_bytes=_PROBE_CHARS)).kind != "file"
    except MediaError:
        return False


def _without_blanks(text: str) -> str:
    """Blanks are line breaks of mail programs, unless a form decoder made them out of plus signs."""
    compact = "".join(text.split())
    plus = "".join(text.replace(" ", "+").split())
    return plus if len(compact) % 4 and len(plus) % 4 == 0 else compact


def _sized(data: bytes, max_bytes: int) -> bytes:
    if not data:
        raise MediaError("empty", "no data")
    if len(data) > max_bytes:
        raise MediaError("too_large", f"{len(data)} bytes, at most {max_bytes}")
    return data
