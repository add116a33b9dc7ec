"""Settings read from the environment and an optional `.env` file."""

import os
from pathlib import Path
from typing import Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from platformdirs import user_data_path
from pydantic import AliasChoices, BaseModel, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

OPENAI_URL = "https://api.openai.com/v1"


class ModelSettings(BaseModel):
    """One OpenAI-compatible model: `EVATAR_CHAT__MODEL`, `EVATAR_CHAT__BASE_URL`, `EVATAR_CHAT__API_KEY`."""

    model: str | None = None
    base_url: str | None = None
    api_key: SecretStr | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)

    @property
    def configured(self) -> bool:
        return self.model is not None and (self.api_key is not None or self.base_url is not None)


class Settings(BaseSettings):
    """All knobs of Evatar. Times are seconds, sizes bytes unless a name says otherwise."""

    model_config = SettingsConfigDict(
        env_prefix="EVATAR_",
        env_nested_delimiter="__",
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        populate_by_name=True,
        hide_input_in_errors=True,
    )

    data_dir: Path = Field(default_factory=lambda: user_data_path("evatar"))
    database_url: str | None = Field(default=None, repr=False)
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
            except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # OSError: a folder of zones, such as Asia
                raise ValueError(f"{value!r} is no IANA time zone such as Asia/Shanghai") from error
        return value

    @model_validator(mode="after")
    def _openai_key_configures_the_roles(self) -> Self:
        """`OPENAI_API_KEY` alone is enough: it fills what `EVATAR_CHAT__*` and `EVATAR_VISION__*` leave open."""
        self.chat = self._filled(self.chat)
        self.vision = self._filled(self.vision)
        return self

    def _filled(self, role: ModelSettings) -> ModelSettings:
        """The key goes nowhere but to OpenAI's address; a role that has an address of its own stays as it is."""
        home = self.openai_base_url or OPENAI_URL
        if (role.base_url or home).rstrip("/") != home.rstrip("/"):
            return role
        key = role.api_key or self.openai_api_key
        if key is None:
            return role
        return role.model_copy(update={"model": role.model or self.openai_model, "base_url": home, "api_key": key})

    @property
    def sqlalchemy_url(self) -> str:
        return self.database_url or f"sqlite+aiosqlite:///{self.data_dir / 'evatar.db'}"
