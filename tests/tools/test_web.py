import json
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import SecretStr, ValidationError

from settings import Settings
from tests.fakes.provider import Play, Request, ScriptedProvider, brave, hang, html_page, reset, status, tavily
from tools.web import WEB_TOOLS, run_web, web_providers

PAGE = {"title": "汇率", "url": "https://example.com/fx", "content": "1 美元 = 7.1 元"}


def settings(provider: ScriptedProvider, *, tavily_key: str | None = "tvly-k", brave_key: str | None = "brave-k") -> Settings:
    return Settings(
        tavily_api_key=SecretStr(tavily_key) if tavily_key else None,
        brave_api_key=SecretStr(brave_key) if brave_key else None,
        tavily_base_url=provider.address,
        brave_base_url=provider.address,
    )


def asked_of(request: Request) -> str:
    return "tavily" if request.path == "/search" else "brave"


async def search(provider: ScriptedProvider, query: str = "美元汇率", *, seconds: float = 5, **keys: str | None) -> dict[str, object]:
    return json.loads(await run_web({"query": query}, providers=web_providers(settings(provider, **keys)), seconds=seconds))


async def test_tavily_answers_first(provider: ScriptedProvider):
    provider.play(tavily(PAGE))
    found = await search(provider)
    assert (found["provider"], found["results"], found["error"]) == ("tavily", [PAGE], None)
    assert provider.requests[0].json["query"] == "美元汇率"
    assert [asked_of(request) for request in provider.requests] == ["tavily"]


@pytest.mark.parametrize("failure", [status(500), status(429), status(401), reset(), html_page(), tavily()], ids=str)
async def test_when_tavily_fails_brave_answers(provider: ScriptedProvider, failure: Play):
    provider.play(failure, brave({"title": "汇率", "url": PAGE["url"], "description": PAGE["content"]}))
    found = await search(provider)
    assert (found["provider"], found["results"]) == ("brave", [PAGE])
    assert provider.requests[1].headers["x-subscription-token"] == "brave-k"


async def test_a_provider_that_hangs_costs_only_its_own_time(provider: ScriptedProvider):
    provider.play(hang(), brave({"title": "t", "url": "u", "description": "c"}))
    assert (await search(provider, seconds=0.3))["provider"] == "brave"


async def test_when_all_fail_the_class_of_the_last_failure_is_told(provider: ScriptedProvider):
    provider.play(status(500), status(429))
    found = await search(provider)
    assert (found["results"], found["error"]) == ([], "rate_limited")


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (status(400), "capability"),
        (status(401), "auth_quota"),
        (status(403), "auth_quota"),
        (status(432), "auth_quota"),  # Tavily's plan is used up
        (status(429), "rate_limited"),
        (status(500), "transient"),
        (reset(), "transient"),
        (html_page(), "bad_structure"),
        (status(200, {"results": ["no object"]}), "bad_structure"),
        (status(200, {"results": None}), "empty_result"),
        (tavily(), "empty_result"),
    ],
    ids=str,
)
async def test_what_tavily_says_has_its_class(provider: ScriptedProvider, failure: Play, error: str):
    provider.play(failure)
    found = await search(provider, brave_key=None)
    assert (found["provider"], found["results"], found["error"]) == ("tavily", [], error)


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (status(401), "auth_quota"),
        (status(422), "capability"),
        (status(429), "rate_limited"),
        (status(200, []), "bad_structure"),
        (status(200, {"web": {"results": ["no object"]}}), "bad_structure"),
        (status(200, {"web": None}), "empty_result"),
        (status(200, {"query": {}}), "empty_result"),
    ],
    ids=str,
)
async def test_what_brave_says_has_its_class(provider: ScriptedProvider, failure: Play, error: str):
    provider.play(failure)
    found = await search(provider, tavily_key=None)
    assert (found["provider"], found["results"], found["error"]) == ("brave", [], error)


async def test_the_error_is_of_the_provider_it_names(provider: ScriptedProvider):
    provider.play(status(401), brave())
    found = await search(provider)
    assert (found["provider"], found["error"]) == ("brave", "empty_result")


async def test_fields_that_are_missing_or_null_are_empty(provider: ScriptedProvider):
    provider.play(status(200, {"results": [{"title": None, "url": "u", "raw_content": None}]}))
    assert (await search(provider))["results"] == [{"title": "", "url": "u", "content": ""}]


async def test_no_key_reaches_the_answer(provider: ScriptedProvider):
    provider.play(status(401, {"detail": {"error": "bad key tvly-k"}}), status(403, "bad key brave-k"))
    answer = json.dumps(await search(provider))
    assert "tvly-k" not in answer
    assert "brave-k" not in answer


async def test_brave_is_asked_within_its_limits_and_without_markup(provider: ScriptedProvider):
    provider.play(brave())
    await search(provider, "w " * 150, tavily_key=None)
    asked = parse_qs(urlsplit(provider.requests[0].path).query)
    assert len(asked["q"][0].split()) == 50
    assert asked["text_decorations"] == ["false"]


async def test_without_a_provider_the_answer_says_so(provider: ScriptedProvider):
    found = await search(provider, tavily_key=None, brave_key=None)
    assert found["error"] == "not_configured"
    assert "TAVILY_API_KEY" in str(found["message"])
    assert provider.requests == []


async def test_queries_are_cut_at_400_characters(provider: ScriptedProvider):
    provider.play(tavily(PAGE))
    await search(provider, "长" * 1000)
    assert provider.requests[0].json["query"] == "长" * 400


async def test_a_missing_query_is_a_validation_error(provider: ScriptedProvider):
    with pytest.raises(ValidationError):
        await run_web({}, providers=[])


def test_the_tool_has_its_name_and_required_parameter():
    (tool,) = WEB_TOOLS
    assert tool.name == "web_search"
    assert tool.get_input_schema().model_json_schema()["required"] == ["query"]
