"""The shapes of messages: where clients and providers put text, pictures, videos and files. Knows keys, judges nothing."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memory.sniff import MediaKind

PROBLEMS_KEY = "media_problems"
"""Key of a stored message under which `store_inline` leaves the parts it had to refuse, as `[{"code", "detail"}]`."""


@dataclass(frozen=True, slots=True)
class RawText:
    """Text as written; `words` is False for the output of tools, which holds pictures but is nothing the user said."""

    text: str
    words: bool = True


@dataclass(frozen=True, slots=True)
class RawMedia:
    """A value in a place for media: an address, base64 or bytes. `encoded`: its key promises base64."""

    value: Any
    mime_type: str = ""
    file_name: str | None = None
    kind: MediaKind | None = None
    encoded: bool = False


RawItem = RawText | RawMedia

_MIME_KEYS = ("mimeType", "mime_type", "mediaType", "media_type", "contentType", "content_type", "mime")
_NAME_KEYS = ("filename", "file_name", "fileName", "name", "title")
_ENCODED_KEYS = ("base64", "data", "b64_json", "file_data", "image_base64", "bytes", "blob")
_VALUE_KEYS = (
    "blob", "image_url", "imageUrl", "video_url", "videoUrl", "audio_url", "file_url", "fileUrl", "url", "uri", "file_uri", "fileUri",
    "src", "asset_id", "assetId", "inlineData", "inline_data", "fileData", "image", "video", "source", "file", "resource", "input_audio",
    *_ENCODED_KEYS,
)  # fmt: skip
_TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
_MEDIA_TYPE = re.compile(r"(?:input_|output_)?(?:image|img|picture|photo|video|audio|file|document|media|attachment|blob|resource)")
_TOOL_TYPE = re.compile(r"tool(?:_|$)|dynamic_tool|\w+_call_output$|image_generation_call$|mcp_call$|code_interpreter_call$")
_SILENT_TYPE = re.compile(r"reasoning|thinking|redacted|source_|step_|data_|tool_use$|tool_call$|function_call$|refusal|resource_link$")
_TOOL_KEYS = ("output", "outputs", "result", "content", "toolInvocation", "tool_invocation")
_ATTACHMENT_KEYS: dict[str, MediaKind | None] = {
    "experimental_attachments": None, "attachments": None, "files": None, "file": None, "media": None,
    "images": "image", "image": "image", "image_url": "image", "imageUrl": "image", "image_urls": "image", "imageUrls": "image",
    "videos": "video", "video": "video", "video_url": "video", "videoUrl": "video",
}  # fmt: skip
ATTACHMENT_KEYS = frozenset({*_ATTACHMENT_KEYS, "parts", "toolInvocations"})
"""Keys beside `content` under which a message may hold media."""
_PICTURE_KEY = re.compile(r"(?:^|_)(?:image|img|picture|photo|screenshot)s?(?:_?(?:url|data|base64|b64))?s?$", re.IGNORECASE)
_MAX_DEPTH = 12


def message_items(message: Any) -> Iterator[RawItem]:
    """Texts and media of a message in their order: its content or parts first, then legacy attachments."""
    fields = _fields(message)
    content, parts = fields.get("content"), fields.get("parts")
    items = list(part_items(parts)) if parts else []
    said = any(isinstance(item, RawText) and item.words and item.text.strip() for item in items)
    if not (isinstance(content, str) and said):  # some clients repeat the text of the parts there
        yield from part_items(content)
    yield from items
    for key, kind in _ATTACHMENT_KEYS.items():
        yield from _attachments(fields.get(key), kind)
    for call in _listed(fields.get("toolInvocations")):
        if isinstance(call, Mapping):
            yield from _tool_output(call)


def problems_of(message: Any) -> list[Mapping[str, str]]:
    """What `store_inline` noted on this message."""
    return [problem for problem in _listed(_fields(message).get(PROBLEMS_KEY)) if isinstance(problem, Mapping)]


def part_items(part: Any, depth: int = 0) -> Iterator[RawItem]:
    """Texts and media of one part, a list of parts, or plain text."""
    if isinstance(part, str):
        yield RawText(part)
    elif isinstance(part, bytes | bytearray | memoryview):
        yield RawMedia(bytes(part))
    elif isinstance(part, Sequence) and depth < _MAX_DEPTH:
        for item in part:
            yield from part_items(item, depth + 1)
    elif isinstance(part, Mapping):
        yield from _typed_part(part)


def _fields(message: Any) -> Mapping[str, Any]:
    if isinstance(message, str):
        return {"content": message}
    if isinstance(message, Mapping):
        for wrapper in ("data", "kwargs"):  # LangChain's serialised messages
            inner = message.get(wrapper)
            if isinstance(inner, Mapping) and "content" in inner:
                return _with_extras(inner)
        if "content" in message or "parts" in message or not _is_part(message):
            return _with_extras(message)
        return {"parts": [message]}
    if isinstance(message, Sequence):
        return {"parts": list(message)}
    return {**getattr(message, "additional_kwargs", {}), "content": getattr(message, "content", None)}


def _with_extras(message: Mapping[str, Any]) -> Mapping[str, Any]:
    extras = message.get("additional_kwargs")
    return {**extras, **message} if isinstance(extras, Mapping) else message


def _is_part(message: Mapping[str, Any]) -> bool:
    kind = _type_of(message)
    return kind in _TEXT_TYPES or bool(_MEDIA_TYPE.match(kind) or _TOOL_TYPE.match(kind)) or "inlineData" in message or "text" in message


def _type_of(part: Mapping[str, Any]) -> str:
    return str(part.get("type") or "").lower().replace("-", "_")


def _typed_part(part: Mapping[str, Any]) -> Iterator[RawItem]:
    kind = _type_of(part)
    text = part.get("text", part.get("content") if kind in _TEXT_TYPES else None)
    if isinstance(text, Mapping):
        text = text.get("value")
    if kind == "text_plain" and isinstance(text, str):
        yield RawMedia(text.encode(), "text/plain", _first(part, _NAME_KEYS), "file")
    elif kind in _TEXT_TYPES or (not kind and isinstance(text, str)):
        yield RawText(text if isinstance(text, str) else "")
    elif _SILENT_TYPE.match(kind):
        return
    elif _TOOL_TYPE.match(kind):
        yield from _tool_output(part)
    elif not kind or kind == "text_plain" or _MEDIA_TYPE.match(kind):
        media = _media(part, RawMedia(None, kind=_kind_of(kind)))
        if media is not None:
            yield media


def _kind_of(part_type: str) -> MediaKind | None:
    if "image" in part_type or part_type in {"img", "picture", "photo"}:
        return "image"
    return "video" if "video" in part_type else None


def _media(part: Mapping[str, Any], outer: RawMedia, depth: int = 0) -> RawMedia | None:
    """The value of a media part, however deep it is wrapped; outer types and names hold unless an inner one is given.

    None when no key of `part` holds media; a value that is empty stays as "" so that it is refused, not lost.
    """
    known = replace(
        outer,
        mime_type=str(_first(part, _MIME_KEYS) or outer.mime_type),
        file_name=_name(part) or outer.file_name,
        kind=outer.kind or ("image" if "image_url" in part or "imageUrl" in part else None),
    )
    raw = _bytes_of(part)
    if raw is not None:
        return replace(known, value=raw)
    if _type_of(part) == "text" and isinstance(part.get("data"), str):  # a plain-text source
        return replace(known, value=part["data"].encode())
    empty = None
    for key in _VALUE_KEYS:
        value = part.get(key)
        if value is None or (key == "source" and isinstance(value, str) and "://" not in value and not value.startswith("data:")):
            continue
        if isinstance(value, Mapping) and depth < _MAX_DEPTH:
            found = _media(value, known, depth + 1)
            if found is not None:
                return found
        elif value in ("", b"", []):
            empty = replace(known, value="")
        elif not isinstance(value, Mapping | bool | int | float):
            prefix = "asset://" if key in {"asset_id", "assetId"} else ""
            value = prefix + value if prefix and isinstance(value, str) else value
            return replace(known, value=_bytes_of(value) or value, encoded=key in _ENCODED_KEYS)
    if empty is None and _first(part, ("file_id", "fileId")):
        return replace(known, value="file-id:")
    return empty


def _bytes_of(value: Any) -> bytes | None:
    """Bytes as JavaScript writes them into JSON: a Buffer, a list of numbers, or an object of numbered bytes."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if isinstance(value, Mapping):
        if value.get("type") == "Buffer":
            value = value.get("data")
        elif "0" in value and all(isinstance(item, int) for item in value.values()):
            value = list(value.values())
    if isinstance(value, list) and value and all(isinstance(item, int) and 0 <= item <= 255 for item in value):
        return bytes(value)
    return None


def _attachments(value: Any, kind: MediaKind | None) -> Iterator[RawItem]:
    for item in _listed(value):
        if isinstance(item, Mapping):
            own_kind = _kind_of(_type_of(item)) or kind
            media = _media(item, RawMedia(None, kind=own_kind))
            if media is not None:
                yield media
        elif item:
            yield RawMedia(_bytes_of(item) or item, kind=kind)


def _tool_output(part: Mapping[str, Any]) -> Iterator[RawItem]:
    for key in _TOOL_KEYS:
        if key in part:
            yield from _harvest(part[key])


def _harvest(value: Any, depth: int = 0) -> Iterator[RawItem]:
    """Pictures anywhere inside what a tool returned."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, str):
        parsed = _json(value)
        if parsed is None:
            yield RawText(value, words=False)
        else:
            yield from _harvest(parsed, depth + 1)
    elif isinstance(value, Mapping):
        yield from _harvest_mapping(value, depth)
    elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        for item in value:
            yield from _harvest(item, depth + 1)


def _harvest_mapping(value: Mapping[str, Any], depth: int) -> Iterator[RawItem]:
    kind = _type_of(value)
    mime_type = str(_first(value, _MIME_KEYS) or "")
    if _MEDIA_TYPE.match(kind) or mime_type.startswith(("image", "video")):
        media = _media(value, RawMedia(None, kind=_kind_of(kind)))
        if media is not None:
            yield media
            return
    for key, inner in value.items():
        if isinstance(inner, str) and inner and _PICTURE_KEY.search(key):
            yield RawMedia(inner, kind="image")
        elif key not in {"input", "args", "arguments"}:
            yield from _harvest(inner, depth + 1)


def _json(text: str) -> Any:
    if text.lstrip()[:1] not in {"{", "["}:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _first(part: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    return next((part[key] for key in keys if isinstance(part.get(key), str) and part[key]), None)


def _name(part: Mapping[str, Any]) -> str | None:
    return _first(part, _NAME_KEYS)


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) and _bytes_of(value) is None else [value]
