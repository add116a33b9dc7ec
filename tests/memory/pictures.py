"""Pictures for tests, drawn on the spot."""

import base64
import io
import struct
import zlib
from typing import Any

from PIL import Image


def picture(width: int = 40, height: int = 24, *, mode: str = "RGB") -> Image.Image:
    """Left half red, right half blue, with a green top-left corner, so that any turn or flip shows."""
    image = Image.new("RGB", (width, height), (220, 20, 20))
    image.paste((20, 20, 220), (width // 2, 0, width, height))
    image.paste((20, 200, 20), (0, 0, width // 4, height // 4))
    return image.convert(mode)


def encoded(image: Image.Image | None = None, form: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    (image or picture()).save(buffer, form, **options)
    return buffer.getvalue()


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def data_url(data: bytes, mime_type: str = "image/png") -> str:
    return f"data:{mime_type};base64,{base64_of(data)}"


def png_bomb(width: int, height: int) -> bytes:
    """A well-formed 1-bit PNG of any size in a few kilobytes of compressed zeros."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    row = b"\0" * (1 + (width + 7) // 8)
    packer = zlib.compressobj(9)
    body = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
