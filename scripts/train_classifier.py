"""Learns models/embedded/classifier/model.npz from models/embedded/classifier/examples.toml: `python scripts/train_classifier.py`.

Deterministic: the same examples and rules give the same weights. To be run again when either changes. Takes about a minute.
"""

import random
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from hashlib import sha256
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.embedded.classifier.classifier import Facts, Turn, by_rules, normalise
from models.embedded.classifier.model import DIMENSIONS, MODEL_FILE, features
from models.embedded.classifier.rules import Label, load_rules

EXAMPLES = MODEL_FILE.with_name("examples.toml")
DRAWS = 4
"""Texts drawn of a template, for itself and for each of its choices and slots."""
STEPS = 180
RATE = 0.15
DECAY = 5e-6
_CHOICE = re.compile(r"\(([^()]*)\)")
_OPENING = re.compile(r"[(<]")
_SLOT = re.compile(r"<(\w+)>")
_HAN = re.compile(r"[\u3400-\u9fff]")
_COURTESIES = {
    True: (["帮我", "请", "麻烦", "给我", "能不能", "可以", "那就", ""], ["一下", "吧", "呗", "谢谢", "可以吗", "行不", ""]),
    False: (["please ", "pls ", "can you ", "could you ", "now ", ""], [" please", " pls", " thanks", "?", " for me", ""]),
}


class Example(NamedTuple):
    turn: Turn
    label: Label


def expand(text: str, slots: dict[str, str], chance: random.Random) -> str:
    """One text of a template. Choices may hold slots and other choices."""
    while match := _CHOICE.search(text):
        text = text[: match.start()] + chance.choice(match[1].split("|")) + text[match.end() :]
    while match := _SLOT.search(text):
        text = text[: match.start()] + chance.choice(slots[match[1]].split("|")) + text[match.end() :]
    return text.replace("  ", " ").strip(" ,")


def courteous(text: str, chance: random.Random) -> str:
    before, after = _COURTESIES[bool(_HAN.search(text))]
    return chance.choice(before) + text + chance.choice(after)


def facts_of(name: str, chance: random.Random) -> Facts:
    earlier = name == "earlier" or (name == "attached" and chance.random() < 0.4)
    return Facts(n_images=name == "attached", n_history=earlier, has_last_result=earlier)


def examples() -> Iterator[Example]:
    chance = random.Random(20261201)
    book: dict[str, Any] = tomllib.loads(EXAMPLES.read_text("utf8"))
    for group in book["examples"]:
        label = Label(group["intent"], group.get("sub_intent"))
        for template in filter(None, group["texts"].splitlines()):
            draws = DRAWS * (1 + len(_OPENING.findall(template)))
            drawn = {expand(template, book["slots"], chance): None for _ in range(draws)}
            for text in drawn:
                said = courteous(text, chance) if group.get("polite") and chance.random() < 0.5 else text
                yield Example(Turn(normalise(said), facts_of(chance.choice(group["facts"]), chance), load_rules()), label)


def learnable(rows: list[Example], chance: random.Random) -> list[tuple[dict[int, float], Label]]:
    """Every example whole, and once with half of its words unknown, so that signs and single words are learned too."""
    learned = []
    for example in rows:
        signs = features("", example.turn.signs)
        words = features(example.turn.text)
        few = chance.sample(sorted(words), (len(words) + 1) // 2)
        learned += [(words | signs, example.label), ({bucket: words[bucket] for bucket in few} | signs, example.label)]
    return learned


def train(rows: list[tuple[dict[int, float], Label]], labels: list[Label]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Full-batch Adam on the cross entropy; the sparse matrix is kept as sorted coordinates."""
    entries = sorted((bucket, row, value) for row, (vector, _) in enumerate(rows) for bucket, value in vector.items())
    columns, lines, numbers = (np.array(part) for part in zip(*entries, strict=True))
    used, starts = np.unique(columns, return_index=True)
    by_line = np.argsort(lines, kind="stable")
    line_starts = np.searchsorted(lines[by_line], np.arange(len(rows)))
    position = np.searchsorted(used, columns)
    values = numbers.astype(np.float32)[:, None]
    target = np.eye(len(labels), dtype=np.float32)[[labels.index(label) for _, label in rows]]
    parameters = np.zeros((len(used) + 1, len(labels)), np.float32)
    mean, square = np.zeros_like(parameters), np.zeros_like(parameters)
    for step in range(1, STEPS + 1):
        scores = np.add.reduceat((parameters[position] * values)[by_line], line_starts) + parameters[-1]
        shares = np.exp(scores - scores.max(1, keepdims=True))
        error = (shares / shares.sum(1, keepdims=True) - target) / len(rows)
        slope = np.vstack([np.add.reduceat(error[lines] * values, starts), error.sum(0, keepdims=True)]) + DECAY * parameters
        mean += 0.1 * (slope - mean)
        square += 0.01 * (slope**2 - square)
        parameters -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    weights = np.zeros((DIMENSIONS, len(labels)), np.float32)
    weights[used] = parameters[:-1]
    return weights, parameters[-1]


def rule_trust(rows: list[Example]) -> dict[str, float]:
    """Log odds that a rule is right, smoothed by three right cases and a wrong one, from e to 99 to 1."""
    outcomes = defaultdict(list)
    for example in rows:
        guess = by_rules(example.turn)
        if guess:
            outcomes[guess.by].append(guess.label == example.label)
    return {name: min(max(log((sum(right) + 3) / (len(right) - sum(right) + 1)), 1), log(99)) for name, right in sorted(outcomes.items())}


def main(file: Path = MODEL_FILE) -> None:
    rows = list({(example.turn.text, example.label): example for example in examples()}.values())
    labels = list(dict.fromkeys(example.label for example in rows))
    weights, bias = train(learnable(rows, random.Random(1)), labels)
    trust = rule_trust(rows)
    names = np.array([f"{label.intent}/{label.sub_intent or ''}" for label in labels])
    digest = sha256(EXAMPLES.read_bytes()).hexdigest()
    np.savez_compressed(
        file,
        labels=names,
        weights=weights.astype(np.float16),
        bias=bias,
        rules=list(trust),
        trust=list(trust.values()),
        learned_from=digest,
    )
    print(f"{len(rows)} examples, {len(labels)} labels, {file.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
