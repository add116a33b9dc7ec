"""The server as a user meets it: uvicorn on a real socket."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import uvicorn

from server.app import create_app
from settings import Settings


@asynccontextmanager
async def served(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a server that runs in this loop; both are gone afterwards."""
    server = uvicorn.Server(uvicorn.Config(create_app(settings), port=0, log_config=None))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        if serving.done():
            await serving
        await asyncio.sleep(0)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
            yield client
    finally:
        server.should_exit = True
        await serving


async def events_of(client: httpx.AsyncClient, path: str, *, method: str = "POST", **request: Any) -> list[tuple[str, str, dict[str, Any]]]:
    """(id, type, data) of each server-sent event, to the end of the stream."""
    events, event = [], {}
    async with client.stream(method, path, **request) as response:
        assert response.status_code == 200, await response.aread()
        async for line in response.aiter_lines():
            if line:
                name, _, value = line.partition(": ")
                event[name] = value
            elif "data" in event:
                events.append((event["id"], event["event"], json.loads(event["data"])))
                event = {}
    return events
