"""The knobs: every setting is an `EVATAR_*` environment variable, validated once at start."""

from settings.settings import ModelSettings, Settings

__all__ = ["ModelSettings", "Settings"]
