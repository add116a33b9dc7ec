"""Day arithmetic shared by the readers of Chinese and English time words."""

import calendar
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

DAY = timedelta(days=1)
EARLIEST = date(1970, 1, 1)  # where an open "before …" begins


@dataclass(frozen=True, slots=True)
class Span:
    """Days [start, end) and the calendar unit they were read as, which a following "to …" inherits."""

    start: date
    end: date
    unit: str = "day"  # day | week | month | year | range
    yearless: bool = False  # the year was not said but taken from today


class Found(NamedTuple):
    """Characters [begin, end) of a text and the days they mean."""

    begin: int
    end: int
    span: Span


def day(at: date, *, yearless: bool = False) -> Span:
    return Span(at, at + DAY, "day", yearless)


def week(today: date, shift: int = 0) -> Span:
    monday = today - DAY * today.weekday() + timedelta(weeks=shift)
    return Span(monday, monday + timedelta(weeks=1), "week")


def month(year: int, number: int, *, months: int = 1, yearless: bool = False) -> Span:
    """`months` whole months from a month; `number` may lie outside 1-12 and carries into the year."""
    start, end = _month_start(year, number), _month_start(year, number + months)
    return Span(start, end, "month" if months == 1 else "range", yearless)


def year(number: int) -> Span:
    return Span(date(number, 1, 1), date(number + 1, 1, 1), "year")


def third_of_month(whole: Span, third: int) -> Span:
    """Days 1-10, 11-20 or 21 to the end (`third` 0, 1, 2)."""
    start = whole.start + 10 * third * DAY
    return Span(start, whole.end if third == 2 else start + 10 * DAY, "range", whole.yearless)


def months_before(at: date, months: int) -> date:
    """The same day some months back, or the last day of a shorter month."""
    first = _month_start(at.year, at.month - months)
    return first.replace(day=min(at.day, calendar.monthrange(first.year, first.month)[1]))


def back(today: date, count: int, unit: str) -> date:
    """The day that lies `count` days, weeks, months, quarters or years back."""
    if unit in ("day", "week"):
        return today - timedelta(days=count * (7 if unit == "week" else 1))
    return months_before(today, count * {"month": 1, "quarter": 3, "year": 12}[unit])


def last(today: date, count: int, unit: str) -> Span:
    """The last N units: from the same day N back through today."""
    return Span(back(today, count, unit), today + DAY, "range")


def quarter(year: int, number: int) -> Span:
    return month(year, 3 * number - 2, months=3)


def past(span: Span, today: date) -> Span:
    """The reading of a yearless span that does not lie ahead: a year earlier if it would begin after today."""
    if span.start <= today:
        return span
    return shifted(span, -1)


def shifted(span: Span, years: int) -> Span:
    return Span(months_before(span.start, -12 * years), months_before(span.end, -12 * years), span.unit, span.yearless)


def _month_start(year: int, number: int) -> date:
    return date(year + (number - 1) // 12, (number - 1) % 12 + 1, 1)
