import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from memory.assets import Assets
from memory.blobs import BlobStore
from memory.database import Database
from memory.inline import may_hold_bytes, store_inline
from memory.parts import parse_message
from settings import Settings
from tests.memory.pictures import base64_of, data_url, encoded, picture

BASE = "https://app.example"
PNG = encoded()
OTHER = encoded(picture(30, 30))


@pytest.fixture
def door(sqlite_db: Database, sqlite_settings: Settings):
    assets = Assets(sqlite_db, BlobStore.open(sqlite_settings))

    async def store(message):
        return await store_inline(message, assets=assets, owner="me", base_url=BASE, message_uid="m1")

    return store


def media_of(message) -> list[str]:
    return [f"asset://{item.asset_id}" if item.asset_id else item.url for item in parse_message(message, base_url=BASE).candidates]


async def test_parts_become_a_message_of_references(door) -> None:
    parts = [{"type": "text", "text": "换背景"}, {"type": "file", "mediaType": "image/png", "url": data_url(PNG)}]
    message = await door({"role": "user", "id": "m1", "parts": parts})
    assert isinstance(message, HumanMessage)
    assert message.id == "m1"
    text, image = message.content
    assert text == {"type": "text", "text": "换背景"}
    assert image["type"] == "image"
    assert image["url"].startswith("asset://")
    assert base64_of(PNG)[:40] not in message.model_dump_json()


async def test_bytes_within_text_are_replaced_where_they_stand(door) -> None:
    message = await door(HumanMessage(f"把 ![椅子]({data_url(PNG)}) 放进 {data_url(OTHER)} 里", id="m1"))
    first, second = media_of(message)
    assert message.content == f"把 ![椅子]({first}) 放进 ![]({second}) 里"


async def test_a_message_without_bytes_stays_as_it_is(door) -> None:
    for message in (
        HumanMessage("你好"),
        HumanMessage([{"type": "image", "url": "https://h.example/a.png"}]),
        HumanMessage("![](asset://a1)"),
    ):
        assert await door(message) is message


async def test_storing_twice_changes_nothing(door) -> None:
    once = await door({"parts": [{"type": "image", "base64": base64_of(PNG)}, {"type": "text", "text": "看"}]})
    assert await door(once) is once
    again = await door({"parts": [{"type": "image", "base64": base64_of(PNG)}]})
    assert media_of(again) == media_of(once)


async def test_the_same_picture_is_referred_to_once(door) -> None:
    message = await door({"content": f"![]({data_url(PNG)})", "attachments": [{"url": data_url(PNG)}]})
    assert len(media_of(message)) == 1


async def test_order_and_remote_parts_are_kept(door) -> None:
    message = await door(HumanMessage([
        {"type": "image_url", "image_url": {"url": "https://h.example/a.png"}},
        {"type": "image_url", "image_url": {"url": data_url(PNG)}},
        {"type": "text", "text": "对比"},
    ]))  # fmt: skip
    remote, stored = media_of(message)
    assert remote == "https://h.example/a.png"
    assert stored.startswith("asset://")


async def test_refused_bytes_are_gone_and_noted(door) -> None:
    broken = base64_of(PNG[:60])
    message = await door(
        {"content": f"看 ![x](data:image/png;base64,{broken}) 和 ![](data:image/png;base64,!!)", "images": [broken, base64_of(OTHER)]}
    )
    assert "base64" not in str(message.content)
    assert [problem["code"] for problem in message.additional_kwargs["media_problems"]] == ["corrupt", "corrupt"]
    assert len(media_of(message)) == 1
    parsed = parse_message(message, base_url=BASE)
    assert [item.code for item in parsed.rejected] == ["corrupt", "corrupt"]


async def test_attachments_beside_the_content_move_into_it(door) -> None:
    message = HumanMessage("看", id="m1", additional_kwargs={"attachments": [{"url": data_url(PNG)}], "device": "phone"})
    stored = await door(message)
    assert may_hold_bytes(message)
    assert stored.additional_kwargs == {"device": "phone"}
    assert len(media_of(stored)) == 1


@pytest.mark.parametrize("make", [AIMessage, lambda content: ToolMessage(content, tool_call_id="1")])
async def test_pictures_of_assistants_and_tools_are_stored_too(door, make) -> None:
    message = await door(make([{"type": "image", "base64": base64_of(PNG), "mime_type": "image/png"}]))
    assert type(message) is type(make("x"))
    assert message.content[0]["url"].startswith("asset://")


async def test_eleven_pictures_are_one_too_many(door) -> None:
    parts = [{"type": "image", "base64": base64_of(encoded(picture(40 + number, 30)))} for number in range(11)]
    message = await door({"parts": parts})
    assert len(media_of(message)) == 10
    assert [problem["code"] for problem in message.additional_kwargs["media_problems"]] == ["too_large"]
