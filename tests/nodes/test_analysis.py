"""The analysis graph over a real library; reading is injected where it is not what is tested."""

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from graph.analysis import build_analysis
from graph.services import Services
from memory.context import ChatContext
from memory.photos import TRIES, StoredPhoto
from memory.scope import Scope
from models.embedded.ocr import OcrLine, OcrResult
from nodes.analysis.extract import extract, validate
from settings import Settings
from tests.memory.library import new_photo

DEMO = Path(__file__).parents[2] / "server" / "demo"
ANN = Scope("ann")
CONTEXT = ChatContext(owner="ann")
BILL = ("账单详情", "晨光书店", "付款方式 花呗", "对此订单有疑问")


def text_of(*rows: str) -> OcrResult:
    lines = [
        OcrLine(text=row, box=(40, 200 + number * 100, 400, 250 + number * 100), score=0.9, row=number) for number, row in enumerate(rows)
    ]
    return OcrResult(text="\n".join(rows), lines=lines, width=1080, height=2340)


class Vision:
    """What a vision model saw, or None."""

    def __init__(self, reading: dict[str, Any] | None) -> None:
        self.reading = reading

    async def read(self, picture: bytes, *, owner: str, asset_id: str) -> tuple[dict[str, Any], str] | None:
        return (self.reading, "see-x") if self.reading is not None else None


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    async with Services.open(Settings(_env_file=None, data_dir=tmp_path, ocr_workers=1)) as opened:  # type: ignore[call-arg]
        yield opened


async def added(services: Services, *, file: str = "Screenshot_20261129-091502_Cainiao.png", content: bytes = b"bytes") -> int:
    key = await services.blobs.put(content)
    return (await services.photos.add(new_photo("a", filename=file, blob_key=key, working_key=None))).photo_id


async def analysed(services: Services, photo_id: int, *, ocr: Any, vision: Vision | None = None) -> dict[str, Any]:
    graph = build_analysis(SimpleNamespace(photos=services.photos, blobs=services.blobs, ocr=ocr, screenshots=vision))  # type: ignore[arg-type]
    state: dict[str, Any] = await graph.ainvoke({"photo_id": photo_id}, context=CONTEXT)
    return state


async def stored(services: Services, photo_id: int) -> StoredPhoto:
    found = await services.photos.get(photo_id, scope=ANN)
    assert found is not None
    return found


async def read_bill(_picture: bytes) -> OcrResult:
    return text_of(*BILL)


async def test_a_screenshot_becomes_a_row_that_is_found(services: Services) -> None:
    name = "Screenshot_20261129-091502_Cainiao.png"
    photo_id = await added(services, file=name, content=(DEMO / name).read_bytes())

    state = await services.analysis.ainvoke({"photo_id": photo_id}, context=CONTEXT)

    analysis = (await stored(services, photo_id)).analysis
    assert state["status"] == analysis.status == "done"
    assert (analysis.app_name, analysis.content_category, analysis.intent) == ("菜鸟", "shopping", "reminder")
    assert (analysis.engine, "取件码 12-4-6031" in analysis.ocr_text) == ("rapidocr", True)
    hits = (await services.knowledge.search("12-4-6031", scope=ANN)).hits
    assert [hit.photo_id for hit in hits] == [photo_id]


async def test_a_vision_model_goes_first_and_the_text_is_kept(services: Services) -> None:
    photo_id = await added(services)
    seen = {
        "summary": "一笔书店消费。",
        "app_name": "Alipay",
        "content_category": "Finance",
        "entities": [{"type": "金额", "value": "36.00"}],
    }
    await analysed(services, photo_id, ocr=read_bill, vision=Vision(seen))

    analysis = (await stored(services, photo_id)).analysis
    assert (analysis.summary, analysis.app_name, analysis.content_category) == ("一笔书店消费。", "支付宝", "finance")
    assert analysis.entities == '[{"type": "金额", "value": "36.00"}]'
    assert analysis.ocr_text == "\n".join(BILL)
    assert analysis.engine == "see-x+rapidocr"


async def test_a_vision_model_that_fails_leaves_the_rules(services: Services) -> None:
    photo_id = await added(services, file="IMG_1.png")
    await analysed(services, photo_id, ocr=read_bill, vision=Vision(None))
    analysis = (await stored(services, photo_id)).analysis
    assert (analysis.status, analysis.app_name, analysis.engine) == ("done", "支付宝", "rapidocr")


async def test_a_picture_that_cannot_be_read_fails_after_its_tries(services: Services) -> None:
    async def broken(_picture: bytes) -> OcrResult:
        raise OSError("cannot identify image file")

    photo_id = await added(services)
    endings = []
    for _ in range(TRIES):
        assert len(await services.photos.claim_pending(scope=ANN, worker="w")) == 1
        endings.append((await analysed(services, photo_id, ocr=broken))["status"])
    assert endings == ["pending"] * (TRIES - 1) + ["error"]
    assert (await stored(services, photo_id)).analysis.error_message == "OSError: cannot identify image file"


async def test_a_deleted_photo_and_another_owners_are_gone(services: Services) -> None:
    photo_id = await added(services)
    graph = build_analysis(SimpleNamespace(photos=services.photos, blobs=services.blobs, ocr=read_bill, screenshots=None))  # type: ignore[arg-type]
    assert (await graph.ainvoke({"photo_id": photo_id}, context=ChatContext(owner="bob")))["status"] == "gone"
    await services.photos.delete(photo_id, scope=ANN)
    assert (await graph.ainvoke({"photo_id": photo_id}, context=CONTEXT))["status"] == "gone"


@pytest.mark.parametrize(
    ("seen", "key", "kept"),
    [
        ({"content_category": "travel"}, "content_category", "other"),
        ({"content_category": None}, "content_category", "other"),
        ({"intent": "REMINDER "}, "intent", "reminder"),
        ({"intent": "buy"}, "intent", "reference"),
        ({"app_name": ""}, "app_name", "未知"),
        ({"app_name": ["微信"]}, "app_name", "未知"),
        ({"confidence": 7}, "confidence", 1.0),
        ({"confidence": "high"}, "confidence", 0.5),
        ({"confidence": float("nan")}, "confidence", 0.5),
        ({"entities": "周楠"}, "entities", []),
        (
            {"entities": [{"type": "心情", "value": "好"}, {"type": "人名", "value": " 周楠 "}, "x"]},
            "entities",
            [{"type": "人名", "value": "周楠"}],
        ),
        ({"entities": [{"type": "验证码", "value": 705318}] * 2}, "entities", [{"type": "取件码/验证码", "value": "705318"}]),
        ({"ocr_text": "ignored", "shell": "rm"}, "content_category", "finance"),
    ],
)
async def test_a_models_object_is_coerced_to_the_schema(seen: dict[str, Any], key: str, kept: object) -> None:
    state = await extract({"ocr": text_of(*BILL), "file_name": "IMG_1.png", "reading": {"summary": "一笔消费。", **seen}})
    draft = (await validate(state))["draft"]
    assert draft[key] == kept
    assert set(draft) == {"summary", "app_name", "content_category", "intent", "entities", "confidence"}
