import asyncio
import ipaddress
import time
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

from memory.assets import Assets
from memory.blobs import BlobStore
from memory.context import ChatContext
from memory.database import Database
from memory.fetch import Fetcher
from memory.media import DEFAULT_TEXT
from memory.state import STATE_VERSION, ChatState, has_image
from nodes.budget import BudgetPolicy
from nodes.resolve_media import resolve_media
from settings import Settings
from tests.memory.pictures import base64_of, data_url, encoded, picture

BASE = "http://127.0.0.1:8421"
PNG = encoded()
LOOPBACK = ipaddress.ip_address("127.0.0.1")


async def to_loopback(host: str, port: int) -> list[Any]:
    return [LOOPBACK]


@pytest.fixture
async def turn(tmp_path):
    """Runs the node on messages; `turn.assets` is its store."""
    configuration = Settings(_env_file=None, data_dir=tmp_path / "data", database_url=None)
    db = await Database.open(configuration)
    assets = Assets(db, BlobStore.open(configuration))
    fetcher = Fetcher(resolve=to_loopback, allowed=lambda address: address == LOOPBACK)

    async def run(*messages: Any, owner: str = "me", budget: BudgetPolicy | None = None, **state: Any) -> dict[str, Any]:
        runtime = SimpleNamespace(context=ChatContext(owner=owner))
        return await resolve_media(
            {"messages": list(messages), **state}, runtime, assets=assets, fetcher=fetcher, base_url=BASE, budget=budget or BudgetPolicy()
        )

    run.assets = assets
    yield run
    await db.close()


async def test_an_inline_picture_becomes_a_reference_in_state(turn) -> None:
    content = [{"type": "text", "text": "抠图"}, {"type": "image_url", "image_url": {"url": data_url(PNG)}}]
    update = await turn(HumanMessage(content, id="m1"))
    (ref,) = update["input"]["image_refs"]
    assert ref["url"] == f"asset://{ref['asset_id']}"
    assert {key: ref[key] for key in ("kind", "source", "transport", "mime_type", "width", "height")} == {
        "kind": "image", "source": "current_message", "transport": "inline", "mime_type": "image/png", "width": 40, "height": 24,
    }  # fmt: skip
    assert update["input"]["text"] == "抠图"
    (message,) = update["messages"]
    assert message.id == "m1"
    assert base64_of(PNG)[:30] not in str(update)


async def test_a_fresh_turn_forgets_the_last_one(turn) -> None:
    update = await turn(HumanMessage("你好", id="m1"))
    assert update["input"] == {"text": "你好", "image_refs": [], "video_refs": [], "file_refs": [], "from_history": False, "problems": []}
    assert (update["turn_id"], update["state_version"], update["plan"]) == ("m1", STATE_VERSION, [])
    assert update["results"].value == []
    assert [entry["node"] for entry in update["trace"].value] == ["resolve_media"]
    assert 17 < update["deadline_at"] - time.time() <= 18
    assert "messages" not in update


async def test_only_the_newest_user_message_counts_but_all_lose_their_bytes(turn) -> None:
    update = await turn(
        HumanMessage([{"type": "image", "base64": base64_of(PNG)}], id="m1"),
        AIMessage([{"type": "image", "base64": base64_of(encoded(picture(50, 50)))}], id="m2"),
        HumanMessage("1+1 等于几", id="m3"),
    )
    assert not has_image(update["input"])
    assert [message.id for message in update["messages"]] == ["m1", "m2"]


async def test_a_picture_without_words_asks_for_a_look(turn) -> None:
    assert (await turn(HumanMessage([{"type": "image", "base64": base64_of(PNG)}], id="m1")))["input"]["text"] == DEFAULT_TEXT
    assert (await turn(HumanMessage(f"![]({data_url(PNG)})", id="m2")))["input"]["text"] == DEFAULT_TEXT


async def test_files_are_notes_with_their_text(turn) -> None:
    attachment = {"type": "file", "filename": "预算.txt", "url": data_url("拿铁 18 元".encode(), "text/plain")}
    update = await turn(HumanMessage([{"type": "text", "text": "多少钱"}, attachment], id="m1"))
    assert update["input"]["text"] == "多少钱\n\n[附件: 预算.txt (13 bytes)]\n拿铁 18 元"
    assert [ref["kind"] for ref in update["input"]["file_refs"]] == ["file"]
    assert not has_image(update["input"])


async def test_one_bad_part_never_fails_the_turn(turn) -> None:
    parts = [
        {"type": "image", "base64": base64_of(PNG[:50])},
        {"type": "image", "url": "http://192.168.0.1/a.png"},
        {"type": "image", "url": "asset://nothing"},
        {"type": "image", "base64": base64_of(PNG)},
        {"type": "text", "text": "![](file:///etc/passwd) 看看"},
    ]
    update = await turn(HumanMessage(parts, id="m1"))
    assert sorted(problem["code"] for problem in update["input"]["problems"]) == ["corrupt", "expired", "forbidden_url", "forbidden_url"]
    assert len(update["input"]["image_refs"]) == 1
    assert update["input"]["text"] == "看看"


async def test_another_owners_picture_is_no_picture(turn) -> None:
    stored = await turn.assets.store(PNG, owner="you")
    message = HumanMessage(f"![](asset://{stored.id}) ![](/api/assets/{stored.id}/content) 看", id="m1")
    assert not has_image((await turn(message))["input"])
    mine = (await turn(message, owner="you"))["input"]
    assert [(ref["asset_id"], ref["source"]) for ref in mine["image_refs"]] == [(stored.id, "markdown")]


async def test_our_own_addresses_are_never_fetched(turn) -> None:
    update = await turn(HumanMessage(f"![]({BASE}/etc/passwd)", id="m1"))
    assert [problem["code"] for problem in update["input"]["problems"]] == ["expired"]


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(PNG), PNG))
    await writer.drain()
    writer.close()


async def test_a_remote_picture_is_fetched_and_kept_once(turn) -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        url = f"http://img.shop.example:{server.sockets[0].getsockname()[1]}"
        update = await turn(HumanMessage(f"![]({url}/a.png) 和 {url}/b.png 对比", id="m1"))
    (ref,) = update["input"]["image_refs"]  # both addresses gave the same bytes
    assert (ref["url"], ref["transport"], ref["mime_type"]) == (f"{url}/a.png", "remote", "image/png")
    assert await turn.assets.get(ref["asset_id"], scope=ChatContext(owner="me").scope)


async def test_a_slow_site_costs_no_more_than_the_stage(turn) -> None:
    done = asyncio.Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await done.wait()
        writer.close()

    server = await asyncio.start_server(wait, "127.0.0.1", 0)
    async with server:
        url = f"http://img.shop.example:{server.sockets[0].getsockname()[1]}/a.png"
        update = await turn(HumanMessage([{"type": "image", "url": url}], id="m1"), budget=BudgetPolicy(media=0.05))
        done.set()
    assert [problem["code"] for problem in update["input"]["problems"]] == ["fetch_failed"]


async def test_in_a_graph_the_state_holds_references_only(turn) -> None:
    async def node(state: ChatState) -> dict[str, Any]:
        return await turn(*state["messages"])

    builder = StateGraph(ChatState)
    builder.add_node("resolve_media", node)
    builder.add_edge(START, "resolve_media")
    builder.add_edge("resolve_media", END)
    graph = builder.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    await graph.ainvoke(
        {"messages": [{"role": "user", "content": [{"type": "image", "base64": base64_of(PNG)}]}]}, config, durability="exit"
    )
    first = (await graph.aget_state(config)).values
    assert base64_of(PNG)[:30] not in str(first)
    assert len(first["input"]["image_refs"]) == 1
    second = await graph.ainvoke({"messages": [{"role": "user", "content": "谢谢"}]}, config, durability="exit")
    assert (len(second["messages"]), len(second["trace"]), len(second["input"]["image_refs"])) == (2, 1, 0)
    assert second["turn_id"] == second["messages"][-1].id != first["turn_id"]


PICTURES = [encoded(picture(40 + number, 30)) for number in range(3)]
shapes = st.sampled_from([
    lambda data: {"type": "image", "base64": base64_of(data)},
    lambda data: {"type": "image_url", "image_url": {"url": data_url(data)}},
    lambda data: {"type": "input_image", "image_url": data_url(data)},
    lambda data: {"type": "file", "mediaType": "image/png", "url": data_url(data)},
    lambda data: {"type": "file", "mimeType": "image/png", "data": base64_of(data)},
    lambda data: {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64_of(data)}},
    lambda data: {"inlineData": {"mimeType": "image/png", "data": base64_of(data)}},
    lambda data: {"type": "tool-result", "result": [{"type": "image", "data": base64_of(data)}]},
    lambda data: {"type": "text", "text": f"看 ![]({data_url(data)})"},
    lambda data: {"type": "text", "text": f"`![]({data_url(data)})`"},
    lambda data: {"type": "file", "mediaType": "text/plain", "url": data_url(b"words", "text/plain")},
    lambda data: {"type": "image", "base64": base64_of(data)[:40]},
    lambda data: {"type": "text", "text": "你好"},
])  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.tuples(shapes, st.sampled_from(PICTURES)), max_size=4))
async def test_has_image_is_the_number_of_refs(turn, parts: list[Any]) -> None:
    written = [shape(data) for shape, data in parts]
    resolved = (await turn(HumanMessage(written, id="m1")))["input"]
    assert "has_image" not in resolved
    assert has_image(resolved) == (len(resolved["image_refs"]) > 0)
    ids = [ref["asset_id"] for ref in resolved["image_refs"]]
    assert len(ids) == len(set(ids))
    assert all(ref["kind"] == "image" for ref in resolved["image_refs"])
    if has_image(resolved):
        assert resolved["text"]
