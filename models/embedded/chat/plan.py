"""Which tools a question needs, round by round."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from memory.search.text import normalise
from models.embedded.chat.ask import RECENT_MAX, Inquiry, Part
from models.embedded.chat.words import Term

MOST_QUERIES = 12
MOST_TOPIC_QUERIES = 40
LONGEST_QUERY = 200
LONGEST_WEB_QUERY = 400
MOST_LONE_QUERIES = 24
_WORDS_PER_TERM = 5
_ON_THE_WEB = re.compile(
    r"上网|联网|网上(?:搜|查|找)|百度一下|谷歌|搜一下网|"
    r"\b(?:google|search the (?:web|internet)|web search|look (?:it )?up online|online)\b",
    re.I,
)
_LIVE = re.compile(
    r"(?:今天|今日|现在|当前|此刻|实时|明天|今晚|后天|这会儿|today|tonight|tomorrow|right now|current|currently|live).{0,12}"
    r"(?:天气|气温|下雨|汇率|股价|行情|大盘|新闻|油价|金价|比分|路况|热搜|几度|"
    r"weather|rain|temperature|exchange rate|stock|share price|news|traffic|score)"
    r"|(?:天气|汇率|股价|油价|金价|路况|weather|exchange rate|stock price|share price)"
    r".{0,8}(?:今天|现在|实时|明天|怎么样|如何|today|now|tomorrow)"
    r"|(?:最新|今天的?|今日)(?:的)?新闻|(?:latest|today'?s) news|what(?:'s| is) the weather",
    re.I,
)
_SCREENSHOT = re.compile(r"截图|截屏|截了|截的|screen ?shot|saved?\b", re.I)


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call to make."""

    name: str
    args: dict[str, Any]


def on_the_web(question: str) -> bool:
    """Whether the question is sent to the web outright."""
    return bool(_ON_THE_WEB.search(question))


def web_query(question: str) -> str:
    """What to search the web for: the question without the request to do so."""
    return (_ON_THE_WEB.sub(" ", question).strip(" ，,。:：一下") or question)[:LONGEST_WEB_QUERY]


def is_live(question: str) -> bool:
    """Whether the question is about how things are now, which no screenshot can know."""
    return on_the_web(question) or (bool(_LIVE.search(question)) and not _SCREENSHOT.search(question))


def first_calls(inquiry: Inquiry, *, offered: Collection[str]) -> list[Call]:
    """The first round: specific matters by their words, broad or foreign ones by related words, lists by time."""
    calls: list[Call] = []
    if is_live(inquiry.question):
        calls.append(Call("web_search", {"query": web_query(inquiry.question)}))
    if not on_the_web(inquiry.question):
        calls += _library_calls(inquiry)
    return _distinct(call for call in calls if call.name in offered)


def _library_calls(inquiry: Inquiry) -> list[Call]:
    if inquiry.mode == "list":
        return [
            Call(
                "get_recent",
                {"limit": RECENT_MAX if inquiry.time or inquiry.asks else inquiry.limit, **_narrowing(inquiry, inquiry.parts[0])},
            )
        ]
    return [call for part in inquiry.parts for call in _part_calls(inquiry, part)]


def _part_calls(inquiry: Inquiry, part: Part) -> list[Call]:
    narrowing = _narrowing(inquiry, part)
    if app := part.app:
        return [Call("get_recent", {"limit": inquiry.limit if inquiry.newest else RECENT_MAX, "app": app, **narrowing})]
    if part.broad or any(term.foreign and term.concept for term in part.terms):
        return [Call("search_multi", {"queries": related_words(part.terms), **narrowing})]
    return [Call("search_knowledge", {"query": core_words(part) or inquiry.question[:LONGEST_QUERY], **narrowing})]


def retry_calls(inquiry: Inquiry, missing: Sequence[Part], *, offered: Collection[str], made: Sequence[Call]) -> list[Call]:
    """Other words for the parts that nothing was found for; nothing when there are none."""
    calls: list[Call] = []
    for part in missing:
        words = [*related_words(part.terms), *_pieces(part.terms)][:MOST_LONE_QUERIES]
        if words:
            calls.append(Call("search_multi", {"queries": words, **_narrowing(inquiry, part)}))
    return _distinct(call for call in calls if call.name in offered and call not in made)


def _narrowing(inquiry: Inquiry, part: Part) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if part.time:
        found["time"] = part.time
    if inquiry.count:
        found["count"] = True
    return found


def core_words(part: Part) -> str:
    """The part's matters as one query, with the property asked for where it is written as it is asked."""
    subjects = [term.text for term in part.terms if term.kind != "label"]
    labels = [term.text for term in part.terms if term.kind == "label"]
    words = subjects + (labels if not subjects else [word for word in labels if not re.match(r"几|哪|什么|多|卖", word)])
    return " ".join([*words, *part.dates[:1]])[:LONGEST_QUERY]


def related_words(terms: Sequence[Term]) -> list[str]:
    """What screenshots may call these matters: the words asked first, then those of the lexicon, fairly shared between the terms."""
    telling = [term for term in terms if not (term.concept and term.concept.soft)] or list(terms)
    shared = [_words_of(term, alone=len(telling) == 1) for term in telling]
    rounds = max((len(words) for words in shared), default=0)
    mixed = [words[i] for i in range(rounds) for words in shared if i < len(words)]
    most = MOST_TOPIC_QUERIES if terms and terms[0].kind == "topic" else MOST_LONE_QUERIES if len(telling) == 1 else MOST_QUERIES
    return list(dict.fromkeys(mixed))[:most]


def _words_of(term: Term, *, alone: bool) -> list[str]:
    concept = term.concept
    if concept is None:
        return [term.text]
    if concept.kind == "topic":
        apps = [normalise(app) for app in sorted(concept.apps)]
        return [*concept.words[:1], *sorted(concept.categories), *concept.signs, *apps]
    first = concept.words[:1] if term.foreign else ()
    words = [*first, term.text, *concept.words[:_WORDS_PER_TERM], *concept.english[: 3 if alone else 1], *concept.signs, *concept.words]
    return list(dict.fromkeys(words))[: MOST_LONE_QUERIES if alone else _WORDS_PER_TERM + 1]


def _pieces(terms: Sequence[Term]) -> list[str]:
    """Two-character pieces of unknown long words, which a screenshot may write a little differently."""
    unknown = [term.text for term in terms if term.concept is None and len(term.text) > 2 and not term.text.isascii()]
    return [word[i : i + 2] for word in unknown for i in range(0, len(word) - 1, 2)]


def _distinct(calls: Iterable[Call]) -> list[Call]:
    kept: list[Call] = []
    for call in calls:
        if call not in kept:
            kept.append(call)
    return kept
