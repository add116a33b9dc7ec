"""Whose rows a read may see. Every read takes a scope; there is no call without one."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """An owner and, optionally, some of its devices (None: all of them)."""

    owner: str
    devices: tuple[str, ...] | None = None
