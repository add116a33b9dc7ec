"""Chinese time words: where they stand in a text and which days they mean."""

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from memory.search import dates_zh_words as words
from memory.search import holidays, spans
from memory.search.spans import DAY, EARLIEST, Found, Span

Reader = Callable[[re.Match[str], datetime, Span | None], Span]


class _Rule(NamedTuple):
    pattern: re.Pattern[str]
    read: Reader


def find_zh(text: str, now: datetime) -> Found | None:
    """The first time phrase of a text (simplified characters, half-width digits), the longest one at its place."""
    for begin in range(len(text)):
        found = _phrase_at(text, begin, now)
        if found:
            return found
    return None


def number(text: str) -> int:
    """`25`, `二十五`, `廿五`, `一百二十`, `两百`."""
    if text.isdecimal():
        return int(text)
    total = digit = 0
    for character in text.replace("廿", "二十"):
        if character in "十百":
            total, digit = total + (digit or 1) * (10 if character == "十" else 100), 0
        else:
            digit = words.DIGITS[character]
    return total + digit


def _phrase_at(text: str, begin: int, now: datetime) -> Found | None:
    """A time, or a range of two, and what follows it: part of the day, since, before."""
    first = _time_at(text, begin, now, None)
    if first is None:
        return None
    end, span = first.end, first.span
    to = words.TO.match(text, end)
    second = _time_at(text, to.end(), now, span) if to else None
    if second and second.span.end > span.start:
        return Found(begin, second.end, Span(span.start, second.span.end, "range"))
    if since := words.SINCE.match(text, end):
        return Found(begin, since.end(), Span(span.start, now.date() + DAY, "range"))
    if before := words.BEFORE.match(text, end):
        return Found(begin, before.end(), Span(EARLIEST, span.start, "range"))
    return first


def _time_at(text: str, begin: int, now: datetime, after: Span | None) -> Found | None:
    """The longest match of all rules at a place. `after`: the beginning of a range, which lends its year, month or week."""
    matches = [(match, rule.read) for rule in _RULES if (match := rule.pattern.match(text, begin))]
    if not matches:
        return None
    match, read = max(matches, key=lambda found: found[0].end())
    try:
        span = read(match, now, after)
    except (ValueError, OverflowError):  # a day that the calendar does not have
        return None
    end = match.end() - match[0].endswith("的")
    if span.unit == "day" and (tail := words.TAIL.match(text, end)):
        end = max(end, len(text[: tail.end()].rstrip()))
    return Found(begin, end, span)


def _read_iso(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    year, month_number, day_number = (int(part) if part else 0 for part in match.groups())
    return spans.day(date(year, month_number, day_number)) if day_number else spans.month(year, month_number)


def _read_month_day(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    first, second = int(match[1]), int(match[2])
    if first > 12 >= second:
        first, second = second, first
    return _placed(spans.day(date(_leap_safe(now, first, second), first, second), yearless=True), now, after)


def _read_calendar(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    """`[2025年]5月[20日|上旬|底]`."""
    year, month_number = _year(match, now), number(match["month"])
    if said := match["day"] or match["bare_day"]:
        day_number = number(said)
        at = date(year or _leap_safe(now, month_number, day_number), month_number, day_number)
        span = spans.day(at, yearless=year is None)
    else:
        span = _part_of_month(spans.month(year or now.year, month_number, yearless=year is None), match["third"])
    return span if year else _placed(span, now, after)


def _read_months(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    """`[2025年]3到5月`."""
    year, first, second = _year(match, now), number(match["first"]), number(match["second"])
    count = (second - first) % 12 + 1
    span = spans.month(year or now.year, first, months=count, yearless=year is None)
    return span if year else spans.past(span, now.date())


def _read_shifted_month(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    """`上个月[8号|底|今天]`."""
    shift = _shift(match["shift"])
    whole = spans.month(now.year, now.month + shift)
    if match["same"]:
        return spans.day(spans.months_before(now.date(), -shift))
    if match["day"]:
        return spans.day(whole.start.replace(day=number(match["day"])))
    return _part_of_month(whole, match["third"])


def _read_edge_of_month(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    """`月底` with no month: the last one that has begun."""
    this = _part_of_month(spans.month(now.year, now.month), match["third"])
    return this if this.start <= now.date() else _part_of_month(spans.month(now.year, now.month - 1), match["third"])


def _read_year(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    """`去年[上半年|年底|夏天|今天]`."""
    year = _year(match, now) or now.year
    if match["same"]:
        return spans.day(spans.months_before(now.date(), 12 * (now.year - year)))
    if match["season"]:
        return spans.month(year, words.SEASONS[match["season"]], months=3)
    if match["edge"]:
        return _edge_of_year(year, match["edge"])
    return spans.year(year)


def _edge_of_year(year: int, edge: str) -> Span:
    return spans.month(year, {"初": 1, "中": 6}.get(edge[-1], 12))


def _read_edge_of_year(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    """`年底` with no year: the last one that has begun."""
    this = _edge_of_year(now.year, match["edge"])
    return this if this.start <= now.date() else _edge_of_year(now.year - 1, match["edge"])


def _read_years(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    first, second = int(match["first"]), int(match["second"] or match["first"])
    if second < first:
        raise ValueError("the years run backwards")
    return Span(date(first, 1, 1), date(second + 1, 1, 1), "range")


def _read_half(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    """Without a year it is this year's."""
    return spans.month(_year(match, now) or now.year, 1 if match["half"] == "上" else 7, months=6)


def _read_quarter(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    year = _year(match, now)
    span = spans.quarter(year or now.year, number(match["quarter"]))
    return span if year else spans.past(span, now.date())


def _read_shifted_quarter(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    return spans.quarter(now.year, (now.month - 1) // 3 + 1 + _shift(match["shift"]))


def _read_shifted_week(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    """`上周[三|末|工作日]`."""
    whole = spans.week(now.date(), _shift(match["shift"]))
    if match["weekday"]:
        return spans.day(whole.start + words.WEEKDAYS[match["weekday"]] * DAY)
    if match["weekend"]:
        return Span(whole.start + 5 * DAY, whole.end, "range")
    return Span(whole.start, whole.start + 5 * DAY, "range") if match["workdays"] else whole


def _read_weekday(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    """`周三`, `周末`: the last one that has begun, or the one in the week where a range began."""
    wanted = words.WEEKDAYS[match["weekday"]] if match["weekday"] else 5
    today = now.date()
    monday = spans.week(after.start if after else today).start
    at = monday + wanted * DAY
    if after:
        at = at if at >= after.start else at + 7 * DAY
    elif at > today:
        at -= 7 * DAY
    return spans.day(at) if match["weekday"] else Span(at, at + 2 * DAY, "range")


def _read_day_word(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    return spans.day(now.date() + words.DAY_WORDS[match["word"] or match["short"]] * DAY)


def _read_day_of_month(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    """`8号`: this month's or, if that lies ahead, the last month's that has such a day."""
    wanted = number(match["day"])
    if after:
        at = after.start.replace(day=wanted)
        return spans.day(at if at >= after.start else _day_in(after.start.year, after.start.month + 1, wanted))
    return spans.day(_last_day_numbered(now.date(), wanted))


def _read_days_of_month(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    """`20到25号`."""
    first = _last_day_numbered(now.date(), number(match["first"]))
    last = first.replace(day=number(match["second"]))
    if last < first:
        raise ValueError("the days run backwards")
    return Span(first, last + DAY, "range")


def _read_ago(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    """`三天前`, `半个月前`, `两三天前`, `2小时前`, `三天后`."""
    sign = -1 if match["way"] in ("后", "之后", "以后") else 1
    raw, today = match["count"], now.date()
    if _unit(match) in words.CLOCK_UNITS:
        return spans.day((now - sign * _clock_time(match)).date())
    unit = words.UNITS[_unit(match)]
    if re.fullmatch("[一二两三四五六七八九]{2}", raw):
        return Span(spans.back(today, words.DIGITS[raw[1]], unit), spans.back(today, words.DIGITS[raw[0]], unit) + DAY, "range")
    if raw == "几":
        return Span(spans.back(today, words.A_FEW[unit], unit), today, "range")
    count, unit = _counted(raw, unit)
    return spans.day(spans.back(today, sign * count, unit))


def _read_last(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    """`最近三天`, `过去一周`, `近24小时`, `三天内`."""
    today = now.date()
    if _unit(match) in words.CLOCK_UNITS:
        return Span((now - _clock_time(match)).date(), today + DAY, "range")
    return spans.last(today, *_counted(match["count"], words.UNITS[_unit(match)]))


def _read_before_now(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    """`前两天`: what lies before today."""
    span = _read_last(match, now, after)
    return span if _unit(match) in words.CLOCK_UNITS else Span(span.start, span.end - DAY, "range")


def _read_holiday(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    year, today = _year(match, now), now.date()
    whole = match["whole"] is not None
    if year:
        return holidays.holiday(match["name"], year, whole_break=whole)
    if after:
        this = holidays.holiday(match["name"], after.start.year, whole_break=whole)
        return this if this.start >= after.start else holidays.holiday(match["name"], after.start.year + 1, whole_break=whole)
    this = holidays.holiday(match["name"], today.year, whole_break=whole)
    return this if this.start <= today else holidays.holiday(match["name"], today.year - 1, whole_break=whole)


def _read_just_now(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    return spans.day(now.date())


def _read_bare_season(match: re.Match[str], now: datetime, after: Span | None) -> Span:
    return spans.past(spans.month(now.year, words.SEASONS[match["season"]], months=3), now.date())


def _placed(span: Span, now: datetime, after: Span | None) -> Span:
    """A span without a year: not before the range it ends, else not ahead of today."""
    if after is None:
        return spans.past(span, now.date())
    years = after.start.year - span.start.year
    span = spans.shifted(span, years)
    return span if span.end > after.start else spans.shifted(span, 1)


def _year(match: re.Match[str], now: datetime) -> int | None:
    if word := match["year_word"]:
        return now.year + words.YEAR_WORDS[word[:-1]]
    if not (said := match["year"]):
        return None
    value = int("".join(str(words.DIGITS.get(character, character)) for character in said))
    return value if value >= 100 else 2000 + value


def _leap_safe(now: datetime, month_number: int, day_number: int) -> int:
    """This year, but for February 29 the last year that had one."""
    year = now.year
    while (month_number, day_number) == (2, 29) and (year % 4 or (year % 100 == 0 and year % 400)):
        year -= 1
    return year


def _part_of_month(whole: Span, part: str | None) -> Span:
    if not part:
        return whole
    if part.endswith("半月"):
        middle = whole.start + 15 * DAY
        return Span(whole.start, middle, "range", whole.yearless) if part[0] == "上" else Span(middle, whole.end, "range", whole.yearless)
    return spans.third_of_month(whole, {"上": 0, "初": 0, "中": 1}.get(part.replace("月", "")[0], 2))


def _shift(word: str) -> int:
    return word.count("下") - word.count("上")


def _unit(match: re.Match[str]) -> str:
    return match["unit"] or match["unit_"]


def _clock_time(match: re.Match[str]) -> timedelta:
    count = {"半": 0.5, "几": 5.0}.get(match["count"]) or float(number(match["count"]))
    return count * words.CLOCK_UNITS[_unit(match)]


def _counted(raw: str, unit: str) -> tuple[int, str]:
    if raw == "半":
        return words.HALF[unit]
    return (words.A_FEW[unit] if raw == "几" else number(raw)), unit


def _day_in(year: int, month_number: int, day_number: int) -> date:
    return spans.month(year, month_number).start.replace(day=day_number)


def _last_day_numbered(today: date, wanted: int) -> date:
    """The last day on or before today with this number in its month."""
    for back in range(4):
        whole = spans.month(today.year, today.month - back)
        at = whole.start + (wanted - 1) * DAY
        if at < whole.end and at <= today:
            return at
    raise ValueError(f"no month has a day {wanted}")


def _rules(*rules: tuple[str, Reader]) -> Sequence[_Rule]:
    return [_Rule(re.compile(pattern), read) for pattern, read in rules]


_RULES = _rules(
    (r"(?<![\d-])(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?![\d-])", _read_iso),
    (r"(?<![\d-])(20\d{2})(0[1-9]|1[0-2])([0-3]\d)(?!\d)", _read_iso),
    (r"(?<![\d-])(20\d{2})[-/.](\d{1,2})()(?![-/.\d])", _read_iso),
    (r"(?<![\d/.])(\d{1,2})/(\d{1,2})(?![\d/.])", _read_month_day),
    (r"(?<![\d-])(0[1-9]|1[0-2])-([0-3]\d)(?![\d-])", _read_month_day),
    (r"\A(0?[1-9]|1[0-2])\.([0-3]?\d)\Z", _read_month_day),
    (
        rf"(?:{words.YEAR})?{words.ALONE}(?P<month>{words.MONTH})月份?的?(?:{words.MARKED_DAY}|{words.BARE_DAY}|{words.THIRD})?",
        _read_calendar,
    ),
    (
        rf"(?:{words.YEAR})?{words.ALONE}(?P<first>{words.MONTH})(?:月份?)?{words.DASH}(?P<second>{words.MONTH})月份?(?![\d{words.HAN_DIGITS}])",
        _read_months,
    ),
    (
        rf"(?<![以早晚一]){words.SHIFT}月(?![亮饼光球台票卡])份?的?(?:{words.MARKED_DAY}|{words.THIRD}|(?P<same>今天|今日|同一天|这一?天|这个时候))?",
        _read_shifted_month,
    ),
    (rf"(?<![个上下这本当每\d{words.HAN_DIGITS}])(?=月){words.THIRD}", _read_edge_of_month),
    (rf"(?<!\d)(?P<first>\d{{4}})年?{words.DASH}(?P<second>\d{{4}})年", _read_years),
    (rf"{words.YEAR}(?:(?P<season>[春夏秋冬])[天季]|(?P<edge>{words.YEAR_EDGE})|(?P<same>今天|今日|同一天|同期|这个时候))?", _read_year),
    (rf"(?<![个上下这本当每今去前明后青少成老壮\d{words.HAN_DIGITS}])(?P<edge>年[初底末]|年中(?![国文心秋学间午央]))", _read_edge_of_year),
    (r"\A(?P<first>20\d{2})(?P<second>)\Z", _read_years),
    (rf"(?:{words.YEAR})?(?P<half>[上下])半年(?![前后内])", _read_half),
    (rf"(?:{words.YEAR})?第?(?P<quarter>[一二三四1-4])季度", _read_quarter),
    (rf"(?:{words.YEAR})?(?<![0-9A-Za-z])[qQ](?P<quarter>[1-4])(?:季度)?(?![0-9A-Za-z])", _read_quarter),
    (rf"{words.SHIFT}季度", _read_shifted_quarter),
    (rf"(?<![以早晚一]){words.SHIFT}{words.WEEK}(?:{words.WEEKDAY}|(?P<weekend>末)|的?(?P<workdays>工作日))?", _read_shifted_week),
    (rf"(?<![上下这本当每个半几\d{words.HAN_DIGITS}]){words.WEEK}(?:{words.WEEKDAY}|(?P<weekend>末))(?!福)", _read_weekday),
    (
        r"(?<![之以目提说证声文])(?:(?P<word>大大前|大前|前|昨|今|明|大后|后)(?:天|日(?!头条|方舟|程)|儿个?)|(?P<short>[今昨明前])(?=[晚早晨夜]))",
        _read_day_word,
    ),
    (rf"{words.DAY_ALONE}(?P<day>{words.DAY})号{words.NOT_A_NUMBERED_THING}", _read_day_of_month),
    (rf"{words.DAY_ALONE}(?P<day>3[01]|[12]\d|0?[1-9]|[二三]?十[一二三四五六七八九]?)日(?![常历语元均程游线内])", _read_day_of_month),
    (
        rf"{words.DAY_ALONE}(?P<first>{words.DAY})[日号]?{words.DASH}(?P<second>{words.DAY})[日号]{words.NOT_A_NUMBERED_THING}",
        _read_days_of_month,
    ),
    (rf"{words.ALONE}{words.COUNT}多?{words.UNIT}(?P<way>[之以]前|前(?!台)|[之以]后|后(?![台来]))", _read_ago),
    (rf"(?:最近|(?<![附最临靠接将])近|过去|以往|往前|这)(?:的|这)?{words.COUNT}{words.UNIT}(?:以?来|[之以]?内)?", _read_last),
    (rf"{words.ALONE}{words.COUNT}{words.UNIT}[之以]?内(?!存)", _read_last),
    (rf"(?<![之以目提当])前{words.COUNT}{words.UNIT}", _read_before_now),
    (
        rf"(?:{words.YEAR})?(?P<name>{words.HOLIDAY})(?:节(?!目))?(?:劳动节|儿童节|青年节|妇女节)?(?:当[天日]|那天)?(?P<whole>{words.BREAK})?",
        _read_holiday,
    ),
    (r"刚才|刚刚|方才", _read_just_now),
    (rf"\A{words.PART}\Z", _read_just_now),
    (r"\A(?P<season>[春夏秋冬])[天季]\Z", _read_bare_season),
)
