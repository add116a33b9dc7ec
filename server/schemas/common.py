"""What every route shares."""

from datetime import datetime
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, Field, PlainSerializer


class Problem(BaseModel):
    """Every error of this API."""

    detail: str = Field(examples=["no conversation 0011223344556677"])


class Deleted(BaseModel):
    deleted: Literal[True] = True


def known_zone(name: str | None) -> str | None:
    """Raises ValueError for anything but an IANA name; empty is absent."""
    if not name:
        return None
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{name!r} is no IANA time zone such as Asia/Shanghai") from error


Zone = Annotated[Annotated[str, Field(max_length=64, examples=["Asia/Shanghai"])] | None, AfterValidator(known_zone)]
DeviceId = Annotated[
    Annotated[str, Field(pattern="^[A-Za-z0-9_-]{0,256}$", examples=["pixel-8"])] | None, AfterValidator(lambda value: value or None)
]
"""Empty is absent."""
Time = Annotated[datetime, PlainSerializer(datetime.isoformat, return_type=str, when_used="json")]
