"""Times in the names that phones, computers and messengers give to pictures."""

import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import TypeAlias

NamedTime: TypeAlias = datetime | date
"""An aware datetime (the name tells the moment), a naive one (by the clock of the place), or a day alone."""

_MORNING = frozenset({"上午", "凌晨", "早上", "清晨", "am", "a.m.", "오전", "午前"})
_AFTERNOON = frozenset({"下午", "中午", "傍晚", "晚上", "pm", "p.m.", "오후", "午後"})
_HALF = "|".join(re.escape(word) for word in sorted(_MORNING | _AFTERNOON))

_DATE = r"""
(?<!\d)(?P<year>(?:19|20)\d\d)
(?: (?P<month>\d\d)(?P<day>\d\d)
  | [-_./年]\s?(?P<month2>\d{1,2})[-_./月]\s?(?P<day2>\d{1,2})(?!\d)日?
  | [-_](?P<month3>\d\d)(?P<day3>\d\d)(?!\d) )
"""
_TIMED = re.compile(
    rf"""{_DATE}
    [\s_.,t+-]* (?:at|um|à|às|a\ las|alle|klo?|om|в|在)? [\s_.,-]* (?P<before>{_HALF})? \s*
    (?: (?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d) (?:[-_.]?\d{{2,3}})?
      | (?<!\d)(?P<hour2>\d{{1,2}})[-_.:时時点點h\s](?P<minute2>\d{{1,2}})[-_.:分m\s](?P<second2>\d{{1,2}})[秒s]? (?:[-_.]?\d{{1,3}})?
      | (?<!\d)(?P<hour3>\d{{1,2}})[.:时時点點h](?P<minute3>\d\d)分? )
    (?!\d) \s* (?P<after>{_HALF})? (?P<utc>z(?![a-z]))?
    """,
    re.VERBOSE,
)
_DAY = re.compile(_DATE + r"(?!\d)", re.VERBOSE)
_MILLISECONDS = re.compile(r"(?<!\d)(1\d{12})(?=\D|$|1040g)")  # XHS_ names go on with a picture id, 1040g…
_SECONDS = re.compile(
    r"(?:企业微信截图_(1\d{9})\d{0,6}|(?:mmexport|screenshot|img|image|photo|pic|截图|截屏|截圖|图片)[-_ ]?(1\d{9}))(?!\d)"
)
_HASH = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![0-9a-z])[0-9a-f]{32}(?:(?=1\d{12}(?![0-9a-f]))|[0-9a-f]*)")


def named_times(file_name: str) -> Iterator[NamedTime]:
    """Every time that `file_name` may tell, the most telling first. Impossible dates and hours are left out."""
    name = _HASH.sub("#", unicodedata.normalize("NFKC", file_name).lower())
    for found in _TIMED.finditer(name):
        yield from _datetime(found, utc=name.startswith("pxl_") or found["utc"] is not None)
    for digits in _MILLISECONDS.findall(name):
        yield datetime.fromtimestamp(int(digits) / 1000, UTC)
    for groups in _SECONDS.findall(name):
        yield datetime.fromtimestamp(int("".join(groups)), UTC)
    for found in _DAY.finditer(name):
        yield from _date(found)


def _date(found: re.Match[str]) -> Iterator[date]:
    month, day = (_number(found, name, f"{name}2", f"{name}3") for name in ("month", "day"))
    try:
        yield date(int(found["year"]), month, day)
    except ValueError:
        return


def _datetime(found: re.Match[str], *, utc: bool) -> Iterator[datetime]:
    hour = _number(found, "hour", "hour2", "hour3")
    if found["before"] or found["after"]:
        hour = _of_24(hour, afternoon=not _AFTERNOON.isdisjoint((found["before"], found["after"])))
    minute, second = _number(found, "minute", "minute2", "minute3"), _number(found, "second", "second2")
    for day in _date(found):
        try:
            yield datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=UTC if utc else None)
        except ValueError:
            return


def _of_24(hour: int, *, afternoon: bool) -> int:
    if afternoon:
        return hour + 12 if hour < 12 else hour
    return 0 if hour == 12 else hour


def _number(found: re.Match[str], *groups: str) -> int:
    return next((int(found[group]) for group in groups if found[group]), 0)
