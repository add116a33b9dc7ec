"""Who asks, from where, and with which choices: the graph's runtime context and Studio's form."""

from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from memory.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatContext:
    owner: str = field(default="local", metadata={"description": "Whose screenshots and pictures may be read."})
    device_ids: list[str] = field(default_factory=list, metadata={"description": "Only these devices; empty means all of the owner's."})
    tz: str = field(default="", metadata={"description": "IANA time zone of the user, such as Asia/Shanghai; empty: the host's."})
    now: str = field(default="", metadata={"description": "ISO 8601 time taken as now; empty: the clock."})
    mode: str = field(default="auto", metadata={"description": "auto, video, 3d, batch or variations."})
    skill_id: str = field(default="", metadata={"description": "Skill to follow this turn."})
    model: str = field(default="", metadata={"description": "A model the user asks for explicitly."})

    @property
    def scope(self) -> Scope:
        return Scope(owner=self.owner, devices=tuple(self.device_ids) or None)

    def clock(self, *, default_zone: str | None = None) -> datetime:
        """The turn's present moment, aware, in the user's zone."""
        name = self.tz or default_zone
        zone = ZoneInfo(name) if name else None
        if self.now:
            given = datetime.fromisoformat(self.now)
            return given.astimezone(zone) if zone or given.tzinfo is None else given
        return datetime.now(zone) if zone else datetime.now().astimezone()
