"""The embedded fast analyzer: facts, then rules, weighed against a model learned from our own examples. No network, a few milliseconds."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from memory.state import FastAnalysisResult, Intent, Mode, RouteHints
from models.embedded.classifier.model import load_model
from models.embedded.classifier.rules import CHAT, EDIT, IMAGE_GEN, MAX_COMMAND, REDO, VIDEO_GEN, VISION, Label, Rule, RuleBook, load_rules

Clarification = Literal["no_image", "which_image", "missing_detail"]
HEAD_CHARACTERS, TAIL_CHARACTERS = 320, 160
"""What is read of a text: a request says what it wants first or last, and patterns cost up to the square of this."""
_BRIEF = 12
"""Characters of a text too short to say much."""
_CJK = r"\u3400-\u9fff"
_BLANK_IN_CJK = re.compile(rf"(?<=[{_CJK}])\s+(?=[{_CJK}a-z0-9])|(?<=[a-z0-9])\s+(?=[{_CJK}])")
_CLAUSE = re.compile(r"[,。;!?\n~…]+|\.(?=\s|$)|\b(?:and )?then\b|然后|接着|(?<=.)再(?=裁|换|把|调|加|抠|转|放大)|\s-+\s")

_UNIT = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")
_HAN = re.compile(r"[\u3400-\u9fff]")
_KEYWORDS = 6
"""Length of a text that is taken for keywords: a Chinese character counts 1, a word of another script 2."""


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

    @property
    def names(self) -> tuple[str, ...]:
        """As the learned model knows them."""
        earlier = self.n_history > 0 or self.has_last_result
        return ("attached",) * self.attached + ("earlier",) * earlier or ("none",)


@dataclass(frozen=True, slots=True)
class Verdict:
    """`by` names the rule that decided, or `examples` (the learned model), `facts`.

    `exact_command` marks rules of measured precision ≥ 0.98.
    """

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
    if len(text) > HEAD_CHARACTERS + TAIL_CHARACTERS:
        text = f"{text[:HEAD_CHARACTERS]}\n{text[-TAIL_CHARACTERS:]}"
    folded = unicodedata.normalize("NFKC", text).lower().replace("’", "'").replace("\u200b", "")
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
class Guess:
    label: Label
    by: str
    confidence: float = 0.9


@dataclass(frozen=True, slots=True)
class Turn:
    """A normalised text and its facts, with what several stages ask about them."""

    text: str
    facts: Facts
    book: RuleBook

    def has(self, pattern: str) -> bool:
        return self.book.found(pattern, self.text)

    def rule(self, group: str, text: str | None = None) -> Guess | None:
        found = self.book.first(group, self.text if text is None else text)
        return Guess(found.label, found.name) if found else None

    def proven_edit(self, part: str) -> Rule | None:
        """An edit rule that needs no further proof. Naming a style is none: new pictures have styles too."""
        found = self.book.first("edit", part)
        return found if found and not found.weak and found.label.sub_intent != "style_transfer" else None

    @property
    def parts(self) -> list[str]:
        """The parts of the text that can each be an order of their own, the whole text last."""
        return [*(part for part in map(str.strip, _CLAUSE.split(self.text)) if part), self.text]

    @property
    def signs(self) -> tuple[str, ...]:
        """What the learned model is told besides the words: the facts, and the kinds of wording that the patterns know."""
        length = "long" if len(self.text) > MAX_COMMAND else "brief" if len(self.text) < _BRIEF else "plain"
        return (*self.facts.names, length, *(name for name in self.book.patterns if self.has(name)))

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


def _exact(turn: Turn) -> Guess | None:
    found = turn.book.exact(turn.text)
    if found:
        return Guess(found.label, f"exact_command:{found.name}", 0.99)
    if turn.book.whole("chat_exact", turn.text):
        return Guess(CHAT, "exact_command:small_talk", 0.99)
    if turn.facts.candidate and turn.book.whole("redo_exact", turn.text):
        return Guess(REDO, "exact_command:redo", 0.99)
    return None


def _ordered_video(turn: Turn) -> Guess | None:
    """Said first and plainly, whatever the scene it then describes."""
    return Guess(VIDEO_GEN, "video:ordered") if turn.has("video_order") else None


def _leading_command(turn: Turn) -> Guess | None:
    """An exact edit command followed by more words ("抠图,然后换成白底")."""
    found = turn.book.exact(turn.parts[0]) if turn.facts.candidate else None
    return Guess(found.label, f"command:{found.name}") if found and found.label.intent == "image_edit" else None


def _three_d(turn: Turn) -> Guess | None:
    asks = turn.has("question") and not turn.orders
    return Guess(IMAGE_GEN, "3d") if turn.has("three_d") and not asks and not turn.has("about_writing") else None


def _guarded_chat(turn: Turn) -> Guess | None:
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
    return next((Guess(CHAT, f"chat:{name}") for name, holds in checks if holds and turn.has(name)), None)


def _restore(turn: Turn) -> Guess | None:
    return next(filter(None, (turn.rule("undo", part) for part in turn.parts)), None) if turn.facts.candidate else None


def _video(turn: Turn) -> Guess | None:
    return None if turn.questions else turn.rule("video")


def _redo(turn: Turn) -> Guess | None:
    """ "Again", unless another clause orders a change ("背景不好看,换一个")."""
    if not turn.facts.candidate:
        return None
    again = [part for part in turn.parts if turn.book.whole("redo_exact", part) or turn.rule("redo", part)]
    changes = [part for part in turn.parts[:-1] if part not in again and turn.proven_edit(part)]
    return Guess(REDO, "redo") if again and not changes else None


def _vision(turn: Turn) -> Guess | None:
    """A question about a picture is vision even when it holds edit words; a polite order is none."""
    if not (turn.facts.attached or turn.means_a_picture):
        return None
    if turn.questions and not turn.ends_in_order:
        return Guess(VISION, "vision:question")
    asks = turn.has("question") and not turn.orders and not turn.ends_in_order
    return turn.rule("vision") or (Guess(VISION, "vision:question", 0.8) if asks else None)


def _unasked(turn: Turn) -> Guess | None:
    """A question with no picture to ask about."""
    asks = turn.has("question") and not turn.orders
    return Guess(CHAT, "chat:question") if asks and not turn.facts.attached else None


def _reference(turn: Turn) -> Guess | None:
    return turn.rule("reference") if turn.facts.attached else None


def _generate(turn: Turn) -> Guess | None:
    """Something new; with a picture at hand only where nothing points at it and the first clause asks for it."""
    if turn.facts.candidate and turn.has("points" if turn.facts.attached else "points_zh"):
        return None
    first = turn.parts[0]
    edit = turn.proven_edit(first)
    if turn.facts.attached:
        made = turn.rule("generate", first)
        return Guess(edit.label, edit.name) if made and edit and edit.label.sub_intent == "remove_background" else made
    return turn.rule("generate", first if turn.facts.candidate and edit else turn.text)


def _by_mode(turn: Turn) -> Guess | None:
    label = {"3d": IMAGE_GEN, "video": VIDEO_GEN, "variations": IMAGE_GEN}.get(turn.facts.mode)
    if turn.facts.skill == "storyboard-video":
        label = VIDEO_GEN
    if label is None or (turn.facts.mode == "variations" and turn.facts.candidate):
        return None
    return Guess(label, f"mode:{turn.facts.mode}", 0.7)


def _edit(turn: Turn) -> Guess | None:
    for part in turn.parts:
        found = turn.book.first("edit", part)
        if found and _trusted(found, turn):
            return Guess(found.label, found.name)
    return None


def _trusted(rule: Rule, turn: Turn) -> bool:
    """Edit words alone are proof only beside a picture; the fewer pictures, the more the words must say."""
    if turn.facts.attached:
        return True
    if len(turn.text) > MAX_COMMAND:
        return False
    ordered = turn.has("order") or turn.has("names_picture")
    return (ordered or not rule.weak) if turn.facts.candidate else (ordered and not rule.weak)


def _generate_later(turn: Turn) -> Guess | None:
    """Looser signs of a new picture, where none is at hand to be edited."""
    return None if turn.facts.attached else turn.rule("generate") or turn.rule("generate_new")


def _named(turn: Turn) -> Guess | None:
    return None if turn.facts.candidate else turn.rule("generate_new")


def _asked_late(turn: Turn) -> Guess | None:
    """The question comes after some talk ("this is my bill, can you add it up")."""
    return next(filter(None, (turn.rule("vision", part) for part in turn.parts)), None) if turn.facts.attached else None


def _described(turn: Turn) -> Guess | None:
    """A text without a picture that is full of words for looks: light, lens, material, composition."""
    if turn.facts.attached or turn.has("question"):
        return None
    looks = set(turn.book.patterns["looks"].findall(turn.text))
    enough = 2 if turn.has("picture_order") else 4
    return Guess(IMAGE_GEN, "gen:described") if len(looks) >= enough else None


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


_DECISIVE = ("exact_command:", "command:", "restore", "mode:", "3d")
"""Rules whose word is final."""


class EmbeddedClassifier:
    """The classification role's embedded member. Loads its rules and examples once per process, at the first use."""

    def classify(self, text: str, facts: Facts) -> Verdict:
        """Always a valid result, for any text; deterministic."""
        turn = Turn(normalise(text), facts, load_rules())
        guess = _decide(turn)
        label, clarification = settle(guess.label, turn)
        return Verdict(result_of(label, clarification), guess.by, guess.confidence, guess.by.startswith("exact_command:"))


def by_rules(turn: Turn) -> Guess | None:
    """Without a picture, words that no rule knows are talk."""
    found = next(filter(None, (stage(turn) for stage in _STAGES)), None)
    return found or (None if turn.facts.attached else Guess(CHAT, "facts", 0.6))


def _decide(turn: Turn) -> Guess:
    """A rule's word raises the odds of its label by what the rule has proved worth; the best intent wins, then its best label."""
    if not turn.text:
        return Guess(VISION if turn.facts.attached else CHAT, "facts", 1.0)
    guess = by_rules(turn)
    if guess and guess.by.startswith(_DECISIVE):
        return guess
    model = load_model()
    odds = {label: share for label, share in model.probabilities(turn.text, turn.signs).items() if _possible(label, turn)}
    if guess:
        odds[guess.label] = max(odds.get(guess.label, 0.0), 1e-6) * model.odds_of(guess.by)
    intents: dict[Intent, float] = {}
    for label, value in odds.items():
        intents[label.intent] = intents.get(label.intent, 0.0) + value
    intent = max(intents, key=lambda name: intents[name])
    best = max((label for label in odds if label.intent == intent), key=lambda label: odds[label])
    return Guess(best, guess.by if guess and guess.label == best else "examples", intents[intent] / sum(intents.values()))


def _possible(label: Label, turn: Turn) -> bool:
    """What the words may mean that no rule vouches for: pictures that are not in the message must be named, or meant by a short order.

    A word or two without any picture is something to look for in the screenshots.
    """
    if label == REDO:
        return turn.facts.candidate
    if turn.facts.attached or label.intent == "chat":
        return True
    if label.intent in ("image_gen", "video_gen"):
        return sum(1 if _HAN.match(unit) else 2 for unit in _UNIT.findall(turn.text)) > _KEYWORDS
    return turn.means_a_picture or (
        label.intent == "image_edit" and turn.facts.candidate and len(turn.text) <= MAX_COMMAND and turn.has("order")
    )


def by_facts(facts: Facts) -> Verdict:
    """The verdict without reading the words: a picture is looked at, anything else is talk. For a stage that ran out of time."""
    return Verdict(result_of(VISION if facts.attached else CHAT, None), "facts", 0.3)


def settle(label: Label, turn: Turn) -> tuple[Label, Clarification | None]:
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
