"""Alembic's entry: runs on the connection that `memory.migrations.config` carries."""

from typing import Any, Literal

import sqlalchemy as sa
from alembic import context

from memory.tables import Base, UtcDateTime


def _virtual_tables(connection: sa.Connection) -> tuple[str, ...]:
    """SQLite's full-text tables: the search index makes and rebuilds them itself, and each has shadow tables."""
    if connection.dialect.name != "sqlite":
        return ()
    found = connection.scalars(sa.text("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%'"))
    return tuple(found)


def _render_item(kind: str, item: object, _context: object) -> str | Literal[False]:
    """A revision must not change when our own column type does."""
    return "sa.DateTime(timezone=True)" if kind == "type" and isinstance(item, UtcDateTime) else False


def main() -> None:
    connection: sa.Connection = context.config.attributes["connection"]
    virtual = _virtual_tables(connection)

    def include_name(name: str | None, kind: str, _parents: Any) -> bool:
        return kind != "table" or not any(name == table or str(name).startswith(f"{table}_") for table in virtual)

    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        include_name=include_name,
        render_item=_render_item,
        render_as_batch=True,
    )
    with context.begin_transaction():
        context.run_migrations()


main()
