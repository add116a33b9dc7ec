"""The chat executor as a graph: agent ⇄ tool nodes, then the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from memory.context import ChatContext
from memory.state import AgentState, ExecutorOutput, ExecutorState
from nodes.chat import ChatPool, RunTool, answer, call_tool, think, to_tools


@dataclass(frozen=True, slots=True)
class ToolNode:
    """A tool node: the tools whose calls it answers, how it runs them, and for how long (seconds)."""

    tools: Sequence[BaseTool]
    run: RunTool
    seconds: float


def build_agent(
    *, pool: ChatPool, tools: Mapping[str, ToolNode], max_rounds: int, seconds: float, zone: str | None
) -> CompiledStateGraph[AgentState, ChatContext, ExecutorState, ExecutorOutput]:
    """`tools` maps node names to tool nodes; `seconds` is per model round, in seconds."""
    node_of = {tool.name: name for name, node in tools.items() for tool in node.tools}
    offered = [convert_to_openai_tool(tool) for node in tools.values() for tool in node.tools]  # once: it costs 1 ms a tool
    graph = StateGraph(AgentState, context_schema=ChatContext, input_schema=ExecutorState, output_schema=ExecutorOutput)
    graph.add_node("agent", partial(think, pool=pool, tools=offered, tool_nodes=node_of, max_rounds=max_rounds, seconds=seconds, zone=zone))
    for name, node in tools.items():
        graph.add_node(name, partial(call_tool, run=node.run, seconds=node.seconds, node=name))
        graph.add_edge(name, "agent")
    graph.add_node("answer", answer)
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", partial(to_tools, tool_nodes=node_of), ["agent", *tools, "answer"])
    graph.add_edge("answer", END)
    return graph.compile(name="chat")
