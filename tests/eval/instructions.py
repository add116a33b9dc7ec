"""Rows without answers → intent, sub-intent and path, by the product's own classifier and routing."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from memory.state import ResolvedChatInput, ResolvedMediaRef
from models.embedded.classifier.classifier import EmbeddedClassifier, Facts
from nodes.routing import MULTI_STEP_SKILLS, should_enter_heavy_planning


async def predict(source: Path) -> AsyncIterator[dict[str, Any]]:
    classifier = EmbeddedClassifier()
    with source.open(encoding="utf8") as lines:
        for line in lines:
            yield answer(json.loads(line), classifier)


def answer(row: dict[str, Any], classifier: EmbeddedClassifier) -> dict[str, Any]:
    facts = Facts(
        n_images=row.get("n_images") or 0,
        n_history=row.get("history_images") or 0,
        has_last_result=bool(row.get("has_last_result")),
        mode=row.get("mode") or "auto",
        skill=row.get("skill") or "",
    )
    result = classifier.classify(row["text"], facts).result
    heavy, _ = should_enter_heavy_planning(
        turn(row["text"], facts.n_images), result, mode=facts.mode, skill_steps=facts.skill in MULTI_STEP_SKILLS
    )
    return {"id": row["id"], "intent": result["intent"], "sub_intent": result["sub_intent"], "heavy": heavy}


def turn(text: str, n_images: int) -> ResolvedChatInput:
    """A resolved input with that many uploaded pictures."""
    refs = [
        ResolvedMediaRef(
            asset_id=f"u{i}",
            kind="image",
            source="current_message",
            url=f"asset://u{i}",
            transport="inline",
            mime_type="image/png",
            width=None,
            height=None,
            file_name=None,
        )
        for i in range(n_images)
    ]
    return ResolvedChatInput(text=text, image_refs=refs, video_refs=[], file_refs=[], from_history=False, problems=[])
