"""The capture time that a picture's own metadata tells."""

import io
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from memory.sniff import sniff

_EXIF_IFD = 0x8769
_PNG_MARKS = (b"eXIf", b"Raw profile type exif")
_TAGS = ((0x9003, 0x9011), (0x9004, 0x9012), (0x0132, 0x9010))  # original, digitized, changed: date and time, offset
_XMP = re.compile(r"(?:exif:DateTimeOriginal|photoshop:DateCreated|xmp:CreateDate)(?:>|=[\"'])([^<\"']{10,40})")
_TIME = re.compile(r"(\d{4})[:\-/.](\d\d)[:\-/.](\d\d)[ T](\d\d):(\d\d)(?::(\d\d))?(?:\.\d+)?\s*(Z|[+-]\d\d:?\d\d)?")
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")
_LARGEST_OFFSET = timedelta(hours=14)


@dataclass(frozen=True, slots=True)
class ExifTime:
    """`at` is naive, by the clock of the place; `offset` from UTC is None if the picture does not tell it."""

    at: datetime
    offset: timedelta | None = None


def read_exif_time(data: bytes) -> ExifTime | None:
    """From EXIF (JPEG, PNG, WebP, HEIC, AVIF, TIFF), else from XMP, where iOS notes it in screenshots. Broken metadata is none."""
    from PIL import Image

    _open_heif(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # odd metadata
        try:
            with Image.open(io.BytesIO(data)) as image:
                tags = _tags(image, data)
                xmp = image.info.get("xmp") or image.info.get("XML:com.adobe.xmp") or ""
        except Exception:  # broken metadata raises whatever the parser stumbles over
            return None
    return exif_time(tags) or _xmp_time(xmp)


def _tags(image: Any, data: bytes) -> dict[int, Any]:
    """Without this look, Pillow would decode a whole PNG in search of EXIF behind its pixels."""
    if image.format == "PNG" and not any(mark in data for mark in _PNG_MARKS):
        return {}
    exif = image.getexif()
    return {**exif, **exif.get_ifd(_EXIF_IFD)}


def exif_time(tags: Mapping[int, Any]) -> ExifTime | None:
    """The first of original, digitized and changed that is a time; `tags` holds those of both EXIF directories."""
    for time_tag, offset_tag in _TAGS:
        found = _parse(_text(tags.get(time_tag)))
        if found is not None:
            return ExifTime(found.at, found.offset if found.offset is not None else _offset(_text(tags.get(offset_tag))))
    return None


def _xmp_time(xmp: str | bytes) -> ExifTime | None:
    return next(filter(None, (_parse(value) for value in _XMP.findall(_text(xmp)))), None)


def _parse(text: str) -> ExifTime | None:
    found = _TIME.match(text.strip())
    if found is None:
        return None
    *numbers, offset = found.groups()
    try:
        return ExifTime(datetime(*(int(number or 0) for number in numbers)), _offset(offset or ""))  # type: ignore[arg-type]
    except ValueError:
        return None


def _offset(text: str) -> timedelta | None:
    if text == "Z":
        return timedelta(0)
    found = _OFFSET.match(text.strip())
    if found is None:
        return None
    amount = timedelta(hours=int(found[2]), minutes=int(found[3]))
    return None if amount > _LARGEST_OFFSET else amount if found[1] == "+" else -amount


def _text(value: Any) -> str:
    text = value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value or "")
    return text.replace("\0", " ")


def _open_heif(data: bytes) -> None:
    if sniff(data).mime_type in {"image/heic", "image/heif"}:
        from pillow_heif import register_heif_opener

        register_heif_opener()
