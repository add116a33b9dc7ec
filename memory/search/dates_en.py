"""English time words: where they stand in a text and which days they mean."""

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from memory.search import holidays, spans
from memory.search.spans import DAY, EARLIEST, Found, Span

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_COUNTS = {name: value for value, name in enumerate(_NUMBERS)} | {"fifteen": 15, "twenty": 20, "thirty": 30}
_COUNTS |= {"a": 1, "an": 1, "a couple of": 2, "couple of": 2, "couple": 2, "a few": 3, "few": 3, "several": 3}
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_SHIFTS = {"last": -1, "previous": -1, "this": 0, "current": 0, "next": 1}

# `may`, `march`, `sun` and `sat` are words too: they count when capitalised or led in.
_LED_IN = r"(?:(?<=in )|(?<=since )|(?<=last )|(?<=this )|(?<=next )|(?<=on )|(?<=of )|(?<=until )|(?<=before )|(?<=after )|(?<=to ))"
_WEEKDAY = rf"(?P<weekday>{'|'.join(_WEEKDAYS)}|(?:(?-i:(?=[A-Z]))|{_LED_IN})(?:mon|tues?|wed|thur?s?|fri|sat|sun))"
_MONTH_NAME = (
    rf"(?:{'|'.join(name for name in _MONTHS if name not in ('may', 'march'))}|jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec"
    rf"|(?:(?-i:(?=M))|{_LED_IN}|(?<=\d )|(?<=\dst )|(?<=\dnd )|(?<=\drd )|(?<=\dth ))(?:may(?! (?:i|we|you|it)\b)|march|mar))\.?"
)
_MONTH = rf"(?P<month>{_MONTH_NAME})"
_COUNT = rf"(?P<count>\d{{1,4}}|half an?|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})"
_UNIT = r"(?P<unit>minute|hour|day|week|fortnight|month|quarter|year)s?"
_YEAR = r"(?P<year>(?:19|20)\d{2})"
_SHIFT = r"(?P<shift>last|previous|this|current|next)"
_PART = r"(?:early |late )?(?:morning|noon|afternoon|evening|night)"
_TAIL = re.compile(rf"(?: (?:in the |at )?{_PART}\b)?(?:,? (?:at |around )?\d{{1,2}}(?::\d{{2}})? ?(?:am|pm)?\b(?! ?\w))?", re.I)
_TO = re.compile(r"\s*(?:to|until|till|through|thru|and|-|–|—)\s*", re.I)
_HOLIDAY = "|".join(re.escape(name) for name in holidays.NAMES if name.isascii() and not name.isdecimal())

Reader = Callable[[re.Match[str], datetime], Span]


class _Rule(NamedTuple):
    pattern: re.Pattern[str]
    read: Reader


def find_en(text: str, now: datetime) -> Found | None:
    """The first time phrase of a text, the longest one at its place."""
    for word in re.finditer(r"(?<![A-Za-z0-9/.])[A-Za-z0-9]", text):
        found = _phrase_at(text, word.start(), now)
        if found:
            return found
    return None


def _phrase_at(text: str, begin: int, now: datetime) -> Found | None:
    """A time, or two of them as a range, with `since`, `before`, `after` or `from` in front."""
    lead = _LEAD.match(text, begin)
    first = (_time_at(text, lead.end(), now) if lead else None) or _time_at(text, begin, now)
    if first is None:
        return None
    word = (lead["word"] or "").lower() if lead else ""
    to = _TO.match(text, first.end)
    if to and (word in ("from", "between") or to[0].strip().lower() != "and"):
        second = _time_at(text, to.end(), now) or _day_number_at(text, to.end(), first.span)
        if second and second.span.end > first.span.start:
            return Found(begin, second.end, Span(first.span.start, second.span.end, "range"))
    if word in ("since", "after", "starting"):
        return Found(begin, first.end, Span(first.span.start, now.date() + DAY, "range"))
    if word in ("before", "until", "till", "by"):
        return Found(begin, first.end, Span(EARLIEST, first.span.start, "range"))
    return Found(begin, first.end, first.span)


def _time_at(text: str, begin: int, now: datetime) -> Found | None:
    matches = [(match, rule.read) for rule in _RULES if (match := rule.pattern.match(text, begin))]
    if not matches:
        return None
    match, read = max(matches, key=lambda found: found[0].end())
    try:
        span = read(match, now)
    except (ValueError, OverflowError):  # a day that the calendar does not have
        return None
    tail = _TAIL.match(text, match.end()) if span.unit == "day" else None
    return Found(begin, tail.end() if tail else match.end(), span)


def _day_number_at(text: str, begin: int, first: Span) -> Found | None:
    """The `25` of `May 20 to 25`."""
    match = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?\b(?!:)").match(text, begin)
    if not match or first.unit != "day":
        return None
    at = spans.month(first.start.year, first.start.month).start + (int(match[1]) - 1) * DAY
    return Found(begin, match.end(), spans.day(at)) if at.month == first.start.month and at >= first.start else None


def _read_day_word(match: re.Match[str], now: datetime) -> Span:
    word = match[0].lower()
    days = {"the day before yesterday": -2, "day before yesterday": -2, "the day after tomorrow": 2, "day after tomorrow": 2}
    days |= {"yesterday": -1, "last night": -1, "tomorrow": 1}
    return spans.day(now.date() + days.get(word, 0) * DAY)


def _read_shifted(match: re.Match[str], now: datetime) -> Span:
    """`last week`, `this month`, `next year`, `last weekend`."""
    return _shifted(match["unit"].lower(), _SHIFTS[match["shift"].lower()], now.date())


def _read_before_last(match: re.Match[str], now: datetime) -> Span:
    return _shifted(match["unit"].lower(), -2, now.date())


def _shifted(unit: str, shift: int, today: date) -> Span:
    if unit == "week":
        return spans.week(today, shift)
    if unit == "weekend":
        sunday_after = spans.week(today, shift).end
        return Span(sunday_after - 2 * DAY, sunday_after, "range")
    if unit == "month":
        return spans.month(today.year, today.month + shift)
    if unit == "quarter":
        return spans.quarter(today.year, (today.month - 1) // 3 + 1 + shift)
    return spans.year(today.year + shift)


def _read_edge(match: re.Match[str], now: datetime) -> Span:
    """`the beginning of this month`, `late last month`, `end of 2025`, `mid October`."""
    edge = {"beginning": 0, "start": 0, "early": 0, "mid": 1, "middle": 1}.get(match["edge"].lower(), 2)
    inner = _time_at(match["whole"], 0, now)
    if inner is None or inner.span.unit not in ("month", "year"):
        raise ValueError("neither a month nor a year")
    if inner.span.unit == "month":
        return spans.third_of_month(inner.span, edge)
    return spans.month(inner.span.start.year, (1, 6, 12)[edge])


def _read_weekday(match: re.Match[str], now: datetime) -> Span:
    """`Friday`, `last Friday`: the last one, today only without `last`; `this Friday` lies in this week, `next Friday` in the next."""
    today, wanted = now.date(), _weekday(match["weekday"])
    shift = (match["shift"] or "").lower()
    if match["of_week"]:
        return spans.day(spans.week(today, _SHIFTS[match["of_week"].lower()]).start + wanted * DAY)
    if shift in ("this", "current", "next"):
        return spans.day(spans.week(today, _SHIFTS[shift]).start + wanted * DAY)
    back = (today.weekday() - wanted) % 7
    return spans.day(today - (back or (7 if shift else 0)) * DAY)


def _read_week_weekday(match: re.Match[str], now: datetime) -> Span:
    return spans.day(spans.week(now.date(), _SHIFTS[match["shift"].lower()]).start + _weekday(match["weekday"]) * DAY)


def _read_weekend(match: re.Match[str], now: datetime) -> Span:
    weekend = _shifted("weekend", 0, now.date())
    return weekend if weekend.start <= now.date() else _shifted("weekend", -1, now.date())


def _read_last(match: re.Match[str], now: datetime) -> Span:
    """`the last 3 days`, `past week`, `past 24 hours`."""
    count, unit = _counted(match["count"] or "a", match["unit"])
    if unit in ("hour", "minute"):
        return Span((now - timedelta(**{f"{unit}s": count})).date(), now.date() + DAY, "range")
    return spans.last(now.date(), count, unit)


def _read_ago(match: re.Match[str], now: datetime) -> Span:
    count, unit = _counted(match["count"], match["unit"])
    if unit in ("hour", "minute"):
        return spans.day((now - timedelta(**{f"{unit}s": count})).date())
    if match["count"].lower() in ("a few", "few", "several"):
        return Span(spans.back(now.date(), 7 if unit == "day" else count, unit), now.date(), "range")
    return spans.day(spans.back(now.date(), count, unit))


def _read_ahead(match: re.Match[str], now: datetime) -> Span:
    count, unit = _counted(match["count"], match["unit"])
    if unit in ("hour", "minute"):
        return spans.day((now + timedelta(**{f"{unit}s": count})).date())
    return spans.day(spans.back(now.date(), -count, unit))


def _read_month(match: re.Match[str], now: datetime) -> Span:
    """`October`, `in October 2025`, `last October`."""
    number = _month(match["month"])
    shift = (match["shift"] or "").lower()
    if match["year"]:
        return spans.month(int(match["year"]), number)
    if shift in ("this", "current", "next"):
        return spans.month(now.year + (_SHIFTS[shift] if shift == "next" and number <= now.month else 0), number)
    span = spans.past(spans.month(now.year, number, yearless=True), now.date())
    return spans.shifted(span, -1) if shift and span.end > now.date() else span


def _read_date(match: re.Match[str], now: datetime) -> Span:
    """`October 5`, `5th of Oct, 2025`: read by dateparser, the past reading without a year."""
    said = re.sub(r"(?i)\b(?:of|the)\b|(?<=\d)(?:st|nd|rd|th)|[,.]", " ", match[0])
    parsed = _dateparser()(
        " ".join(said.split()),
        languages=["en"],
        settings={"RELATIVE_BASE": now, "PREFER_DATES_FROM": "past", "REQUIRE_PARTS": ["day", "month"], "DATE_ORDER": "MDY"},
    )
    if parsed is None:
        raise ValueError(f"no date: {match[0]}")
    return spans.day(parsed.date())


def _read_day_of_month(match: re.Match[str], now: datetime) -> Span:
    wanted, today = int(match["day"]), now.date()
    for back in range(4):
        whole = spans.month(today.year, today.month - back)
        at = whole.start + (wanted - 1) * DAY
        if at < whole.end and at <= today:
            return spans.day(at)
    raise ValueError(f"no month has a day {wanted}")


def _read_slashed(match: re.Match[str], now: datetime) -> Span:
    return spans.day(date(int(match["year"]), int(match[1]), int(match[2])))


def _read_year(match: re.Match[str], now: datetime) -> Span:
    return spans.year(int(match["year"]))


def _read_quarter(match: re.Match[str], now: datetime) -> Span:
    said = (match["quarter"] or match["ordinal"]).lower()
    number = _ORDINALS.get(said) or int(said)
    if year := _of_year(match, now):
        return spans.quarter(year, number)
    return spans.past(spans.quarter(now.year, number), now.date())


def _read_half(match: re.Match[str], now: datetime) -> Span:
    first = (match["half"] or match["ordinal"]).lower() in ("1", "first", "1st")
    year = _of_year(match, now)
    span = spans.month(year or now.year, 1 if first else 7, months=6)
    return span if year else spans.past(span, now.date())


def _read_season(match: re.Match[str], now: datetime) -> Span:
    """`last summer`: the last one that is over; `this summer`: this year's."""
    start = _SEASONS[match["season"].lower()]
    if match["year"]:
        return spans.month(int(match["year"]), start, months=3)
    if not match["shift"]:
        raise ValueError("a season of no year")
    span = spans.month(now.year, start, months=3)
    return span if match["shift"].lower() in ("this", "current", "next") or span.end <= now.date() else spans.shifted(span, -1)


def _read_holiday(match: re.Match[str], now: datetime) -> Span:
    name, shift = match["name"].lower().replace("’", "'"), (match["shift"] or "").lower()
    if match["year"]:
        return holidays.holiday(name, int(match["year"]))
    if shift == "this":
        return holidays.holiday(name, now.year)
    this = holidays.holiday(name, now.year)
    return this if this.start <= now.date() else holidays.holiday(name, now.year - 1)


def _of_year(match: re.Match[str], now: datetime) -> int | None:
    if match["year"]:
        return int(match["year"])
    return now.year + _SHIFTS[match["shift"].lower()] if match["shift"] else None


def _counted(raw: str, unit: str) -> tuple[int, str]:
    unit, raw = unit.lower(), raw.lower()
    if raw.startswith("half"):
        return {"month": (15, "day"), "year": (6, "month"), "day": (12, "hour"), "hour": (30, "minute")}.get(unit, (1, unit))
    count = int(raw) if raw.isdecimal() else _COUNTS[raw]
    return (2 * count, "week") if unit == "fortnight" else (count, unit)


def _weekday(name: str) -> int:
    return next(number for number, known in enumerate(_WEEKDAYS) if known.startswith(name.lower()[:3]))


def _month(name: str) -> int:
    return next(number for number, known in enumerate(_MONTHS, 1) if known.startswith(name.lower()[:3]))


@cache
def _dateparser() -> Callable[..., Any]:
    import dateparser  # half a second, and only for English dates

    return dateparser.parse  # type: ignore[no-any-return]


def _rules(*rules: tuple[str, Reader]) -> Sequence[_Rule]:
    return [_Rule(re.compile(rf"{pattern}(?![A-Za-z0-9])", re.I), read) for pattern, read in rules]


_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_OF_YEAR = rf"(?:,? (?:of |in )?(?:{_YEAR}|{_SHIFT} year))?"
_LEAD = re.compile(
    r"(?:(?P<word>since|after|before|until|till|by|from|between|starting)(?: from| on)? )?"
    r"(?:(?:in|on|during|over|within) )?(?:the )?(?=\w)",
    re.I,
)
_RULES = _rules(
    (
        rf"(?:the )?day before yesterday|(?:the )?day after tomorrow|yesterday|today|tomorrow|tonight|last night|this {_PART}|just now",
        _read_day_word,
    ),
    (rf"{_SHIFT} (?P<unit>weekend|week|month|quarter|year)(?!'s)", _read_shifted),
    (r"(?P<unit>weekend|week|month|quarter|year) before last", _read_before_last),
    (
        rf"(?P<edge>early|mid|late|beginning|start|middle|end)[ -](?:of )?(?:the )?"
        rf"(?P<whole>{_SHIFT} (?P<unit>month|year)|{_MONTH}(?: {_YEAR})?|(?:19|20)\d\d)",
        _read_edge,
    ),
    (rf"(?:{_SHIFT} )?{_WEEKDAY}(?:,? (?:of )?(?P<of_week>last|this|next) week)?", _read_weekday),
    (rf"{_SHIFT} week(?:'s)? (?:on )?{_WEEKDAY}", _read_week_weekday),
    (r"weekend", _read_weekend),
    (rf"(?:last|past|previous|recent) (?:{_COUNT} )?{_UNIT}", _read_last),
    (rf"{_COUNT} {_UNIT} (?:ago|earlier|back)", _read_ago),
    (rf"in {_COUNT} {_UNIT}", _read_ahead),
    (rf"{_COUNT} {_UNIT} from now", _read_ahead),
    (rf"(?:{_SHIFT} )?{_MONTH}(?:,? (?:of )?{_YEAR})?", _read_month),
    (rf"(?:{_MONTH_NAME} (?:the )?{_DAY}|{_DAY} (?:of )?{_MONTH_NAME})(?:,? {_YEAR})?", _read_date),
    (r"(?:(?<=\Athe )|(?<=on the )|(?<=since the )|(?<=from the ))(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)", _read_day_of_month),
    (rf"(\d{{1,2}})/(\d{{1,2}})/{_YEAR}", _read_slashed),
    (rf"(?:\A|{_LED_IN}|(?<=during )|(?<=from )|(?<=between )){_YEAR}", _read_year),
    (rf"(?:q(?P<quarter>[1-4])|(?P<ordinal>{'|'.join(_ORDINALS)}) quarter){_OF_YEAR}", _read_quarter),
    (rf"(?:h(?P<half>[12])|(?P<ordinal>first|second|1st|2nd) half(?: of)?){_OF_YEAR}", _read_half),
    (rf"(?:{_SHIFT} )?(?P<season>{'|'.join(_SEASONS)})(?: (?:of )?{_YEAR})?", _read_season),
    (rf"(?:(?P<shift>last|this) )?(?P<name>{_HOLIDAY})(?: (?:of )?{_YEAR})?", _read_holiday),
)
