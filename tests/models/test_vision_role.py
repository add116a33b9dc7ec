"""The vision role: what a multimodal model is sent over the wire, and what OCR and counting answer in its place."""

import base64
import io
from collections.abc import Sequence

import httpx
import pytest
from PIL import Image
from pydantic import SecretStr

from memory.scope import Scope
from models.remote.vision import LONGEST_SIDE, data_uri
from models.vision import VisionReply, VisionRole, vision_members
from settings import ModelSettings
from tests.fakes.provider import (
    Play,
    Request,
    ScriptedProvider,
    completion,
    cut,
    empty_choices,
    hang,
    html_page,
    invalid_json,
    reset,
    safety_stop,
    status,
)
from tests.models.ledger import Ledger

ANN = Scope("ann")


def sent_in(ledger: Ledger) -> list[tuple[str, str, list[str]]]:
    """(model, outcome, pictures) of each attempt."""
    assert {(row["turn_id"], row["role"]) for row in ledger.rows} <= {("t1", "vision")}
    return [(row["model"], row["outcome"], list(row["asset_ids"])) for row in ledger.rows]


class Pictures:
    """Pictures of one owner, in memory."""

    def __init__(self, **pictures: Image.Image) -> None:
        self.reads: list[str] = []
        self._encoded = {name: encoded(picture) for name, picture in pictures.items()}

    async def read(self, asset_id: str, *, scope: Scope) -> bytes:
        self.reads.append(asset_id)
        if scope != ANN or asset_id not in self._encoded:
            raise FileNotFoundError(asset_id)
        return self._encoded[asset_id]


def encoded(picture: Image.Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


async def read_text(data: bytes) -> str:
    with Image.open(io.BytesIO(data)) as picture:
        return f"{picture.width} 号楼"


RED, BLUE = Image.new("RGB", (60, 40), (220, 20, 20)), Image.new("RGB", (30, 30), (20, 60, 220))


async def look(
    provider: ScriptedProvider | None,
    *plays: Play,
    pictures: Pictures | None = None,
    asset_ids: Sequence[str] = ("red",),
    question: str = "图里是什么颜色",
    scope: Scope = ANN,
    seconds: float = 20,
) -> tuple[VisionReply, Ledger]:
    ledger = Ledger()
    settings = ModelSettings()
    if provider:
        provider.play(*plays)
        settings = ModelSettings(model="see-x", base_url=provider.base_url, api_key=SecretStr("sk-secret"))
    async with httpx.AsyncClient() as http:
        shown = pictures or Pictures(red=RED, blue=BLUE)
        role = VisionRole(vision_members(settings, pictures=shown, read_text=read_text, http=lambda: http), ledger=ledger)
        reply = await role.look(question, asset_ids=asset_ids, scope=scope, turn_id="t1", seconds=seconds)
    return reply, ledger


def sent(request: Request) -> list[Image.Image]:
    """The pictures of a request, which must be JPEG data URIs."""
    parts = [part["image_url"]["url"] for part in request.json["messages"][-1]["content"] if part["type"] == "image_url"]
    found = []
    for uri in parts:
        head, _, body = uri.partition(",")
        assert head == "data:image/jpeg;base64"
        picture = Image.open(io.BytesIO(base64.b64decode(body, validate=True)))
        picture.load()
        assert picture.format == "JPEG"
        found.append(picture)
    return found


async def test_a_multimodal_model_sees_each_picture_once_and_in_order(provider: ScriptedProvider):
    reply, ledger = await look(provider, completion("一红一蓝"), asset_ids=["red", "blue"])
    assert (reply.text, reply.member, reply.degraded, reply.error_type) == ("一红一蓝", "see-x", False, None)
    assert sent_in(ledger) == [("see-x", "ok", ["red", "blue"])]
    request = provider.requests[0]
    assert request.headers["authorization"] == "Bearer sk-secret"
    assert request.json["model"] == "see-x"
    assert request.json["messages"][-1]["content"][0] == {"type": "text", "text": "图里是什么颜色"}
    assert [picture.size for picture in sent(request)] == [(60, 40), (30, 30)]


async def test_a_large_picture_is_sent_smaller_in_its_proportions(provider: ScriptedProvider):
    await look(provider, completion("长图"), pictures=Pictures(red=Image.new("RGB", (1000, 5000), "red")))
    [picture] = sent(provider.requests[0])
    assert picture.size == (round(1000 * LONGEST_SIDE / 5000), LONGEST_SIDE)


@pytest.mark.parametrize("mode", ["L", "LA", "P", "RGBA", "CMYK", "1"])
def test_every_kind_of_picture_becomes_a_jpeg(mode: str):
    out = io.BytesIO()
    Image.new(mode, (8, 8)).save(out, "TIFF")
    assert data_uri(out.getvalue()).startswith("data:image/jpeg;base64,")


async def test_what_is_transparent_is_sent_as_white(provider: ScriptedProvider):
    await look(provider, completion("空白"), pictures=Pictures(red=Image.new("RGBA", (9, 9), (0, 0, 0, 0))))
    assert sent(provider.requests[0])[0].getpixel((4, 4)) == (255, 255, 255)


async def test_every_attempt_makes_its_payload_anew_and_sends_the_same_pictures(provider: ScriptedProvider):
    pictures = Pictures(red=RED, blue=BLUE)
    reply, ledger = await look(provider, status(500), completion("好"), pictures=pictures, asset_ids=["blue", "red"])
    assert (reply.text, reply.degraded) == ("好", False)
    assert sent_in(ledger) == [("see-x", "transient", ["blue", "red"]), ("see-x", "ok", ["blue", "red"])]
    assert pictures.reads == ["blue", "red"] * 2
    first, second = (request.json["messages"] for request in provider.requests)
    assert first == second


@pytest.mark.parametrize(
    ("plays", "outcomes"),
    [
        ([status(401)], ["auth_quota"]),
        ([status(404)], ["model_not_found"]),
        ([status(429)], ["rate_limited"]),
        ([status(503)], ["capacity"]),
        ([status(400, {"error": {"message": "This model does not support image input"}})], ["capability"]),
        ([status(400, {"error": {"message": "image_url is only supported by certain models: invalid content"}})], ["capability"]),
        ([status(400, {"error": {"message": "Unsupported image: image exceeds 5 MB maximum"}})], ["invalid_media"]),
        ([status(500)] * 2, ["transient"] * 2),
        ([cut("图里是")] * 2, ["transient"] * 2),
        ([reset()] * 2, ["transient"] * 2),
        ([completion("")] * 2, ["empty_result"] * 2),
        ([empty_choices()] * 2, ["bad_structure"] * 2),
        ([invalid_json()] * 2, ["bad_structure"] * 2),
        ([html_page()] * 2, ["bad_structure"] * 2),
        ([status(200, {"error": {"message": "upstream"}})] * 2, ["transient"] * 2),
        ([status(200, {"id": "1", "choices": None})] * 2, ["bad_structure"] * 2),
    ],
)
async def test_when_the_model_fails_ocr_and_counting_answer_degraded(provider: ScriptedProvider, plays: list[Play], outcomes: list[str]):
    reply, ledger = await look(provider, *plays, question="图里写了什么？主要颜色是什么？")
    assert (reply.member, reply.degraded, reply.error_type) == ("embedded", True, None)
    assert "60 号楼" in reply.text
    assert "红色" in reply.text
    assert sent_in(ledger) == [("see-x", outcome, ["red"]) for outcome in outcomes]


async def test_a_model_that_hangs_leaves_time_for_ocr(provider: ScriptedProvider):
    reply, ledger = await look(provider, hang(), seconds=1.5)
    assert (reply.member, reply.degraded) == ("embedded", True)
    assert sent_in(ledger) == [("see-x", "timeout_ambiguous", ["red"])]


@pytest.mark.parametrize(
    "refusal",
    [
        safety_stop(),
        completion("", finish_reason="IMAGE_SAFETY"),
        completion("", finish_reason="sensitive"),
        status(400, {"error": {"message": "InputImageSensitiveContentDetected"}}),
        status(200, {"error": {"message": "DataInspectionFailed", "code": "data_inspection_failed"}}),
    ],
)
@pytest.mark.parametrize(("question", "opening"), [("这是谁", "警告: "), ("Who is this?", "Warning: ")])
async def test_a_refused_picture_is_not_described_by_anybody_else(provider: ScriptedProvider, refusal: Play, question: str, opening: str):
    reply, ledger = await look(provider, refusal, question=question)
    assert (reply.member, reply.degraded, reply.error_type) == ("none", False, "content_policy")
    assert reply.text.startswith(opening)
    assert sent_in(ledger) == [("see-x", "content_policy", ["red"])]


@pytest.mark.parametrize(("asset_id", "scope"), [("gone", ANN), ("red", Scope("bob"))])
async def test_a_picture_that_is_gone_or_another_owners_is_sent_to_nobody(provider: ScriptedProvider, asset_id: str, scope: Scope):
    for configured in (provider, None):
        reply, _ = await look(configured, asset_ids=["red", asset_id], scope=scope)
        assert (reply.error_type, reply.member) == ("media_error", "none")
        assert "已被删除" in reply.text
    assert provider.requests == []


async def test_without_a_model_ocr_and_counting_answer_undegraded():
    reply, ledger = await look(None, asset_ids=["red", "blue"], question="提取文字")
    assert (reply.member, reply.degraded, reply.error_type) == ("embedded", False, None)
    assert reply.text.index("**第 1 张**") < reply.text.index("60 号楼") < reply.text.index("**第 2 张**") < reply.text.index("30 号楼")
    assert sent_in(ledger) == []


async def test_pictures_are_numbered_in_the_users_language():
    reply, _ = await look(None, asset_ids=["red", "blue"], question="Which colours are these?")
    assert "**Picture 2**" in reply.text
    assert "blue" in reply.text
