"""Which of the screenshots that the tools found really are about the matter that was asked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from typing import Any

from memory.search.text import normalise
from models.embedded.chat.ask import Part
from models.embedded.chat.lexicon import Concept, lexicon, stem
from models.embedded.chat.words import Term

ENOUGH = 0.55  # share of a question's weight that a screenshot must carry to answer it
CLOSE = 0.89  # screenshots this close to the best one are evidence too
LITERAL = 0.95  # the same where the best one has the very words of the question
_LITERAL, _HINTED, _HINTED_ONCE = 1.0, 0.8, 0.5
_NAMED, _NAMED_ONCE, _NAMED_OFTEN = 0.9, 0.85, 0.95
_CJK = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True)
class Shot:
    """A screenshot as a tool result shows it."""

    id: int
    app: str
    category: str
    taken_at: str
    filename: str
    summary: str
    text: str
    entities: tuple[tuple[str, str], ...] = ()
    group: int | None = None

    @classmethod
    def of(cls, hit: dict[str, Any]) -> "Shot":
        return cls(
            id=int(hit["id"]),
            app=str(hit.get("app") or ""),
            category=str(hit.get("category") or ""),
            taken_at=str(hit.get("taken_at") or ""),
            filename=str(hit.get("filename") or ""),
            summary=str(hit.get("summary") or ""),
            text=str(hit.get("text") or ""),
            entities=tuple((str(e.get("type")), str(e.get("value"))) for e in hit.get("entities") or []),
            group=hit.get("group"),
        )

    @cached_property
    def lines(self) -> list[str]:
        """The text's lines without the clock of the status bar."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        while lines and re.fullmatch(r"(?:\d{1,2}[:：]\d{2}|[345]G\+?|\d{1,3}%?|HD|4G\s?LTE|WiFi)(?:\s+[345]G)?", lines[0]):
            lines.pop(0)
        return lines

    @cached_property
    def plain(self) -> str:
        """Everything searchable, normalised."""
        return f"{self.own}\n{normalise(self.summary)}"

    @cached_property
    def own(self) -> str:
        """What the screenshot itself says, normalised: without the words by which its summary files it."""
        return normalise("\n".join((*self.lines, self.app, *(value for _, value in self.entities), self.filename)))

    @cached_property
    def unbroken(self) -> str:
        """`plain` with Chinese lines joined: a screen breaks them anywhere, within words too."""
        return re.sub(r"(?<=[\u3400-\u9fff])\n(?=[\u3400-\u9fff])", "", self.plain)

    @property
    def when(self) -> datetime:
        return datetime.fromisoformat(self.taken_at)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A screenshot, how much of the question it carries (0-1), and whether it does so in the question's very words."""

    shot: Shot
    score: float
    literal: bool = False
    matched: tuple[Term, ...] = field(default=())


def contains(text: str, word: str) -> bool:
    """Whether normalised text holds a normalised word; Latin words and numbers only whole."""
    if _CJK.search(word):
        return word in text
    edge = r"(?<![\d.])" if word[0].isdigit() else r"(?<![a-z])"
    after = r"(?!\d)" if word[-1].isdigit() else r"(?:e?s)?(?![a-z])"
    return re.search(edge + re.escape(word) + after, text) is not None


def match(term: Term, shot: Shot) -> float:
    """How far a screenshot is about a term: 1 in its own words, less by other words for the same."""
    concept = term.concept
    if concept is not None and concept.kind == "topic":
        return _topic(concept, shot)
    if contains(shot.own, term.text) or (term.foreign and contains(shot.own, stem(term.text))):
        return _LITERAL
    if contains(shot.plain, term.text):
        return _NAMED_OFTEN
    if concept is None:
        return _partly(term.text, shot.plain)
    return _by_concept(concept, shot)


def _by_concept(concept: Concept, shot: Shot) -> float:
    if shot.app in concept.apps:
        return _LITERAL
    long = [word for word in concept.words if len(word) > 1] or list(concept.words)
    names = sum(contains(shot.plain, word) and not _inside_another(word, concept, shot) for word in (*long, *concept.english))
    hints = sum(contains(shot.plain, sign) for sign in concept.signs)
    if names:
        return (_NAMED_ONCE, _NAMED, _NAMED_OFTEN)[min(names + hints, 3) - 1]
    return _HINTED if hints > 1 else _HINTED_ONCE if hints else 0.0


def _inside_another(word: str, concept: Concept, shot: Shot) -> bool:
    """Whether a word only stands within longer words for something else, as 动车 within 电动车."""
    longer = [other for other in _longer_words(word) if other not in concept.words and other in shot.unbroken]
    if not longer:
        return False
    rest = shot.unbroken
    for other in longer:
        rest = rest.replace(other, "\n")
    return not contains(rest, word)


@cache
def _longer_words(word: str) -> tuple[str, ...]:
    """Known matters whose name holds a word, longest first; the names of apps and of properties hold it in its own sense."""
    if not _CJK.search(word):
        return ()
    named = lexicon().chinese.items()
    longer = (
        other for other, known in named if word in other and other != word and any(one.kind == "concept" and not one.apps for one in known)
    )
    return tuple(sorted(longer, key=len, reverse=True))


def _topic(topic: Concept, shot: Shot) -> float:
    """A screenshot belongs to a topic by its app or category, or by several of its words where those are no mere mention."""
    if shot.app in topic.apps or shot.category in topic.categories:
        return _LITERAL
    hints = sum(contains(shot.plain, word) for word in {*topic.signs, *topic.words, *topic.english})
    level = {0: 0.0, 1: 0.4, 2: 0.6}.get(hints, _NAMED)
    return level * 0.5 if shot.category in topic.outside else level


def _partly(word: str, text: str) -> float:
    """An unknown Chinese word longer than two characters may be written a little differently: the share of its bigrams that are there."""
    if len(word) < 3 or not _CJK.search(word):
        return 0.0
    pairs = [word[i : i + 2] for i in range(len(word) - 1)]
    share = sum(pair in text for pair in pairs) / len(pairs)
    return share * 0.9 if share >= 0.5 else 0.0


def weigh(part: Part, shot: Shot) -> Evidence:
    matches = [(term, _meant(term, match(term, shot), part, shot)) for term in part.terms]
    total = sum(term.weight for term, _ in matches)
    score = sum(term.weight * level for term, level in matches) / total if total else 0.0
    dated = any(contains(shot.plain, spelling) or shot.taken_at.startswith(spelling) for spelling in part.dates)
    literal = bool(matches) and all(level == _LITERAL for term, level in matches if term.kind != "label")
    return Evidence(shot, min(1.0, score) + (0.1 if dated and score else 0.0), literal, tuple(term for term, level in matches if level))


def _meant(term: Term, level: float, part: Part, shot: Shot) -> float:
    """A question about a matter is not answered where its name is only part of another's (社保 in 社保卡); a keyword is found there."""
    concept = term.concept
    if not part.asks or concept is None or concept.kind != "concept" or level < _LITERAL:
        return level
    return _HINTED_ONCE if _inside_another(term.text, concept, shot) else level


def judge(part: Part, shots: Sequence[Shot], *, newest: bool = False) -> list[Evidence]:
    """The screenshots that carry the part's matter, best first (equal ones as the tools ranked them); empty when none does."""
    weighed = [weigh(part, shot) for shot in shots]
    found = [evidence for evidence in weighed if evidence.score >= ENOUGH and _has_subject(part, evidence)]
    if not found:
        return []
    best = max(found, key=lambda evidence: evidence.score)
    near = LITERAL if best.literal and not part.asks else CLOSE
    kept = [evidence for evidence in found if part.broad or evidence.score >= best.score * near]
    kept.sort(key=lambda evidence: -evidence.score)
    if newest:
        kept.sort(key=lambda evidence: evidence.shot.when, reverse=True)
    return _groups_together(kept)


def _has_subject(part: Part, evidence: Evidence) -> bool:
    """A screenshot that only shares the property asked for (a password, a date of expiry) is about something else."""
    subjects = [term for term in part.terms if term.kind != "label"]
    return not subjects or any(term in evidence.matched for term in subjects)


def _groups_together(kept: list[Evidence]) -> list[Evidence]:
    """Near-duplicates stand side by side, where the first of them stands."""
    first: dict[int, int] = {}
    for index, evidence in enumerate(kept):
        first.setdefault(_group(evidence.shot), index)
    return sorted(kept, key=lambda evidence: first[_group(evidence.shot)])


def _group(shot: Shot) -> int:
    return shot.group if shot.group is not None else -shot.id
