import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.text_media import extension_of, find_media

A, B = "https://img.shop.example/a.png", "https://img.shop.example/b.jpg"


def targets(text: str) -> list[str]:
    return [found.target for found in find_media(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"![]({A})", [A]),
        (f'![一张图]({A} "标题 (1)") 调亮', [A]),
        (f"![x]( <{A}> 'title' )", [A]),
        ("![x](<https://h.example/two words.png>)", ["https://h.example/two words.png"]),
        ("![x](https://h.example/two words.png)", ["https://h.example/two words.png"]),
        ("![x](https://h.example/a_(b(c)).png)", ["https://h.example/a_(b(c)).png"]),
        (r"![x](https://h.example/a\_\(b.png)", ["https://h.example/a_(b.png"]),
        (f"![x][图]\n\n[图]: {A} 'title'", [A]),
        (f"![图][]\n[图]: <{A}>", [A]),
        (f"![图]\n[图]: {A}\n[图]: {B}", [A]),
        (f"![a [b] c]({A})", [A]),
        (f"[![a]({A})](https://h.example/page)", [A]),
        (f"![]({A})和![]({B})", [A, B]),
        ("![x](https://h.example/a.png?x=1&amp;y=2)", ["https://h.example/a.png?x=1&y=2"]),
        ("![x](uploads/a.png)", ["uploads/a.png"]),
        (f'<img alt="a > b" src="{A}"> 和 <IMG SRC={B}>', [A, B]),
        (f"<video controls src='{A}'></video>", [A]),
        ("![]()", []),
        ("![x", []),
        ("<img alt='no source'>", []),
        ("<img src='never closed", []),
    ],
)
def test_markup(text: str, expected: list[str]) -> None:
    assert targets(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"把{A}的背景去掉", [A]),
        (f"（{A}），好看", [A]),
        (f"see {A}. And {B}!", [A, B]),
        (f"{A}、{B}", [A, B]),
        (f"{A},{B}", [A, B]),
        (f"**{A}**", [A]),
        (f"<{A}>", [A]),
        ("(https://h.example/a_(1).png)", ["https://h.example/a_(1).png"]),
        ("https://h.example/椅子.png去水印", ["https://h.example/椅子.png"]),
        ("https://h.example/a.jpg!w750变清晰", ["https://h.example/a.jpg!w750"]),
        ("https://h.example/a.jpg@100w_100h.webp", ["https://h.example/a.jpg@100w_100h.webp"]),
        ("https://h.example/a.jpg?Sign=a%2Bb%3D&para=1。", ["https://h.example/a.jpg?Sign=a%2Bb%3D&para=1"]),
        ("https://h.example/640?wx_fmt=png 这张", ["https://h.example/640?wx_fmt=png"]),
        ("https://h.example/a.HEIC", ["https://h.example/a.HEIC"]),
        ("https://h.example/clip.mp4", ["https://h.example/clip.mp4"]),
        ("https://h.example/page?pic=a.png", []),
        ("https://h.example/a.png.html", []),
        ("https://h.example/a.png/comments", []),
        ("https://h.example/articles", []),
        ("asset://0a1b 换成白底", ["asset://0a1b"]),
    ],
)
def test_bare_addresses(text: str, expected: list[str]) -> None:
    assert targets(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        f"`![]({A})`",
        f"``a ` {A}``",
        f"```md\n![]({A})\n```",
        f"~~~\n{A}\n~~~~",
        f"- ```\n  ![]({A})\n  ```",
        f"```\n{A}",
        f"<pre><img src='{A}'></pre>",
        f"<!-- ![]({A}) -->",
    ],
)
def test_code_is_text(text: str) -> None:
    assert targets(text) == []


def test_text_after_code_counts() -> None:
    assert targets(f"`one` ` ![]({A})") == [A]
    assert targets(f"```\ncode\n```\n![]({A})") == [A]
    assert targets(f"\\`![]({A})\\`") == [A]


@pytest.mark.parametrize(("path", "extension"), [("/a.PNG", "png"), ("/a.jpg!w1", "jpg"), ("/a.png.html", ""), ("/a.svg", ""), ("", "")])
def test_extension(path: str, extension: str) -> None:
    assert extension_of(path) == extension


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="![]()<>`~\\ \n\"'a:/.https图png", max_size=200))
def test_places_are_ordered_and_disjoint(text: str) -> None:
    found = find_media(text)
    assert all(0 <= item.start < item.end <= len(text) for item in found)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))


@pytest.mark.parametrize("piece", ["![](", "![", "[", "`", "``", "<img ", '<img src="', "\\", "![a](<", "https://a.png", "(((", "<code>"])
def test_hostile_repetition_is_no_trap(piece: str) -> None:
    started = time.perf_counter()
    find_media(piece * (32_768 // len(piece)))
    assert time.perf_counter() - started < 3
