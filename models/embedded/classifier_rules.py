"""Loads the embedded classifier's rules from the TOML files beside this module.

A pattern is a block of text: every line is a group of alternatives, `<NAME>` stands for a block of `classifier_words.toml`.
Texts are normalised before they are matched: NFKC, lower case, simplified Chinese.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from memory.state import Intent, SubIntent

_FOLDER = Path(__file__).parent
_PLACEHOLDER = re.compile(r"<([A-Z_]+)>")


class Label(NamedTuple):
    intent: Intent
    sub_intent: SubIntent | None = None


CHAT = Label("chat")
VISION = Label("vision")
IMAGE_GEN = Label("image_gen")
VIDEO_GEN = Label("video_gen")
EDIT = Label("image_edit")
REDO = Label("image_edit", "redo")


@dataclass(frozen=True, slots=True)
class Rule:
    """`pattern` found and `unless` not found in a text (or one clause of it) means `label`.

    `weak` rules prove an edit only beside a picture or in a plain order.
    """

    name: str
    label: Label
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None
    weak: bool

    def matches(self, text: str) -> bool:
        return bool(self.pattern.search(text)) and not (self.unless and self.unless.search(text))


@dataclass(frozen=True, slots=True)
class RuleBook:
    """`groups` are rules in the order in which they are tried; `exact` patterns must match a whole text."""

    patterns: Mapping[str, re.Pattern[str]]
    groups: Mapping[str, tuple[Rule, ...]]

    def found(self, name: str, text: str) -> bool:
        return bool(self.patterns[name].search(text))

    def first(self, group: str, text: str) -> Rule | None:
        return next((rule for rule in self.groups[group] if rule.matches(text)), None)

    def exact(self, text: str) -> Rule | None:
        return next((rule for rule in self.groups["exact"] if rule.pattern.fullmatch(text)), None)


def first_match(rules: Iterable[Rule], text: str) -> Rule | None:
    return next((rule for rule in rules if rule.matches(text)), None)


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((_FOLDER / name).read_text("utf8"))


def _source(block: str, words: Mapping[str, str]) -> str:
    source = "|".join(line for line in block.splitlines() if line)
    return _PLACEHOLDER.sub(lambda match: f"(?:{_source(words[match[1]], words)})", source)


@cache
def load_rules() -> RuleBook:
    """Raises `re.error` or `KeyError` when a file is wrong; a test loads them all."""
    words, intents, edits = _read("classifier_words.toml"), _read("classifier_intents.toml"), _read("classifier_edits.toml")

    def compiled(block: str) -> re.Pattern[str]:
        return re.compile(_source(block, words))

    def rule(row: Mapping[str, Any], group: str) -> Rule:
        source = f"<COMMAND_START>(?:{row['any']})<COMMAND_END>" if group == "exact" else row["any"]
        unless = compiled(row["unless"]) if "unless" in row else None
        label = Label(row["intent"], row.get("sub_intent"))
        return Rule(row["name"], label, compiled(source), unless, row.get("weak", False))

    groups = {name: rows for name, rows in (intents | edits).items() if isinstance(rows, list)}
    return RuleBook(
        patterns={name: compiled(block) for name, block in intents["patterns"].items()},
        groups={name: tuple(rule(row, name) for row in rows) for name, rows in groups.items()},
    )
