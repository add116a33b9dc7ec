"""The one parser of message parts: every shape in which clients and model providers send pictures, videos and files.

Pure: no network, no storage. What it cannot accept it names with a code; a bad part never spoils the others.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote, urldefrag, urlsplit

from memory.data_url import decode_base64, decode_data_url, is_data_url, looks_like_media
from memory.media import CHAT_LIMITS, MediaError, MediaErrorCode
from memory.shapes import RawMedia, RawText, message_items, problems_of
from memory.sniff import MediaKind, sniff
from memory.text_media import IMAGE_EXTENSIONS, VIDEO_EXTENSIONS, Found, definition_ranges, extension_of, find_media
from memory.urls import absolute_url, check_url, normalize_url, path_below

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_ASSET = re.compile(r"asset://([\w-]{1,64})", re.IGNORECASE)
_UNTOLD_TYPES = frozenset({"", "application/octet-stream", "binary/octet-stream", "*/*"})
_NO_PICTURE = re.compile(r"\.(?:svgz?|pdf|docx?|xlsx?|pptx?|csv|txt|md|json|zip|psd|ai|eps)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A picture, video or file of the message: exactly one of `asset_id`, `data` and `url` is set.

    `kind` is what the sender declared (part type, MIME type, extension) or, for `data`, what the bytes are; None when
    nothing tells. `own_path` is the path of a `url` below our own base URL.
    """

    kind: MediaKind | None
    source: Literal["part", "markdown"]
    asset_id: str | None = None
    data: bytes | None = field(default=None, repr=False)
    url: str | None = None
    own_path: str | None = None
    mime_type: str = ""
    file_name: str | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """A part that cannot be used and why: a `MediaErrorCode` and words for people."""

    code: MediaErrorCode
    detail: str


@dataclass(frozen=True, slots=True)
class Span:
    """`media[index]` is written at `raw[start:end]` of a text block."""

    start: int
    end: int
    index: int
    alt: str


@dataclass(frozen=True, slots=True)
class TextBlock:
    raw: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class MediaBlock:
    index: int


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """`text`: the user's words without picture markup (addresses in the running text stay; `words` is without them).

    `media`: each picture once, in the order of the message. `blocks` is the message itself, for rewriting.
    """

    text: str
    words: str
    media: tuple[Candidate | Rejected, ...]
    blocks: tuple[TextBlock | MediaBlock, ...]

    @property
    def candidates(self) -> list[Candidate]:
        return [item for item in self.media if isinstance(item, Candidate)]

    @property
    def rejected(self) -> list[Rejected]:
        return [item for item in self.media if isinstance(item, Rejected)]

    @property
    def has_inline_bytes(self) -> bool:
        return any(item.data is not None for item in self.candidates)


def parse_message(message: Any, *, base_url: str, max_bytes: int = CHAT_LIMITS.max_bytes) -> ParsedMessage:
    """Read a message: a mapping with `content`, `parts` or attachments, a LangChain message, a list of parts, or text.

    `base_url` is where relative addresses start; one part's bytes are at most `max_bytes`.
    """
    collected = _Collector(base_url=base_url, max_bytes=max_bytes)
    for item in message_items(message):
        collected.add_text(item) if isinstance(item, RawText) else collected.add_media(item)
    for problem in problems_of(message):
        collected.note(Rejected(problem["code"], problem["detail"]), key=("noted", problem["detail"]))  # type: ignore[arg-type]
    return collected.message()


class _Collector:
    """Gathers the media of one message, each once."""

    def __init__(self, *, base_url: str, max_bytes: int) -> None:
        self._base_url = base_url
        self._max_bytes = max_bytes
        self._media: list[Candidate | Rejected] = []
        self._index: dict[tuple[str, Any], int] = {}
        self._blocks: list[TextBlock | MediaBlock] = []
        self._texts: list[str] = []
        self._words: list[str] = []

    def message(self) -> ParsedMessage:
        return ParsedMessage(
            text="\n".join(filter(None, self._texts)),
            words="\n".join(filter(None, self._words)),
            media=tuple(self._media),
            blocks=tuple(self._blocks),
        )

    def note(self, item: Candidate | Rejected, *, key: tuple[str, Any]) -> int:
        """The index of `item`, or of the equal one that was there before."""
        if key not in self._index:
            self._index[key] = len(self._media)
            self._media.append(item)
        return self._index[key]

    def add_media(self, raw: RawMedia) -> None:
        self._blocks.append(MediaBlock(self._resolve(raw, source="part")))

    def add_text(self, raw: RawText) -> None:
        found = find_media(raw.text)
        spans = tuple(Span(f.start, f.end, self._resolve(_written(f), source="markdown"), f.alt) for f in found)
        if not raw.words:
            self._blocks += [MediaBlock(span.index) for span in spans]
            return
        self._blocks.append(TextBlock(raw.text, spans))
        markup = [(f.start, f.end) for f in found if f.form == "markup"] + definition_ranges(raw.text, found)
        bare = [(f.start, f.end) for f in found if f.form == "bare"]
        self._texts.append(_without(raw.text, markup))
        self._words.append(_without(raw.text, markup + bare))

    def _resolve(self, raw: RawMedia, *, source: Literal["part", "markdown"]) -> int:
        try:
            candidate = self._candidate(raw, source)
        except MediaError as error:
            return self.note(Rejected(error.code, error.detail), key=("rejected", str(raw.value)[:4096]))
        return self.note(candidate, key=_identity(candidate))

    def _candidate(self, raw: RawMedia, source: Literal["part", "markdown"]) -> Candidate:
        if isinstance(raw.value, bytes):
            return self._inline(raw.value, raw, source)
        if not isinstance(raw.value, str):
            raise MediaError("corrupt", "neither an address nor bytes")
        value = raw.value.strip()
        asset = _ASSET.match(value)
        if asset:
            return Candidate(
                kind=_declared_kind(raw, ""), source=source, asset_id=asset[1], mime_type=raw.mime_type, file_name=raw.file_name
            )
        if is_data_url(value):
            data, mime_type = decode_data_url(value, max_bytes=self._max_bytes)
            return self._inline(data, raw, source, declared=mime_type)
        is_address = value.startswith("//") or _SCHEME.match(value)
        if not is_address and (raw.encoded or not value or looks_like_media(value)):
            return self._inline(decode_base64(value, max_bytes=self._max_bytes), raw, source)
        return self._remote(value, raw, source)

    def _inline(self, data: bytes, raw: RawMedia, source: Literal["part", "markdown"], *, declared: str = "") -> Candidate:
        if not data:
            raise MediaError("empty", "0 bytes")
        if len(data) > self._max_bytes:
            raise MediaError("too_large", f"{len(data)} bytes, at most {self._max_bytes}")
        found = sniff(data)
        told = declared or raw.mime_type
        keep_told = found.kind == "file" and "/" in told and not told.startswith(("image/", "video/")) and told not in _UNTOLD_TYPES
        return Candidate(
            kind=found.kind, source=source, data=data, mime_type=told if keep_told else found.mime_type, file_name=raw.file_name
        )

    def _remote(self, value: str, raw: RawMedia, source: Literal["part", "markdown"]) -> Candidate:
        try:
            url = normalize_url(absolute_url(value, self._base_url))
        except ValueError as error:
            raise MediaError("forbidden_url", "malformed address") from error
        own_path = path_below(url, self._base_url)
        if own_path is None:
            check_url(url)
        return Candidate(
            kind=_declared_kind(raw, url),
            source=source,
            url=url,
            own_path=own_path,
            mime_type=raw.mime_type,
            file_name=raw.file_name or unquote(urlsplit(url).path.rsplit("/", 1)[-1]) or None,
        )


def _written(found: Found) -> RawMedia:
    return RawMedia(found.target, kind="image")


def _identity(candidate: Candidate) -> tuple[str, Any]:
    if candidate.data is not None:
        return ("bytes", hashlib.sha256(candidate.data).digest())
    return ("asset", candidate.asset_id) if candidate.asset_id else ("url", urldefrag(candidate.url or "").url)


def _declared_kind(raw: RawMedia, url: str) -> MediaKind | None:
    """By MIME type, else by the extension of the name or address, else by the type of the part."""
    told = raw.mime_type.split(";")[0].strip().lower().lstrip(".")
    if told not in _UNTOLD_TYPES:
        if told in {"image/svg+xml", "svg"}:
            return "file"
        if told.startswith("image") or told in IMAGE_EXTENSIONS:
            return "image"
        return "video" if told.startswith("video") or told in VIDEO_EXTENSIONS else "file"
    path = urlsplit(url).path
    for name in (raw.file_name or "", path):
        extension = extension_of(name)
        if extension:
            return "image" if extension in IMAGE_EXTENSIONS else "video"
        if _NO_PICTURE.search(name):
            return "file"
    return raw.kind


def _without(text: str, ranges: Iterable[tuple[int, int]]) -> str:
    for start, end in sorted(ranges, reverse=True):
        text = text[:start] + text[end:]
    return text.strip()
