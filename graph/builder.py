"""The picture of `docs/architecture.md`, top-down: which node runs after which."""

from functools import partial
from typing import Any

from langgraph.graph import END, START, StateGraph

from graph.agent import ToolNode, build_agent
from graph.services import Services
from memory.context import ChatContext
from memory.state import ChatInput, ChatState
from models.chat import ROUND_SECONDS
from models.vision import VISION_SECONDS
from nodes.classify import classify
from nodes.collect import collect
from nodes.dispatch import dispatch, to_executors
from nodes.heavy import heavy
from nodes.light import light
from nodes.recall import recall
from nodes.remember import remember
from nodes.reply import reply
from nodes.resolve_media import resolve_media
from nodes.resolve_targets import resolve_targets
from nodes.route import path_of, route
from nodes.vision import vision
from tools.knowledge import KNOWLEDGE_TOOLS, run_knowledge
from tools.web import TOTAL_SECONDS, WEB_TOOLS, run_web, web_providers

EXECUTORS = ("chat", "vision")
TOOL_SECONDS = 15.0
RECURSION_LIMIT = 60
"""Supersteps of one turn; LangGraph's own limit is 10,007."""


def build_chat(services: Services) -> "StateGraph[ChatState, ChatContext, ChatInput, ChatState]":
    """The chat graph, not yet compiled: each door brings its own saver."""
    settings, budget = services.settings, services.budget
    graph = StateGraph(ChatState, context_schema=ChatContext, input_schema=ChatInput)

    graph.add_node(
        "resolve_media",
        partial(resolve_media, assets=services.assets, fetcher=services.fetcher, base_url=settings.base_url, budget=budget),
    )
    graph.add_node("recall", recall)
    graph.add_node("classify", partial(classify, classifier=services.classifier, budget=budget))
    graph.add_node("resolve_targets", resolve_targets)
    graph.add_node("route", route)
    graph.add_node("light", light)
    graph.add_node("heavy", heavy)
    graph.add_node("dispatch", partial(dispatch, executors=EXECUTORS))
    graph.add_node("chat", _chat_executor(services))
    graph.add_node("vision", partial(vision, pool=services.vision, seconds=VISION_SECONDS))
    graph.add_node("collect", collect)
    graph.add_node("reply", reply)
    graph.add_node(
        "remember",
        partial(remember, transcript=services.conversations, history_limit=settings.agent_history_limit, zone=settings.timezone),
    )

    graph.add_edge(START, "resolve_media")
    graph.add_edge("resolve_media", "recall")
    graph.add_edge("recall", "classify")
    graph.add_edge("classify", "resolve_targets")
    graph.add_edge("resolve_targets", "route")
    graph.add_conditional_edges("route", path_of, ["light", "heavy"])
    graph.add_edge("light", "dispatch")
    graph.add_edge("heavy", "dispatch")
    graph.add_conditional_edges("dispatch", to_executors, [*EXECUTORS, "reply"])
    for executor in EXECUTORS:
        graph.add_edge(executor, "collect")
    graph.add_edge("collect", "dispatch")
    graph.add_edge("reply", "remember")
    graph.add_edge("remember", END)
    return graph


def _chat_executor(services: Services) -> Any:
    """agent ⇄ {search_knowledge, recent_screenshots, web_search}."""
    settings = services.settings
    search_tools = [tool for tool in KNOWLEDGE_TOOLS if tool.name != "get_recent"]
    recent_tools = [tool for tool in KNOWLEDGE_TOOLS if tool.name == "get_recent"]

    async def in_library(name: str, args: dict[str, Any], context: ChatContext) -> str:
        now = context.clock(default_zone=settings.timezone)
        return await run_knowledge(name, args, knowledge=services.knowledge, scope=context.scope, now=now)

    async def on_the_web(_name: str, args: dict[str, Any], _context: ChatContext) -> str:
        return await run_web(args, providers=web_providers(settings))

    return build_agent(
        pool=services.chat,
        tools={
            "search_knowledge": ToolNode(search_tools, in_library, TOOL_SECONDS),
            "recent_screenshots": ToolNode(recent_tools, in_library, TOOL_SECONDS),
            "web_search": ToolNode(WEB_TOOLS, on_the_web, TOTAL_SECONDS),
        },
        max_rounds=settings.agent_max_rounds,
        seconds=ROUND_SECONDS,
        zone=settings.timezone,
    )
