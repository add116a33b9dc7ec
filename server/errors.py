"""Every error of the API is `{"detail": "…"}`, whoever raised it."""

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from memory.media import MediaError
from memory.runs import Busy
from server.runs import Draining
from server.schemas.common import Problem

logger = logging.getLogger(__name__)

_AGAIN = {"Retry-After": "2"}


def add_error_handlers(app: FastAPI) -> None:
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(MediaError, _media)
    app.add_exception_handler(Busy, _busy)
    app.add_exception_handler(Draining, _draining)
    app.add_exception_handler(Exception, _unexpected)


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says of a route's errors."""
    return {status: {"model": Problem} for status in (401, 403, *statuses)}


def problem(status: int, detail: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"detail": detail}, status, headers)


async def _http(_request: Request, error: Any) -> JSONResponse:
    return problem(error.status_code, str(error.detail), error.headers)


async def _invalid(_request: Request, error: Any) -> JSONResponse:
    told = [f"{'.'.join(str(part) for part in item['loc'][1:]) or item['loc'][0]}: {item['msg']}" for item in error.errors()]
    return problem(422, "; ".join(told)[:2000])


async def _media(_request: Request, error: Any) -> JSONResponse:
    return problem(413 if error.code == "too_large" else 400, error.detail or error.code)


async def _busy(_request: Request, _error: Exception) -> JSONResponse:
    return problem(409, "this conversation has an active run; wait for its end or cancel it", _AGAIN)


async def _draining(_request: Request, _error: Exception) -> JSONResponse:
    return problem(503, "the server is stopping; try again in a moment", _AGAIN)


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    logger.error("%s %s", request.method, request.url.path, exc_info=error)
    return problem(500, "internal error")
