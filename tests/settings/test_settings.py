"""Settings from the environment and `.env`: names, what one key fills, and where a key may go."""

import os
import re
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from settings import Settings
from settings.settings import OPENAI_URL

PREFIXES = ("EVATAR_", "OPENAI_", "TAVILY_", "BRAVE_")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A working folder without `.env`, an environment without settings."""
    for name in [name for name in os.environ if name.upper().startswith(PREFIXES)]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(monkeypatch: pytest.MonkeyPatch, **environment: str) -> Settings:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return Settings()


def key_of(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None


def test_nothing_is_needed():
    settings = Settings()
    assert (settings.chat.configured, settings.vision.configured) == (False, False)
    assert settings.sqlalchemy_url == f"sqlite+aiosqlite:///{settings.data_dir / 'evatar.db'}"


def test_every_name_has_the_prefix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    settings = read(
        monkeypatch,
        EVATAR_DATA_DIR=str(tmp_path),
        EVATAR_TIMEZONE="Asia/Shanghai",
        EVATAR_OCR_WORKERS="3",
        EVATAR_CHAT__MODEL="qwen",
        EVATAR_CHAT__BASE_URL="http://127.0.0.1:8080/v1",
        EVATAR_CHAT__API_KEY="k-chat",
        EVATAR_CHAT__TEMPERATURE="1",
        EVATAR_VISION__MODEL="see",
        EVATAR_VISION__BASE_URL="http://127.0.0.1:8081/v1",
    )
    assert (settings.data_dir, settings.timezone, settings.ocr_workers) == (tmp_path, "Asia/Shanghai", 3)
    assert (settings.chat.model, settings.chat.base_url, settings.chat.temperature) == ("qwen", "http://127.0.0.1:8080/v1", 1)
    assert key_of(settings.chat.api_key) == "k-chat"
    assert settings.vision.model == "see"
    assert settings.vision.api_key is None
    assert settings.vision.configured


@pytest.mark.parametrize("prefix", ["", "EVATAR_"])
def test_well_known_keys_go_by_their_own_names_too(monkeypatch: pytest.MonkeyPatch, prefix: str):
    settings = read(
        monkeypatch, **{f"{prefix}OPENAI_API_KEY": "k-openai", f"{prefix}TAVILY_API_KEY": "k-tavily", f"{prefix}BRAVE_API_KEY": "k-brave"}
    )
    keys = [settings.openai_api_key, settings.tavily_api_key, settings.brave_api_key]
    assert [key_of(key) for key in keys] == ["k-openai", "k-tavily", "k-brave"]


@pytest.mark.parametrize("role", ["chat", "vision"])
def test_an_openai_key_alone_configures_chat_and_vision(monkeypatch: pytest.MonkeyPatch, role: str):
    filled = getattr(read(monkeypatch, OPENAI_API_KEY="k-openai"), role)
    assert (filled.model, filled.base_url, key_of(filled.api_key)) == ("gpt-4o-mini", OPENAI_URL, "k-openai")
    assert filled.configured


def test_an_openai_key_goes_to_the_openai_address_that_is_set(monkeypatch: pytest.MonkeyPatch):
    chat = read(monkeypatch, OPENAI_API_KEY="k-openai", OPENAI_BASE_URL="https://proxy.example/v1", EVATAR_OPENAI_MODEL="m").chat
    assert (chat.model, chat.base_url, key_of(chat.api_key)) == ("m", "https://proxy.example/v1", "k-openai")


@pytest.mark.parametrize("openai", [{}, {"OPENAI_BASE_URL": "https://proxy.example/v1"}])
def test_the_openai_key_never_goes_to_another_address(monkeypatch: pytest.MonkeyPatch, openai: dict[str, str]):
    settings = read(
        monkeypatch,
        OPENAI_API_KEY="k-openai",
        EVATAR_CHAT__BASE_URL="http://127.0.0.1:8080/v1",
        EVATAR_CHAT__MODEL="qwen",
        EVATAR_VISION__BASE_URL="https://elsewhere.example/v1",
        **openai,
    )
    assert (settings.chat.model, settings.chat.api_key, settings.chat.configured) == ("qwen", None, True)
    assert (settings.vision.model, settings.vision.api_key, settings.vision.configured) == (None, None, False)


@pytest.mark.parametrize("address", [OPENAI_URL, f"{OPENAI_URL}/"])
def test_the_openai_address_written_out_is_no_other_address(monkeypatch: pytest.MonkeyPatch, address: str):
    chat = read(monkeypatch, OPENAI_API_KEY="k-openai", EVATAR_CHAT__BASE_URL=address).chat
    assert key_of(chat.api_key) == "k-openai"


def test_a_roles_own_key_comes_first(monkeypatch: pytest.MonkeyPatch):
    settings = read(monkeypatch, OPENAI_API_KEY="k-openai", EVATAR_CHAT__API_KEY="k-chat", EVATAR_CHAT__MODEL="gpt-x")
    assert (settings.chat.model, key_of(settings.chat.api_key)) == ("gpt-x", "k-chat")
    assert (settings.vision.model, key_of(settings.vision.api_key)) == ("gpt-4o-mini", "k-openai")


def test_a_model_without_key_and_address_is_not_configured(monkeypatch: pytest.MonkeyPatch):
    assert not read(monkeypatch, EVATAR_CHAT__MODEL="gpt-x").chat.configured


def test_what_is_left_empty_is_not_set(monkeypatch: pytest.MonkeyPatch):
    settings = read(monkeypatch, OPENAI_API_KEY="", EVATAR_CHAT__API_KEY="", EVATAR_CHAT__MODEL="", EVATAR_DATA_DIR="", EVATAR_TIMEZONE="")
    assert (settings.chat.configured, settings.vision.configured, settings.timezone) == (False, False, None)
    assert settings.data_dir.is_absolute()


def test_a_dotenv_file_is_read_and_the_environment_wins(monkeypatch: pytest.MonkeyPatch, home: Path):
    (home / ".env").write_text(
        "# a note\nOPENAI_API_KEY=k-file\nEVATAR_TIMEZONE='Asia/Tokyo'\nEVATAR_VISION__MODEL=see\n"
        "EVATAR_OWNER=file\nBRAVE_API_KEY=\nSOMETHING_ELSE=1\n",
        encoding="utf-8",
    )
    settings = read(monkeypatch, EVATAR_OWNER="environment")
    assert (settings.timezone, settings.owner, settings.brave_api_key) == ("Asia/Tokyo", "environment", None)
    assert (settings.chat.model, settings.vision.model) == ("gpt-4o-mini", "see")
    assert key_of(settings.vision.api_key) == "k-file"


def test_the_example_file_sets_nothing_and_names_what_exists(monkeypatch: pytest.MonkeyPatch, home: Path):
    example = (Path(__file__).parents[2] / ".env.example").read_text(encoding="utf-8")
    (home / ".env").write_text(example, encoding="utf-8")
    assert Settings() == Settings(_env_file=None)
    (home / ".env").write_text(re.sub(r"^#(?=[A-Z])", "", example, flags=re.M).replace("WORKERS=2", "WORKERS=7"), encoding="utf-8")
    settings = Settings()
    assert (settings.timezone, settings.ocr_workers, settings.chat.configured) == ("Asia/Shanghai", 7, False)


@pytest.mark.parametrize("zone", ["Mars/Base", "Asia", "asia/nowhere", "../etc", "/etc/passwd", "GMT+8:00"])
def test_a_wrong_zone_is_told_with_an_example(monkeypatch: pytest.MonkeyPatch, zone: str):
    with pytest.raises(ValidationError, match="is no IANA time zone such as Asia/Shanghai") as caught:
        read(monkeypatch, EVATAR_TIMEZONE=zone)
    assert caught.value.errors()[0]["loc"] == ("timezone",)


@pytest.mark.parametrize(
    ("name", "value"),
    [("EVATAR_OCR_WORKERS", "0"), ("EVATAR_AGENT_MAX_ROUNDS", "eleven"), ("EVATAR_CHAT__TEMPERATURE", "3"), ("EVATAR_SEMANTIC", "perhaps")],
)
def test_a_knob_out_of_range_is_refused_at_start(monkeypatch: pytest.MonkeyPatch, name: str, value: str):
    with pytest.raises(ValidationError) as caught:
        read(monkeypatch, **{name: value})
    assert "__".join(str(part) for part in caught.value.errors()[0]["loc"]).upper() == name.removeprefix("EVATAR_")


SECRETS = {
    "OPENAI_API_KEY": "hush-openai",
    "TAVILY_API_KEY": "hush-tavily",
    "BRAVE_API_KEY": "hush-brave",
    "EVATAR_CHAT__API_KEY": "hush-chat",
    "EVATAR_VISION__API_KEY": "hush-vision",
    "EVATAR_DATABASE_URL": "postgresql+psycopg://me:hush-db@localhost/evatar",
}


def test_no_secret_is_in_what_is_printed(monkeypatch: pytest.MonkeyPatch):
    settings = read(monkeypatch, **SECRETS)
    assert "hush" not in f"{settings!r} {settings} {settings.chat!r} {settings.vision}"
    assert settings.sqlalchemy_url.endswith("hush-db@localhost/evatar")


def test_no_secret_is_in_an_error(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(ValidationError) as caught:
        read(monkeypatch, **SECRETS, EVATAR_OCR_WORKERS="many", EVATAR_CHAT__TEMPERATURE="hush-typed-into-the-wrong-line")
    assert "hush" not in str(caught.value)
