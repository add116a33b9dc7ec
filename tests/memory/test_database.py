import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import create_engine, func, select, text
from sqlalchemy.exc import IntegrityError

from memory.database import Database, configure_sqlite
from memory.migrations import HEAD, config, migrate
from memory.tables import Analysis, Base, Meta
from settings import Settings

ROOT = Path(__file__).parents[2]


def sync_url(settings: Settings) -> str:
    return settings.sqlalchemy_url.replace("+aiosqlite", "")


async def count(db: Database) -> int:
    async with db.session() as session:
        return await session.scalar(select(func.count()).select_from(Meta)) or 0


def test_head_is_the_newest_revision() -> None:
    from alembic.script import ScriptDirectory

    with create_engine("sqlite://").connect() as connection:
        assert ScriptDirectory.from_config(config(connection)).get_heads() == [HEAD]


async def test_a_migrated_database_has_what_the_models_say(db: Database, settings: Settings) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    engine = create_engine(sync_url(settings))
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
    engine.dispose()


async def test_autogenerate_does_not_see_full_text_tables(sqlite_db: Database, sqlite_settings: Settings) -> None:
    from alembic.autogenerate import produce_migrations
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    async with sqlite_db.begin() as session:
        await session.execute(text("CREATE VIRTUAL TABLE words USING fts5(body)"))
    found = []

    def diff(_revision: object, context: object) -> list[object]:
        found.append(produce_migrations(context, Base.metadata).upgrade_ops.as_diffs())
        return []

    engine = create_engine(sync_url(sqlite_settings))
    with engine.connect() as connection:
        made = config(connection)
        script = ScriptDirectory.from_config(made)
        with EnvironmentContext(made, script, fn=diff):
            script.run_env()
    engine.dispose()
    assert found == [[]]


async def test_down_and_up_again(db: Database, settings: Settings) -> None:
    from alembic import command

    engine = create_engine(sync_url(settings))
    configure_sqlite(engine)
    with engine.begin() as connection:
        command.downgrade(config(connection), "base")
    migrate(engine.url, prepare=configure_sqlite)
    engine.dispose()
    assert await count(db) == 0


async def test_a_fast_start_does_not_import_alembic(sqlite_db: Database, sqlite_settings: Settings) -> None:
    code = (
        "import asyncio, sys; from memory.database import Database; from settings import Settings;"
        "db = asyncio.run(Database.open(Settings())); sys.exit('alembic' in sys.modules)"
    )
    env = {"EVATAR_DATA_DIR": str(sqlite_settings.data_dir)}
    start = await asyncio.create_subprocess_exec(sys.executable, "-c", code, env=env, cwd=ROOT)
    assert await start.wait() == 0


async def test_processes_that_start_at_once_migrate_once(settings: Settings) -> None:
    code = (
        "import asyncio; from memory.database import Database; from settings import Settings;"
        "input(); db = asyncio.run(Database.open(Settings())); print(db.dialect)"
    )
    env = {"EVATAR_DATA_DIR": str(settings.data_dir)} | ({"EVATAR_DATABASE_URL": settings.database_url} if settings.database_url else {})
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    starts = [await asyncio.create_subprocess_exec(sys.executable, "-c", code, env=env, cwd=ROOT, **pipes) for _ in range(3)]
    said = await asyncio.gather(*(start.communicate(b"\n") for start in starts))
    assert [start.returncode for start in starts] == [0, 0, 0]
    assert {out.decode().strip() for out, _ in said} == {"postgresql" if settings.database_url else "sqlite"}


async def test_the_data_folder_is_private(sqlite_db: Database, sqlite_settings: Settings) -> None:
    assert sqlite_settings.data_dir.stat().st_mode & 0o777 == 0o700


async def test_sqlite_pragmas(sqlite_db: Database) -> None:
    expected = {"journal_mode": "wal", "foreign_keys": 1, "secure_delete": 1, "auto_vacuum": 2, "busy_timeout": 30_000}
    async with sqlite_db.session() as session:
        assert {name: await session.scalar(text(f"PRAGMA {name}")) for name in expected} == expected


async def test_a_transaction_is_whole_or_absent(db: Database) -> None:
    async def fail_midway() -> None:
        async with db.begin() as session:
            session.add(Meta(key="a", value="1"))
            await session.flush()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail_midway()
    assert await count(db) == 0


async def test_a_read_session_keeps_its_snapshot(db: Database) -> None:
    counted = select(func.count()).select_from(Meta)
    async with db.session() as reader:
        before = await reader.scalar(counted)
        async with db.begin() as writer:
            writer.add(Meta(key="a", value="1"))
        assert await reader.scalar(counted) == before
    assert await count(db) == 1


async def test_read_then_write_transactions_do_not_lose_updates(db: Database) -> None:
    async with db.begin() as session:
        session.add(Meta(key="n", value="0"))

    async def increment() -> None:
        async with db.begin() as session:
            row = await session.get_one(Meta, "n", with_for_update=True)
            row.value = str(int(row.value) + 1)

    await asyncio.gather(*(increment() for _ in range(20)))
    async with db.session() as session:
        assert (await session.get_one(Meta, "n")).value == "20"


async def test_foreign_keys_hold(db: Database) -> None:
    from tests.memory.conftest import NOW

    with pytest.raises(IntegrityError):
        async with db.begin() as session:
            session.add(Analysis(photo_id=99, owner="a", created_at=NOW))


async def test_an_upsert_is_spelled_alike(db: Database) -> None:
    insert = db.insert(Meta)
    for value in ("1", "2"):
        statement = insert.values(key="k", value=value).on_conflict_do_update(index_elements=["key"], set_={"value": value})
        async with db.begin() as session:
            await session.execute(statement)
    async with db.session() as session:
        assert (await session.get_one(Meta, "k")).value == "2"
