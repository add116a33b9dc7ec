"""A screenshot's text as rows and cells, folded for comparison, and the label-value pairs it shows."""

import functools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from models.embedded.ocr import OcrLine, OcrResult

_STATUS_CELL = re.compile(r"\d{1,2}:\d{2}.{0,6}|.{0,3}[345]G.{0,3}|\d{1,3}%?|[\d.]*\s?[KM]B?/S|[A-Z0-9×.+ -]{1,6}", re.I)
_CJK = re.compile(r"[\u3400-\u9fff]")
_BLANKS = re.compile(r"\s+")
_CHEVRON = re.compile(r"\s*[>›〉]$")
_INLINE = re.compile(r"^(?P<label>[^：:\d¥￥]{1,12})[：:]\s*(?P<value>.+)$")
_LABEL = re.compile(
    r"(号|码|号码|编号|单号|时间|日期|地址|地点|方式|金额|姓名|名称|电话|人|员|师|方|商|类|门|室|期|费|额|状态|说明|备注|规格|数量|主题|科室|时段|座位|舱位"
    r"|价|款|手|站|口|台|校|专业|学院|班级|类型|品牌|型号|余额|全称|机构|标签|分类|银行|医院|时长|距离|密码|身份|房型|车型|车牌|税|姓|址|事由|科目|成绩|总分|课程|医生|药品)$"
)
_SENTENCE_END = re.compile(r"[。！？!?；;:：]$")
_ITEM = re.compile(r"[·•●▪-] ?|\d{1,2}[.、)）] ?|[①-⑳【\[~$]|[A-Z]:|https?://")
_SHORTEST_LINE = 9  # characters of a line that may have run out of room
_ACTION = re.compile(r"^(复制|查看|输入|获取|出示|联系(?!人|电话|方式)|申请(?!人|时间|日期)|修改|扫|选择|添加|去|立即|一键)")


@dataclass(frozen=True, slots=True)
class Cell:
    """One or more runs of text without a wide gap, in px; `height` of one line, `last`: where its last line ends."""

    text: str
    left: int
    top: int
    right: int
    bottom: int
    height: int
    last: int


@dataclass(frozen=True, slots=True)
class Screen:
    """What is under the status bar, wrapped lines joined. `folded`: NFKC and simplified, a row per line; `squeezed`: without blanks."""

    rows: tuple[tuple[Cell, ...], ...]
    folded: str
    squeezed: str
    cells: frozenset[str]  # folded, without blanks
    header: frozenset[str]  # those of the first rows

    def has(self, word: str) -> bool:
        """Chinese words wherever they stand; Latin ones as whole words in their own case."""
        if _CJK.search(word):
            return _BLANKS.sub("", word) in self.squeezed
        return _whole_word(word).search(self.folded) is not None


def read_layout(ocr: OcrResult) -> Screen:
    rows = tuple(_unwrapped(list(_rows(ocr["lines"], width=ocr["width"], height=ocr["height"]))))
    folded_rows = [[fold(cell.text) for cell in row] for row in rows]
    folded = "\n".join("\t".join(row) for row in folded_rows)
    squeezed_cells = [[_BLANKS.sub("", text) for text in row] for row in folded_rows]
    return Screen(
        rows=rows,
        folded=folded,
        squeezed="\n".join("\t".join(row) for row in squeezed_cells),
        cells=frozenset(text for row in squeezed_cells for text in row),
        header=frozenset(text for row in squeezed_cells[:4] for text in row),
    )


def fold(text: str) -> str:
    return str(_simplifier().convert(unicodedata.normalize("NFKC", text)))


def pairs(screen: Screen) -> list[tuple[str, str]]:
    """Label and value, verbatim: beside each other, divided by a colon, or a row of labels above a row of values."""
    found: list[tuple[str, str]] = []
    taken: set[int] = set()
    for number, row in enumerate(screen.rows):
        inline = [match for cell in row if (match := _INLINE.match(cell.text))]
        found.extend((match["label"].strip(), _value(match["value"])) for match in inline)
        if inline or number in taken:
            continue
        if number + 1 < len(screen.rows) and _labels_above(row, screen.rows[number + 1]):
            found.extend((label.text, _value(value.text)) for label, value in zip(row, screen.rows[number + 1], strict=True))
            taken.add(number + 1)
        elif len(row) == 2 and is_label(row[0].text):
            found.append((row[0].text, _value(row[1].text)))
    return found


def is_label(text: str) -> bool:
    return (
        len(text) <= 8
        and not _ACTION.match(text)
        and _LABEL.search(text) is not None
        and not any(character.isdigit() for character in text)
    )


def _labels_above(row: tuple[Cell, ...], below: tuple[Cell, ...]) -> bool:
    if len(row) != len(below) or not all(is_label(cell.text) for cell in row):
        return False
    return not any(is_label(cell.text) or _INLINE.match(cell.text) for cell in below)


def _value(text: str) -> str:
    return _CHEVRON.sub("", text).strip()


def _rows(lines: list[OcrLine], *, width: int, height: int) -> Iterator[tuple[Cell, ...]]:
    grouped: dict[int, list[OcrLine]] = {}
    for line in lines:
        grouped.setdefault(line["row"], []).append(line)
    for row in grouped.values():
        if not _is_status_bar(row, width=width, height=height):
            yield tuple(_cells(row))


def _cells(row: list[OcrLine]) -> Iterator[Cell]:
    parts: list[OcrLine] = []
    for line in row:
        if parts and line["box"][0] - parts[-1]["box"][2] > min(_height(parts[-1]), _height(line)):
            yield _joined(parts)
            parts = []
        parts.append(line)
    if parts:
        yield _joined(parts)


def _joined(parts: list[OcrLine]) -> Cell:
    boxes = [part["box"] for part in parts]
    return Cell(
        text=_CHEVRON.sub("", " ".join(part["text"] for part in parts)),
        left=boxes[0][0],
        top=min(box[1] for box in boxes),
        right=max(box[2] for box in boxes),
        bottom=max(box[3] for box in boxes),
        height=max(map(_height, parts)),
        last=max(box[2] for box in boxes),
    )


def _unwrapped(rows: list[tuple[Cell, ...]]) -> Iterator[tuple[Cell, ...]]:
    alone = [row[0] for row in rows if len(row) == 1]
    current: tuple[Cell, ...] = ()
    for row in rows:
        if len(current) == 1 and len(row) == 1 and _goes_on(current[0], row[0], alone=alone):
            current = (_continued(current[0], row[0]),)
            continue
        if current:
            yield current
        current = row
    if current:
        yield current


def _goes_on(line: Cell, below: Cell, *, alone: list[Cell]) -> bool:
    """Close above the next line, in the same type, and without room for its first word in the column."""
    close = 0 <= below.top - line.bottom < 0.7 * line.height and _same_left(line, below)
    same_type = 0.75 < below.height / max(1, line.height) < 1.33
    if not (close and same_type) or _SENTENCE_END.search(line.text) or _ITEM.match(below.text):
        return False
    first_word = len(below.text.split(" ")[0]) if below.text[:1].isascii() else 1
    needed = (below.right - below.left) / max(1, len(below.text)) * first_word
    ragged = 0.6 * line.height
    return len(line.text) >= _SHORTEST_LINE and line.last + needed + ragged > max(cell.right for cell in alone if _same_left(cell, line))


def _same_left(one: Cell, other: Cell) -> bool:
    return abs(one.left - other.left) < 0.6 * min(one.height, other.height)


def _continued(line: Cell, below: Cell) -> Cell:
    blank = " " if line.text[-1].isascii() and below.text[:1].isascii() else ""
    text = line.text + blank + below.text
    return Cell(text, line.left, line.top, max(line.right, below.right), below.bottom, below.height, below.right)


def _height(line: OcrLine) -> int:
    return line["box"][3] - line["box"][1]


def _is_status_bar(row: list[OcrLine], *, width: int, height: int) -> bool:
    if height < width or max(line["box"][3] for line in row) > max(0.045 * height, 0.11 * width):
        return False
    return all(_STATUS_CELL.fullmatch(line["text"]) for line in row)


@functools.cache
def _whole_word(word: str) -> re.Pattern[str]:
    before = r"(?<![A-Za-z0-9])" if word[0].isalnum() else ""
    after = r"(?![A-Za-z0-9])" if word[-1].isalnum() else ""
    return re.compile(before + re.escape(word) + after)


@functools.cache
def _simplifier() -> Any:
    from opencc import OpenCC

    return OpenCC("t2s")
