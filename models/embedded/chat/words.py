"""The words of a question, each with what the lexicon knows of it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memory.search.stopwords import is_stop_word, stop_mask
from memory.search.text import normalise
from models.embedded.chat.lexicon import Concept, Kind, lexicon, stem_phrase, verb_stems

_CJK = re.compile(r"[\u3400-\u9fff]+")
_LATIN = re.compile(r"[a-z0-9][a-z0-9_.@:/'’&+-]*[a-z0-9+]|[a-z0-9]")
_WHETHER = re.compile(r"([\u3400-\u9fff])[不没]\1")  # 高不高, 有没有
_LONGEST_ZH = 8
_LONGEST_EN = 4
_TELLING = frozenset(
    {"code", "phone", "date", "amount", "text"}
)  # a screenshot of the matter marks these; a price or a time stands anywhere
_KEYWORD = 3  # a run of at most so many characters is one word unless it holds a known one
_LONGEST_QUESTION = 1000
_LONGEST_TERMS = 24


@dataclass(frozen=True, slots=True)
class Term:
    """One matter a question names: `text` as asked (normalised), and what the lexicon knows of it."""

    text: str
    concept: Concept | None = None
    foreign: bool = False  # asked in English
    head: bool = False  # the general noun after a narrower one, as in "badminton game"

    @property
    def kind(self) -> Kind:
        return self.concept.kind if self.concept else "word"

    @property
    def weight(self) -> float:
        if self.concept and self.concept.kind == "label":
            return 0.6 if self.concept.shape in _TELLING else 0.25
        if self.head or (self.concept and self.concept.soft):
            return 0.4
        if self.concept is None:
            return 0.6 if self.foreign else 0.4 if len(self.text) == 1 else 1.0
        return 1.0


@dataclass(frozen=True, slots=True)
class Reading:
    """`terms` in the order asked; `labels` are the properties that the question wants to know."""

    terms: tuple[Term, ...] = ()
    labels: tuple[Concept, ...] = ()

    @property
    def broad(self) -> bool:
        """Whether only a broad topic is named, so that all its words are worth a search."""
        return bool(self.terms) and all(term.kind == "topic" for term in self.terms)


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    concepts: tuple[Concept, ...] = ()
    foreign: bool = False


def _chinese_pieces(run: str) -> Iterator[_Piece]:
    """Longest known words first; what lies between stop words is an unknown word. A one-character word counts only alone."""
    known, whole, fillers = lexicon().chinese, lexicon().whole, lexicon().fillers
    if len(run) <= _KEYWORD and run not in fillers and not any(stop_mask(run)) and not _holds_known(run):
        yield _Piece(run, tuple(known.get(run, ())))
        return
    mask = stop_mask(run)
    start = position = 0
    while position < len(run):
        reach = range(min(_LONGEST_ZH, len(run) - position), 1, -1)
        length = next((n for n in reach if (word := run[position : position + n]) in known or word in whole), 0)
        filler = next((n for n in (3, 2, 1) if run[position : position + n] in fillers and position + n <= len(run)), 0)
        stop = max(filler, 1 if mask[position] else 0)
        if length >= max(2, filler) or stop:
            yield from _unknown(run[start:position])
            if length >= max(2, filler):
                word = run[position : position + length]
                yield _Piece(word, tuple(known.get(word, ())))
            position += length if length >= max(2, filler) else stop
            start = position
        else:
            position += 1
    yield from _unknown(run[start:])


def _holds_known(run: str) -> bool:
    known, whole = lexicon().chinese, lexicon().whole
    return any(run[start:end] in known or run[start:end] in whole for start in range(len(run)) for end in range(start + 2, len(run) + 1))


def _unknown(chunk: str) -> Iterator[_Piece]:
    if chunk:
        yield _Piece(chunk, tuple(lexicon().chinese.get(chunk, ())))


def _latin_pieces(words: list[str]) -> Iterator[_Piece]:
    known = lexicon().english
    position = 0
    while position < len(words):
        spans = range(min(_LONGEST_EN, len(words) - position), 0, -1)
        alone = is_stop_word(words[position])
        length = next((n for n in spans if stem_phrase(words[position : position + n]) in known and not (alone and n == 1)), 0)
        phrase = " ".join(words[position : position + max(1, length)])
        if length:
            yield _Piece(phrase, tuple(known[stem_phrase(words[position : position + length])]), foreign=True)
        elif not is_stop_word(phrase) and phrase not in lexicon().fillers:
            base = next((base for base in verb_stems(phrase) if base in known), None)
            yield _Piece(phrase, tuple(known[base]) if base else (), foreign=phrase.isalpha())
        position += max(1, length)


def _pieces(text: str) -> Iterator[_Piece]:
    position, words = 0, list[str]()
    while position < len(text):
        if match := _LATIN.match(text, position):
            words.append(match[0].removesuffix("'s").removesuffix("’s"))
            position = match.end()
            continue
        if text[position].isspace():
            position += 1
            continue
        yield from _latin_pieces(words)
        words = []
        run = _CJK.match(text, position)
        if run:
            yield from _chinese_pieces(run[0])
        position = run.end() if run else position + 1
    yield from _latin_pieces(words)


def read(question: str) -> Reading:
    """The matters a question names. A word that is only a broad topic stands for it only when nothing narrower is named."""
    terms: dict[str, Term] = {}
    labels: dict[str, Concept] = {}
    before: _Piece | None = None
    for piece in _pieces(_WHETHER.sub(" ", normalise(question)[:_LONGEST_QUESTION])):
        by_kind = {concept.kind: concept for concept in reversed(piece.concepts)}
        if "label" in by_kind:
            labels.setdefault(by_kind["label"].name, by_kind["label"])
        concept = by_kind.get("concept") or by_kind.get("label") or by_kind.get("topic")
        head = before is not None and before.foreign and bool(before.concepts) and piece.text in lexicon().heads
        before = piece
        if concept or _worth(piece.text):
            terms.setdefault(concept.name if concept else piece.text, Term(piece.text, concept, piece.foreign, head))
    found = tuple(terms.values())[:_LONGEST_TERMS]
    return Reading(_as_topics(found), tuple(labels.values()))


def _worth(text: str) -> bool:
    return bool(_CJK.match(text)) or any(character.isalnum() for character in text)


def _as_topics(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """`外卖` alone is a topic, though `外卖` beside other words is a word like them."""
    if len(terms) != 1:
        return tuple(term for term in terms if term.kind != "topic") or terms
    topic = lexicon().topic(terms[0].text)
    return (replace(terms[0], concept=topic),) if topic else terms
