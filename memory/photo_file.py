"""What the library takes from a picture's bytes. Kept apart from storage, so that a worker process loads no database for it."""

from dataclasses import dataclass

from memory.exif import ExifTime, read_exif_time
from memory.media import LIBRARY_LIMITS, MediaError, PreparedMedia, prepare_image
from memory.similar import difference_hash


@dataclass(frozen=True, slots=True)
class PhotoFile:
    """`width` and `height` are upright, in pixels; `dhash` is 64 hex digits."""

    media: PreparedMedia
    width: int
    height: int
    exif: ExifTime | None
    dhash: str | None


def read_photo_file(data: bytes) -> PhotoFile:
    """Blocks for a decode; raises MediaError for what is no picture or beyond the library's limits."""
    media = prepare_image(data, limits=LIBRARY_LIMITS)
    if media.kind != "image" or media.width is None or media.height is None:
        raise MediaError("unsupported_format", media.mime_type)
    dhash = difference_hash(media.thumbnail) if media.thumbnail else None  # it needs no more pixels than that
    return PhotoFile(media, media.width, media.height, read_exif_time(data), dhash)
