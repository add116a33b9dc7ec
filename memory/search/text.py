"""Text as the index sees it: one spelling per character, cut into tokens that any substring search can be built from."""

import re
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

# Scripts written without blanks: Thai, Lao, Burmese, Khmer, Hangul, kana, Bopomofo, Han.
_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u30fa"
    "\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_PICTOGRAPHS = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_RUN = re.compile(rf"([{_DENSE}]+)|[^\W_{_DENSE}][^\W_{_DENSE}{_PICTOGRAPHS}]*|[{_PICTOGRAPHS}]")
_BLANK_IN_CJK = re.compile(rf"(?<=[{_DENSE}])\s+(?=[{_DENSE}])")
_GROUPED_NUMBER = re.compile(r"(?<![\d,])\d{1,3}(?:,\d{3})+(?![\d,])")
# OpenCC folds these only inside phrases it knows; a search needs a fold that does not look at the neighbours.
_PHRASE_FOLDS = str.maketrans("著徵瞭藉覆祇夥釐於祕", "着征了借复只伙厘于秘")


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of one script in normalised text. `dense`: written without blanks, so cut into bigrams."""

    text: str
    dense: bool

    @property
    def bigrams(self) -> list[str]:
        return [self.text[i : i + 2] for i in range(len(self.text) - 1)]


@cache
def _folds() -> dict[int, str | int | None]:
    """Code point → simplified form; format characters (zero-width, bidi) and variation selectors → nothing."""
    from opencc import OpenCC

    han = [chr(point) for point in (*range(0x3400, 0xA000), *range(0xF900, 0xFB00), *range(0x20000, 0x323B0))]
    simplified = OpenCC("t2s").convert("\n".join(han)).split("\n")
    folds: dict[int, str | int | None] = {ord(a): b for a, b in zip(han, simplified, strict=True) if a != b}
    invisible = [point for point in range(sys.maxunicode + 1) if unicodedata.category(chr(point)) == "Cf"]
    return folds | _PHRASE_FOLDS | dict.fromkeys([*invisible, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])


def normalise(text: str) -> str:
    """NFKC, lower case, simplified characters, no zero-width characters, no blanks between CJK characters."""
    folded = unicodedata.normalize("NFKC", text).lower().translate(_folds())
    return _BLANK_IN_CJK.sub("", folded)


def runs(normalised: str) -> Iterator[Run]:
    """Cut at script borders. Punctuation and blanks belong to no run; a pictograph is a run of its own."""
    for match in _RUN.finditer(normalised):
        yield Run(match[0], dense=match[1] is not None)


def index_tokens(text: str) -> list[str]:
    """Tokens to index. Every CJK character starts one; `1,280` is findable as `1280` too."""
    normalised = normalise(text)
    tokens: list[str] = []
    for run in runs(normalised):
        tokens += [*run.bigrams, run.text[-1]] if run.dense else [run.text]
    return tokens + [number.replace(",", "") for number in _GROUPED_NUMBER.findall(normalised)]


def fold_character(character: str) -> str:
    """The simplified form of one character; case is kept and nothing is dropped."""
    folded = _folds().get(ord(character))
    return folded if isinstance(folded, str) else chr(folded) if folded else character
