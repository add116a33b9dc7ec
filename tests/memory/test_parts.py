import ast
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage, ToolMessage

from memory.parts import parse_message
from tests.memory.pictures import base64_of, data_url, encoded

BASE = "https://app.example"
URL = "https://img.shop.example/a.png"
PNG, JPEG = encoded(), encoded(form="JPEG")
B64 = base64_of(PNG)
ROOT = Path(__file__).resolve().parents[2]


def parse(message: Any) -> list[Any]:
    """Per picture, video or file: its kind and its address or bytes; per refusal: its code."""
    parsed = parse_message(message, base_url=BASE)
    return [
        item.code if not hasattr(item, "kind") else (item.kind, item.data or item.url or f"asset://{item.asset_id}")
        for item in parsed.media
    ]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": URL},
        {"type": "image_url", "image_url": {"url": URL, "detail": "high"}},
        {"type": "input_image", "image_url": URL},
        {"type": "image", "url": URL, "mime_type": "image/png"},
        {"type": "image", "source_type": "url", "url": URL},
        {"type": "image", "image": URL},
        {"type": "image", "image": {"url": URL}},
        {"type": "image", "source": {"type": "url", "url": URL}},
        {"type": "file", "mimeType": "image/png", "data": URL},
        {"type": "file", "mediaType": "image/png", "url": URL},
        {"type": "file", "media_type": "png", "url": URL},
        {"type": "file", "mediaType": "", "url": URL},
        {"type": "file", "mediaType": "application/octet-stream", "url": URL},
        {"fileData": {"fileUri": URL, "mimeType": "image/png"}},
        {"type": "media", "mime_type": "image/png", "file_uri": URL},
        {"type": "tool-result", "result": {"items": [{"image_url": URL}]}},
        {"type": "tool-draw", "state": "output-available", "output": {"type": "content", "value": [{"type": "image", "url": URL}]}},
        {"type": "function_call_output", "output": json.dumps({"url": URL})},
        {"type": "tool_result", "content": [{"type": "text", "text": f"![]({URL})"}]},
        {"type": "tool-invocation", "toolInvocation": {"result": f"saved at {URL}"}},
    ],
)
def test_remote_pictures(part: dict[str, Any]) -> None:
    assert parse({"role": "user", "parts": [part]}) == [("image", URL)]
    assert parse(HumanMessage([part])) == [("image", URL)]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "base64": B64, "mime_type": "image/png"},
        {"type": "image", "source_type": "base64", "data": B64, "mime_type": "image/png"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": B64}},
        {"type": "image", "image": B64},
        {"type": "image", "image": data_url(PNG)},
        {"type": "image", "image": PNG},
        {"type": "image", "image": {"type": "Buffer", "data": list(PNG)}},
        {"type": "image", "image": {str(index): byte for index, byte in enumerate(PNG)}},
        {"type": "image", "data": B64, "mimeType": "image/png"},
        {"type": "image_url", "image_url": {"url": data_url(PNG, "image/jpeg")}},
        {"type": "file", "mediaType": "application/pdf", "url": data_url(PNG)},
        {"type": "file", "file": {"filename": "a.png", "file_data": data_url(PNG)}},
        {"type": "input_file", "filename": "a.png", "file_data": B64},
        {"inlineData": {"mimeType": "image/png", "data": B64}},
        {"inline_data": {"mime_type": "image/png", "data": B64}},
        {"type": "resource", "resource": {"uri": "file:///a.png", "mimeType": "image/png", "blob": B64}},
        {"type": "image_generation_call", "result": B64},
        {"type": "tool_result", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": B64}}]},
        {"type": "text", "text": f"![]({data_url(PNG)})"},
        {"type": "text", "text": f"看 {data_url(PNG)} 这张"},
    ],
)
def test_inline_pictures_are_known_by_their_bytes(part: dict[str, Any]) -> None:
    assert parse({"role": "user", "parts": [part]}) == [("image", PNG)]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"content": "hi", "experimental_attachments": [{"name": "a", "contentType": "image/png", "url": URL}]}, [("image", URL)]),
        ({"content": "hi", "attachments": [URL]}, [("image", URL)]),
        ({"content": "hi", "images": [B64]}, [("image", PNG)]),
        ({"content": "hi", "files": [{"type": "image", "url": data_url(PNG)}, {"id": "f", "name": "doc"}]}, [("image", PNG)]),
        (HumanMessage("hi", additional_kwargs={"attachments": [{"url": URL, "contentType": "image/png"}]}), [("image", URL)]),
        (ToolMessage([{"type": "image", "base64": B64, "mime_type": "image/png"}], tool_call_id="1"), [("image", PNG)]),
        ({"type": "human", "data": {"content": f"![]({URL})"}}, [("image", URL)]),
        ([{"type": "text", "text": "a"}, {"type": "image_url", "image_url": URL}], [("image", URL)]),
        ({"type": "image_url", "image_url": URL}, [("image", URL)]),
        (f"![]({URL})", [("image", URL)]),
        ({"content": f"![]({URL})", "parts": [{"type": "text", "text": f"![]({URL})"}]}, [("image", URL)]),
        ({"parts": [{"type": "file", "mediaType": "video/mp4", "url": "https://h.example/v"}]}, [("video", "https://h.example/v")]),
        ({"parts": [{"type": "file", "mediaType": "application/pdf", "url": "https://h.example/p"}]}, [("file", "https://h.example/p")]),
        ({"parts": [{"type": "image", "url": "https://h.example/logo.svg"}]}, [("file", "https://h.example/logo.svg")]),
        ({"parts": [{"type": "file", "filename": "IMG.HEIC", "url": "https://h.example/1"}]}, [("image", "https://h.example/1")]),
        ({"parts": [{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hello"}}]}, [("file", b"hello")]),
        ({"parts": [{"type": "image", "asset_id": "a1"}]}, [("image", "asset://a1")]),
        ({"parts": [{"type": "image", "url": "asset://a1"}, {"type": "text", "text": "![](asset://a1)"}]}, [("image", "asset://a1")]),
        ({"parts": [{"type": "reasoning", "text": URL}, {"type": "source-url", "url": URL}, {"type": "step-start"}]}, []),
        ({"parts": [{"type": "data-weather", "data": {"url": URL}}]}, []),
        ("", []),
        (None, []),
        ({"content": None}, []),
        ({"content": [None, 3, {"type": "unheard-of", "url": URL}]}, []),
    ],
)
def test_messages(message: Any, expected: list[Any]) -> None:
    assert parse(message) == expected


@pytest.mark.parametrize(
    ("part", "code"),
    [
        ({"type": "image", "base64": ""}, "empty"),
        ({"type": "image_url", "image_url": {"url": ""}}, "empty"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}, "empty"),
        ({"type": "image", "base64": "!!!!"}, "corrupt"),
        ({"type": "image", "source": {"type": "file", "file_id": "file-1"}}, "forbidden_url"),
        ({"type": "image", "url": "file:///etc/passwd"}, "forbidden_url"),
        ({"type": "image", "url": "blob:https://h.example/1"}, "forbidden_url"),
        ({"type": "image", "url": "http://10.0.0.1/a.png"}, "forbidden_url"),
        ({"type": "image", "url": "http://[::1/a.png"}, "forbidden_url"),
        ({"type": "text", "text": "![](javascript:alert(1))"}, "forbidden_url"),
    ],
)
def test_a_bad_part_has_a_code_and_spoils_nothing(part: dict[str, Any], code: str) -> None:
    assert parse({"parts": [part]}) == [code]
    assert parse({"parts": [part, {"type": "image", "url": URL}, part]}) == [code, ("image", URL)]


def test_a_part_that_is_too_large_is_refused_before_decoding() -> None:
    parsed = parse_message({"parts": [{"type": "image", "base64": "A" * 4000}]}, base_url=BASE, max_bytes=1000)
    assert [item.code for item in parsed.rejected] == ["too_large"]


def test_order_is_kept_and_the_same_picture_counts_once() -> None:
    text = f"![]({URL}) 和 ![](https://h.example/b.png#x)"
    parts = [
        {"type": "text", "text": text},
        {"type": "image", "base64": B64},
        {"type": "file", "url": data_url(PNG), "mediaType": "image/png"},
    ]
    message = {"parts": [*parts, {"type": "image", "url": "https://h.example/b.png"}], "attachments": [URL, "https://h.example/c.png"]}
    assert [target for _, target in parse(message)] == [URL, "https://h.example/b.png#x", PNG, "https://h.example/c.png"]


def test_relative_and_own_addresses() -> None:
    parsed = parse_message("![](/api/assets/a1/content) ![](//cdn.example/x.png) ![](up/b.png)", base_url="http://127.0.0.1:8421")
    assert [(item.url, item.own_path) for item in parsed.candidates] == [
        ("http://127.0.0.1:8421/api/assets/a1/content", "/api/assets/a1/content"),
        ("http://cdn.example/x.png", None),
        ("http://127.0.0.1:8421/up/b.png", "/up/b.png"),
    ]


def test_words_are_the_text_without_pictures() -> None:
    parsed = parse_message(f"![椅子]({URL}) 换成白底\n\n看 {URL} 这里 `![]({URL})`", base_url=BASE)
    assert parsed.text == f"换成白底\n\n看 {URL} 这里 `![]({URL})`"
    assert parsed.words == f"换成白底\n\n看  这里 `![]({URL})`"


def test_only_the_memory_doors_and_the_resolver_read_parts() -> None:
    readers = set()
    for path in ROOT.glob("*/**/*.py"):
        room = path.relative_to(ROOT).parts[0]
        if room not in {"server", "graph", "nodes", "tools", "models", "memory", "settings"}:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if {"memory.parts", "memory.shapes"} & set(names):
                readers.add(str(path.relative_to(ROOT)))
    assert readers == {"memory/parts.py", "memory/inline.py", "nodes/resolve_media.py"}


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=30)
    | st.sampled_from([URL, B64, data_url(PNG), "asset://x", "//", "data:"])
)
keys = st.sampled_from(
    ["type", "text", "url", "image", "image_url", "source", "data", "base64", "mediaType", "inlineData", "output", "content", "file"]
) | st.text(max_size=4)
types = st.sampled_from(["text", "image", "image_url", "file", "tool-result", "document", "input_image", "video", "resource"])
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner | types, max_size=4), max_leaves=12)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(st.sampled_from(["role", "content", "parts", "attachments", "images", "toolInvocations", "data"]), values, max_size=4)
)
def test_no_message_raises_and_every_block_points_at_its_media(message: dict[str, Any]) -> None:
    parsed = parse_message(message, base_url=BASE)
    for block in parsed.blocks:
        spans = getattr(block, "spans", None)
        indices = [block.index] if spans is None else [span.index for span in spans]
        assert all(0 <= index < len(parsed.media) for index in indices)
    for item in parsed.candidates:
        assert sum(value is not None for value in (item.asset_id, item.data, item.url)) == 1
