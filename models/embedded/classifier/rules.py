"""Loads the embedded classifier's rules from the TOML files beside this module.

A pattern is a block of text: every line is a group of alternatives, `<NAME>` stands for a block of `words.toml`.
Texts are normalised before they are matched: NFKC, lower case, simplified Chinese.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from memory.state import Intent, SubIntent

MAX_COMMAND = 80
"""Characters. Nothing longer is a plain command; whole-text patterns, which may step back a lot, are tried on nothing longer."""

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
class Matcher:
    """Holds for a text in which `pattern` is found and `unless` is not."""

    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None = None

    def __call__(self, text: str) -> bool:
        return bool(self.pattern.search(text)) and not (self.unless and self.unless.search(text))


@dataclass(frozen=True, slots=True)
class Rule:
    """A text, or one clause of it, that `matches` means `label`. `weak` rules prove an edit only beside a picture or in a plain order."""

    name: str
    label: Label
    matches: Matcher
    weak: bool


@dataclass(frozen=True, slots=True)
class RuleBook:
    """`groups` are rules in the order in which they are tried; `exact` ones must match a whole text; `plan` are reasons to plan."""

    patterns: Mapping[str, re.Pattern[str]]
    groups: Mapping[str, tuple[Rule, ...]]
    plan: Mapping[str, Matcher]

    def found(self, name: str, text: str) -> bool:
        return bool(self.patterns[name].search(text))

    def first(self, group: str, text: str) -> Rule | None:
        return next((rule for rule in self.groups[group] if rule.matches(text)), None)

    def whole(self, name: str, text: str) -> bool:
        return len(text) <= MAX_COMMAND and bool(self.patterns[name].fullmatch(text))

    def exact(self, text: str) -> Rule | None:
        if len(text) > MAX_COMMAND:
            return None
        return next((rule for rule in self.groups["exact"] if rule.matches.pattern.fullmatch(text)), None)


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((_FOLDER / name).read_text("utf8"))


def _source(block: str, words: Mapping[str, str]) -> str:
    source = "|".join(line for line in block.splitlines() if line)
    return _PLACEHOLDER.sub(lambda match: f"(?:{_source(words[match[1]], words)})", source)


def _compiled(block: str, words: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile(_source(block, words))


def _matcher(row: Mapping[str, str], words: Mapping[str, str]) -> Matcher:
    return Matcher(_compiled(row["any"], words), _compiled(row["unless"], words) if "unless" in row else None)


def _rule(row: Mapping[str, Any], words: Mapping[str, str]) -> Rule:
    return Rule(row["name"], Label(row["intent"], row.get("sub_intent")), _matcher(row, words), row.get("weak", False))


@cache
def load_rules() -> RuleBook:
    """Raises `re.error` or `KeyError` when a file is wrong; tests load them all."""
    words, intents, edits = (_read(f"{name}.toml") for name in ("words", "intents", "edits"))
    exact = [{**row, "any": f"<COMMAND_START>(?:{_source(row['any'], words)})<COMMAND_END>"} for row in intents.pop("exact")]
    patterns = {name: _compiled(block, words) for name, block in intents.pop("patterns").items()}
    groups = {name: tuple(_rule(row, words) for row in rows) for name, rows in {**intents, **edits, "exact": exact}.items()}
    plan = {row["name"]: _matcher(row, words) for row in _read("plan.toml")["plan"]}
    return RuleBook(patterns, groups, plan)
