"""Which language to answer in."""

import re
from typing import Literal

Language = Literal["zh", "en"]

_CJK = re.compile(r"[\u3400-\u9fff]")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")


def language_of(text: str) -> Language:
    """English when the text has Latin words and no CJK character; Chinese otherwise (the product's default)."""
    return "en" if _LATIN_WORD.search(text) and not _CJK.search(text) else "zh"
