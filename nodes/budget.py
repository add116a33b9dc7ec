"""The time a turn may spend before its first executor starts (spec §1.4: 18 s in all)."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

Stage = Literal["media", "analyzer", "vision_summary", "planning", "buffer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPolicy:
    """Seconds per stage. A stage gets its share or what is left of the turn, whichever is less."""

    media: float = 1.5
    analyzer: float = 4.0
    vision_summary: float = 3.0
    planning: float = 6.0
    buffer: float = 3.5
    clock: Callable[[], float] = field(default=time.time, repr=False)

    @property
    def total(self) -> float:
        return self.media + self.analyzer + self.vision_summary + self.planning + self.buffer

    def deadline(self) -> float:
        """The wall-clock second (epoch) by which a turn that starts now reaches its executor."""
        return self.clock() + self.total

    def left(self, deadline_at: float) -> float:
        return max(0.0, deadline_at - self.clock())

    def stage(self, name: Stage, deadline_at: float) -> float:
        return min(float(getattr(self, name)), self.left(deadline_at))
