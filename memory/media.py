"""A picture is looked at once, when it is stored: type, limits, upright sRGB working copy, thumbnail.

Everything here is pure and picklable, so that `prepare_image` runs in a thread or in a spawned worker alike.
"""

import functools
import io
import warnings
from dataclasses import dataclass
from typing import Any, Literal

from PIL import Image

from memory.normalize import encode_working_copy, is_normal, orient, thumbnail, to_srgb
from memory.sniff import MediaKind, sniff

MediaErrorCode = Literal[
    "unsupported_format", "too_large", "too_many_pixels", "bad_size", "corrupt", "empty", "fetch_failed", "expired", "forbidden_url"
]

DEFAULT_TEXT = "请分析这张图片"
TURN_MAX_IMAGES = 10
TURN_MAX_BYTES = 60_000_000

_DECODERS = {
    "image/jpeg": ("JPEG", "MPO"),
    "image/png": ("PNG",),
    "image/webp": ("WEBP",),
    "image/gif": ("GIF",),
    "image/bmp": ("BMP",),
    "image/tiff": ("TIFF",),
    "image/avif": ("AVIF", "HEIF"),
    "image/heic": ("HEIF",),
    "image/heif": ("HEIF", "AVIF"),
}


class MediaError(Exception):
    """A picture or file that cannot be used. `detail` is for people and logs; it never holds a signed address."""

    def __init__(self, code: MediaErrorCode, detail: str = "") -> None:
        super().__init__(code, detail)
        self.code: MediaErrorCode = code
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}" if self.detail else self.code


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bytes of the file, pixels of the picture, and length of its sides in pixels."""

    max_bytes: int
    max_pixels: int
    min_side: int = 16
    max_side: int = 16_384


CHAT_LIMITS = Limits(max_bytes=20_000_000, max_pixels=50_000_000)
LIBRARY_LIMITS = Limits(max_bytes=50_000_000, max_pixels=100_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedMedia:
    """What there is to store beside the original bytes. `width` and `height` are those of the upright picture.

    `working` is None when the original serves as its own working copy; videos and files have no working copy and no
    thumbnail.
    """

    kind: MediaKind
    mime_type: str
    width: int | None = None
    height: int | None = None
    working: bytes | None = None
    working_mime_type: str | None = None
    thumbnail: bytes | None = None


class TurnAllowance:
    """What one turn may bring: `TURN_MAX_IMAGES` pictures and `TURN_MAX_BYTES` bytes."""

    def __init__(self) -> None:
        self._images = 0
        self._bytes = 0

    def take(self, kind: MediaKind, byte_size: int) -> None:
        """Raises MediaError `too_large` for what would go beyond; that part is not counted."""
        images = self._images + (kind == "image")
        if images > TURN_MAX_IMAGES:
            raise MediaError("too_large", f"more than {TURN_MAX_IMAGES} pictures in one message")
        if self._bytes + byte_size > TURN_MAX_BYTES:
            raise MediaError("too_large", f"more than {TURN_MAX_BYTES} bytes in one message")
        self._images, self._bytes = images, self._bytes + byte_size


def prepare_image(data: bytes, *, limits: Limits = CHAT_LIMITS) -> PreparedMedia:
    """Sniff `data`, check `limits` from the header, then decode a picture once. Videos and files are only sniffed.

    Raises MediaError: `empty`, `too_large`, `too_many_pixels`, `bad_size` or `corrupt`.
    """
    if not data:
        raise MediaError("empty", "0 bytes")
    if len(data) > limits.max_bytes:
        raise MediaError("too_large", f"{len(data)} bytes, at most {limits.max_bytes}")
    found = sniff(data)
    if found.kind != "image":
        return PreparedMedia(kind=found.kind, mime_type=found.mime_type)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"PIL\.|pillow_heif")  # odd metadata; sizes are checked here
        return _decode(data, found.mime_type, limits)


def check_size(width: int, height: int, limits: Limits) -> None:
    if width * height > limits.max_pixels:
        raise MediaError("too_many_pixels", f"{width}×{height}, at most {limits.max_pixels} pixels")
    if min(width, height) < limits.min_side or max(width, height) > limits.max_side:
        raise MediaError("bad_size", f"{width}×{height}, sides from {limits.min_side} to {limits.max_side}")


def _decode(data: bytes, mime_type: str, limits: Limits) -> PreparedMedia:
    try:
        with _open(data, mime_type) as image:
            check_size(image.width, image.height, limits)
            as_is = is_normal(image)
            image.load()
            check_size(image.width, image.height, limits)  # a HEIF header may understate what it decodes to
            upright = to_srgb(orient(image))
            working = None if as_is else encode_working_copy(upright, lossy_source=image.format in {"JPEG", "MPO", "HEIF", "AVIF"})
            return PreparedMedia(
                kind="image",
                mime_type=mime_type,
                width=upright.width,
                height=upright.height,
                working=working.data if working else None,
                working_mime_type=working.mime_type if working else mime_type,
                thumbnail=thumbnail(upright),
            )
    except MediaError:
        raise
    except Image.DecompressionBombError as error:
        raise MediaError("too_many_pixels", "the header claims more pixels than any limit") from error
    except Exception as error:  # decoders answer hostile bytes with nearly every built-in exception
        raise MediaError("corrupt", f"{mime_type} that cannot be decoded ({type(error).__name__})") from error


def _open(data: bytes, mime_type: str) -> Any:
    _register_heif()
    return Image.open(io.BytesIO(data), formats=_DECODERS[mime_type])


@functools.cache
def _register_heif() -> None:
    from pillow_heif import register_heif_opener

    register_heif_opener()
