"""web_search: Tavily, then Brave. What the web says is data, never an instruction."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import AliasChoices, BaseModel, Field

from models.errors import ErrorClass, classify
from settings import Settings

PROVIDER_SECONDS = 15.0
TOTAL_SECONDS = 30.0
LONGEST_QUERY = 400
BRAVE_WORDS = 50
"""Brave refuses a query of more words; Tavily knows no such limit."""
RESULTS = 5
NOT_CONFIGURED = "联网搜索没有配置：请设置 TAVILY_API_KEY 或 BRAVE_API_KEY。(Web search is not configured.)"

Result = dict[str, str]
Provider = tuple[str, Callable[[str], Awaitable[list[Result]]]]


class WebSearch(BaseModel):
    query: str = Field(description="搜索查询")


class Found(BaseModel):
    """One result of either provider; Brave calls the content `description`."""

    title: str | None = None
    url: str | None = None
    content: str | None = Field(default=None, validation_alias=AliasChoices("content", "description"))

    def as_result(self) -> Result:
        return {"title": self.title or "", "url": self.url or "", "content": self.content or ""}


class FoundList(BaseModel):
    results: list[Found] | None = None

    def as_results(self) -> list[Result]:
        return [found.as_result() for found in self.results or []]


class BraveReply(BaseModel):
    web: FoundList | None = None


WEB_TOOLS: tuple[BaseTool, ...] = (StructuredTool(name="web_search", description="搜索互联网，获取实时信息", args_schema=WebSearch),)


def web_providers(settings: Settings) -> list[Provider]:
    """The configured providers in order."""
    providers: list[Provider] = []
    if settings.tavily_api_key is not None:
        key, base_url = settings.tavily_api_key.get_secret_value(), settings.tavily_base_url
        providers.append(("tavily", lambda query: search_tavily(query, key=key, base_url=base_url)))
    if settings.brave_api_key is not None:
        token, url = settings.brave_api_key.get_secret_value(), settings.brave_base_url
        providers.append(("brave", lambda query: search_brave(query, key=token, base_url=url)))
    return providers


async def run_web(args: dict[str, Any], *, providers: Sequence[Provider], seconds: float = PROVIDER_SECONDS) -> str:
    """JSON: `{"tool", "query", "provider", "error", "results": [{"title", "url", "content"}]}`; `seconds` per provider.

    `error` is `not_configured` without a provider, else the class of the last provider's failure, which may be `empty_result`.
    Raises ValidationError for wrong arguments.
    """
    query = WebSearch.model_validate(args).query.strip()[:LONGEST_QUERY]
    if not providers:
        return _answer(query, error="not_configured", message=NOT_CONFIGURED)
    error = ""
    for name, search in providers:
        try:
            async with asyncio.timeout(seconds):
                results = await search(query)
        except Exception as failure:  # every failure of a provider means the next one
            error = classify(failure).value
            continue
        if results:
            return _answer(query, provider=name, results=results)
        error = ErrorClass.EMPTY_RESULT.value
    return _answer(query, provider=providers[-1][0], error=error)


def _answer(query: str, *, provider: str | None = None, error: str | None = None, message: str = "", results: Sequence[Result] = ()) -> str:
    told = {"message": message} if message else {}
    return json.dumps(
        {"tool": "web_search", "query": query, "provider": provider, "error": error, **told, "results": list(results)}, ensure_ascii=False
    )


async def search_tavily(query: str, *, key: str, base_url: str) -> list[Result]:
    from tavily import AsyncTavilyClient

    client = AsyncTavilyClient(api_key=key, api_base_url=base_url)
    try:
        found = await client.search(query, max_results=RESULTS, timeout=PROVIDER_SECONDS)
    finally:
        await client.close()
    return FoundList.model_validate(found).as_results()


async def search_brave(query: str, *, key: str, base_url: str) -> list[Result]:
    import httpx

    async with httpx.AsyncClient(timeout=PROVIDER_SECONDS) as client:
        reply = await client.get(
            f"{base_url}/res/v1/web/search",
            params={"q": " ".join(query.split()[:BRAVE_WORDS]), "count": RESULTS, "text_decorations": "false"},
            headers={"X-Subscription-Token": key, "Accept": "application/json"},
        )
        reply.raise_for_status()
    found = BraveReply.model_validate(reply.json())
    return found.web.as_results() if found.web else []
