"""People, amounts, dates and the other things a screenshot names. Every value stands in the text as given."""

import re
from collections.abc import Callable, Iterator

from models.embedded.screen import patterns
from models.embedded.screen.layout import Screen, pairs

ENTITY_TYPES = (
    "人名",
    "公司",
    "金额",
    "日期",
    "时间",
    "地点",
    "车次",
    "航班",
    "电话",
    "链接",
    "股票",
    "项目",
    "取件码/验证码",
    "订单号",
)
_MOST = 40  # entities of one picture
_MOST_OF_A_TYPE = 12
_LONGEST = 60  # characters

_WHOLE = (
    ("日期", patterns.DATE),
    ("时间", patterns.TIME),
    ("金额", patterns.AMOUNT),
    ("链接", patterns.LINK),
    ("电话", patterns.PHONE),
    ("项目", patterns.TITLE),
)
_NAMES = (("公司", patterns.COMPANY), ("人名", patterns.PERSON))
_GROUPED = (
    ("公司", patterns.SIGNATURE),
    ("订单号", patterns.ORDER),
    ("订单号", patterns.TRACKING),
    ("人名", patterns.WITH_ROLE),
    ("人名", patterns.NAMED_BESIDE),
    ("取件码/验证码", patterns.CODE),
)


def find_entities(screen: Screen, *, chat: bool = False) -> list[dict[str, str]]:
    """`[{"type", "value"}]` in a fixed order of types, each value once, at most 40. The head of a `chat` is whom it is with."""
    text = "\n".join("\t".join(cell.text for cell in row) for row in screen.rows)
    found: dict[tuple[str, str], None] = {}
    for kind, value in (*_labelled(screen), *_in_text(text), *_around(screen), *(_partner(screen) if chat else ())):
        value = value.strip("\n\t ，。,.;；:：")
        if 0 < len(value) <= _LONGEST:
            found.setdefault((kind, value))
    entities: list[dict[str, str]] = []
    for kind in ENTITY_TYPES:
        entities.extend({"type": kind, "value": value} for value in [value for one, value in found if one == kind][:_MOST_OF_A_TYPE])
    return entities[:_MOST]


def _labelled(screen: Screen) -> Iterator[tuple[str, str]]:
    for label, value in pairs(screen):
        kind = next((kind for kind, pattern in patterns.LABELS if pattern.search(label)), None)
        if kind is not None and _FITS.get(kind, _is_told)(value):
            yield from _values(kind, value)


def _values(kind: str, value: str) -> Iterator[tuple[str, str]]:
    """`甲、乙等7人` are two people; an amount goes without its remark."""
    if kind == "人名":
        parts = re.split(r"[、,，\s]", re.sub(r"等 ?\d* ?人?$", "", patterns.RANK.sub("", value)))
        yield from ((kind, part) for part in parts if patterns.PERSON_VALUE.fullmatch(part) and not patterns.NOT_A_VALUE.search(part))
    elif kind == "金额":
        yield kind, (patterns.AMOUNT.search(value) or patterns.NUMBER.search(value) or [value])[0]
    else:
        yield kind, value


def _is_told(value: str) -> bool:
    return patterns.NOT_A_VALUE.fullmatch(value) is None


_FITS: dict[str, Callable[[str], bool]] = {
    "订单号": lambda value: re.search(r"\d{4}", value) is not None,
    "取件码/验证码": lambda value: re.fullmatch(r"[A-Za-z0-9 -]{2,20}", value) is not None,
    "金额": lambda value: re.search(r"\d", value) is not None,
    "电话": lambda value: re.search(r"\d{3}", value) is not None,
    "公司": lambda value: re.fullmatch(r"[\d\s*.,+¥￥-]+", value) is None and _is_told(value),
    "地点": lambda value: re.search(r"[\u3400-\u9fffA-Za-z]", value) is not None and _is_told(value),
}


def _in_text(text: str) -> Iterator[tuple[str, str]]:
    for kind, pattern in _WHOLE:
        yield from ((kind, match[0]) for match in pattern.finditer(text))
    for kind, pattern in _GROUPED:
        yield from ((kind, next(group for group in match.groups() if group)) for match in pattern.finditer(text))
    for kind, pattern in _NAMES:
        yield from ((kind, match[0]) for match in pattern.finditer(text) if not patterns.CLAUSE.search(match[0]))
    places = (patterns.LEADING_VERB.sub("", match[0]) for match in patterns.PLACE.finditer(text))
    yield from (("地点", place) for place in places if not patterns.CLAUSE.search(place))
    for kind, pattern, context in patterns.BESIDE:
        if context.search(text):
            yield from ((kind, match[0]) for match in pattern.finditer(text))


def _around(screen: Screen) -> Iterator[tuple[str, str]]:
    """Left and right of a train or flight number stand where it leaves and arrives; above a stock's code its name."""
    about_stocks = patterns.STOCK_CONTEXT.search(screen.folded) is not None
    for above, row in zip((None, *screen.rows), screen.rows, strict=False):
        texts = [cell.text for cell in row]
        if len(texts) == 3 and (patterns.TRAIN.fullmatch(texts[1]) or patterns.FLIGHT.fullmatch(texts[1])):
            yield from (("地点", place) for place in (texts[0], texts[2]) if re.fullmatch(r"[\u3400-\u9fff]{2,8}", place))
        codes = patterns.STOCK.findall(" ".join(texts)) if about_stocks else []
        yield from (("股票", code) for code in codes)
        if codes and above and texts[0].startswith(codes[0]):
            yield "股票", above[0].text


def _partner(screen: Screen) -> Iterator[tuple[str, str]]:
    name = screen.rows[0][0].text
    if patterns.CHAT_PARTNER.fullmatch(name) and not re.search(r"群|微信|消息|聊天|通知|助手", name):
        yield "人名", name
