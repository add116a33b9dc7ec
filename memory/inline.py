"""What every door does first: bytes go into the blob store, the message keeps `asset://id`."""

from typing import Any

from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage

from memory.assets import Assets, StoredAsset
from memory.media import CHAT_LIMITS, Limits, MediaError, TurnAllowance
from memory.parts import Candidate, MediaBlock, ParsedMessage, Rejected, TextBlock, parse_message
from memory.shapes import ATTACHMENT_KEYS, PROBLEMS_KEY, problems_of

_LONG = 512
"""Characters of a refused value beyond which it can only be encoded bytes."""


async def store_inline(
    message: Any,
    *,
    assets: Assets,
    owner: str,
    base_url: str,
    limits: Limits = CHAT_LIMITS,
    conversation_id: str | None = None,
    message_uid: str | None = None,
) -> AnyMessage:
    """`message` without bytes: a LangChain message stays itself (same id), anything else becomes a HumanMessage.

    Takes every shape that `parse_message` reads. Parts with bytes that had to be refused are gone from the content and
    noted in `additional_kwargs["media_problems"]` as `[{"code", "detail"}]`; `resolve_media` reports them.
    """
    parsed = parse_message(message, base_url=base_url, max_bytes=limits.max_bytes)
    if isinstance(message, BaseMessage) and not _holds_bytes(parsed):
        return message  # type: ignore[return-value]
    stored: dict[int, StoredAsset] = {}
    refused: dict[int, Rejected] = {index: item for index, item in enumerate(parsed.media) if isinstance(item, Rejected)}
    allowance = TurnAllowance()
    for index, item in enumerate(parsed.media):
        if not isinstance(item, Candidate) or item.data is None:
            continue
        try:
            allowance.take(item.kind or "file", len(item.data))
            stored[index] = await assets.store(
                item.data,
                owner=owner,
                limits=limits,
                mime_type=item.mime_type,
                file_name=item.file_name,
                conversation_id=conversation_id,
                message_uid=message_uid,
            )
        except MediaError as error:
            refused[index] = Rejected(error.code, error.detail)
    return _Rewriter(parsed, stored, refused).message(message)


def may_hold_bytes(message: BaseMessage) -> bool:
    """A cheap look: whether `store_inline` could find something to store."""
    content = message.content
    return (
        not isinstance(content, str)
        or len(content) > _LONG
        or "data:" in content
        or not ATTACHMENT_KEYS.isdisjoint(message.additional_kwargs)
    )


def _holds_bytes(parsed: ParsedMessage) -> bool:
    return parsed.has_inline_bytes or any(
        isinstance(parsed.media[block.index], Rejected)
        if isinstance(block, MediaBlock)
        else any(isinstance(parsed.media[s.index], Rejected) and _is_encoded(block.raw[s.start : s.end]) for s in block.spans)
        for block in parsed.blocks
    )


def _is_encoded(written: str) -> bool:
    return len(written) > _LONG or "data:" in written[:200].lower()


class _Rewriter:
    """Writes a parsed message anew, with references where bytes were."""

    def __init__(self, parsed: ParsedMessage, stored: dict[int, StoredAsset], refused: dict[int, Rejected]) -> None:
        self._parsed = parsed
        self._stored = stored
        self._refused = refused
        self._dropped: set[int] = set()

    def message(self, original: Any) -> AnyMessage:
        blocks = [self._text(block) if isinstance(block, TextBlock) else self._media(block) for block in self._parsed.blocks]
        content: Any = [block for block in blocks if block is not None]
        if all(block["type"] == "text" for block in content):
            content = "\n".join(block["text"] for block in content)
        problems = [*problems_of(original), *({"code": r.code, "detail": r.detail} for i, r in self._refused.items() if i in self._dropped)]
        noted = {PROBLEMS_KEY: problems} if problems else {}
        if isinstance(original, BaseMessage):
            kept = {key: value for key, value in original.additional_kwargs.items() if key not in ATTACHMENT_KEYS}
            return original.model_copy(update={"content": content, "additional_kwargs": {**kept, **noted}})  # type: ignore[return-value]
        given = original.get("id") if isinstance(original, dict) else None
        return HumanMessage(content=content, id=str(given) if given else None, additional_kwargs=noted)

    def _text(self, block: TextBlock) -> dict[str, Any] | None:
        text = block.raw
        for span in reversed(block.spans):
            written = text[span.start : span.end]
            if span.index in self._stored:
                text = f"{text[: span.start]}![{span.alt}]({self._stored[span.index].url}){text[span.end :]}"
            elif span.index in self._refused and _is_encoded(written):
                self._dropped.add(span.index)
                text = text[: span.start] + text[span.end :]
        return {"type": "text", "text": text} if text.strip() else None

    def _media(self, block: MediaBlock) -> dict[str, Any] | None:
        item = self._parsed.media[block.index]
        asset = self._stored.get(block.index)
        if asset is not None:
            return {"type": asset.kind, "url": asset.url, "mime_type": asset.mime_type}
        if isinstance(item, Rejected) or item.data is not None:
            self._dropped.add(block.index)
            return None
        url = item.url or f"asset://{item.asset_id}"
        return {"type": item.kind or "file", "url": url, **({"mime_type": item.mime_type} if item.mime_type else {})}
