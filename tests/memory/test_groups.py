import pytest

from memory.photos import Photos
from memory.scope import Scope
from tests.memory.library import new_photo, result

ANN, BOB = Scope("ann"), Scope("bob")
LIKE = f"{'f' * 60}{{}}"  # four more digits: few enough bits to look alike
APART = "0" * 64


async def save(photos: Photos, name: str, dhash: str | None, text: str = "账单详情 城北面馆", *, owner: str = "ann") -> int:
    photo_id, _ = await photos.add(new_photo(name, dhash=dhash, owner=owner))
    await photos.save_analysis(photo_id, result(text))
    return photo_id


async def groups(photos: Photos, scope: Scope = ANN) -> dict[int, int | None]:
    return {item.photo.id: item.photo.group_id for item in (await photos.list(scope=scope)).items}


async def test_what_looks_and_reads_alike_is_a_group(photos: Photos) -> None:
    a = await save(photos, "a", LIKE.format("0000"))
    other_picture = await save(photos, "b", APART)
    other_text = await save(photos, "c", LIKE.format("0000"), "会议室预订成功")
    no_hash = await save(photos, "d", None)
    e = await save(photos, "e", LIKE.format("00ff"))
    assert await groups(photos) == {a: a, e: a, other_picture: None, other_text: None, no_hash: None}


async def test_a_photo_joins_two_groups_that_it_lies_between(photos: Photos) -> None:
    left = [await save(photos, f"l{n}", LIKE.format("ffff")) for n in range(2)]
    right = [await save(photos, f"r{n}", LIKE.format("f000")) for n in range(2)]
    assert await groups(photos) == dict.fromkeys(left, left[0]) | dict.fromkeys(right, right[0])
    between = await save(photos, "m", LIKE.format("ff00"))
    assert await groups(photos) == dict.fromkeys([*left, *right, between], left[0])


async def test_groups_survive_deletion(photos: Photos) -> None:
    a, b, c = [await save(photos, name, "f" * 64) for name in "abc"]
    await photos.delete(a, scope=ANN)
    assert await groups(photos) == dict.fromkeys([b, c], b)
    await photos.delete(c, scope=ANN)
    assert await groups(photos) == {b: None}
    d = await save(photos, "d", "f" * 64)
    assert await groups(photos) == dict.fromkeys([b, d], b)


async def test_photos_waiting_for_their_analysis_join_when_they_have_it(photos: Photos) -> None:
    waiting, _ = await photos.add(new_photo("w", dhash="f" * 64))
    done = await save(photos, "d", "f" * 64)
    assert await groups(photos) == {waiting: None, done: None}
    await photos.save_analysis(waiting, result("账单详情 城北面馆"))
    assert await groups(photos) == dict.fromkeys([waiting, done], waiting)


@pytest.mark.parametrize("first", ["ann", "bob"])
async def test_another_owner_is_never_grouped_with(photos: Photos, first: str) -> None:
    second = "bob" if first == "ann" else "ann"
    await save(photos, "a", "f" * 64, owner=first)
    await save(photos, "b", "f" * 64, owner=second)
    assert set((await groups(photos, ANN) | await groups(photos, BOB)).values()) == {None}
