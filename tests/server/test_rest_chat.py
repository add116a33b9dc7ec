"""Chat over REST, through the real server on a real socket: send, stream, resend, one run at a time, resume, cancel, restart."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from settings import ModelSettings, Settings
from tests.fakes.provider import MODEL, ScriptedProvider, completion, hang
from tests.server.rest import events_of, served

ASK = {"message": "我的取件码是多少？"}


def keyless(folder: Path) -> Settings:
    return Settings(data_dir=folder, timezone="Asia/Shanghai", ocr_workers=1)


def with_model(provider: ScriptedProvider, folder: Path) -> Settings:
    model = ModelSettings(model=MODEL, base_url=provider.base_url, api_key=SecretStr("sk-secret"))
    return Settings(data_dir=folder, timezone="Asia/Shanghai", ocr_workers=1, chat=model)


async def transcript(client: httpx.AsyncClient, conversation_id: str, after: int = 0) -> list[dict[str, Any]]:
    found = await client.get(f"/api/chat/conversations/{conversation_id}/messages", params={"after_id": after})
    return found.raise_for_status().json()["messages"]


async def test_a_question_is_answered_from_the_library_and_kept(demo_library: Path):
    async with served(keyless(demo_library)) as client:
        answer = (await client.post("/api/chat/send", json=ASK, params={"debug": "1"})).raise_for_status().json()
        assert "[截图#" in answer["message"]["content"]
        assert answer["message"]["citations"]
        assert [call["name"] for call in answer["message"]["tool_calls"]] == ["search_knowledge"]
        assert {"resolve_media", "classify", "route", "agent", "reply", "remember"} <= {step["node"] for step in answer["trace"]}
        said = await transcript(client, answer["conversation_id"])
        assert [message["role"] for message in said] == ["user", "assistant"]
        assert said[1]["content"] == answer["message"]["content"]
        assert await transcript(client, answer["conversation_id"], after=said[0]["id"]) == said[1:]
        listed = (await client.get("/api/chat/conversations")).json()["conversations"]
        assert [(item["id"], item["message_count"], item["title"]) for item in listed] == [(answer["conversation_id"], 2, ASK["message"])]


async def test_a_stream_tells_the_steps_and_can_be_resumed_anywhere(demo_library: Path):
    async with served(keyless(demo_library)) as client:
        events = await events_of(client, "/api/chat/stream", json=ASK)
        kinds = [kind for _, kind, _ in events]
        assert kinds[0] == "run"
        assert kinds[-2:] == ["message", "end"]
        assert [data["status"] for _, kind, data in events if kind == "tool"] == ["called", "done"]
        steps = [data["node"] for _, kind, data in events if kind == "step"]
        assert steps[:5] == ["resolve_media", "recall", "classify", "resolve_targets", "route"]
        assert steps[-3:] == ["dispatch", "reply", "remember"]
        text = "".join(data["text"] for _, kind, data in events if kind == "token")
        assert text == events[-2][2]["message"]["content"]
        for place in range(len(events)):
            rest = await events_of(client, "/api/chat/stream", headers={"Last-Event-ID": events[place][0]})
            assert rest == events[place + 1 :] or place == len(events) - 1
        run_id = events[0][2]["run_id"]
        assert await events_of(client, f"/api/runs/{run_id}/events", method="GET") == events


async def test_the_same_message_again_is_one_message_with_one_reply(provider: ScriptedProvider, tmp_path: Path):
    provider.play(completion("第一次"))
    picture = b"just some text"

    async def post(client: httpx.AsyncClient) -> dict[str, Any]:
        files = {"file": ("note.txt", picture, "application/octet-stream")}
        sent = await client.post("/api/chat/send-with-file", data={"message": "看一下", "conversation_id": ""}, files=files)
        return sent.raise_for_status().json()

    async with served(with_model(provider, tmp_path)) as client:
        answers = await asyncio.gather(*(post(client) for _ in range(3)))
        answers.append(await post(client))
        assert answers == [answers[0]] * 4
        assert [message["role"] for message in await transcript(client, answers[0]["conversation_id"])] == ["user", "assistant"]
    assert len(provider.requests) == 1


async def test_one_run_at_a_time_and_cancel(provider: ScriptedProvider, tmp_path: Path):
    provider.play(completion("好"), hang(), completion("再说"))
    async with served(with_model(provider, tmp_path)) as client:
        conversation = (await client.post("/api/chat/send", json={"message": "你是谁？"})).raise_for_status().json()["conversation_id"]
        slow = asyncio.create_task(client.post("/api/chat/send", json={"message": "慢慢来", "conversation_id": conversation}))
        await provider.received(2)
        refused = await client.post("/api/chat/send", json={"message": "还有", "conversation_id": conversation})
        assert (refused.status_code, refused.headers["retry-after"]) == (409, "2")
        said = await transcript(client, conversation)
        assert [message["content"] for message in said] == ["你是谁？", "好", "慢慢来"]
        attached = asyncio.create_task(events_of(client, "/api/chat/stream", json={"message": "慢慢来", "conversation_id": conversation}))
        async with client.stream("POST", "/api/chat/stream", json={"message": "慢慢来", "conversation_id": conversation}) as stream:
            place = await anext(line async for line in stream.aiter_lines() if line.startswith("id: "))
        run_id = place[4:].partition(":")[0]
        assert (await client.get(f"/api/runs/{run_id}")).json()["status"] == "active"
        await client.post(f"/api/runs/{run_id}/cancel")
        cancelled = (await slow).json()["message"]
        assert cancelled["error_type"] == "cancelled"
        assert [kind for _, kind, _ in await attached][-3:] == ["message", "error", "end"]
        assert (await client.get(f"/api/runs/{run_id}")).json()["status"] == "cancelled"
        again = (await client.post("/api/chat/send", json={"message": "再来", "conversation_id": conversation})).raise_for_status().json()
        assert again["message"]["content"] == "再说"


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/chat/send", {"message": ""}, 400),
        ("/api/chat/send", {}, 422),
        ("/api/chat/send", {"message": "a" * 32_769}, 422),
        ("/api/chat/send", {"message": "好", "conversation_id": "ffff"}, 404),
        ("/api/chat/send", {"message": "好", "conversation_id": "../x"}, 422),
        ("/api/chat/send", {"message": "好", "skill_id": "nope"}, 404),
        ("/api/chat/send", {"message": "好", "tz": "Mars/Base"}, 422),
        ("/api/chat/resume", {"conversation_id": "ffff", "answer": "1"}, 404),
    ],
)
async def test_wrong_requests_are_told_why(tmp_path: Path, path: str, body: dict[str, Any], status: int):
    async with served(keyless(tmp_path)) as client:
        refused = await client.post(path, json=body)
    assert refused.status_code == status
    assert isinstance(refused.json()["detail"], str)


async def test_health_and_readiness(tmp_path: Path):
    async with served(keyless(tmp_path)) as client:
        assert (await client.get("/api/health")).json() == {"status": "ok"}
        ready = await client.get("/api/ready")
        assert (ready.status_code, ready.json()["status"]) == (200, "ok")


async def test_a_restarted_server_finishes_what_was_accepted(provider: ScriptedProvider, tmp_path: Path):
    """The server stops while the model hangs: the accepted message has its one reply after the next start."""
    provider.play(hang(), completion("来了"))
    async with (
        served(with_model(provider, tmp_path)) as client,
        client.stream("POST", "/api/chat/stream", json={"message": "在吗"}) as stream,
    ):
        lines = stream.aiter_lines()
        started = [await anext(lines) for _ in range(3)]
        await provider.received(1)
    place = next(line[4:] for line in started if line.startswith("id: "))
    async with served(with_model(provider, tmp_path)) as client:
        events = await events_of(client, "/api/chat/stream", headers={"Last-Event-ID": place})
        assert "retry" in [kind for _, kind, _ in events]
        assert events[-2][2]["message"]["content"] == "来了"
        conversation = (await client.get("/api/chat/conversations")).json()["conversations"][0]["id"]
        assert [message["content"] for message in await transcript(client, conversation)] == ["在吗", "来了"]
