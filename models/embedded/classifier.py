"""The embedded fast analyzer: facts, then rules, then the nearest of our own examples. No model, no network, a few milliseconds."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from memory.state import FastAnalysisResult, Intent, Mode, RouteHints
from models.embedded.classifier_examples import load_examples
from models.embedded.classifier_rules import CHAT, EDIT, IMAGE_GEN, MAX_COMMAND, REDO, VIDEO_GEN, VISION, Label, Rule, RuleBook, load_rules

Clarification = Literal["no_image", "which_image", "missing_detail"]
_WITH_A_PICTURE: frozenset[Intent] = frozenset({"image_edit", "vision", "video_gen"})
MAX_CHARACTERS = 2000
"""What is read of a text: a request says what it wants early, and patterns cost up to the square of this."""
_CJK = r"\u3400-\u9fff"
_BLANK_IN_CJK = re.compile(rf"(?<=[{_CJK}])\s+(?=[{_CJK}a-z0-9])|(?<=[a-z0-9])\s+(?=[{_CJK}])")
_CLAUSE = re.compile(r"[,。;!?\n~…]+|\.(?=\s|$)|\b(?:and )?then\b|然后|接着|(?<=.)再(?=裁|换|把|调|加|抠|转|放大)|\s-+\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known about the turn besides its words."""

    n_images: int = 0
    n_history: int = 0
    has_last_result: bool = False
    mode: Mode = "auto"
    skill: str = ""

    @property
    def attached(self) -> bool:
        return self.n_images > 0

    @property
    def candidate(self) -> bool:
        """Whether there is any picture that the words could mean."""
        return self.attached or self.n_history > 0 or self.has_last_result


@dataclass(frozen=True, slots=True)
class Verdict:
    """`by` names the rule that decided, or `examples`, `facts`; `exact_command` marks rules of measured precision ≥ 0.98."""

    result: FastAnalysisResult
    by: str
    confidence: float
    exact_command: bool = False


@cache
def _simplifier() -> Any:
    from opencc import OpenCC

    return OpenCC("t2s")


def normalise(text: str) -> str:
    """One spelling: NFKC, lower case, simplified Chinese; a blank beside Chinese is a pause."""
    folded = unicodedata.normalize("NFKC", text[:MAX_CHARACTERS]).lower().replace("’", "'").replace("\u200b", "")
    return _BLANK_IN_CJK.sub(",", _simplifier().convert(folded).strip())


def result_of(label: Label, clarification: Clarification | None) -> FastAnalysisResult:
    return FastAnalysisResult(
        intent=label.intent,
        sub_intent=label.sub_intent if label.intent == "image_edit" else None,
        complexity="simple",
        needs_clarification=clarification is not None,
        clarification_reason=clarification,
        route_hints=RouteHints(
            prefer_vision_model=label.intent == "vision",
            prefer_edit_model=label.intent == "image_edit",
            prefer_video_planner=label.intent == "video_gen",
        ),
    )


@dataclass(frozen=True, slots=True)
class _Guess:
    label: Label
    by: str
    confidence: float = 0.9


@dataclass(frozen=True, slots=True)
class _Turn:
    """A normalised text and its facts, with what several stages ask about them."""

    text: str
    facts: Facts
    book: RuleBook

    def has(self, pattern: str) -> bool:
        return self.book.found(pattern, self.text)

    def rule(self, group: str, text: str | None = None) -> _Guess | None:
        found = self.book.first(group, self.text if text is None else text)
        return _Guess(found.label, found.name) if found else None

    def proven_edit(self, part: str) -> Rule | None:
        """An edit rule that needs no further proof. Naming a style is none: new pictures have styles too."""
        found = self.book.first("edit", part)
        return found if found and not found.weak and found.label.sub_intent != "style_transfer" else None

    @property
    def parts(self) -> list[str]:
        """The parts of the text that can each be an order of their own, the whole text last."""
        return [*(part for part in map(str.strip, _CLAUSE.split(self.text)) if part), self.text]

    @property
    def orders(self) -> bool:
        """A polite order in the form of a question ("能帮我…吗", "could you …")."""
        return self.has("asks_for_action")

    @property
    def questions(self) -> bool:
        """A question by its question word."""
        return self.has("wh_question_en") or (self.has("wh_question_zh") and not self.orders)

    @property
    def ends_in_order(self) -> bool:
        """A complaint or question first, then an order in its own clause ("怎么六根手指,改正常")."""
        last = self.parts[-2] if len(self.parts) > 2 else ""
        asks = self.book.found("question", last)
        return bool(last) and not asks and self.book.found("order", last) and self.book.first("edit", last) is not None

    @property
    def means_a_picture(self) -> bool:
        """Words that name a picture, and there is an earlier one that they could mean."""
        return self.facts.candidate and len(self.text) <= MAX_COMMAND and self.has("names_picture")


def _exact(turn: _Turn) -> _Guess | None:
    found = turn.book.exact(turn.text)
    if found:
        return _Guess(found.label, f"exact_command:{found.name}", 0.99)
    if turn.book.whole("chat_exact", turn.text):
        return _Guess(CHAT, "exact_command:small_talk", 0.99)
    if turn.facts.candidate and turn.book.whole("redo_exact", turn.text):
        return _Guess(REDO, "exact_command:redo", 0.99)
    return None


def _ordered_video(turn: _Turn) -> _Guess | None:
    """Said first and plainly, whatever the scene it then describes."""
    return _Guess(VIDEO_GEN, "video:ordered") if turn.has("video_order") else None


def _leading_command(turn: _Turn) -> _Guess | None:
    """An exact edit command followed by more words ("抠图,然后换成白底")."""
    found = turn.book.exact(turn.parts[0]) if turn.facts.candidate else None
    return _Guess(found.label, f"command:{found.name}") if found and found.label.intent == "image_edit" else None


def _three_d(turn: _Turn) -> _Guess | None:
    asks = turn.has("question") and not turn.orders
    return _Guess(IMAGE_GEN, "3d") if turn.has("three_d") and not asks and not turn.has("about_writing") else None


def _guarded_chat(turn: _Turn) -> _Guess | None:
    """Talk that holds picture words: how-to, concepts, work on texts, the screenshot library."""
    if turn.facts.attached:
        return None
    checks = (
        ("no_picture_wanted", True),
        ("capability", True),
        ("how_to", not turn.orders),
        ("library", not (turn.facts.candidate and turn.has("points_zh"))),
        ("concept", not turn.orders and not turn.means_a_picture),
        ("about_writing", not turn.means_a_picture),
    )
    return next((_Guess(CHAT, f"chat:{name}") for name, holds in checks if holds and turn.has(name)), None)


def _restore(turn: _Turn) -> _Guess | None:
    return next(filter(None, (turn.rule("undo", part) for part in turn.parts)), None) if turn.facts.candidate else None


def _video(turn: _Turn) -> _Guess | None:
    return None if turn.questions else turn.rule("video")


def _redo(turn: _Turn) -> _Guess | None:
    """ "Again", unless another clause orders a change ("背景不好看,换一个")."""
    if not turn.facts.candidate:
        return None
    again = [part for part in turn.parts if turn.book.whole("redo_exact", part) or turn.rule("redo", part)]
    changes = [part for part in turn.parts[:-1] if part not in again and turn.proven_edit(part)]
    return _Guess(REDO, "redo") if again and not changes else None


def _vision(turn: _Turn) -> _Guess | None:
    """A question about a picture is vision even when it holds edit words; a polite order is none."""
    if not (turn.facts.attached or turn.means_a_picture):
        return None
    if turn.questions and not turn.ends_in_order:
        return _Guess(VISION, "vision:question")
    asks = turn.has("question") and not turn.orders and not turn.ends_in_order
    return turn.rule("vision") or (_Guess(VISION, "vision:question", 0.8) if asks else None)


def _unasked(turn: _Turn) -> _Guess | None:
    """A question with no picture to ask about."""
    asks = turn.has("question") and not turn.orders
    return _Guess(CHAT, "chat:question") if asks and not turn.facts.attached else None


def _reference(turn: _Turn) -> _Guess | None:
    return turn.rule("reference") if turn.facts.attached else None


def _generate(turn: _Turn) -> _Guess | None:
    """Something new; with a picture at hand only where nothing points at it and the first clause asks for it."""
    if turn.facts.candidate and turn.has("points" if turn.facts.attached else "points_zh"):
        return None
    first = turn.parts[0]
    edit = turn.proven_edit(first)
    if turn.facts.attached:
        made = turn.rule("generate", first)
        return _Guess(edit.label, edit.name) if made and edit and edit.label.sub_intent == "remove_background" else made
    return turn.rule("generate", first if turn.facts.candidate and edit else turn.text)


def _by_mode(turn: _Turn) -> _Guess | None:
    label = {"3d": IMAGE_GEN, "video": VIDEO_GEN, "variations": IMAGE_GEN}.get(turn.facts.mode)
    if turn.facts.skill == "storyboard-video":
        label = VIDEO_GEN
    if label is None or (turn.facts.mode == "variations" and turn.facts.candidate):
        return None
    return _Guess(label, f"mode:{turn.facts.mode}", 0.7)


def _edit(turn: _Turn) -> _Guess | None:
    for part in turn.parts:
        found = turn.book.first("edit", part)
        if found and _trusted(found, turn):
            return _Guess(found.label, found.name)
    return None


def _trusted(rule: Rule, turn: _Turn) -> bool:
    """Edit words alone are proof only beside a picture; the fewer pictures, the more the words must say."""
    if turn.facts.attached:
        return True
    if len(turn.text) > MAX_COMMAND:
        return False
    ordered = turn.has("order") or turn.has("names_picture")
    return (ordered or not rule.weak) if turn.facts.candidate else (ordered and not rule.weak)


def _generate_later(turn: _Turn) -> _Guess | None:
    """Looser signs of a new picture, where none is at hand to be edited."""
    return None if turn.facts.attached else turn.rule("generate") or turn.rule("generate_new")


def _named(turn: _Turn) -> _Guess | None:
    return None if turn.facts.candidate else turn.rule("generate_new")


def _asked_late(turn: _Turn) -> _Guess | None:
    """The question comes after some talk ("this is my bill, can you add it up")."""
    return next(filter(None, (turn.rule("vision", part) for part in turn.parts)), None) if turn.facts.attached else None


def _described(turn: _Turn) -> _Guess | None:
    """A text without a picture that is full of words for looks: light, lens, material, composition."""
    if turn.facts.attached or turn.has("question"):
        return None
    looks = set(turn.book.patterns["looks"].findall(turn.text))
    enough = 2 if turn.has("picture_order") else 4
    return _Guess(IMAGE_GEN, "gen:described") if len(looks) >= enough else None


_STAGES = (
    _exact,
    _ordered_video,
    _leading_command,
    _three_d,
    _described,
    _guarded_chat,
    _restore,
    _video,
    _redo,
    _vision,
    _unasked,
    _reference,
    _generate,
    _by_mode,
    _named,
    _edit,
    _generate_later,
    _asked_late,
)


class EmbeddedClassifier:
    """The classification role's embedded member. Loads its rules and examples once per process, at the first use."""

    def classify(self, text: str, facts: Facts) -> Verdict:
        """Always a valid result, for any text; deterministic."""
        turn = _Turn(normalise(text), facts, load_rules())
        guess = _decide(turn)
        label, clarification = settle(guess.label, turn)
        return Verdict(result_of(label, clarification), guess.by, guess.confidence, guess.by.startswith("exact_command:"))


def _decide(turn: _Turn) -> _Guess:
    if not turn.text:
        return _Guess(VISION if turn.facts.attached else CHAT, "facts", 1.0)
    guess = next(filter(None, (stage(turn) for stage in _STAGES)), None)
    if guess:
        return guess
    if turn.facts.attached:
        label, confidence = load_examples().nearest(turn.text, among=_WITH_A_PICTURE)
        return _Guess(label, "examples", confidence)
    return _Guess(CHAT, "facts", 0.6)


def by_facts(facts: Facts) -> Verdict:
    """The verdict without reading the words: a picture is looked at, anything else is talk. For a stage that ran out of time."""
    return Verdict(result_of(VISION if facts.attached else CHAT, None), "facts", 0.3)


def settle(label: Label, turn: _Turn) -> tuple[Label, Clarification | None]:
    """The label as the turn's facts allow it, and what must be asked of the user."""
    if label.intent == "vision" and not turn.facts.candidate:
        return CHAT, None
    if label.intent != "image_edit":
        return label, None
    if not turn.facts.candidate:
        return (EDIT if label == REDO else label), "no_image"
    if label == REDO and not turn.facts.has_last_result:
        return EDIT, "missing_detail"
    if label == EDIT and turn.book.whole("bare_edit", turn.text):
        return label, "missing_detail"
    return label, None
