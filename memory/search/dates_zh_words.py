"""Vocabulary of Chinese time words, as pieces of regular expressions."""

import re
from datetime import timedelta

from memory.search import holidays

HAN_DIGITS = "零〇一二两三四五六七八九十百"
DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
N = rf"(?:\d{{1,4}}|[{HAN_DIGITS}]+)"
ALONE = rf"(?<![\d{HAN_DIGITS}第])"
NOT_A_NUMBERED_THING = r"(?![线口楼厅门院车馆桌店机位铺球房码厂站柜库仓台窗塔出])"
DASH = r"\s*(?:到|至|~|-|—+|–)\s*"

YEAR = (
    r"(?:(?P<year>(?<!\d)\d{4}(?=年)|[一二][零〇一二三四五六七八九]{3}(?=年)|(?<!\d)\d{2}(?=年\d{1,2}月)|[零〇一二三四五六七八九]{2}(?=年))年"
    r"|(?P<year_word>大前年|[去前今本明后]年|[上下这]一年))的?"
)
YEAR_EDGE = r"年?初|年?底|年?末|年?中(?![国文心秋学间午央])"
MONTH = r"(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])"
DAY = r"(?:3[01]|[12]\d|0?[1-9]|[二三]?十[一二三四五六七八九]?|廿[一二三四五六七八九]?|[一二三四五六七八九])"
MARKED_DAY = rf"(?P<day>{DAY})(?:日|号{NOT_A_NUMBERED_THING})"
BARE_DAY = r"(?P<bare_day>3[01]|[12]\d|0?[1-9]|[二三]?十[一二三四五六七八九]?)(?![\d个天点年月日号%.:张次笔条份家人元块位])"
DAY_ALONE = rf"(?<![\d{HAN_DIGITS}第.:/月年A-Za-z])"
THIRD = r"(?P<third>[上中下]旬|[上下]半月|月?初|月?底|月?末|月?中旬?(?![国文心秋学间午央]))"
SHIFT = r"(?P<shift>上上一?个?|上一?个?|[这本当]一?个?|下下一?个?|下一?个?)"
WEEK = r"(?:周(?!期(?![末中])|[围边刊])|星期|礼拜)"
WEEKDAY = r"(?P<weekday>[二三四五六日天]|一(?![共起下些直样般个次张笔]))"
UNIT = r"(?:个?(?P<unit>小时|钟头|星期|礼拜|季度|(?<=个)月)|(?P<unit_>分钟|天|日|周|年))"
COUNT = rf"(?P<count>{N}|半|几)"
_NOT_A_HOLIDAY = rf"(?![月点日号时分个张次元块年天周岁路楼层届期中广小线共\d{HAN_DIGITS}])"
NUMERAL_HOLIDAY = rf"(?<![\d{HAN_DIGITS}双第周期拜])(?:十一|五一|六一八?|七一|八一|三八|五四){_NOT_A_HOLIDAY}"
HOLIDAY = "|".join(
    [
        *(name for name in holidays.NAMES if not name.isascii() and name not in holidays.NUMERALS and not name[-1].isdecimal()),
        r"双1[12](?!\d)",
        r"(?<![\d.¥$-])(?:520|618)(?![\d.元块年月日号:%-])",
        NUMERAL_HOLIDAY,
    ]
)
BREAK = "小?长假|假期|黄金周|假日|期间|放假"

PART = (
    r"(?:凌晨|大?清早|清晨|一大早|早上|早晨|早间|上午|中午|正午|午后|下午|傍晚|黄昏|晚上|晚间|夜里|夜晚|半夜|深夜|午夜"
    r"|[早晚夜晨](?![餐饭点会班安课宵市报]))"
)
CLOCK = rf"(?:{N}(?:点钟?|时)(?:半|[一三]刻|{N}分?)?|\d{{1,2}}:\d{{2}}(?::\d{{2}})?)"
TAIL = re.compile(rf"[T ]?(?:的?{PART})?\s?(?:{CLOCK}(?:[到至~-]{CLOCK})?)?(?:左右|前后)?")
TO = re.compile(r"\s*(?:直?到|至|~+|—+|–|－|-)\s*")
SINCE = re.compile(r"(?:以来|至今|到今天为?止?|到现在|到目前为?止?|起(?![飞床来点])|开始(?!时间)|以后|之后|过后)")
BEFORE = re.compile(rf"(?:以前|之前|前(?![后台{HAN_DIGITS}几\d]))")

UNITS = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "季度": "quarter", "年": "year"}
CLOCK_UNITS = {"小时": timedelta(hours=1), "钟头": timedelta(hours=1), "分钟": timedelta(minutes=1)}
A_FEW = {"day": 7, "week": 3, "month": 3, "quarter": 2, "year": 3}
HALF = {"month": (15, "day"), "year": (6, "month"), "day": (1, "day"), "week": (4, "day"), "quarter": (45, "day")}
DAY_WORDS = {"大大前": -4, "大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "大后": 3, "后": 2}
YEAR_WORDS = {"大前": -3, "前": -2, "去": -1, "上一": -1, "今": 0, "本": 0, "这一": 0, "明": 1, "下一": 1, "后": 2}
WEEKDAYS = {name: number for number, name in enumerate("一二三四五六日")} | {"天": 6}
SEASONS = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
