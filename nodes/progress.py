"""What a node tells the listeners of a run while it works: dicts in the shape of the server's events, over the custom stream."""

from typing import Any

from langchain_core.messages import ToolCall, ToolMessage


def tool_called(call: ToolCall) -> dict[str, Any]:
    return {"type": "tool", "call_id": str(call["id"]), "name": call["name"], "status": "called", "args": call["args"]}


def tool_answered(message: ToolMessage) -> dict[str, Any]:
    status = "error" if message.status == "error" else "done"
    return {"type": "tool", "call_id": message.tool_call_id, "name": message.name, "status": status}
