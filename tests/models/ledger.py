"""A ledger in memory: the rows as the pool wrote them."""

from typing import Any


class Ledger:
    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    async def append(self, **row: Any) -> None:
        self.rows.append(row)

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        """(model, outcome) of each attempt."""
        return [(row["model"], row["outcome"]) for row in self.rows]
