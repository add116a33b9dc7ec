"""Second ranking of the few best rows of the words tier, and how much of the question a row covers."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from memory.search.query import Question, Term

COLUMNS = ("summary", "app_name", "labels", "entities", "ocr_text", "filename")
WEIGHTS = (1.5, 2.0, 0.6, 1.5, 1.0, 0.5)
_K1, _B = 1.2, 0.75  # as SQLite's bm25()
_RAREST = 12
_ROWS_SCORED = 2000  # rows that may be scored by BM25 without looking at how many terms bring them up
_ASKING = 0.5  # for each token of stop words alone: rows that are otherwise much alike may differ in just these
_ADJACENT = 0.15  # share of the idf added when two terms that follow each other in the question do so in the row; measured on CMRC and DRCD


@dataclass(frozen=True, slots=True)
class Scored:
    photo_id: int
    score: float
    coverage: float


@dataclass(frozen=True)
class Weighed:
    """A question whose terms have their inverse document frequency; terms that no row holds are kept for coverage."""

    question: Question
    idf: Mapping[Term, float]
    found: tuple[Term, ...]  # terms that some row holds, rarest first
    sought: tuple[Term, ...]  # the rarest of them, which bring up the rows to rank

    @classmethod
    def of(cls, question: Question, frequencies: Mapping[Term, int], rows: int) -> "Weighed":
        idf = {term: term.weight * _idf(frequencies.get(term, 0), rows) for term in question.terms}
        found = sorted((term for term in question.terms if frequencies.get(term)), key=lambda term: -idf[term])
        budget = max(_ROWS_SCORED, rows // 8)
        reach = accumulate(frequencies[term] for term in found[:_RAREST])
        sought = [term for number, (term, total) in enumerate(zip(found, reach, strict=False)) if number < 2 or total <= budget]
        return cls(question, idf, tuple(found), tuple(sought))

    def coverage(self, terms: Iterable[Term]) -> float:
        """The share (0-1) of the question's meaning that these terms carry."""
        weights = self.unit_weights
        covered = {unit for term in terms for unit in term.units}
        return sum(weight for unit, weight in weights.items() if unit in covered) / (sum(weights.values()) or 1.0)

    @cached_property
    def unit_weights(self) -> dict[int, float]:
        """What each meaningful unit weighs: the commonest term it is part of, so that bigrams across words do not count as rare words."""
        weights: dict[int, float] = {}
        for term in self.question.terms:
            if term.weight == 1.0:
                for unit in term.units:
                    weights[unit] = min(weights.get(unit, math.inf), self.idf[term])
        return {unit: weight for unit, weight in weights.items() if unit in self.question.content}


def _idf(frequency: int, rows: int) -> float:
    return math.log(1 + (rows - min(frequency, rows) + 0.5) / (frequency + 0.5))


def rerank(weighed: Weighed, rows: Mapping[int, Sequence[str]]) -> list[Scored]:
    """BM25 over all terms plus a bonus for neighbours. `rows`: photo id → token text of each of COLUMNS."""
    lengths = {photo_id: sum(text.count(" ") + 1 for text in texts) for photo_id, texts in rows.items()}
    mean = max(1.0, sum(lengths.values()) / max(1, len(lengths)))
    pairs = [(a, b) for a, b in zip(weighed.question.terms, weighed.question.terms[1:], strict=False) if not (a.prefix or b.prefix)]
    scored = []
    for photo_id, texts in rows.items():
        frequencies = _frequencies(weighed.found, texts)
        saturation = _K1 * (1 - _B + _B * lengths[photo_id] / mean)
        score = sum(weighed.idf[term] * count * (_K1 + 1) / (count + saturation) for term, count in frequencies.items())
        score += _ADJACENT * _adjacent(weighed, pairs, frequencies, texts)
        score += _ASKING * len(weighed.question.asking.intersection(" ".join(texts).split(" ")))
        scored.append(Scored(photo_id, score, weighed.coverage(frequencies)))
    return sorted(scored, key=lambda row: (-row.score, -row.photo_id))


def _frequencies(terms: Sequence[Term], texts: Sequence[str]) -> dict[Term, float]:
    counts: dict[Term, float] = {}
    for text, weight in zip(texts, WEIGHTS, strict=True):
        tokens = Counter(text.split(" "))
        for term in terms:
            count = sum(n for token, n in tokens.items() if token.startswith(term.text)) if term.prefix else tokens[term.text]
            if count:
                counts[term] = counts.get(term, 0.0) + weight * count
    return counts


def _adjacent(weighed: Weighed, pairs: Sequence[tuple[Term, Term]], frequencies: Mapping[Term, float], texts: Sequence[str]) -> float:
    both = [(a, b) for a, b in pairs if a in frequencies and b in frequencies]
    return sum((weighed.idf[a] + weighed.idf[b]) / 2 for a, b in both if any(f"{a.text} {b.text}" in text for text in texts))
