"""Whether the server is there, and whether its parts are."""

from collections.abc import Awaitable, Callable
from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field
from sqlalchemy import text

from server.deps import Running, RunningApp

router = APIRouter(prefix="/api", tags=["health"])


class Health(BaseModel):
    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    status: Literal["ok", "not ready"]
    parts: dict[str, str] = Field(description="Each part: `ok`, or what is wrong with it.", examples=[{"database": "ok"}])


@router.get("/health")
async def health() -> Health:
    return Health()


@router.get("/ready", responses={503: {"model": Readiness}})
async def ready(app: RunningApp, response: Response) -> Readiness:
    """Database, checkpointer, blob store, run manager and every model pool."""
    parts = {name: await _probe(probe, app) for name, probe in _PARTS.items()}
    fine = set(parts.values()) == {"ok"}
    response.status_code = 200 if fine else 503
    return Readiness(status="ok" if fine else "not ready", parts=parts)


async def _probe(probe: Callable[[Running], Awaitable[None]], app: Running) -> str:
    try:
        await probe(app)
    except Exception as error:  # a probe reports whatever is wrong, by its kind: details are in the log
        return type(error).__name__
    return "ok"


async def _database(app: Running) -> None:
    async with app.services.database.session() as session:
        await session.execute(text("SELECT 1"))


async def _checkpointer(app: Running) -> None:
    await app.saver.conn.execute_fetchall("SELECT 1")


async def _blobs(app: Running) -> None:
    await app.services.blobs.exists("ready")


async def _runs(app: Running) -> None:
    if app.runs.draining:
        raise InterruptedError


async def _chat(app: Running) -> None:
    assert app.services.chat


async def _vision(app: Running) -> None:
    assert app.services.vision


_PARTS: dict[str, Callable[[Running], Awaitable[None]]] = {
    "database": _database,
    "checkpointer": _checkpointer,
    "blobs": _blobs,
    "runs": _runs,
    "chat pool": _chat,
    "vision pool": _vision,
}
