"""What is asked of the index. All text is quoted: no input is an operator, a column or a wildcard."""

import re
from dataclasses import dataclass

from memory.search.stopwords import is_stop_word, stop_mask
from memory.search.text import Run, normalise, runs

_ZH_NUMBER = re.compile(r"([二三]?十)?([一二三四五六七八九])?(?=[月日号楼层])")
_ZH_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")}
_MAX_CHARACTERS = 400
_MAX_TERMS = 64


@dataclass(frozen=True, slots=True)
class Term:
    """One token to look for. `unit` numbers the query's units (a CJK character or a Latin run) that it covers."""

    text: str
    units: tuple[int, ...]
    prefix: bool = False
    weight: float = 1.0

    @property
    def match(self) -> str:
        return f'"{self.text}"*' if self.prefix else f'"{self.text}"'


@dataclass(frozen=True, slots=True)
class Question:
    """A query cut for the words tier: its terms, the units that carry meaning, and the tokens of nothing but stop words."""

    terms: tuple[Term, ...]
    content: frozenset[int]
    asking: frozenset[str]


def phrase_match(query: str) -> str | None:
    """The FTS5 expression of the query as one phrase, or None when it holds nothing to look for."""
    cut = list(runs(normalise(query[:_MAX_CHARACTERS])))
    if not cut:
        return None
    *head, last = cut
    tokens = [token for run in head for token in ([*run.bigrams, run.text[-1]] if run.dense else [run.text])]
    tokens += last.bigrams if last.dense and len(last.text) > 1 else [last.text]
    phrase = f'"{" ".join(tokens)}"'
    if not last.dense:
        return f"{phrase} OR {phrase}*"  # the whole word counts twice, so it ranks above the longer ones
    return phrase if len(last.text) > 1 else f"{phrase}*"


def parse_question(query: str) -> Question:
    """Cut a question into terms. Stop words weigh nothing unless the query has no other."""
    cut = list(runs(normalise(query[:_MAX_CHARACTERS])))
    masks = [stop_mask(run.text) if run.dense else [is_stop_word(run.text)] for run in cut]
    if all(all(mask) for mask in masks):
        masks = [[False] * len(mask) for mask in masks]
    terms: dict[tuple[str, bool], Term] = {}
    content: set[int] = set()
    offset = 0
    for run, mask in zip(cut, masks, strict=True):
        content |= {offset + i for i, stop in enumerate(mask) if not stop}
        for term in _dense_terms(run, mask, offset) if run.dense else _word_terms(run, mask, offset):
            key = (term.text, term.prefix)
            known = terms.get(key)
            terms[key] = Term(term.text, term.units + known.units, term.prefix, max(term.weight, known.weight)) if known else term
        offset += len(mask)
    return Question(tuple(terms.values())[:_MAX_TERMS], frozenset(content), _asking(cut, masks))


def _asking(cut: list[Run], masks: list[list[bool]]) -> frozenset[str]:
    stops = [(token, mask[i : i + 2]) for run, mask in zip(cut, masks, strict=True) if run.dense for i, token in enumerate(run.bigrams)]
    return frozenset(token for token, mask in stops if all(mask))


def _dense_terms(run: Run, mask: list[bool], offset: int) -> list[Term]:
    terms = []
    for i, bigram in enumerate(run.bigrams):
        stops = mask[i] + mask[i + 1]
        if stops < 2:
            terms.append(Term(bigram, (offset + i, offset + i + 1), weight=0.5 if stops else 1.0))
    for i, character in enumerate(run.text):
        alone = (i == 0 or mask[i - 1]) and (i + 1 == len(mask) or mask[i + 1])
        if alone and not mask[i]:
            terms.append(Term(character, (offset + i,), prefix=True))
    return [*terms, *_numeral_terms(run.text, offset)]


def _numeral_terms(text: str, offset: int) -> list[Term]:
    """`十二月` is mostly written `12月` on a screen."""
    terms = []
    for match in _ZH_NUMBER.finditer(text):
        if match[0]:
            tens, ones = match[1], _ZH_DIGITS.get(match[2] or "零", 0)
            value = (10 * _ZH_DIGITS.get(tens[0], 1) if tens else 0) + ones
            terms.append(Term(str(value), tuple(range(offset + match.start(), offset + match.end() + 1))))
    return terms


def _word_terms(run: Run, mask: list[bool], offset: int) -> list[Term]:
    if mask[0]:
        return []
    word = run.text
    if word.isascii() and word.isalpha() and len(word) >= 4:
        return [Term(re.sub(r"(?<=[a-z]{3})(?:es|s)$", "", word), (offset,), prefix=True)]
    return [Term(word, (offset,))]


def partial_runs(query: str) -> list[str]:
    """The meaningful Latin and digit runs, which may be parts of longer ones on a screen."""
    return [
        run.text for run in runs(normalise(query[:_MAX_CHARACTERS])) if not run.dense and len(run.text) > 1 and not is_stop_word(run.text)
    ]


def holds_phrase(text: str, keyword: str) -> bool:
    """Whether a text holds the keyword as it is written, however either spells its characters."""
    wanted = normalise(keyword).strip()
    return bool(wanted) and wanted in normalise(text)
