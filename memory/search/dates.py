"""Time words of a question: the days they mean, and whether they say when it was saved or belong to the matter."""

import re
import unicodedata
from datetime import date, datetime, time
from typing import Literal

from memory.search.dates_en import find_en
from memory.search.dates_zh import find_zh
from memory.search.holidays import SALES
from memory.search.text import fold_character
from memory.search.types import TimeRange

TimeRole = Literal["capture", "matter"]
_MAX_CHARACTERS = 400

_SAVING = (
    r"截|存|保存|收藏|拍|照片|图|屏幕|看到过|看过|记录了"
    r"|screenshot|screen shot|sav(?:e|ed|ing)|captur|took|taken|snapp|picture|photo|image|bookmark"
)
_SAVING_NEXT = re.compile(rf"\s*(?:我|的|都|有|里|份|新|刚|又|一共|总共|在手机上|手机|那天|这天|期间|,|，)*(?:{_SAVING})", re.I)
_SAVING_BEFORE = re.compile(rf"(?:{_SAVING})\w*(?: \w+){{0,3}}[^,，。；;]{{0,4}}\Z", re.I)
_PAYING = re.compile(
    r"买|付|收[了到款入]|花[了费过掉]|支出|消费|转[账帐给]|下单|充[值了]|开销|spen[dt]|spending|pa(?:y|id)\b|b(?:uy|ought)|receiv|order(?:ed)?\b|purchas",
    re.I,
)
_MATTER = re.compile(
    r"票|火车|高铁|动车|航班|飞机|车次|班次|出发|发车|起飞|登机|入住|酒店|预[约订定]|挂号|门诊|医生|就诊|体检|复查|手术|会议|开会|评审|面试|考试|上课|课程|讲座|截止|到期"
    r"|有效期|还款日|活动|演出|演唱会|音乐会|比赛|展览|聚会|聚餐|婚礼|生日|约会|预产期|行程|日程|安排|促销|大促|优惠|打折|发布会|报名|ticket|train|flight|depart|appointment"
    r"|meeting|interview|exam|class\b|lecture|deadline|due\b|expire|reservation|booking|check-?in|concert|game\b|match\b|event|birthday|wedding|schedule|sale\b",
    re.I,
)
_RELATIVE = re.compile(
    r"[昨前今大]天|[昨前]日|[今昨前][晚早晨夜]|[上这本当]|最近|近|过去|[之以]?前|刚|yesterday|today|tonight|night|ago|last|past|previous|this|recent|earlier|before|since|just",
    re.I,
)


def parse_time(text: str, *, now: datetime) -> TimeRange | None:
    """The first time phrase of a text as whole days in the zone of `now` (aware); None when there is none that is understood.

    Weeks start on Monday, an ambiguous day takes the past reading, the last N days run from the same day N back through today.
    """
    if now.tzinfo is None:
        raise ValueError("now must be aware")
    folded = "".join(map(_fold, text[:_MAX_CHARACTERS]))
    local = now.replace(tzinfo=None)
    found = [phrase for phrase in (find_zh(folded, local), find_en(folded, local)) if phrase]
    if not found:
        return None
    first = min(found, key=lambda phrase: (phrase.begin, -phrase.end))
    return TimeRange(_midnight(first.span.start, now), _midnight(first.span.end, now), text[first.begin : first.end])


def strip_time(text: str, found: TimeRange) -> str:
    """The text without its time phrase."""
    before, _, after = text.partition(found.phrase)
    before = re.sub(r"(?:从|自|在|于|\b(?:in|on|from|during|at|of|the))\s*\Z", "", before, flags=re.I)
    return " ".join((before + " " + re.sub(r"\A\s*(?:的|里|内|之内|期间|'s\b)", "", after)).split())


def time_role(text: str, found: TimeRange, *, now: datetime) -> TimeRole:
    """Whether the phrase filters by capture time, or is a date of the matter (a ticket, an appointment, a sale) to search for."""
    before, _, after = text.partition(found.phrase)
    if found.start > now:
        return "matter"
    if _SAVING_NEXT.match(after) or _SAVING_BEFORE.search(before):
        return "capture"
    rest = before + after
    sale = any(name in found.phrase.lower() for name in SALES)
    if sale or _MATTER.search(rest):
        past = found.end <= now and _RELATIVE.search(found.phrase)
        return "capture" if past and not sale else "matter"
    if _RELATIVE.search(found.phrase) or _PAYING.search(rest):
        return "capture"
    return "capture" if re.search(_SAVING, rest, re.I) or not re.search(r"\w{2}", strip_time(text, found)) else "matter"


def _fold(character: str) -> str:
    """One character for one: half width, simplified."""
    compatible = unicodedata.normalize("NFKC", character)
    return fold_character(compatible) if len(compatible) == 1 else character


def _midnight(at: date, now: datetime) -> datetime:
    return datetime.combine(at, time.min, tzinfo=now.tzinfo)
