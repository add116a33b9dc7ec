"""The present moment and the zone of the user."""

from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

from settings import Settings


def now_in(settings: Settings) -> datetime:
    """Aware; the host's zone where `EVATAR_TIMEZONE` names none."""
    return datetime.now(ZoneInfo(settings.timezone)) if settings.timezone else datetime.now().astimezone()


def zone_of(settings: Settings) -> tzinfo:
    """With its rules for other seasons, unlike the zone of a moment; the host's where `EVATAR_TIMEZONE` names none."""
    from tzlocal import get_localzone

    return ZoneInfo(settings.timezone) if settings.timezone else get_localzone()
