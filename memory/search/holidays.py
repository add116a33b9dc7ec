"""Days with a name. The dates of lunar days and of Qingming are the almanac's for 2020-2035."""

from datetime import date, timedelta

from memory.search.spans import DAY, Span, day

_FIXED = """
01-01 元旦 | new year's day | new year
02-14 情人节 | valentine's day
03-08 三八 | 妇女节 | women's day
03-12 植树节
04-01 愚人节 | april fools' day
05-01 五一 | 劳动节 | labor day | labour day | may day
05-04 五四 | 青年节
05-20 520
06-01 六一 | 儿童节 | children's day
06-18 618 | 六一八
07-01 七一 | 建党节
07-04 independence day
08-01 八一 | 建军节
09-10 教师节 | teachers' day
10-01 国庆 | 十一 | national day
10-24 程序员节
10-31 万圣 | 万圣节 | halloween
11-11 双十一 | 双11 | 光棍节 | singles' day | singles day | double 11 | double eleven
12-12 双十二 | 双12 | double 12
12-24 平安夜 | christmas eve
12-25 圣诞 | 圣诞节 | christmas day | christmas
12-26 boxing day
12-31 跨年夜 | new year's eve
"""
# Month and day of each year from 2020 on.
_ALMANAC = """
0125 0212 0201 0122 0210 0129 0217 0206 0126 0213 0203 0123 0211 0131 0219 0208 = 春节 | 大年初一 | spring festival | chinese new year
0404 0404 0405 0405 0404 0404 0405 0405 0404 0404 0405 0405 0404 0404 0405 0405 = 清明节 | 清明 | qingming
0625 0614 0603 0622 0610 0531 0619 0609 0528 0616 0605 0624 0612 0601 0620 0610 = 端午节 | 端午 | dragon boat festival
0825 0814 0804 0822 0810 0829 0819 0808 0826 0816 0805 0824 0812 0801 0820 0810 = 七夕节 | 七夕
1001 0921 0910 0929 0917 1006 0925 0915 1003 0922 0912 1001 0919 0908 0927 0916 = 中秋节 | 中秋 | mid-autumn festival
1025 1014 1004 1023 1011 1029 1018 1008 1026 1016 1005 1024 1012 1001 1020 1009 = 重阳节 | 重阳
"""
_FIRST_YEAR = 2020
_AFTER_NEW_YEAR = {"lunar new year": 0, "除夕": -1, "大年三十": -1, "年三十": -1, "元宵节": 14, "lantern festival": 14}
# month, weekday (Monday 0), which one of the month
_NTH = {
    "母亲节": (5, 6, 2),
    "mother's day": (5, 6, 2),
    "父亲节": (6, 6, 3),
    "father's day": (6, 6, 3),
    "感恩节": (11, 3, 4),
    "thanksgiving": (11, 3, 4),
}
_BLACK_FRIDAY = ("黑色星期五", "黑五", "black friday")  # the day after Thanksgiving
# How long before the day the days off begin, and how many they are.
_BREAKS = {
    "元旦": (0, 1),
    "五一": (0, 5),
    "劳动节": (0, 5),
    "国庆": (0, 7),
    "十一": (0, 7),
    "清明": (0, 3),
    "端午": (0, 3),
    "中秋": (0, 3),
    "春节": (1, 7),
}


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split("|")]


FIXED = {name: (int(line[:2]), int(line[3:5])) for line in _FIXED.strip().splitlines() for name in _names(line[6:])}
_BY_ALMANAC = {name: line.split("=")[0].split() for line in _ALMANAC.strip().splitlines() for name in _names(line.split("=")[1])}
NAMES = tuple(sorted({*FIXED, *_BY_ALMANAC, *_AFTER_NEW_YEAR, *_NTH, *_BLACK_FRIDAY}, key=len, reverse=True))
NUMERALS = frozenset({"十一", "五一", "六一", "六一八", "七一", "八一", "三八", "五四"})  # names that are also plain numbers
SALES = frozenset({"双十一", "双11", "双十二", "双12", "618", "六一八", "double 11", "double eleven", "double 12", *_BLACK_FRIDAY})


def holiday(name: str, year: int, *, whole_break: bool = False) -> Span:
    """The day of a holiday in a year, or with `whole_break` the days off around it. ValueError where the almanac ends."""
    at = _date_of(name, year)
    for known, (before, length) in _BREAKS.items():
        if whole_break and name.startswith(known):
            return Span(at - before * DAY, at + (length - before) * DAY, "range", yearless=True)
    return day(at, yearless=True)


def _date_of(name: str, year: int) -> date:
    if name in FIXED:
        return date(year, *FIXED[name])
    if name in _AFTER_NEW_YEAR:
        return _by_almanac("春节", year) + _AFTER_NEW_YEAR[name] * DAY
    if name in _BLACK_FRIDAY:
        return _nth_weekday(year, *_NTH["感恩节"]) + DAY
    return _nth_weekday(year, *_NTH[name]) if name in _NTH else _by_almanac(name, year)


def _by_almanac(name: str, year: int) -> date:
    days = _BY_ALMANAC[name]
    if not 0 <= year - _FIRST_YEAR < len(days):
        raise ValueError(f"the almanac of {name} has no {year}")
    entry = days[year - _FIRST_YEAR]
    return date(year, int(entry[:2]), int(entry[2:]))


def _nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    first = date(year, month, 1)
    return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (nth - 1))
