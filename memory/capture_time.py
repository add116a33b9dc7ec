"""When a picture was taken: what its EXIF says, else what its name says, else when its file was last changed."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, timezone, tzinfo
from typing import Literal

from memory.exif import ExifTime
from memory.file_names import NamedTime, named_times

Source = Literal["exif", "filename", "mtime"]

_EARLIEST = datetime(1995, 1, 1, tzinfo=UTC)
_FUTURE = timedelta(days=366)  # clocks of phones go wrong, but not by more than a wrong year


@dataclass(frozen=True, slots=True)
class CaptureTime:
    """`at` is aware, with the offset of the place as far as it is known."""

    at: datetime
    source: Source


def capture_time(*, file_name: str, exif: ExifTime | None, mtime: float, zone: tzinfo, now: datetime) -> CaptureTime:
    """The best time there is. `mtime` is in seconds since 1970; times that tell no offset are of `zone`.

    A time before 1995, or more than a year after both `now` and `mtime`, is a wrong one and is passed over.
    """
    changed = _from_epoch(mtime, zone, now)
    latest = max(now, changed) + _FUTURE
    for at, source in _candidates(file_name, exif, changed, zone):
        if _EARLIEST <= at <= latest:
            return CaptureTime(at, source)
    return CaptureTime(changed, "mtime")


def _candidates(file_name: str, exif: ExifTime | None, changed: datetime, zone: tzinfo) -> Iterator[tuple[datetime, Source]]:
    if exif is not None:
        yield exif.at.replace(tzinfo=zone if exif.offset is None else timezone(exif.offset)), "exif"
    for named in named_times(file_name):
        yield _resolved(named, changed, zone), "filename"


def _resolved(named: NamedTime, changed: datetime, zone: tzinfo) -> datetime:
    """A name that tells the day alone leaves the time to the file if that was changed on the day; else it is noon."""
    if isinstance(named, datetime):
        return named.astimezone(zone) if named.tzinfo else named.replace(tzinfo=zone)
    return changed if changed.date() == named else datetime.combine(named, time(12), tzinfo=zone)


def _from_epoch(seconds: float, zone: tzinfo, now: datetime) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, zone)
    except (OverflowError, ValueError, OSError):
        return now.astimezone(zone)
