"""Reading a value off a screenshot's lines: beside its label, or of the right shape near the matter asked about."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from memory.search.text import normalise
from models.embedded.amounts import Amount, amounts_in, principal_amount
from models.embedded.chat.ask import Ask, Part
from models.embedded.chat.evidence import Shot, contains
from models.embedded.chat.lexicon import Shape
from models.embedded.chat.words import Term

_REACH = 5  # lines below a label, or around the matter, in which its value stands
_PRICE_REACH = 3
_LONGEST_VALUE = 60
_MOST_CODES = 6
_SHAPES: dict[Shape, re.Pattern[str]] = {
    "time": re.compile(
        r"\d{1,2}[:：]\d{2}(?:\s*[-–—~～至到]+\s*\d{1,2}[:：]\d{2})?(?:\s?[ap]\.?m\.?)?|(?:凌晨|早上|上午|中午|下午|傍晚|"
        r"晚上)?[\d一二两三四五六七八九十]{1,3}[点點](?:半|[\d一二三四五六七八九十]+分?)?|\b\d{1,2}\s?[ap]\.?m\.?\b",
        re.I,
    ),
    "date": re.compile(
        r"(?:\d{4}\s?[-/.年]\s?)?\d{1,2}\s?(?:[-/月])\s?\d{1,2}\s?[日号]?(?!\d|[-:]\d)(?:\s?(?:周|星期|週)[一二三四五六日天])?"
        r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?|"
        r"\d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*(?: \d{4})?",
        re.I,
    ),
    "duration": re.compile(
        r"\d+(?:\.\d+)?\s?(?:个)?(?:小时|小時|分钟|分鐘|天|周|个月|年|秒|hours?|minutes?|mins?|days?|weeks?|"
        r"months?)(?:\s?\d+\s?(?:分钟?|分鐘|minutes?|mins?))?|(?<![\d:])\d{1,2}:\d{2}:\d{2}\b|\b\d+h\s?\d*m?",
        re.I,
    ),
    "code": re.compile(r"(?<![\w-])(?=[A-Za-z0-9-]*\d)[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*(?:(?: \d{3,4})+)?(?![\w:：.%°-])"),
    "phone": re.compile(
        r"(?<!\d)(?:1\d{2}[- ]?[\d*]{4}[- ]?\d{4}|0\d{2,3}[- ]\d{4}[- ]?\d{3,4}|\d{3}-\d{4}-\d{4}|"
        r"400[- ]?\d{3,4}[- ]?\d{3,4}|\+\d[\d -]{8,14}\d)(?!\d)"
    ),
    "amount": re.compile(
        r"[-+]?\d[\d,]*(?:\.\d+)?\s?(?:%|°c?|℃|[a-zA-Zμ]{1,4}\b|公里|千米|米|厘米|千卡|大卡|步|次|斤|公斤|千克|克|升|人|张|个|条|件|本|"
        r"页|桌|号|只|艘|站|岁|倍|度|平米|㎡)|\d[\d,]*(?:\.\d+)?",
        re.I,
    ),
    "person": re.compile(r"[\u4e00-\u9fff·]{2,6}(?:\s?(?:副?主任医师|医生|老师|师傅|先生|女士|经理))?|[A-Z][a-z]+(?: [A-Z][a-z]+)*"),
}
_RANGE = re.compile(r"\d[-–—~～至到 ]+\d{1,2}[:：]")
_PLACE = re.compile(
    r"[\u4e00-\u9fffA-Za-z0-9()（）]*(?:驿站|车站|机场|医院|酒店|餐厅|小区|商场|广场|大厦|学校|大学|公园|影院|影城|诊室|会议室|号线|[东西南北]站|门诊楼|"
    r"前台|码头|路|街|巷|楼|层|幢|号店|店)[\u4e00-\u9fffA-Za-z0-9()（） ]*"
)
_PERSON_TYPES = {"人名", "person"}
_PLACE_TYPES = {"地点", "地址", "place", "address"}
_PERSON_LABEL = re.compile(
    r"医生|医师|发起人|主持人|收货人|收件人|收款|联系人|骑手|司机|乘机人|乘车人|就诊人|讲师|老师|作者|记者|客服|经理|寄件人|发件人|团长|主讲|host|author|by\b"
)
_PAYING = re.compile(r"付|花了|花费|spen|paid|pay\b|实付|一共|总共")


@dataclass(frozen=True, slots=True)
class Value:
    """A value as written, the index of its line, and the label it stood beside ("" for none). `sure`: label and shape agree."""

    text: str
    line: int
    label: str = ""
    sure: bool = False


@cache
def _plain(line: str) -> str:
    return normalise(line)


def matter_lines(shot: Shot, terms: Iterable[Term]) -> dict[int, float]:
    """Line index → how many of the matter's words stand on it."""
    scores: dict[int, float] = {}
    for term in terms:
        for words, weight in _spellings(term):
            hit = [i for i, line in enumerate(shot.lines) if any(contains(_plain(line), word) for word in words)]
            for index in hit:
                scores[index] = scores.get(index, 0.0) + weight
            if hit:
                break
    return scores


def _spellings(term: Term) -> list[tuple[Sequence[str], float]]:
    """The words of a term, those that decide first."""
    literal: list[tuple[Sequence[str], float]] = [((term.text,), 1.0)]
    concept = term.concept
    if concept is None:
        pairs = [term.text[i : i + 2] for i in range(len(term.text) - 1)] if not term.text.isascii() else []
        return [*literal, (pairs, 0.5)]
    if concept.kind == "topic":
        return [((*concept.words, *concept.signs), 0.6)]
    long = [word for word in concept.words if len(word) > 1] or list(concept.words)
    return [*literal, ((*long, *concept.english, *concept.signs), 0.9)]


def value_of(ask: Ask, part: Part, shot: Shot) -> Value | None:
    """What the screenshot says to one ask, or None."""
    if ask.shape == "money" and (ask.label is None or ask.label.name == "total"):
        return _money(part, shot)
    if ask.label is not None and (found := _beside_label(ask, part, shot)):
        return found
    return _near_matter(ask.shape, part, shot)


def _money(part: Part, shot: Shot) -> Value | None:
    """The matter's own price and, beside it, what was paid in all; the other way round when the question is what was paid."""
    found = amounts_in(shot.lines)
    if not found:
        return None
    own, near = _own_price(part, shot, found)
    principal = principal_amount("\n".join(shot.lines))
    if principal is None:
        return Value((own or found[0]).written, (own or found[0]).line, sure=own is not None)
    total = principal.amount
    if own is None or own.value == total.value:
        return Value(total.written, total.line, principal.label, sure=principal.paid or near)
    if not principal.paid:
        return Value(own.written, own.line, sure=True)
    if _PAYING.search(part.text):
        return Value(f"{total.written}（{own.written}）", total.line, principal.label, sure=True)
    return Value(f"{own.written}（{principal.label} {total.written}）", own.line, sure=True)


def _own_price(part: Part, shot: Shot, found: Sequence[Amount]) -> tuple[Amount | None, bool]:
    """The price on the matter's line or just below it, and whether the matter's words are there at all."""
    lines = matter_lines(shot, [term for term in part.terms if term.kind != "label"])
    below = [
        (_steps(line, amount), -weight, amount)
        for line, weight in lines.items()
        for amount in found
        if 0 <= amount.line - line <= _PRICE_REACH or (amount.sign and amount.line == line - 1)
    ]
    return (min(below, key=lambda item: item[:2])[2] if below and len(found) > 1 else None), bool(lines)


def _steps(line: int, amount: Amount) -> float:
    """How far an amount stands from a line; a booking's purpose often stands under its signed amount."""
    return amount.line - line if amount.line >= line else 0.9


def _beside_label(ask: Ask, part: Part, shot: Shot) -> Value | None:
    if ask.label is None:
        return None
    matter = matter_lines(shot, [term for term in part.terms if term.kind != "label"])
    found: list[tuple[float, Value]] = []
    for rank, label in enumerate(ask.label.words):
        for index, line in enumerate(shot.lines):
            if not contains(_plain(line), label):
                continue
            value = _after(label, index, ask.shape, shot)
            if value is None:
                continue
            distance = min((abs(index - other) for other in matter), default=0)
            standing = _label_standing(line, label)
            found.append((rank * 1.5 + min(distance, 12) * 0.5 + standing, value))
    if not found:
        return None
    score, best = min(found, key=lambda item: item[0])
    alike = [value for other, value in found if other == score and value.sure and value.label == best.label]
    return _together(best, alike) if ask.shape == "code" and best.sure else best


def _together(first: Value, alike: Sequence[Value]) -> Value:
    """The codes of a list, none of which is nearer to the matter than the others, as one value."""
    codes = list(dict.fromkeys(value.text for value in alike))[:_MOST_CODES]
    return replace(first, text="、".join(codes)) if len(codes) > 1 else first


def _label_standing(line: str, label: str) -> float:
    """A label that begins its line, or is all of it, is one; a word in the middle of prose hardly."""
    plain = _plain(line)
    return 0.0 if plain.startswith(label) or len(plain) <= len(label) + 2 else 1.5


def _after(label: str, index: int, shape: Shape, shot: Shot) -> Value | None:
    """On the label's line behind it, else in its column of the next line, else the first fitting line below."""
    line = shot.lines[index]
    rest = _rest(line, label)
    if found := _fitting(shape, rest):
        return Value(found, index, label, sure=True)
    if shape in ("date", "time") and (found := _fitting(shape, line)):
        return Value(found, index, label, sure=True)
    if rest and shape not in _SHAPES and len(rest) > 1:
        return Value(rest[:_LONGEST_VALUE], index, label, sure=True)
    if (column := _column(line, label, index, shot)) and (found := _fitting(shape, column) or (column if shape not in _SHAPES else "")):
        return Value(found, index + 1, label, sure=True)
    for below in range(index + 1, min(index + _REACH, len(shot.lines))):
        text = shot.lines[below]
        if found := _fitting(shape, text):
            return Value(found, below, label, sure=below == index + 1)
        if shape not in _SHAPES:
            return Value(text[:_LONGEST_VALUE], below, label, sure=True)
    for above in range(index - 1, max(index - 2, -1), -1):
        if shape not in ("person",) and (found := _fitting(shape, shot.lines[above])):
            return Value(found, above, label)
    return None


def _rest(line: str, label: str) -> str:
    """What follows a label on its line. The label is normalised, the line is not: both are cut by position when that is safe."""
    plain = _plain(line)
    position = plain.find(label)
    if len(plain) != len(line):
        return plain[position + len(label) :].strip(" :：,，、|·")
    return line[position + len(label) :].strip(" :：,，、|·")


def _column(line: str, label: str, index: int, shot: Shot) -> str:
    """Headings side by side above their values: the value in the label's column."""
    headings = line.split()
    if index + 1 >= len(shot.lines) or len(headings) < 2:
        return ""
    values = shot.lines[index + 1].split()
    column = next((i for i, heading in enumerate(headings) if label in _plain(heading)), None)
    return values[column] if column is not None and len(values) == len(headings) else ""


def _fitting(shape: Shape, text: str) -> str:
    if shape == "money":
        found = amounts_in([text])
        return found[0].text if found else (text.strip() if re.fullmatch(r"\s*[\d,]+\.\d{2}\s*", text) else "")
    pattern = _SHAPES.get(shape)
    if shape == "place" and (place := _PLACE.search(text)):
        return place[0].strip()[:_LONGEST_VALUE] if len(text) > _LONGEST_VALUE else text.strip()
    match = pattern.search(text) if pattern else None
    return match[0].strip() if match else ""


def _near_matter(shape: Shape, part: Part, shot: Shot) -> Value | None:
    """The value of the right shape that stands nearest to the matter's words; one that stands by itself before one in prose."""
    if shape == "person":
        return _person(part, shot)
    if shape == "place":
        return _place(part, shot)
    matter = matter_lines(shot, part.terms)
    found = [
        (index, value, _by_itself(value, line))
        for index, line in enumerate(shot.lines)
        if (value := _fitting(shape, line)) and not _is_term(value, part)
    ]
    if not found:
        return None
    if shape == "time":
        return _first_time(found, matter)

    def cost(item: tuple[int, str, bool]) -> float:
        index, _, alone = item
        return min((_distance(index, line) - weight for line, weight in matter.items()), default=float(index)) + (0 if alone else 2)

    index, value, alone = min(found, key=cost)
    return Value(value, index, sure=alone and bool(matter))


def _first_time(found: Sequence[tuple[int, str, bool]], matter: Mapping[int, float]) -> Value:
    """Screens give the beginning first, so the first time that stands by itself is when it is; in prose the one nearest to the matter."""
    alone = [(index, value) for index, value, by_itself in found if by_itself]
    if alone:
        index, value = next(((i, v) for i, v in alone if _RANGE.search(v)), alone[0])
        return Value(value, index, sure=True)
    index, value, _ = min(found, key=lambda item: min((_distance(item[0], line) for line in matter), default=item[0]))
    return Value(value, index)


def _by_itself(value: str, line: str) -> bool:
    """Whether a value makes up most of its run of text."""
    return any(value in run and len(value) >= 0.6 * len(run.strip(" ：:·")) for run in re.split(r"\t|：|: | · ", line))


def _distance(index: int, matter: int) -> float:
    return float(index - matter) if index >= matter else 1.5 * (matter - index)


def _is_term(value: str, part: Part) -> bool:
    plain = normalise(value)
    return any(plain == term.text for term in part.terms)


def _person(part: Part, shot: Shot) -> Value | None:
    people = [value for kind, value in shot.entities if kind in _PERSON_TYPES]
    for index, line in enumerate(shot.lines):
        if (label := _PERSON_LABEL.search(line)) and (
            found := _fitting("person", _rest(line, label[0]) or (shot.lines[index + 1] if index + 1 < len(shot.lines) else ""))
        ):
            return Value(found, index, label[0], sure=True)
    for person in people:
        index = next((i for i, line in enumerate(shot.lines) if person in line), 0)
        return Value(person, index)
    return None


def _place(part: Part, shot: Shot) -> Value | None:
    for label in ("地址", "地点", "位置", "取件地址", "会议室", "address", "location"):
        for index, line in enumerate(shot.lines):
            if _plain(line).startswith(label) and (found := _after(label, index, "text", shot)):
                return found
    lines = matter_lines(shot, part.terms)
    places = [value for kind, value in shot.entities if kind in _PLACE_TYPES]
    where = [(i, place) for place in places for i, line in enumerate(shot.lines) if place in line]
    where = where or [(i, match[0].strip()) for i, line in enumerate(shot.lines) if (match := _PLACE.search(line))]
    if not where:
        return None
    index, place = min(where, key=lambda item: min((abs(item[0] - line) for line in lines), default=0))
    return Value(place[:_LONGEST_VALUE], index)


def excerpt(shot: Shot, part: Part, *, values: Sequence[Value], budget: int) -> str:
    """The lines that carry the matter and its values, with their neighbours, in reading order, in at most about `budget` characters."""
    scores = {index: 3.0 * weight for index, weight in matter_lines(shot, part.terms).items()}
    for value in values:
        scores[value.line] = scores.get(value.line, 0.0) + 4.0
    for ask in part.asks:
        for index, line in enumerate(shot.lines):
            if _fitting(ask.shape, line) and ask.shape not in ("person", "place", "text"):
                scores[index] = scores.get(index, 0.0) + 0.7
    spread = {index: _spread(index, scores) for index in range(len(shot.lines))}
    chosen: list[int] = []
    used = 0
    for index in sorted(spread, key=lambda i: (-spread[i], i)):
        length = len(shot.lines[index]) + 3
        if used + length <= budget or not chosen:
            chosen.append(index)
            used += length
    return _join(shot.lines, sorted(chosen), budget)


def _spread(index: int, scores: dict[int, float]) -> float:
    """A line's own score and some of its neighbours': a value mostly stands within a few lines of its label."""
    reach = {0: 1.0, 1: 0.45, 2: 0.3, 3: 0.2, 4: 0.1}
    return max((scores.get(other, 0.0) * share for step, share in reach.items() for other in {index - step, index + step}), default=0.0)


def _join(lines: Sequence[str], chosen: Sequence[int], budget: int) -> str:
    pieces: list[str] = []
    before = -1
    for index in chosen:
        if pieces:
            pieces.append(" · " if index == before + 1 else " … ")
        pieces.append(lines[index])
        before = index
    text = "".join(pieces)
    return text if len(text) <= budget + 200 else text[: budget + 200] + "…"
