"""Reading a screenshot with the vision role: the openai client against the scripted provider."""

import io
import json
from collections.abc import Sequence

import httpx
import pytest
from PIL import Image
from pydantic import SecretStr

from models.errors import ErrorClass, ModelError
from models.screenshots import ScreenshotRole, parse_object, screenshot_members
from settings import ModelSettings
from tests.fakes.provider import Play, ScriptedProvider, completion, invalid_json, safety_stop, status

READING = {"summary": "支付宝的账单详情：晨光书店 -36.00。", "app_name": "支付宝", "content_category": "finance"}


class Ledger:
    def __init__(self) -> None:
        self.rows: list[tuple[str, str, Sequence[str]]] = []

    async def append(
        self, *, owner: str, turn_id: str, role: str, model: str, ms: float, outcome: str, asset_ids: Sequence[str] = ()
    ) -> None:
        self.rows.append((model, outcome, asset_ids))


def picture() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (64, 64), "white").save(out, "PNG")
    return out.getvalue()


async def read(provider: ScriptedProvider, *plays: Play) -> tuple[tuple[dict[str, object], str] | None, Ledger]:
    provider.play(*plays)
    ledger = Ledger()
    settings = ModelSettings(model="see-x", base_url=provider.base_url, api_key=SecretStr("sk-secret"))
    async with httpx.AsyncClient() as http:
        role = ScreenshotRole(screenshot_members(settings, http=lambda: http), ledger=ledger)
        return await role.read(picture(), owner="ann", asset_id="a1"), ledger


async def test_a_model_reads_a_screenshot(provider: ScriptedProvider) -> None:
    seen, ledger = await read(provider, completion(f"```json\n{json.dumps(READING, ensure_ascii=False)}\n```"))
    assert seen == (READING, "see-x")
    assert ledger.rows == [("see-x", "ok", ["a1"])]


@pytest.mark.parametrize(
    ("plays", "outcomes"),
    [
        ((status(401),), ["auth_quota"]),
        ((safety_stop(),), ["content_policy"]),
        ((completion("一张账单"), completion("还是一张账单")), ["bad_structure", "bad_structure"]),
        ((completion("一张账单"), completion(json.dumps(READING))), ["bad_structure", "ok"]),
        ((invalid_json(), invalid_json()), ["bad_structure", "bad_structure"]),
    ],
)
async def test_what_fails_is_noted_and_leaves_the_picture_to_ocr(
    provider: ScriptedProvider, plays: tuple[Play, ...], outcomes: list[str]
) -> None:
    seen, ledger = await read(provider, *plays)
    assert (seen is None) == (outcomes[-1] != "ok")
    assert [outcome for _, outcome, _ in ledger.rows] == outcomes


def test_without_a_model_nobody_looks() -> None:
    assert screenshot_members(ModelSettings(), http=httpx.AsyncClient) == []


@pytest.mark.parametrize(
    "reply", ['{"summary": "一"}', '<think>{"summary": "x"}</think>{"summary": "一"}', '好的：\n{"summary": "一"}\n完']
)
def test_the_object_is_found_in_a_reply(reply: str) -> None:
    assert parse_object(reply) == {"summary": "一"}


@pytest.mark.parametrize(
    "reply", ["", "没有", '{"summary": "一"', '{"summary": ""}', '{"app_name": "微信"}', '{"summary": 3}', '<think>{"summary": "一"}']
)
def test_a_reply_without_a_whole_object_is_refused(reply: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_object(reply)
    assert caught.value.error_class is ErrorClass.BAD_STRUCTURE
