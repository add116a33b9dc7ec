"""Groups of near-duplicates in the library. A group is named after its smallest photo id; one photo alone is no group."""

from collections.abc import Collection

from sqlalchemy import func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from memory.similar import LookAlikes, same_screen
from memory.tables import Analysis, Photo


class Groups:
    """Works in the session it is given. What it remembers are hashes of pictures, which never change; rows decide."""

    def __init__(self) -> None:
        self._known: dict[str, LookAlikes] = {}

    async def join(self, session: AsyncSession, photo: Photo, text: str) -> None:
        """Group an analysed photo with those that look and read alike, and with what they were grouped with."""
        if photo.dhash is None:
            return
        known = self._known.setdefault(photo.owner, LookAlikes())
        unseen = select(Photo.id, Photo.dhash).where(Photo.owner == photo.owner, Photo.id > known.newest, Photo.dhash.is_not(None))
        known.add([(photo_id, dhash) for photo_id, dhash in await session.execute(unseen.order_by(Photo.id)) if dhash])
        alike = (
            select(Photo.id, Analysis.ocr_text)
            .join(Analysis, Analysis.photo_id == Photo.id)
            .where(Photo.id.in_(known.of(photo.dhash)), Photo.id != photo.id, Photo.owner == photo.owner, Analysis.status == "done")
        )
        same = [photo_id for photo_id, other in await session.execute(alike) if same_screen(text, other, dhash=photo.dhash)]
        if same:
            await _unite(session, [photo.id, *same])

    async def left(self, session: AsyncSession, group_id: int) -> None:
        """Name what a deleted photo leaves of its group anew."""
        left = (await session.scalars(select(Photo.id).where(Photo.group_id == group_id))).all()
        smallest = min(left) if len(left) > 1 else None
        await session.execute(update(Photo).where(Photo.group_id == group_id).values(group_id=smallest))


async def _unite(session: AsyncSession, photo_ids: Collection[int]) -> None:
    named = select(Photo.group_id).where(Photo.id.in_(photo_ids), Photo.group_id.is_not(None))
    groups = (await session.scalars(named.distinct())).all()
    members = or_(Photo.id.in_(photo_ids), Photo.group_id.in_(groups))
    smallest = await session.scalar(select(func.min(Photo.id)).where(members))
    await session.execute(update(Photo).where(members).values(group_id=smallest))
