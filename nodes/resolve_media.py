"""The first node: what this message brings, resolved once. Nobody after it reads message parts."""

import asyncio
import re
import time
import uuid
from typing import Any

from langchain_core.messages import AnyMessage
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from memory.assets import Assets, StoredAsset
from memory.attachments import attachment_note
from memory.context import ChatContext
from memory.fetch import Fetcher
from memory.inline import may_hold_bytes, store_inline
from memory.media import DEFAULT_TEXT, MediaError, TurnAllowance
from memory.parts import Candidate, ParsedMessage, parse_message
from memory.scope import Scope
from memory.sniff import MediaKind
from memory.state import STATE_VERSION, ChatState, MediaProblem, ResolvedChatInput, ResolvedMediaRef, Targets
from nodes import trace
from nodes.budget import BudgetPolicy

_KINDS: tuple[MediaKind, ...] = ("image", "video", "file")
_WORD = re.compile(r"[^\W_]")
_TEXT_OF_ATTACHMENTS = 32_000
"""Characters of extracted text that one turn carries."""


async def resolve_media(
    state: ChatState, runtime: Runtime[ChatContext], *, assets: Assets, fetcher: Fetcher, base_url: str, budget: BudgetPolicy
) -> dict[str, Any]:
    """Store inline bytes, make the refs of the newest message, and reset what belongs to one turn.

    A part that cannot be used becomes a `problem` of the input; it never fails the turn. Addresses of other sites are
    fetched here only, within the stage's share of the turn's budget.
    """
    started = time.perf_counter()
    deadline_at = budget.deadline()
    scope = runtime.context.scope
    changed, message = await _without_bytes(state.get("messages", []), assets=assets, owner=scope.owner, base_url=base_url)
    parsed = parse_message(message if message is not None else "", base_url=base_url)
    resolver = _Resolver(assets=assets, fetcher=fetcher, scope=scope, message_uid=message.id if message else None)
    resolved = await resolver.resolve(parsed, seconds=budget.stage("media", deadline_at))
    entry = trace.entry(
        node="resolve_media",
        started=started,
        decision=_summary(resolved),
        detail={"problems": resolved["problems"]},
        deadline_at=deadline_at,
    )
    update = _fresh_turn(message.id if message and message.id else uuid.uuid4().hex, deadline_at)
    return {**update, **({"messages": changed} if changed else {}), "input": resolved, "trace": Overwrite([entry])}


async def _without_bytes(
    messages: list[AnyMessage], *, assets: Assets, owner: str, base_url: str
) -> tuple[list[AnyMessage], AnyMessage | None]:
    """The messages that had to change so that none holds bytes (same ids), and the newest user message in its new form."""
    changed: list[AnyMessage] = []
    newest: AnyMessage | None = None
    for message in messages:
        stored = message
        if may_hold_bytes(message):
            stored = await store_inline(message, assets=assets, owner=owner, base_url=base_url, message_uid=message.id)
        if stored is not message:
            changed.append(stored)
        if stored.type == "human":
            newest = stored
    return changed, newest


def _fresh_turn(turn_id: str, deadline_at: float) -> dict[str, Any]:
    """Every key that belongs to one turn, as it is before anything is decided."""
    return {
        "state_version": STATE_VERSION,
        "turn_id": turn_id,
        "deadline_at": deadline_at,
        "analysis": {},
        "targets": Targets(asset_ids=[], roles={}, rule=""),
        "route": {},
        "plan": [],
        "results": Overwrite([]),
    }


def _summary(resolved: ResolvedChatInput) -> str:
    counts = [f"{len(resolved[f'{kind}_refs'])} {kind}s" for kind in _KINDS]  # type: ignore[literal-required]
    return ", ".join([*counts, f"{len(resolved['problems'])} problems"])


class _Resolver:
    """Turns the parsed message of one turn into its `ResolvedChatInput`."""

    def __init__(self, *, assets: Assets, fetcher: Fetcher, scope: Scope, message_uid: str | None) -> None:
        self._assets = assets
        self._fetcher = fetcher
        self._scope = scope
        self._message_uid = message_uid

    async def resolve(self, parsed: ParsedMessage, *, seconds: float) -> ResolvedChatInput:
        """`seconds`: for all downloads together; they run side by side and keep the order of the message."""
        problems = [MediaProblem(code=item.code, detail=item.detail) for item in parsed.rejected]
        candidates = parsed.candidates
        outcomes = await asyncio.gather(*(self._asset(candidate, seconds) for candidate in candidates))
        refs: dict[str, ResolvedMediaRef] = {}
        allowance = TurnAllowance()
        documents: list[StoredAsset] = []
        for candidate, outcome in zip(candidates, outcomes, strict=True):
            try:
                if isinstance(outcome, MediaError):
                    raise outcome
                if outcome.id not in refs:
                    allowance.take(outcome.kind, outcome.byte_size)
                    refs[outcome.id] = _ref(candidate, outcome)
                    documents += [outcome] if outcome.kind == "file" else []
            except MediaError as error:
                problems.append(MediaProblem(code=error.code, detail=error.detail))
        of_kind = {kind: [ref for ref in refs.values() if ref["kind"] == kind] for kind in _KINDS}
        return ResolvedChatInput(
            text=await self._text(parsed, documents, has_image=bool(of_kind["image"])),
            image_refs=of_kind["image"],
            video_refs=of_kind["video"],
            file_refs=of_kind["file"],
            from_history=False,
            problems=problems,
        )

    async def _asset(self, candidate: Candidate, seconds: float) -> StoredAsset | MediaError:
        try:
            if candidate.asset_id is not None or candidate.own_path is not None:
                return await self._own(candidate)
            return await self._foreign(candidate, seconds)
        except MediaError as error:
            return error

    async def _own(self, candidate: Candidate) -> StoredAsset:
        if candidate.asset_id is not None:
            found = await self._assets.get(candidate.asset_id, scope=self._scope)
        else:
            found = await self._assets.at_path(candidate.own_path or "", scope=self._scope)
        if found is None:
            raise MediaError("expired", "no such picture or file here")
        return found

    async def _foreign(self, candidate: Candidate, seconds: float) -> StoredAsset:
        """What another site gives; the message itself holds no bytes any more."""
        fetched = await self._fetcher.fetch(candidate.url or "", seconds=seconds)
        return await self._assets.store(
            fetched.data,
            owner=self._scope.owner,
            mime_type=candidate.mime_type or fetched.content_type,
            file_name=candidate.file_name,
            message_uid=self._message_uid,
        )

    async def _text(self, parsed: ParsedMessage, documents: list[StoredAsset], *, has_image: bool) -> str:
        """The user's words; a request to look at the pictures where there are none; then the attached documents."""
        said = parsed.text if _WORD.search(parsed.words) or not has_image else DEFAULT_TEXT
        return "\n\n".join(filter(None, [said, *await self._documents(documents)]))

    async def _documents(self, documents: list[StoredAsset]) -> list[str]:
        room = _TEXT_OF_ATTACHMENTS
        notes = []
        for asset in documents:
            note = attachment_note(asset.file_name or asset.id, asset.byte_size)
            text = ""
            if asset.working_key is not None and room > 0:
                text = (await self._assets.read(asset.id, scope=self._scope)).decode("utf-8")[:room]
            room -= len(text)
            notes.append(f"{note}\n{text}" if text else note)
        return notes


def _ref(candidate: Candidate, asset: StoredAsset) -> ResolvedMediaRef:
    return ResolvedMediaRef(
        asset_id=asset.id,
        kind=asset.kind,
        source="markdown" if candidate.source == "markdown" else "current_message",
        url=asset.url if candidate.own_path is not None else candidate.url or asset.url,
        transport="remote" if candidate.url and candidate.own_path is None else "inline",
        mime_type=asset.mime_type,
        width=asset.width,
        height=asset.height,
        file_name=asset.file_name,
    )
