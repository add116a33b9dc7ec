"""Time words of a clause: when a screenshot was taken, or a date of the matter itself."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory.search.dates import parse_time, strip_time, time_role
from memory.search.types import TimeRange


@dataclass(frozen=True, slots=True)
class TimeWords:
    """`filter`: words by which screenshots are filtered, `filtered`: spellings of that time; `dates`: spellings of a date of the matter;
    `rest`: the clause without them."""

    rest: str
    filter: str | None = None
    dates: tuple[str, ...] = ()
    filtered: tuple[str, ...] = ()


def time_words(clause: str, *, now: datetime) -> TimeWords:
    clause = re.sub(r"['’]s\b", "", clause)
    found = parse_time(clause, now=now)
    if found is None:
        return TimeWords(clause)
    rest = strip_time(clause, found)
    if time_role(clause, found, now=now) == "capture":
        return TimeWords(rest, filter=found.phrase, filtered=_spellings(found))
    return TimeWords(rest, dates=_spellings(found))


def _spellings(found: TimeRange) -> tuple[str, ...]:
    """How screens, and a capture time, write the first day, or the month when the range is longer than a week."""
    day = found.start
    if found.end - found.start > timedelta(days=7):
        return (f"{day.month}月", f"{day.year}-{day.month:02d}")
    return (
        f"{day:%Y-%m-%d}",
        f"{day.month}月{day.day}日",
        f"{day.month}-{day.day}",
        f"{day.month:02d}-{day.day:02d}",
        f"{day.month}/{day.day}",
    )
