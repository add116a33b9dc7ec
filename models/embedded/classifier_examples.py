"""Nearest neighbours among our own labelled examples, for requests that no rule knows."""

import json
import re
import zlib
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.state import Intent
from models.embedded.classifier_rules import Label

_FILE = Path(__file__).with_name("classifier_examples.jsonl")
_DIMENSIONS = 4096
_NEIGHBOURS = 7
_WORD = re.compile(r"[a-z0-9']+|[\u3400-\u9fff]")


def features(text: str) -> Counter[int]:
    """Hashed counts of single tokens and adjacent pairs; a token is a Latin word or one Chinese character."""
    tokens = _WORD.findall(text)
    grams = tokens + [f"{a} {b}" for a, b in pairwise(tokens)]
    return Counter(zlib.crc32(gram.encode()) % _DIMENSIONS for gram in grams)


@dataclass(frozen=True, slots=True)
class Examples:
    """`matrix` is (examples, dimensions) float32 with unit rows; `idf` is (dimensions,)."""

    labels: tuple[Label, ...]
    matrix: NDArray[np.float32]
    idf: NDArray[np.float32]

    @classmethod
    def of(cls, labelled: list[tuple[str, Label]]) -> "Examples":
        counts = [features(text) for text, _ in labelled]
        frequency = Counter(index for count in counts for index in count)
        idf = np.full(_DIMENSIONS, np.log(len(counts) + 1), np.float32)
        for index, n in frequency.items():
            idf[index] = np.log((len(counts) + 1) / n)
        matrix = np.stack([_vector(count, idf) for count in counts])
        return cls(tuple(label for _, label in labelled), matrix, idf)

    def nearest(self, text: str, *, among: Collection[Intent]) -> tuple[Label, float]:
        """The label with the most similarity among the nearest examples of these intents, and its share of it (0 to 1)."""
        similarity = self.matrix @ _vector(features(text), self.idf)
        ranked = [index for index in np.argsort(-similarity, kind="stable") if self.labels[index].intent in among]
        votes: dict[Label, float] = {}
        for index in ranked[:_NEIGHBOURS]:
            votes[self.labels[index]] = votes.get(self.labels[index], 0.0) + float(similarity[index]) ** 2
        label = max(votes, key=lambda key: votes[key])
        total = sum(votes.values())
        return label, votes[label] / total if total else 0.0


def _vector(count: Counter[int], idf: NDArray[np.float32]) -> Any:
    vector = np.zeros(_DIMENSIONS, np.float32)
    for index, n in count.items():
        vector[index] = (1 + np.log(n)) * idf[index]
    norm = float(np.linalg.norm(vector))
    return vector / norm if norm else vector


@cache
def load_examples() -> Examples:
    rows = [json.loads(line) for line in _FILE.read_text("utf8").splitlines()]
    return Examples.of([(row["text"], Label(row["intent"], row.get("sub_intent"))) for row in rows])
