"""The present moment in the user's zone."""

from datetime import datetime
from zoneinfo import ZoneInfo

from settings import Settings


def now_in(settings: Settings) -> datetime:
    """Aware; the host's zone where `EVATAR_TIMEZONE` names none."""
    return datetime.now(ZoneInfo(settings.timezone)) if settings.timezone else datetime.now().astimezone()
