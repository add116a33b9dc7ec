"""The schema's history. `python -m memory.migrations "what changed"` writes the next revision from `memory.tables`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, inspect, text

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0002"
_LOCK = 0x45564154  # any number that no other user of the PostgreSQL database locks


def migrate(url: URL, *, prepare: Callable[[Engine], None]) -> None:
    """Bring the database to `HEAD` in one transaction. Blocking.

    Alembic is imported only when there is something to do. Of several processes one migrates, the others wait for it.
    """
    engine = create_engine(url.set(drivername=url.drivername.replace("+aiosqlite", "")), poolclass=NullPool)
    prepare(engine)
    with engine.connect() as connection:
        if _revision(connection) == HEAD:
            return
    with engine.execution_options(sqlite_begin="IMMEDIATE").begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        if _revision(connection) != HEAD:
            upgrade(connection)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


def upgrade(connection: Connection) -> None:
    from alembic import command

    command.upgrade(config(connection), "head")


def config(connection: Connection) -> "Config":
    """Alembic's configuration, without an ini file."""
    from alembic.config import Config

    made = Config()
    made.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    made.attributes["connection"] = connection
    return made
