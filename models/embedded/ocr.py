"""Text off screenshots with RapidOCR (the PP-OCR models of its wheel): lines with boxes in reading order, long pictures in tiles.

Detection sees a small copy with its local contrast stretched, recognition the full-size crops. On 23 phone screenshots (680 labelled
strings) and one thread this takes 1.4 s a 1080 x 2340 picture and misses 7 strings; RapidOCR's defaults take 3.2 s and miss 18.
"""

import functools
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from typing_extensions import TypedDict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]
    Boxes = NDArray[np.float32]  # n x 4 corners x (x, y), clockwise from the top left

ENGINE = "rapidocr"

_PHONE_RATIO = 1.7  # portrait pictures from here on have phone-sized type
_PHONE_WIDTH = 520  # px of a phone's width that detection sees
_OTHER_SIDE = 1600  # px of the longer side of anything else
_MOST_ENLARGED = 1.5
_TILE_RATIO = 3.0  # a picture longer than this times its width is read in tiles ...
_TILE_HEIGHT = 2.2  # ... this many widths high,
_TILE_OVERLAP = 0.3  # overlapping by this many widths (more than the tallest line)
_MIN_SCORE = 0.6
_MIN_LONE_SCORE = 0.85  # of a single character: an icon looks like some character
_FULL_WIDTH = {code: code - 0xFEE0 for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))}
_CONFUSED = {**_FULL_WIDTH, ord("º"): ord("°"), ord("・"): ord("·")}  # letters and digits of screens are half-width
_ICONS = frozenset("く〈〉<>←→↑↓‹›へ∧∨^|｜_—–-.…·•。、,，'`´\"°~＜＞《》【】[]()（）+×*=:：;；／/\\")


class OcrLine(TypedDict):
    """One run of text. `box`: left, top, right, bottom in px of the upright picture; `row`: runs beside each other share it."""

    text: str
    box: tuple[int, int, int, int]
    score: float
    row: int


class OcrResult(TypedDict):
    """`text`: the lines verbatim, a row per line, far apart runs of a row divided by a tab, near ones by a blank."""

    text: str
    lines: list[OcrLine]
    width: int
    height: int


def read_text(image_bytes: bytes) -> OcrResult:
    """Read a picture of any format Pillow opens. Picklable; the engine is cached per process. Raises OSError if it is no picture."""
    image = _decode(image_bytes)
    height, width = image.shape[:2]
    boxes = detect(image)
    texts = _recognise(image, boxes)
    lines = in_reading_order([line for line in map(_line, boxes, texts) if _is_text(line)])
    return OcrResult(text=_verbatim(lines), lines=lines, width=width, height=height)


@functools.cache
def _engine() -> Any:
    import cv2
    from rapidocr import RapidOCR

    cv2.setNumThreads(1)
    return RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.use_cls": False,
            "Global.use_preprocess_img": False,
            "Det.limit_type": "max",
            "Det.limit_side_len": 4096,
            "Rec.rec_batch_num": 1,
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            "EngineConfig.onnxruntime.enable_cpu_mem_arena": True,
        }
    )


def _decode(image_bytes: bytes) -> "Image":
    """Upright BGR on white."""
    import numpy as np
    from PIL import Image, ImageOps

    with Image.open(io.BytesIO(image_bytes)) as opened:
        upright = ImageOps.exif_transpose(opened)
        if "A" in upright.getbands() or "transparency" in upright.info:
            layer = upright.convert("RGBA")
            upright = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
        return np.ascontiguousarray(np.asarray(upright.convert("RGB"))[:, :, ::-1])


def detect(image: "Image") -> "Boxes":
    """Where text is, in px of `image`; a long picture tile by tile, no line twice."""
    import numpy as np

    height, width = image.shape[:2]
    portrait = height >= _PHONE_RATIO * width and width > _PHONE_WIDTH
    scale = _PHONE_WIDTH / width if portrait else min(_MOST_ENLARGED, _OTHER_SIDE / max(width, height))
    found: list[Boxes] = []
    for top, bottom in tiles(width=width, height=height):
        boxes = _detect_tile(image[top:bottom], scale=scale)
        boxes[:, :, 1] += top
        found.extend(box for box in boxes if _owned(box, top=top, bottom=bottom, height=height, overlap=int(_TILE_OVERLAP * width)))
    return np.array(found, dtype=np.float32).reshape(-1, 4, 2)


def tiles(*, width: int, height: int) -> list[tuple[int, int]]:
    """[top, bottom) of the tiles that cover a picture, in px."""
    if height <= _TILE_RATIO * width:
        return [(0, height)]
    step = int((_TILE_HEIGHT - _TILE_OVERLAP) * width)
    overlap = int(_TILE_OVERLAP * width)
    return [(top, min(height, top + step + overlap)) for top in range(0, height - overlap, step)]


def _owned(box: "Boxes", *, top: int, bottom: int, height: int, overlap: int) -> bool:
    """A line belongs to the tile that has its middle at least half an overlap from a cut: exactly one does."""
    middle = float(box[:, 1].mean())
    lower = 0 if top == 0 else top + overlap // 2
    upper = height + 1 if bottom == height else bottom - overlap + overlap // 2
    return lower <= middle < upper


def _detect_tile(image: "Image", *, scale: float) -> "Boxes":
    import cv2
    import numpy as np

    height, width = image.shape[:2]
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small: Image = cv2.resize(image, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC).astype(np.uint8, copy=False)
    found = _engine()(_stretch_contrast(small), use_rec=False, use_cls=False).boxes
    if found is None:
        return np.empty((0, 4, 2), dtype=np.float32)
    boxes: Boxes = np.asarray(found, dtype=np.float32) / np.float32(scale)
    boxes[:, :, 0] = boxes[:, :, 0].clip(0, width - 1)
    boxes[:, :, 1] = boxes[:, :, 1].clip(0, height - 1)
    return boxes


def _stretch_contrast(image: "Image") -> "Image":
    """White type on a mid-tone (weather, players) is missed at detection's size unless every region of 100 px spans the full range."""
    import cv2
    import numpy as np

    height, width = image.shape[:2]
    grey = cv2.cvtColor(cv2.resize(image, (max(1, width // 4), max(1, height // 4)), interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2GRAY)
    region = np.ones((25, 25), np.uint8)
    low, high = (
        cv2.resize(cv2.blur(extreme(grey, region), (25, 25)), (width, height)).astype(np.float32)[..., None]
        for extreme in (cv2.erode, cv2.dilate)
    )
    stretched: Image = np.clip((image - low) / np.maximum(high - low, 100) * 255, 0, 255).astype(np.uint8)
    return stretched


def _recognise(image: "Image", boxes: "Boxes") -> list[tuple[str, float]]:
    if len(boxes) == 0:
        return []
    read = _engine().recognize_txt(list(_crops(image, boxes)))
    return list(zip(read.txts, map(float, read.scores), strict=True))


def _crops(image: "Image", boxes: "Boxes") -> "Iterator[Image]":
    """Upright boxes are cut out; slanted and vertical ones are turned by RapidOCR, which would lay a lone narrow character on its side."""
    import numpy as np

    for box, (width, height) in zip(boxes, boxes.max(axis=1) - boxes.min(axis=1), strict=True):
        slanted = abs(box[0, 1] - box[1, 1]) > 0.1 * max(width, 1)
        vertical = height >= 2.2 * width
        if slanted or vertical:
            yield _engine().crop_text_regions(image, box[None])[0]
        else:
            (left, top), (right, bottom) = box.min(axis=0).astype(int), np.ceil(box.max(axis=0)).astype(int)
            yield image[top : max(bottom, top + 2), left : max(right, left + 2)]


def _line(box: "Boxes", read: tuple[str, float]) -> OcrLine:
    (left, top), (right, bottom) = box.min(axis=0), box.max(axis=0)
    text = " ".join(read[0].translate(_CONFUSED).split())
    return OcrLine(text=text, box=(round(left), round(top), round(right), round(bottom)), score=round(read[1], 3), row=0)


def _is_text(line: OcrLine) -> bool:
    """Arrows, bullets and other icons are read as lone symbols."""
    enough = _MIN_SCORE if len(line["text"]) > 1 else _MIN_LONE_SCORE
    return line["score"] >= enough and not _ICONS.issuperset(line["text"].replace(" ", ""))


def in_reading_order(lines: list[OcrLine]) -> list[OcrLine]:
    """Rows from the top, each from the left: a label stays with the value beside it."""
    rows: list[list[OcrLine]] = []
    for line in sorted(lines, key=lambda line: line["box"][1] + line["box"][3]):
        row = next((row for row in reversed(rows[-3:]) if all(_beside(member, line) for member in row)), None)
        if row is None:
            rows.append([line])
        else:
            row.append(line)
    return [
        OcrLine(text=line["text"], box=line["box"], score=line["score"], row=number)
        for number, row in enumerate(rows)
        for line in sorted(row, key=lambda line: line["box"][0])
    ]


def _beside(one: OcrLine, other: OcrLine) -> bool:
    """Their middles are level by the smaller type: a large figure beside two small lines joins at most one of them."""
    (_, top, _, bottom), (_, other_top, _, other_bottom) = one["box"], other["box"]
    apart = abs(top + bottom - other_top - other_bottom) / 2
    return apart < 0.5 * min(bottom - top, other_bottom - other_top)


def _verbatim(lines: list[OcrLine]) -> str:
    parts: list[str] = []
    for before, line in zip([None, *lines], lines, strict=False):
        if before is not None:
            parts.append(_divider(before, line))
        parts.append(line["text"])
    return "".join(parts)


def _divider(before: OcrLine, line: OcrLine) -> str:
    if before["row"] != line["row"]:
        return "\n"
    height = min(before["box"][3] - before["box"][1], line["box"][3] - line["box"][1])
    return "\t" if line["box"][0] - before["box"][2] > height else " "
