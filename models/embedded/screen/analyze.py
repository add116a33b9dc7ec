"""What a screenshot is, by rules over its text: app, category, intent, entities and a summary made of its own lines."""

import functools
import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal, get_args

from pydantic import TypeAdapter

from models.embedded.ocr import OcrResult
from models.embedded.screen.apps import UNKNOWN_APP, AppGuess, guess_app
from models.embedded.screen.entities import find_entities
from models.embedded.screen.layout import Screen, read_layout
from models.embedded.screen.summary import NO_TEXT, summarise

Category = Literal["chat", "webpage", "notification", "social_media", "finance", "education", "shopping", "entertainment", "tool", "other"]
ScreenIntent = Literal["reminder", "research", "reference", "note", "ignore"]
CATEGORIES: tuple[str, ...] = get_args(Category)
INTENTS: tuple[str, ...] = get_args(ScreenIntent)

_STRONG = 3  # one strong word says as much as three ordinary ones
_ENOUGH = 3
_SURE = 6
_AGREES = 2  # a kind of the app's own category
_USUAL_KIND = {"chat": "聊天记录", "webpage": "网页"}  # what their apps show unless another kind is sure
_LONG_ROW = 20  # characters of a row of running text
_LONG_TEXT = 80  # characters of running text in an article


@dataclass(frozen=True, slots=True)
class ScreenAnalysis:
    """`entities`: `[{"type", "value"}]` with the types of `ENTITY_TYPES`; `confidence`: 0-1."""

    summary: str
    app_name: str
    content_category: Category
    intent: ScreenIntent
    entities: list[dict[str, str]]
    confidence: float


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of page: what people call it and search it by, and the category and intent it usually has."""

    name: str
    domain: str
    category: Category
    intent: ScreenIntent
    strong: tuple[str, ...]
    words: tuple[str, ...]


def analyze_screen(ocr: OcrResult, *, file_name: str, width: int, height: int) -> ScreenAnalysis:
    """Pure. `width`, `height` in px of the picture the text was read from."""
    screen = read_layout(OcrResult(text=ocr["text"], lines=ocr["lines"], width=width, height=height))
    guess = guess_app(screen, file_name=file_name)
    if not screen.rows:
        return ScreenAnalysis(NO_TEXT, guess.name if guess.by == "filename" else UNKNOWN_APP, "other", "ignore", [], 0.3)
    kind, score = _kind(screen, guess)
    category = _category(screen, guess, kind, score)
    entities = find_entities(screen, chat=category == "chat")
    return ScreenAnalysis(
        summary=summarise(screen, app=guess.name, kind=kind.name if kind else "", domain=kind.domain if kind else "", entities=entities),
        app_name=guess.name,
        content_category=category,
        intent=kind.intent if kind else _usual_intent(screen, guess),
        entities=entities,
        confidence=_confidence(ocr, guess, score),
    )


@functools.cache
def kinds() -> tuple[Kind, ...]:
    lines = files(__package__).joinpath("kinds.jsonl").read_text(encoding="utf8").splitlines()
    return tuple(map(TypeAdapter(Kind).validate_json, lines))


def _kind(screen: Screen, guess: AppGuess) -> tuple[Kind | None, int]:
    """The best supported kind, and how well: at least one strong word, or None."""
    best: Kind | None = None
    most = 0
    for kind in kinds():
        strong = sum(screen.has(word) for word in kind.strong)
        if not strong or not _may_show(guess, kind):
            continue
        score = _STRONG * strong + sum(screen.has(word) for word in kind.words)
        score += _AGREES if guess.app and guess.app.category == kind.category else 0
        if score > most:
            best, most = kind, score
    if guess.app and guess.app.category in _USUAL_KIND and (best is None or (best.category != guess.app.category and most < _SURE)):
        return next(kind for kind in kinds() if kind.name == _USUAL_KIND[guess.app.category]), _ENOUGH
    return (best, most) if most >= _ENOUGH else (None, 0)


def _may_show(guess: AppGuess, kind: Kind) -> bool:
    """Messages and chats are about everything: only their own kinds, and the pages the app is known to have."""
    app = guess.app
    if app is None or app.category not in ("chat", "notification"):
        return True
    return kind.category == app.category or kind.name in app.pages


def _category(screen: Screen, guess: AppGuess, kind: Kind | None, score: int) -> Category:
    app = guess.app
    if app is not None and not (kind and _replaces(app.pages, kind, score)):
        return _as_category(app.category)
    if kind is not None:
        return kind.category
    return "webpage" if _is_article(screen) else "other"


def _replaces(pages: tuple[str, ...], kind: Kind, score: int) -> bool:
    return "*" in pages or (kind.name in pages and score >= _SURE)


def _as_category(value: str) -> Category:
    return next((category for category in get_args(Category) if category == value), "other")


def _usual_intent(screen: Screen, guess: AppGuess) -> ScreenIntent:
    if guess.app and guess.app.category == "chat":
        return "note"
    return "research" if _is_article(screen) else "reference"


def _is_article(screen: Screen) -> bool:
    rows = [re.sub(r"\s", "", "".join(cell.text for cell in row)) for row in screen.rows]
    long = sum(len(row) for row in rows if len(row) >= _LONG_ROW)
    return long >= _LONG_TEXT and long >= 0.6 * sum(map(len, rows))


def _confidence(ocr: OcrResult, guess: AppGuess, score: int) -> float:
    read = sum(line["score"] for line in ocr["lines"]) / max(1, len(ocr["lines"]))
    known = {"text": 1.0, "filename": 1.0, "layout": 0.6, "none": 0.0}[guess.by]
    return round(read * (0.4 + 0.3 * known + 0.3 * min(1.0, score / _SURE)), 2)
