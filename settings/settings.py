"""Settings read from the environment and an optional `.env` file."""

import os
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from platformdirs import user_data_path
from pydantic import AliasChoices, BaseModel, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

OPENAI_URL = "https://api.openai.com/v1"
Network = IPv4Network | IPv6Network


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

    host: str = "127.0.0.1"
    port: int = Field(default=8421, ge=0, le=65535)
    api_keys: Annotated[dict[str, SecretStr], NoDecode] = Field(default={}, description="`owner:key, …`; a key alone is that of `local`.")
    trusted_networks: Annotated[tuple[Network, ...], NoDecode] = ()
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    rate_limit: int | None = Field(default=None, ge=0, description="Sends a minute and caller; 0: no limit; unset: 10, none if keyless.")

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

    @field_validator("api_keys", mode="before")
    @classmethod
    def _keys_by_owner(cls, value: Any) -> Any:
        """`alice:key-1, bob:key-2`; a key without a name is that of the owner `local`."""
        if not isinstance(value, str):
            return value
        pairs = [item.partition(":") if ":" in item else ("local", ":", item) for item in _listed(value)]
        keys = {owner.strip(): key.strip() for owner, _, key in pairs}
        if len(keys) < len(pairs) or len(set(keys.values())) < len(pairs):
            raise ValueError("every owner has one key, and no two owners the same")
        return keys

    @field_validator("api_keys")
    @classmethod
    def _long_keys(cls, value: dict[str, SecretStr]) -> dict[str, SecretStr]:
        if any(len(key.get_secret_value()) < 8 for key in value.values()):
            raise ValueError("a key has at least 8 characters")
        if any(not 1 <= len(owner) <= 64 for owner in value):
            raise ValueError("an owner's name has 1 to 64 characters")
        return value

    @field_validator("trusted_networks", mode="before")
    @classmethod
    def _networks(cls, value: Any) -> Any:
        return tuple(ip_network(item) for item in _listed(value)) if isinstance(value, str) else value

    @field_validator("allowed_hosts", mode="before")
    @classmethod
    def _hosts(cls, value: Any) -> Any:
        return tuple(item.lower() for item in _listed(value)) if isinstance(value, str) else value

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


def _listed(value: str) -> list[str]:
    return [item.strip() for item in value.split(",") if item.strip()]
