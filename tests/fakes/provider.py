"""One scripted provider on loopback: an OpenAI-compatible API, Tavily and Brave, with their failures played at wire level.

    with ScriptedProvider() as provider:
        provider.play(completion("你好"), status(429, headers={"retry-after": "1"}), hang())
        ...                                   # requests to provider.base_url get these answers in this order
        provider.requests[0].json["model"]

It serves from a thread of its own, so that other processes can be its clients too.
"""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

Play = Callable[["Request", asyncio.StreamWriter], Awaitable[None]]
MODEL = "scripted-1"


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes = field(repr=False)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class ScriptedProvider:
    """Answers requests with the plays of its script, in order; a request beyond the script gets a 500 that says so."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._arrived = threading.Condition()
        self._script: list[Play] = []
        self._loop = asyncio.new_event_loop()
        self._writers: list[asyncio.StreamWriter] = []
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self.port = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return f"{self.address}/v1"

    def play(self, *plays: Play) -> None:
        self._script += plays

    async def received(self, count: int) -> None:
        """Returns when so many requests have arrived. Raises TimeoutError after 10 s."""

        def wait() -> bool:
            with self._arrived:
                return self._arrived.wait_for(lambda: len(self.requests) >= count, timeout=10)

        if not await asyncio.to_thread(wait):
            raise TimeoutError(f"{len(self.requests)} of {count} requests came")

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        assert self._server is not None
        self._server.close()
        while serving := [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]:
            for task in serving:
                task.cancel()
            await asyncio.wait(serving)
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.gather(*(writer.wait_closed() for writer in self._writers), return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        try:
            while request := await _read_request(reader):
                with self._arrived:
                    self.requests.append(request)
                    self._arrived.notify_all()
                play = self._script.pop(0) if self._script else status(500, {"error": {"message": "the script is exhausted"}})
                await play(request, writer)
                if writer.is_closing():
                    return
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def _read_request(reader: asyncio.StreamReader) -> Request | None:
    head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
    if not head:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    method, path, _version = first.split(" ", 2)
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, path, headers, body)


async def _send(writer: asyncio.StreamWriter, code: int, body: bytes, headers: dict[str, str]) -> None:
    lines = [f"HTTP/1.1 {code} scripted", *(f"{name}: {value}" for name, value in headers.items()), f"content-length: {len(body)}", "", ""]
    writer.write("\r\n".join(lines).encode() + body)
    await writer.drain()


# ---- what can be played ------------------------------------------------------------------------------------------------------


def status(code: int, body: Any = None, *, headers: dict[str, str] | None = None, content_type: str = "application/json") -> Play:
    """Any status with any body: text as it is, everything else as JSON."""
    payload = body if body is not None else {"error": {"message": f"scripted {code}", "type": "scripted"}}
    encoded = payload.encode() if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False).encode()

    async def run(_request: Request, writer: asyncio.StreamWriter) -> None:
        await _send(writer, code, encoded, {"content-type": content_type, **(headers or {})})

    return run


def call(name: str, call_id: str = "call_1", /, **arguments: Any) -> dict[str, Any]:
    """A tool call for `completion`."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}}


def completion(text: str = "", *, tool_calls: Sequence[dict[str, Any]] = (), finish_reason: str | None = None) -> Play:
    """A chat completion, streamed when the request asks for a stream."""
    reason = finish_reason or ("tool_calls" if tool_calls else "stop")

    async def run(request: Request, writer: asyncio.StreamWriter) -> None:
        if request.json.get("stream"):
            chunks = [*_deltas(text, tool_calls), ({}, reason)]
            await _stream(writer, [_chunk(delta, ended) for delta, ended in chunks])
        else:
            message = {"role": "assistant", "content": text or None, **({"tool_calls": list(tool_calls)} if tool_calls else {})}
            body = {
                "id": "cmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": MODEL,
                "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
            await _send(writer, 200, json.dumps(body, ensure_ascii=False).encode(), {"content-type": "application/json"})

    return run


def cut(text: str) -> Play:
    """A stream that loses its connection after `text`."""

    async def run(_request: Request, writer: asyncio.StreamWriter) -> None:
        await _stream(writer, [_chunk(delta, None) for delta, _ in _deltas(text, ())], whole=False)
        writer.transport.abort()

    return run


def stall(text: str) -> Play:
    """A stream that says nothing more after `text`."""

    async def run(_request: Request, writer: asyncio.StreamWriter) -> None:
        await _stream(writer, [_chunk(delta, None) for delta, _ in _deltas(text, ())], whole=False)
        await asyncio.Event().wait()

    return run


def hang() -> Play:
    """Takes the request and never answers."""

    async def run(_request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    return run


def reset() -> Play:
    """Drops the connection without a byte."""

    async def run(_request: Request, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    return run


def invalid_json() -> Play:
    return status(200, '{"choices": [{"mess')


def html_page() -> Play:
    return status(200, "<html><body>gateway</body></html>", content_type="text/html")


def empty_choices() -> Play:
    return status(200, {"id": "cmpl-1", "object": "chat.completion", "created": 1, "model": MODEL, "choices": []})


def safety_stop() -> Play:
    return completion("", finish_reason="content_filter")


def tavily(*results: dict[str, str]) -> Play:
    return status(200, {"query": "", "results": [{"score": 0.9, **result} for result in results]})


def brave(*results: dict[str, str]) -> Play:
    return status(200, {"web": {"results": list(results)}})


def _deltas(text: str, tool_calls: Sequence[dict[str, Any]]) -> list[tuple[dict[str, Any], str | None]]:
    pieces = [text[start : start + 6] for start in range(0, len(text), 6)]
    deltas: list[tuple[dict[str, Any], str | None]] = [({"role": "assistant", "content": piece}, None) for piece in pieces]
    for index, one in enumerate(tool_calls):
        name, arguments = one["function"]["name"], one["function"]["arguments"]
        opening = {"index": index, "id": one["id"], "type": "function", "function": {"name": name, "arguments": ""}}
        rest = {"index": index, "function": {"arguments": arguments}}
        deltas += [({"role": "assistant", "tool_calls": [opening]}, None), ({"tool_calls": [rest]}, None)]
    return deltas


def _chunk(delta: dict[str, Any], finish_reason: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "cmpl-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": [choice]}


async def _stream(writer: asyncio.StreamWriter, chunks: Sequence[dict[str, Any]], *, whole: bool = True) -> None:
    writer.write(b"HTTP/1.1 200 scripted\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    lines = [f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks] + (["data: [DONE]\n\n"] if whole else [])
    for line in lines:
        encoded = line.encode()
        writer.write(f"{len(encoded):x}\r\n".encode() + encoded + b"\r\n")
        await writer.drain()
    if whole:
        writer.write(b"0\r\n\r\n")
        await writer.drain()
