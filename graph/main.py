"""What `langgraph.json` names. Saver-less: Studio brings its own, the other doors compile theirs."""

from graph.builder import build_chat
from graph.services import Services
from settings import Settings

_services = Services(Settings())

graph = build_chat(_services).compile(name="evatar")
analysis = _services.analysis
