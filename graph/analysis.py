"""The second graph: read (vision model, and OCR) → extract → validate → store and index. Saver-less: a photo's row is its progress."""

from functools import partial
from typing import TYPE_CHECKING, Any

from langgraph.graph import END, START, StateGraph

from memory.context import ChatContext
from nodes.analysis.extract import extract, validate
from nodes.analysis.read import after_read, read
from nodes.analysis.state import AnalysisInput, AnalysisState
from nodes.analysis.store import store

if TYPE_CHECKING:
    from graph.services import Services


def build_analysis(services: "Services") -> Any:
    """Compiled. `await graph.ainvoke({"photo_id": …}, context=ChatContext(owner=…))` returns the state; its `status` says how it ended."""
    graph = StateGraph(AnalysisState, context_schema=ChatContext, input_schema=AnalysisInput)
    graph.add_node("read", partial(read, photos=services.photos, blobs=services.blobs, ocr=services.ocr, vision=services.screenshots))
    graph.add_node("extract", extract)
    graph.add_node("validate", validate)
    graph.add_node("store", partial(store, photos=services.photos))

    graph.add_edge(START, "read")
    graph.add_conditional_edges("read", after_read, ["extract", "store"])
    graph.add_edge("extract", "validate")
    graph.add_edge("validate", "store")
    graph.add_edge("store", END)
    return graph.compile(name="analysis")
