"""What a question wants: its parts, what each asks for, its time words, and whether it is a question for the library at all."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from memory.language import Language, language_of
from memory.search.text import normalise
from models.embedded.chat.lexicon import Concept, Shape
from models.embedded.chat.time import time_words
from models.embedded.chat.words import Reading, Term, read

Mode = Literal["search", "list"]

_SHAPES: tuple[tuple[Shape, re.Pattern[str]], ...] = (
    (
        "money",
        re.compile(
            r"多少钱|几块|多少元|几元|多少块|花(?:了|费)?(?:了)?多少|付了?(?:了)?多少|(?:消费|交|收|转|充|赚|亏|退|省|欠|还|捐|给)了?多少|"
            r"how much (?:did|does|do|is|was|were|are|am|have|has|should|will|can|for|money|i)|how much\W*$|"
            r"\b(?:price|cost|fee|spend|spent|paid|pay)\b"
        ),
    ),
    ("time", re.compile(r"几点|什么时间|几时|what time|\bwhen\b|what hours?|什么时候|啥时候|何时|时段")),
    (
        "date",
        re.compile(
            r"哪天|哪一天|几号|几月|什么日期|什么日子|什么时候|啥时候|何时|星期几|周几|\bwhen\b|what da(?:y|te)|which (?:day|date)|到期"
        ),
    ),
    ("person", re.compile(r"谁|哪位|什么人|\bwhom?\b|whose")),
    (
        "place",
        re.compile(
            r"哪里|哪儿|在哪|去哪|到哪|从哪|哪边|什么地方|哪个(?:地方|城市|车站|站|机场|医院|店|小区)|\bwhere\b|"
            r"which (?:place|city|station|airport|"
            r"hospital|shop|store)|怎么取|怎么去"
        ),
    ),
    ("duration", re.compile(r"多久|多长时间|用时|几(?:个)?(?:小时|分钟|天)|多少(?:分钟|小时|天)|how long|how many (?:minutes|hours|days)")),
    (
        "amount",
        re.compile(
            r"多少|多大|多高|多远|多重|几(?:个|次|张|条|桌|层|公里|步|人|份|杯|件|本|只|艘)|"
            r"how (?:much|many|far|big|heavy|tall|high)|percent"
        ),
    ),
)
_IN_ALL = re.compile(
    r"一共|总共|共计|合计|加起来|累计|总计|总和|全部加|in total|altogether|in all|total (?:amount|spend|spent|cost)|sum up"
)
_HOW_OFTEN = re.compile(
    r"(?:几|多少)(?:张|次|回|笔|单|条)|how many (?:times|screenshots?|pictures?|photos?|images?|orders?|payments?)|how often"
)
_RECENT = re.compile(r"最近|最新|近期|新截|刚才|刚刚|刚截|上一张|最后\S{0,2}张|\b(?:recent|recently|latest|newest|last|just now)\b")
_SCREENSHOT = re.compile(
    r"截图|截屏|截了|截的|截过|照片|图片|screen ?shots?|screen ?grabs?|pictures?|photos?|images?|captured?|存了|存的|保存"
)
_ALL_SHOTS = re.compile(r"(?:所有|全部|我的|我有)\S{0,4}(?:截图|截屏)|(?:all|my) (?:my |of my |the )?screenshots?")
_NOW = re.compile(r"现在|目前|如今|眼下|到货|发货|物流|去哪取|到哪取|哪里取|怎么取|怎么退|\bnow\b|currently|pick (?:it|them) up")
_FOLLOW = re.compile(
    r"^(?:那|那个|那张|这个|这张|它|他|她|这些|那些|刚才(?:那个|那张)?|上面(?:那个|的)?|其中|and|"
    r"what about|how about|that|it|this|those|the same)"
)
_CLAUSE = re.compile(r"[，,；;。？?！!\n]+|、|以及|还有|另外|\s+and (?:also )?(?=\w)|\s+plus\s+")
_COUNTED = re.compile(r"(?<![\d.])(\d{1,3}|[一二两三四五六七八九十]{1,3})\s*(?:张|个|条|幅|份|枚|次)")
_EN_COUNTED = re.compile(
    r"\b(\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty)\b(?= (?:most|"
    r"latest|recent|newest|last|screen|pictures?|photos?|images?))"
    r"|(?<=last |past )(\d{1,3}|two|three|four|five|six|seven|eight|nine|ten)\b|(?<=latest |newest |"
    r"recent )(\d{1,3}|two|three|four|five|six|seven|eight|nine|ten)\b"
)
_SINGLE = re.compile(r"上一张|最后一?张|最新的?(?:一张|那张|截图$)|(?:latest|newest|last|most recent) (?:screenshot|picture|photo|image)\b")
_ZH_DIGITS = dict(zip("一二两三四五六七八九", (1, 2, 2, 3, 4, 5, 6, 7, 8, 9), strict=True))
_EN_NUMBERS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
}
_LIST_NOISE = frozenset(
    [
        "截",
        "图",
        "截过",
        "截图",
        "三",
        "整理",
        "总结",
        "汇总",
        "most",
        "show",
        "list",
        "summarize",
        "summarise",
        "captured",
        "capture",
        "screenshotted",
        "都",
        "有啥",
        "列",
        "列出",
        "哪",
    ]
)
RECENT_DEFAULT = 10
RECENT_MAX = 20
LONGEST_PARTS = 4


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing to find out: the shape of the value and, if the question names it, the label it stands beside."""

    shape: Shape
    label: Concept | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One matter of a question. `time`: words by which its screenshots are filtered, `filtered`: how screens spell that time;
    `dates`: spellings of a date that the matter has."""

    text: str
    terms: tuple[Term, ...] = ()
    asks: tuple[Ask, ...] = ()
    time: str | None = None
    dates: tuple[str, ...] = ()
    filtered: tuple[str, ...] = ()

    @property
    def broad(self) -> bool:
        return Reading(self.terms).broad

    @property
    def app(self) -> str | None:
        """The app whose screenshots are meant, when the part names nothing else and asks nothing of them."""
        if len(self.terms) != 1 or self.asks or not _SCREENSHOT.search(self.text):
            return None
        concept = self.terms[0].concept
        return (
            next((app for app in sorted(concept.apps) if normalise(app) == self.terms[0].text), min(concept.apps))
            if concept and concept.apps and concept.kind == "concept"
            else None
        )


@dataclass(frozen=True, slots=True)
class Inquiry:
    """`mode` list: the newest screenshots (`limit` of them, within `time`) are wanted, no particular matter."""

    question: str
    language: Language
    mode: Mode
    parts: tuple[Part, ...]
    limit: int = RECENT_DEFAULT
    count: bool = False
    newest: bool = False

    @property
    def time(self) -> str | None:
        return self.parts[0].time if self.parts else None

    @property
    def asks(self) -> tuple[Ask, ...]:
        return tuple(ask for part in self.parts for ask in part.asks)


def understand(question: str, *, history: Sequence[str], now: datetime) -> Inquiry:
    """`history`: the user's earlier questions, oldest first; a question without a subject of its own takes theirs."""
    parts = _parts(question, now)
    text = normalise(question)
    if not any(part.terms for part in parts) and _needs_subject(text, parts) and history:
        parts = _with_subject(parts, history, now)
    count = bool(_IN_ALL.search(text) or _HOW_OFTEN.search(text))
    about_shots = bool(count or _RECENT.search(text) or _SCREENSHOT.search(text) or any(part.time for part in parts))
    listing = about_shots and not any(part.terms for part in parts)
    return Inquiry(
        question=question,
        language=language_of(question),
        mode="list" if listing else "search",
        parts=parts or (Part(question),),
        limit=_limit(text),
        count=count,
        newest=bool(_RECENT.search(text)),
    )


def _needs_subject(text: str, parts: Sequence[Part]) -> bool:
    asked = any(part.asks for part in parts) and not any(part.time for part in parts)
    return not _SCREENSHOT.search(text) and (asked or bool(_FOLLOW.match(text)))


def _with_subject(parts: tuple[Part, ...], history: Sequence[str], now: datetime) -> tuple[Part, ...]:
    """The terms of the latest earlier question that had any."""
    for earlier in reversed(history):
        known = [part for part in _parts(earlier, now) if part.terms]
        if known:
            asked = parts[0] if parts else Part("")
            return tuple(replace(asked, terms=part.terms, time=asked.time or part.time) for part in known[:1])
    return parts


def _parts(question: str, now: datetime) -> tuple[Part, ...]:
    found: list[Part] = []
    for clause in _clauses(normalise(question)):
        part = _part(clause, now)
        if not (part.terms or part.asks or part.time):
            continue
        if part.terms and not _only_labels(part):
            found.append(part)
        elif found and not (part.time and found[-1].terms):
            found[-1:] = _joined(found[-1], part)
        else:
            found.append(part)
    return _shared(tuple(found[:LONGEST_PARTS]))


def _clauses(text: str) -> list[str]:
    clauses = [clause.strip() for clause in _CLAUSE.split(text) if clause and clause.strip()]
    return [piece for clause in clauses for piece in _split_and(clause)]


def _split_and(clause: str) -> list[str]:
    """`面包和牛奶多少钱` is about two matters; `仁和医院` about one."""
    for link in ("和", "跟", "与"):
        left, found, right = clause.partition(link)
        if found and _two_matters(read(left).terms[-1:], read(right).terms[:1]):
            return [left, right]
    return [clause]


def _two_matters(before: tuple[Term, ...], after: tuple[Term, ...]) -> bool:
    return (_known_end(before) and _known_end(after)) or bool(before and after and _is_matter(after[0]))


def _is_matter(term: Term) -> bool:
    """Whether a property says by itself what it is a property of, as a ticket code does."""
    return term.concept is not None and term.concept.matter


def _known_end(terms: tuple[Term, ...]) -> bool:
    return bool(terms) and terms[0].kind in ("concept", "topic") and not terms[0].foreign


def _only_labels(part: Part) -> bool:
    """Whether a part names no matter: only properties, or beside a question a lone character that is some verb."""
    if any(_is_matter(term) for term in part.terms):
        return False
    return all(term.kind == "label" or (part.asks and term.concept is None and len(term.text) == 1) for term in part.terms)


def _joined(before: Part, part: Part) -> list[Part]:
    """A clause that only asks goes with the matter before it, unless it asks how things stand now: then without its time."""
    if before.time and before.terms and _NOW.search(part.text):
        return [before, replace(part, terms=before.terms)]
    terms = before.terms if before.terms and not _only_labels(before) else (*before.terms, *part.terms)
    return [
        replace(
            before, text=f"{before.text}，{part.text}", terms=terms, asks=_unique((*before.asks, *part.asks)), time=before.time or part.time
        )
    ]


def _shared(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """`车票、评审会分别是几点`: a part that asks nothing asks what the next one asks, else what the one before asks."""
    filled = list(parts)
    for index in range(len(filled) - 2, -1, -1):
        if not filled[index].asks:
            filled[index] = replace(filled[index], asks=filled[index + 1].asks)
    for index in range(1, len(filled)):
        if not filled[index].asks:
            filled[index] = replace(filled[index], asks=filled[index - 1].asks)
    return tuple(filled)


def _part(clause: str, now: datetime) -> Part:
    time = time_words(clause, now=now)
    reading = read(_IN_ALL.sub(" ", time.rest))
    terms = tuple(term for term in reading.terms if term.text not in _LIST_NOISE and not _is_count(term.text, clause))
    return Part(clause, terms, _asks(_IN_ALL.sub(" ", clause), reading), time.filter, time.dates, time.filtered)


def _is_count(text: str, clause: str) -> bool:
    number = text in _EN_NUMBERS or bool(re.fullmatch(r"\d{1,3}|[一二两三四五六七八九十]{1,3}", text))
    return number and bool(_COUNTED.search(clause) or _EN_COUNTED.search(clause))


def _asks(clause: str, reading: Reading) -> tuple[Ask, ...]:
    labelled = [Ask(label.shape, label) for label in reading.labels if label.shape]
    shapes = [shape for shape, pattern in _SHAPES if pattern.search(clause)]
    known = {ask.shape for ask in labelled}
    if _HOW_OFTEN.search(clause):
        return _unique([ask for ask in labelled if ask.shape != "money"])
    if "money" in shapes or known - {"text"}:
        shapes = [shape for shape in shapes if shape != "amount"]
    plain = [Ask(shape) for shape in shapes if shape not in known]
    return _unique((*labelled, *plain))


def _unique(asks: Sequence[Ask]) -> tuple[Ask, ...]:
    return tuple(dict.fromkeys(asks))


def _limit(text: str) -> int:
    if match := _EN_COUNTED.search(text):
        word = next(group for group in match.groups() if group)
        return min(RECENT_MAX, _EN_NUMBERS.get(word) or int(word))
    if match := _COUNTED.search(text):
        return min(RECENT_MAX, max(1, _number(match[1])))
    return 1 if _SINGLE.search(text) else RECENT_MAX if _ALL_SHOTS.search(text) else RECENT_DEFAULT


def _number(text: str) -> int:
    """1 to 99 in digits or Chinese."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    return (_ZH_DIGITS.get(tens, 1) * 10 if ten else 0) + _ZH_DIGITS.get(ones, 0)
