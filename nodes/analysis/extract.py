"""Middle of an analysis: rules over the text, the vision model's word above theirs, then only values of the schema."""

import asyncio
from dataclasses import asdict
from typing import Any

from models.embedded.screen.analyze import CATEGORIES, INTENTS, analyze_screen
from models.embedded.screen.apps import UNKNOWN_APP, canonical_app
from models.embedded.screen.entities import ENTITY_TYPES
from nodes.analysis.state import AnalysisState

_LONGEST_SUMMARY = 1000
_LONGEST_NAME = 64
_LONGEST_VALUE = 200
_MOST_ENTITIES = 60
_ALIASES = {"取件码": "取件码/验证码", "验证码": "取件码/验证码", "person": "人名", "company": "公司", "amount": "金额", "date": "日期"}


async def extract(state: AnalysisState) -> AnalysisState:
    """By rules; where a vision model has read the picture, its fields replace theirs."""
    ocr = state["ocr"]
    found = await asyncio.to_thread(analyze_screen, ocr, file_name=state["file_name"], width=ocr["width"], height=ocr["height"])
    draft = asdict(found)
    draft.update({key: value for key, value in (state["reading"] or {}).items() if key in draft})
    return AnalysisState(draft=draft)


async def validate(state: AnalysisState) -> AnalysisState:
    """Unknown categories and intents become the least specific ones, entities of other types are dropped."""
    draft = state["draft"]
    return AnalysisState(
        draft={
            "summary": _text(draft["summary"], _LONGEST_SUMMARY),
            "app_name": canonical_app(_text(draft["app_name"], _LONGEST_NAME)) or UNKNOWN_APP,
            "content_category": _one_of(draft["content_category"], CATEGORIES, otherwise="other"),
            "intent": _one_of(draft["intent"], INTENTS, otherwise="reference"),
            "entities": _entities(draft["entities"]),
            "confidence": _fraction(draft["confidence"]),
        }
    )


def _text(value: Any, longest: int) -> str:
    return value.strip()[:longest] if isinstance(value, str) else ""


def _one_of(value: Any, known: tuple[str, ...], *, otherwise: str) -> str:
    name = value.strip().lower() if isinstance(value, str) else ""
    return name if name in known else otherwise


def _entities(value: Any) -> list[dict[str, str]]:
    found = [_entity(item) for item in value] if isinstance(value, list) else []
    kept = dict.fromkeys((entity["type"], entity["value"]) for entity in found if entity)
    return [{"type": kind, "value": text} for kind, text in list(kept)[:_MOST_ENTITIES]]


def _entity(item: Any) -> dict[str, str] | None:
    if not isinstance(item, dict):
        return None
    kind = _text(item.get("type"), _LONGEST_NAME)
    kind = _ALIASES.get(kind.lower(), kind)
    value = item.get("value")
    text = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else _text(value, _LONGEST_VALUE)
    return {"type": kind, "value": text} if kind in ENTITY_TYPES and text else None


def _fraction(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return 0.5
    return round(min(1.0, max(0.0, float(value))), 2)
