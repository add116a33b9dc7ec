import asyncio
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from sqlalchemy import func, select, text

from memory.blobs import BlobStore
from memory.database import Database
from memory.photos import LEASE, TRIES, Photos, delete_photo
from memory.scope import Scope
from memory.search.index import SqliteSearchIndex
from memory.search.types import Filters
from memory.tables import Analysis, Asset, Photo
from settings import Settings
from tests.memory.library import Clock, new_photo, result

ANN, BOB = Scope("ann"), Scope("bob")


async def add(photos: Photos, name: str = "a", **changes: object) -> int:
    return (await photos.add(new_photo(name, **changes))).photo_id


async def found(db: Database, query: str) -> list[int]:
    async with db.session() as session:
        hits = await SqliteSearchIndex().search(session, query=query, scope=ANN, filters=Filters(), limit=10)
    return [hit.photo_id for hit in hits.hits]


async def test_a_new_photo_waits_for_its_analysis(photos: Photos) -> None:
    photo_id, dedup = await photos.add(new_photo("a"))
    stored = await photos.get(photo_id, scope=ANN)
    assert not dedup
    assert stored is not None
    assert stored.analysis.status == "pending"
    assert stored.asset.width == 1080
    assert stored.taken_at.isoformat() == "2026-05-19T18:00:00+08:00"
    assert await photos.pending(scope=ANN) == 1


async def test_the_same_bytes_are_one_photo_of_an_owner(photos: Photos) -> None:
    first = await photos.add(new_photo("a"))
    assert await photos.add(new_photo("a", filename="copy.png")) == (first.photo_id, True)
    assert not (await photos.add(new_photo("a", owner="bob"))).dedup


async def test_the_same_picture_of_a_device_is_one_photo(photos: Photos) -> None:
    first = await photos.add(new_photo("a", device_id="phone", local_media_store_id="77"))
    assert await photos.add(new_photo("b", device_id="phone", local_media_store_id="77")) == (first.photo_id, True)
    assert not (await photos.add(new_photo("b", device_id="tablet", local_media_store_id="77"))).dedup
    assert await photos.find(owner="ann", sha256="0", device_id="phone", local_media_store_id="77") == first.photo_id
    assert await photos.find(owner="bob", sha256="0", device_id="phone", local_media_store_id="77") is None


async def test_adding_the_same_bytes_at_once_stores_them_once(photos: Photos, db: Database) -> None:
    added = await asyncio.gather(*(photos.add(new_photo("a")) for _ in range(8)))
    assert len({photo_id for photo_id, _ in added}) == 1
    assert sum(not dedup for _, dedup in added) == 1
    async with db.session() as session:
        assert await session.scalar(select(func.count()).select_from(Asset)) == 1


async def test_no_read_leaves_its_scope(photos: Photos) -> None:
    photo_id = await add(photos, device_id="phone")
    await photos.claim_pending(scope=ANN, worker="w")
    await photos.save_analysis(photo_id, result())
    for outside in (BOB, Scope("ann", devices=("tablet",)), Scope("ann", devices=())):
        assert await photos.get(photo_id, scope=outside) is None
        assert (await photos.list(scope=outside)).total == 0
        assert (await photos.counts(scope=outside)).total == 0
        assert await photos.requeue(scope=outside, photo_ids=[photo_id]) == 0
        assert await photos.delete(photo_id, scope=outside) is None
        assert await photos.claim_pending(scope=outside, worker="w") == []
    assert await photos.get(photo_id, scope=Scope("ann", devices=("phone",))) is not None


async def test_pages_are_newest_first_and_filtered(photos: Photos, clock: Clock) -> None:
    taken = new_photo("a").captured_at
    ids = [await add(photos, name, captured_at=taken + timedelta(days=day)) for day, name in enumerate("abc")]
    await photos.save_analysis(ids[1], result())
    first = await photos.list(scope=ANN, page=1, page_size=2)
    second = await photos.list(scope=ANN, page=2, page_size=2)
    assert first.total == second.total == 3
    assert [item.photo.id for item in (*first.items, *second.items)] == ids[::-1]
    assert [item.photo.id for item in (await photos.list(scope=ANN, status="done")).items] == [ids[1]]
    assert (await photos.list(scope=ANN, category="shopping")).total == 0
    assert (await photos.list(scope=ANN, intent="reminder")).total == 1


async def test_a_photo_has_one_taker(photos: Photos) -> None:
    for name in "abcdefgh":
        await add(photos, name)
    claims = await asyncio.gather(*(photos.claim_pending(scope=ANN, worker=f"w{n}", limit=3) for n in range(4)))
    taken = [claim.photo.id for claimed in claims for claim in claimed]
    assert len(taken) == len(set(taken)) == 8
    assert {claim.analysis.status for claimed in claims for claim in claimed} == {"processing"}
    assert await photos.claim_pending(scope=ANN, worker="late") == []


async def test_an_ended_lease_is_free_again_until_the_tries_are_used_up(photos: Photos, clock: Clock) -> None:
    photo_id = await add(photos)
    for attempt in range(1, TRIES + 1):
        [claim] = await photos.claim_pending(scope=ANN, worker="w")
        assert claim.analysis.attempts == attempt
        clock.advance(LEASE)
    assert await photos.claim_pending(scope=ANN, worker="w") == []
    stored = await photos.get(photo_id, scope=ANN)
    assert stored is not None
    assert stored.analysis.status == "error"


async def test_nobody_waits_for_a_killed_worker(photos: Photos) -> None:
    await add(photos, "a")
    await add(photos, "b")
    await photos.claim_pending(scope=ANN, worker="dead")
    await photos.claim_pending(scope=ANN, worker="living")
    await photos.end_leases(workers=["dead"])
    [claim] = await photos.claim_pending(scope=ANN, worker="living", limit=5)
    assert claim.photo.filename == "a.png"


async def test_a_released_claim_costs_no_try(photos: Photos) -> None:
    await add(photos)
    for _ in range(TRIES + 1):
        [claim] = await photos.claim_pending(scope=ANN, worker="w")
        assert claim.analysis.attempts == 1
        await photos.release("w")


async def test_failing_three_times_is_an_error_that_can_be_run_again(photos: Photos) -> None:
    photo_id = await add(photos)
    states = []
    for attempt in range(TRIES):
        await photos.claim_pending(scope=ANN, worker="w")
        states.append(await photos.fail(photo_id, f"reason {attempt}"))
    assert states == ["pending", "pending", "error"]
    assert await photos.claim_pending(scope=ANN, worker="w") == []
    failures = await photos.list(scope=ANN, status="error")
    assert [item.analysis.error_message for item in failures.items] == ["reason 2"]
    assert await photos.requeue(scope=ANN) == 1
    [claim] = await photos.claim_pending(scope=ANN, worker="w")
    assert (claim.analysis.attempts, claim.analysis.error_message) == (1, None)


async def test_an_analysis_is_found_as_soon_as_it_is_saved(photos: Photos, db: Database) -> None:
    photo_id = await add(photos)
    assert await photos.save_analysis(photo_id, result("明天十点 K35 登机口"))
    stored = await photos.get(photo_id, scope=ANN)
    assert stored is not None
    assert (stored.analysis.status, stored.analysis.claimed_by) == ("done", None)
    assert stored.analysis.entities == '[{"type": "取件码/验证码", "value": "8-2-1031"}]'
    if db.dialect == "sqlite":
        assert await found(db, "登机口") == [photo_id]
        await photos.requeue(scope=ANN, photo_ids=[photo_id])
        assert await found(db, "登机口") == []


async def test_an_analysis_of_a_deleted_photo_leaves_nothing(photos: Photos, db: Database) -> None:
    photo_id = await add(photos)
    await photos.delete(photo_id, scope=ANN)
    assert not await photos.save_analysis(photo_id, result())
    assert await photos.fail(photo_id, "gone") == "error"
    async with db.session() as session:
        for table in (Photo, Asset, Analysis):
            assert await session.scalar(select(func.count()).select_from(table)) == 0


async def test_a_failing_index_write_leaves_the_row_unwritten(sqlite_db: Database, clock: Clock) -> None:
    photos = Photos(sqlite_db, SqliteSearchIndex(), clock=clock)  # whose tables were never made
    photo_id = await add(photos)
    with pytest.raises(Exception, match="search_fts"):
        await photos.save_analysis(photo_id, result())
    assert await photos.pending(scope=ANN) == 1


async def test_counts(photos: Photos) -> None:
    ids = [await add(photos, name) for name in "abc"]
    await photos.save_analysis(ids[0], result())
    await photos.save_analysis(ids[1], result(content_category="shopping"))
    counts = await photos.counts(scope=ANN)
    assert counts.total == 3
    assert counts.status == {"done": 2, "pending": 1}
    assert counts.category == {"notification": 1, "shopping": 1}
    assert counts.intent == {"reminder": 2}


async def test_an_id_is_never_used_again(photos: Photos) -> None:
    last = await add(photos, "a")
    await photos.delete(last, scope=ANN)
    assert await add(photos, "b") > last


async def test_deleting_keeps_the_bytes_that_another_owner_uses(photos: Photos, settings: Settings) -> None:
    blobs = BlobStore.open(settings)
    keys = {"blob_key": await blobs.put(b"shared", suffix=".png"), "working_key": None, "thumbnail_key": await blobs.put(b"thumb")}
    mine = await add(photos, **keys)
    theirs = await add(photos, owner="bob", **keys)
    assert await delete_photo(mine, scope=ANN, photos=photos, blobs=blobs)
    assert await blobs.exists(str(keys["blob_key"]))
    assert await delete_photo(theirs, scope=BOB, photos=photos, blobs=blobs)
    assert [await blobs.exists(str(key)) for key in (keys["blob_key"], keys["thumbnail_key"])] == [False, False]
    assert not await delete_photo(theirs, scope=BOB, photos=photos, blobs=blobs)


STEPS = st.lists(st.tuples(st.sampled_from(["add", "claim", "save", "fail", "requeue", "delete", "die"]), st.integers(0, 3)), max_size=25)


@given(steps=STEPS)
@hypothesis_settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_after_any_steps_exactly_the_analysed_photos_are_indexed(sqlite_db: Database, steps: list[tuple[str, int]]) -> None:
    clock, index = Clock(), SqliteSearchIndex()
    photos = Photos(sqlite_db, index, clock=clock)
    async with sqlite_db.begin() as session:
        await session.execute(text("DELETE FROM assets"))
        await index.create(session)
        await index.rebuild(session)
    ids = [0]
    for action, number in steps:
        chosen = ids[number % len(ids)]
        if action == "add":
            ids.append(await add(photos, f"p{number}"))
        elif action == "claim":
            await photos.claim_pending(scope=ANN, worker="w", limit=2)
        elif action == "save":
            await photos.save_analysis(chosen, result())
        elif action == "fail":
            await photos.fail(chosen, "why")
        elif action == "requeue":
            await photos.requeue(scope=ANN, photo_ids=[chosen])
        elif action == "delete":
            await photos.delete(chosen, scope=ANN)
        else:
            clock.advance(LEASE)
    done = [item.photo.id for item in (await photos.list(scope=ANN, status="done")).items]
    async with sqlite_db.session() as session:
        assert sorted(await session.scalars(text("SELECT rowid FROM search_fts"))) == sorted(done)
