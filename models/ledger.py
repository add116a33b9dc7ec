"""The attempt ledger: every call to a model, whatever came of it."""

from collections.abc import Sequence
from typing import Protocol


class Ledger(Protocol):
    """Where attempts are written. Never a prompt, never a key."""

    async def append(
        self, *, owner: str, turn_id: str, role: str, model: str, ms: float, outcome: str, asset_ids: Sequence[str] = ()
    ) -> None: ...
