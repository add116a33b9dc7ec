"""The picture of `docs/architecture.md`, top-down: which node runs after which."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from langgraph.graph import END, START, StateGraph

from graph.agent import build_agent
from graph.services import Services
from memory.context import ChatContext
from memory.state import ChatInput, ChatState
from nodes.budget import BudgetPolicy
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
