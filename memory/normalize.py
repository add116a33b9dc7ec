"""From any decoded picture to an upright one in 8-bit sRGB, with its transparency and without its location."""

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import ExifTags, Image, ImageCms, ImageOps

THUMBNAIL_SIDE = 512
_PLAIN_FORMATS = frozenset({"JPEG", "PNG", "WEBP"})


@dataclass(frozen=True, slots=True)
class Encoded:
    data: bytes
    mime_type: str


def is_normal(image: Image.Image) -> bool:
    """Whether the file itself can serve as the working copy. Call before the pixels are loaded."""
    return (
        image.format in _PLAIN_FORMATS
        and image.mode in {"RGB", "RGBA"}
        and getattr(image, "n_frames", 1) == 1
        and "transparency" not in image.info
        and (not image.info.get("icc_profile") or _is_srgb(image.info["icc_profile"]))
        and _orientation(image) == 1
        and not _tells_location(image)
    )


def orient(image: Image.Image) -> Image.Image:
    """The picture as its EXIF orientation means it to be seen; broken EXIF counts as none."""
    return image if _orientation(image) == 1 else ImageOps.exif_transpose(image)


def to_srgb(image: Image.Image) -> Image.Image:
    """RGB, or RGBA where there is transparency, 8 bits a channel, in sRGB, without metadata."""
    converted = _to_srgb(image)
    converted.info.clear()
    return converted


def _to_srgb(image: Image.Image) -> Image.Image:
    if image.mode == "F" or image.mode.startswith("I"):
        image = _eight_bit(image)
    if image.mode == "LAB":
        return _transformed(image, ImageCms.createProfile("LAB"), "LAB") or image.convert("L").convert("RGB")
    profile = _profile(image.info.get("icc_profile"))
    mode = "RGBA" if image.has_transparency_data else "RGB"
    if profile is None or _is_srgb(image.info["icc_profile"]):
        return image if image.mode == mode else image.convert(mode)
    base = image if image.mode in {"CMYK", "L"} else image.convert("RGB")
    converted = _transformed(base, profile, base.mode) or image.convert("RGB")
    if mode == "RGBA":
        converted.putalpha(image.convert("RGBA").getchannel("A"))
    return converted


def encode_working_copy(image: Image.Image, *, lossy_source: bool) -> Encoded:
    """PNG, or JPEG at full colour resolution where the source was lossy and opaque."""
    buffer = io.BytesIO()
    if lossy_source and image.mode == "RGB":
        image.save(buffer, "JPEG", quality=95, subsampling=0)
        return Encoded(buffer.getvalue(), "image/jpeg")
    image.save(buffer, "PNG", compress_level=3)
    return Encoded(buffer.getvalue(), "image/png")


def thumbnail(image: Image.Image) -> bytes:
    """A JPEG whose longest side is at most `THUMBNAIL_SIDE` pixels; transparency becomes white."""
    small = image if max(image.size) <= THUMBNAIL_SIDE else _shrunk(image)
    if small.mode == "RGBA":
        white = Image.new("RGB", small.size, "white")
        white.paste(small, mask=small.getchannel("A"))
        small = white
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=85)
    return buffer.getvalue()


def _shrunk(image: Image.Image) -> Image.Image:
    scale = THUMBNAIL_SIDE / max(image.size)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(size, Image.Resampling.BICUBIC, reducing_gap=2.0)


def _exif(image: Image.Image) -> Any:
    try:
        return image.getexif()
    except Exception:  # broken EXIF raises whatever the parser stumbles over; the picture itself is fine
        return {}


def _orientation(image: Image.Image) -> int:
    value = _exif(image).get(ExifTags.Base.Orientation, 1)
    return value if value in range(1, 9) else 1


def _tells_location(image: Image.Image) -> bool:
    xmp = image.info.get("xmp") or image.info.get("XML:com.adobe.xmp") or b""
    marked = b"GPS" in xmp if isinstance(xmp, bytes) else "GPS" in xmp
    return marked or ExifTags.IFD.GPSInfo in _exif(image)


def _profile(icc: Any) -> ImageCms.ImageCmsProfile | None:
    try:
        return ImageCms.ImageCmsProfile(io.BytesIO(icc)) if icc else None
    except (OSError, TypeError, ImageCms.PyCMSError):
        return None


def _is_srgb(icc: Any) -> bool:
    """Whether a profile is sRGB by its own description; an unreadable one is ignored, which comes to the same."""
    profile = _profile(icc)
    if profile is None:
        return True
    try:
        return "sRGB" in ImageCms.getProfileDescription(profile)
    except ImageCms.PyCMSError:
        return True


def _transformed(image: Image.Image, profile: Any, mode: str) -> Image.Image | None:
    """`image` through its own colour profile into sRGB; None where profile and picture do not fit each other."""
    try:
        transform = ImageCms.buildTransform(profile, ImageCms.createProfile("sRGB"), mode, "RGB")
        return ImageCms.applyTransform(image, transform)
    except (ImageCms.PyCMSError, ValueError):
        return None


def _eight_bit(image: Image.Image) -> Image.Image:
    """Grey pictures of 16 or 32 bits or floats: 16-bit values by their high byte, others stretched to 0–255."""
    key = image.info.get("transparency")
    values = np.asarray(image if image.mode in {"F", "I"} else image.convert("I")).astype(np.float64)
    values = np.nan_to_num(values)
    low, high = float(values.min()), float(values.max())
    if image.mode != "F" and low >= 0 and high <= 65535:
        scaled = values / 257 if image.mode.startswith("I;16") or high > 255 else values
    else:
        scaled = (values - low) * (255 / (high - low)) if high > low else np.zeros_like(values)
    grey = Image.fromarray(scaled.round().astype(np.uint8))
    if isinstance(key, int):
        grey = grey.convert("LA")
        grey.putalpha(Image.fromarray(np.where(values == key, 0, 255).astype(np.uint8)))
    return grey
