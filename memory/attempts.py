"""The attempt ledger's rows: every call to a model, whatever came of it."""

from collections.abc import Callable, Sequence
from datetime import datetime

from sqlalchemy import select

from memory.database import Database
from memory.scope import Scope
from memory.tables import Attempt, stamp


class Attempts:
    """Append and read; a row is never changed."""

    def __init__(self, db: Database, *, clock: Callable[[], datetime] | None = None) -> None:
        self._db = db
        self._clock = clock or (lambda: datetime.now().astimezone())

    async def append(
        self, *, owner: str, turn_id: str, role: str, model: str, ms: float, outcome: str, asset_ids: Sequence[str] = ()
    ) -> None:
        """`outcome`: `ok` or an error class of `models.errors`."""
        row = Attempt(
            owner=owner, turn_id=turn_id, role=role, model=model, ms=ms, outcome=outcome, asset_ids=list(asset_ids), **stamp(self._clock())
        )
        async with self._db.begin() as session:
            session.add(row)

    async def of_turn(self, turn_id: str, *, scope: Scope) -> Sequence[Attempt]:
        """In the order they were made."""
        query = select(Attempt).where(Attempt.owner == scope.owner, Attempt.turn_id == turn_id).order_by(Attempt.id)
        async with self._db.session() as session:
            return (await session.scalars(query)).all()
