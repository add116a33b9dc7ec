"""What `langgraph.json` names. Saver-less: Studio brings its own, the other doors compile theirs."""

from graph.builder import RECURSION_LIMIT, build_chat
from graph.services import Services
from settings import Settings

_services = Services(Settings())

graph = build_chat(_services).compile(name="evatar").with_config(recursion_limit=RECURSION_LIMIT)
analysis = _services.analysis
