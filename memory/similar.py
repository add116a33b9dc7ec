"""Near-duplicates: the same screen saved twice, told from another screen of the same app.

The picture proposes, by a 256-bit difference hash without the status bar; the text decides, since two receipts of one shop look alike.
"""

import io
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

MOST_DIFFERENT_BITS = 8
_STATUS_BAR = 0.04  # of the height
_SIDE = 16
_DIGITS = _SIDE * _SIDE // 4
_VISIBLE_STEP = 4  # grey levels; with it, screens scrolled by 8 px stay within 8 bits and other screens are 32 apart, without it 25 and 59
_FEWEST_BITS = 16  # a picture without text and with fewer edges than this is plain: it looks like any other
_SAME_TEXT = 0.9  # of the pairs of neighbouring characters
_CLOCK = re.compile(r"\d{1,2}[:：]\d\d")
_LONGEST_STATUS = 40  # characters
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def difference_hash(picture: bytes) -> str:
    """64 hex digits: whether the grey rises from each cell of a 16 × 17 grid to the next. A thumbnail is enough."""
    with Image.open(io.BytesIO(picture)) as image:
        body = image.convert("L").crop((0, round(image.height * _STATUS_BAR), image.width, image.height))
    grid = np.asarray(body.resize((_SIDE + 1, _SIDE), Image.Resampling.BILINEAR), dtype=np.int16)
    return np.packbits(np.diff(grid, axis=1) > _VISIBLE_STEP).tobytes().hex()


class LookAlikes:
    """The difference hashes of a library's pictures by id."""

    def __init__(self) -> None:
        self._ids: list[int] = []
        self._hashes = _bits("")

    @property
    def newest(self) -> int:
        """The largest id that was added, or 0."""
        return max(self._ids, default=0)

    def add(self, hashes: Sequence[tuple[int, str]]) -> None:
        if hashes:
            self._ids += [photo_id for photo_id, _ in hashes]
            self._hashes = np.concatenate([self._hashes, _bits("".join(dhash for _, dhash in hashes))])

    def of(self, dhash: str) -> list[int]:
        """The ids of those that differ in at most `MOST_DIFFERENT_BITS`."""
        distance = np.bitwise_count(self._hashes ^ _bits(dhash)).sum(axis=1)
        return [self._ids[place] for place in np.flatnonzero(distance <= MOST_DIFFERENT_BITS)]


def same_screen(text: str, other: str, *, dhash: str) -> bool:
    """Whether two pictures that look alike say the same: nearly the same words and exactly the same numbers, but for the status bar.

    Without any text `dhash` must show some structure.
    """
    one, two = _body(text), _body(other)
    if not one and not two:
        return int(np.bitwise_count(_bits(dhash)).sum()) >= _FEWEST_BITS
    return set(_NUMBER.findall(one)) == set(_NUMBER.findall(two)) and _overlap(_pairs(one), _pairs(two)) >= _SAME_TEXT


def _bits(digits: str) -> NDArray[np.uint64]:
    return np.frombuffer(bytes.fromhex(digits), dtype=np.uint64).reshape(-1, _DIGITS // 16)


def _body(text: str) -> str:
    """Without the status bar, a short first line with a clock, or that clock alone."""
    first, _, rest = unicodedata.normalize("NFKC", text).strip().partition("\n")
    is_status = len(first) <= _LONGEST_STATUS and _CLOCK.match(first.strip())
    return rest if is_status else f"{first}\n{rest}".strip()


def _pairs(text: str) -> Counter[str]:
    plain = "".join(text.split()).lower()
    return Counter(plain[i : i + 2] for i in range(max(1, len(plain) - 1)))


def _overlap(one: Counter[str], two: Counter[str]) -> float:
    return 2 * (one & two).total() / (one.total() + two.total())
