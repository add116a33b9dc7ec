"""The learned second opinion: multinomial logistic regression over hashed words and characters.

`scripts/train_classifier.py` learns the weights from our own examples; here they are only read.
"""

import math
import re
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from memory.state import Intent, SubIntent
from models.embedded.classifier.rules import Label

MODEL_FILE = Path(__file__).with_name("model.npz")
DIMENSIONS = 1 << 14
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[\u3400-\u9fff]|[?:\"]")
_STEM = 5
"""Letters by which longer words also count, so that "sharpen" and "sharpening" meet."""
_WORDS_WEIGH = 4.0
"""Length of the vector of the words, beside signs of 1."""
_USUAL_TRUST = 2.0
_NEARER = 1.5
"""Real requests are nearer to the rules than the drawn examples are: so much more log odds, the best of 0 to 2
on our own requests and the development ones."""


def _grams(text: str) -> Iterator[str]:
    tokens = ["#" if token.isdigit() else token for token in _TOKEN.findall(text)]
    yield from tokens
    yield from (f"{token[:_STEM]}-" for token in tokens if len(token) > _STEM)
    framed = ["^", *tokens, "$"]
    yield from (f"{a} {b}" for a, b in pairwise(framed))
    yield from (f"{a} {b} {c}" for a, b, c in zip(framed, framed[1:], framed[2:], strict=False))


def features(text: str, signs: Collection[str] = ()) -> dict[int, float]:
    """Bucket → value for a normalised text. The words are one vector of fixed length, whatever their number."""
    buckets = {zlib.crc32(gram.encode()) % DIMENSIONS for gram in _grams(text)}
    values = dict.fromkeys(buckets, _WORDS_WEIGH * len(buckets) ** -0.5 if buckets else 0.0)
    return values | {zlib.crc32(f"@{sign}".encode()) % DIMENSIONS: 1.0 for sign in signs}


@dataclass(frozen=True, slots=True)
class TextModel:
    """`weights` is (dimensions, labels) and `bias` (labels,), float32. `trust` is the log odds of a rule being right, as counted over
    the examples."""

    labels: tuple[Label, ...]
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    trust: Mapping[str, float]

    def probabilities(self, text: str, signs: Collection[str] = ()) -> Mapping[Label, float]:
        values = features(text, signs)
        scores = self.bias + np.fromiter(values.values(), np.float32) @ self.weights[list(values)]
        shares = np.exp(scores - scores.max())
        return dict(zip(self.labels, (shares / shares.sum()).tolist(), strict=True))

    def odds_of(self, rule: str) -> float:
        """By how much a rule's word raises the odds of its label."""
        return math.exp(self.trust.get(rule, _USUAL_TRUST) + _NEARER)


@cache
def load_model() -> TextModel:
    with np.load(MODEL_FILE) as stored:
        pairs = (name.split("/") for name in stored["labels"].tolist())
        labels = tuple(Label(cast(Intent, intent), cast(SubIntent, sub_intent) if sub_intent else None) for intent, sub_intent in pairs)
        trust = dict(zip(stored["rules"].tolist(), stored["trust"].tolist(), strict=True))
        return TextModel(labels, stored["weights"].astype(np.float32), stored["bias"], trust)
