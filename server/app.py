"""The REST server: which routes there are, and what lives as long as the application."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI

from graph.services import Services
from memory.checkpoints import open_saver
from memory.jobs import JobKind, JobQueue, JobRunner
from memory.workers import WorkerSlot
from server.deps import Running
from server.errors import add_error_handlers
from server.guards import add_guards
from server.routes import chat, conversations, health, runs
from server.runs import RunManager
from settings import Settings


def create_app(settings: Settings) -> FastAPI:
    """The application; nothing is opened before it starts."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_running(settings) as app.state.running:
            yield

    app = FastAPI(
        title="Evatar", version=version("evatar"), lifespan=lifespan, docs_url="/api/docs", openapi_url="/api/openapi.json", redoc_url=None
    )
    app.state.settings = settings
    add_guards(app, settings)
    add_error_handlers(app)
    for room in (health, chat, runs, conversations):
        app.include_router(room.router)
    return app


@asynccontextmanager
async def open_running(settings: Settings) -> AsyncIterator[Running]:
    """Services, job runner and run manager. What dead processes left unfinished goes on."""
    async with Services.open(settings) as services, open_saver(settings) as saver, AsyncExitStack() as stack:
        slot = await asyncio.to_thread(WorkerSlot.acquire, settings)
        stack.callback(slot.release)
        concurrency = {JobKind.ANALYZE: settings.ocr_workers}
        runner = await JobRunner.start(settings, handlers=services.job_handlers(), concurrency=concurrency)
        stack.push_async_callback(runner.close)
        jobs = await JobQueue.open(settings)
        stack.push_async_callback(jobs.close)
        abandoned = await asyncio.to_thread(WorkerSlot.acquire_abandoned, settings)
        try:
            gone = [_executor(name.name) for name in [slot, *abandoned]]
            manager = RunManager.open(services=services, saver=saver, executor=_executor(slot.name), abandoned=gone)
            runs = await stack.enter_async_context(manager)
        finally:  # held so far: no other process may take a name over whose runs are just being taken over
            for other in abandoned:
                await asyncio.to_thread(other.release)
        yield Running(settings, services, saver, runs, jobs)


def _executor(slot: str) -> str:
    """Processes of several hosts may share one database."""
    return f"{socket.gethostname()[:40]}/{slot}"
