"""Settings read from the environment and an optional `.env` file."""

import os
from pathlib import Path
from typing import Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from platformdirs import user_data_path
from pydantic import AliasChoices, BaseModel, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class ModelSettings(BaseModel):
    """One OpenAI-compatible model: `EVATAR_CHAT__MODEL`, `EVATAR_CHAT__BASE_URL`, `EVATAR_CHAT__API_KEY`."""

    model: str | None = None
    base_url: str | None = None
    api_key: SecretStr | None = None
    temperature: float = Field(default=0.3, ge=0, le=2)

    @property
    def configured(self) -> bool:
        return self.model is not None and (self.api_key is not None or self.base_url is not None)


class Settings(BaseSettings):
    """All knobs of Evatar. Times are seconds, sizes bytes unless a name says otherwise."""

    model_config = SettingsConfigDict(
        env_prefix="EVATAR_", env_nested_delimiter="__", env_file=".env", extra="ignore", populate_by_name=True
    )

    data_dir: Path = Field(default_factory=lambda: user_data_path("evatar"))
    database_url: str | None = None
    owner: str = "local"
    device_id: str = "cli"
    timezone: str | None = None
    base_url: str = "http://127.0.0.1:8421"

    chat: ModelSettings = ModelSettings()
    vision: ModelSettings = ModelSettings()
    openai_api_key: SecretStr | None = Field(default=None, validation_alias=AliasChoices("EVATAR_OPENAI_API_KEY", "OPENAI_API_KEY"))
    openai_base_url: str | None = Field(default=None, validation_alias=AliasChoices("EVATAR_OPENAI_BASE_URL", "OPENAI_BASE_URL"))
    openai_model: str = "gpt-4o-mini"

    tavily_api_key: SecretStr | None = Field(default=None, validation_alias=AliasChoices("EVATAR_TAVILY_API_KEY", "TAVILY_API_KEY"))
    tavily_base_url: str = "https://api.tavily.com"
    brave_api_key: SecretStr | None = Field(default=None, validation_alias=AliasChoices("EVATAR_BRAVE_API_KEY", "BRAVE_API_KEY"))
    brave_base_url: str = "https://api.search.brave.com"

    agent_max_rounds: int = Field(default=3, ge=1, le=10)
    agent_history_limit: int = Field(default=20, ge=2, le=200)
    checkpoints_kept: int = Field(default=3, ge=1, le=100)
    ocr_workers: int = Field(default_factory=lambda: max(1, os.cpu_count() or 1), ge=1, le=64)
    semantic: bool = False

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                ZoneInfo(value)
            except (ZoneInfoNotFoundError, ValueError) as error:
                raise ValueError(f"{value!r} is no IANA time zone such as Asia/Shanghai") from error
        return value

    @model_validator(mode="after")
    def _openai_key_configures_chat(self) -> Self:
        """`OPENAI_API_KEY` alone is enough: it fills what `EVATAR_CHAT__*` and `EVATAR_VISION__*` leave open."""
        if self.openai_api_key is None:
            return self
        for role in ("chat", "vision"):
            given: ModelSettings = getattr(self, role)
            filled = given.model_copy(
                update={
                    "model": given.model or self.openai_model,
                    "base_url": given.base_url or self.openai_base_url,
                    "api_key": given.api_key or (self.openai_api_key if given.base_url in (None, self.openai_base_url) else None),
                }
            )
            object.__setattr__(self, role, filled)
        return self

    @property
    def sqlalchemy_url(self) -> str:
        return self.database_url or f"sqlite+aiosqlite:///{self.data_dir / 'evatar.db'}"
