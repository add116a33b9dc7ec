import asyncio
import os
from pathlib import Path

import pytest

from server.pictures import at_rest, find_pictures, is_passed_over, shown
from tests.server.screens import draw


def test_pictures_are_told_by_their_bytes_and_come_once(tmp_path: Path) -> None:
    named_wrongly = draw(tmp_path / "b.png", "b").rename(tmp_path / "b.dat")
    one = draw(tmp_path / "deep/a.png", "a")
    (tmp_path / "deep/again.png").symlink_to(one)
    (tmp_path / "text.png").write_text("no picture")
    draw(tmp_path / ".thumbnails/c.png", "c")
    draw(tmp_path / "data/kept.png", "kept")
    assert find_pictures([tmp_path, one], skip=tmp_path / "data") == [named_wrongly, one]


def test_a_picture_that_is_named_itself_is_not_hidden(tmp_path: Path) -> None:
    hidden = draw(tmp_path / ".hidden.png", "hidden")
    assert find_pictures([hidden], skip=tmp_path / "data") == [hidden]
    assert find_pictures([tmp_path], skip=tmp_path / "data") == []


@pytest.mark.parametrize(
    ("path", "passed_over"),
    [
        ("a.png", False),
        ("b/a.png", False),
        (".a.png", True),
        (".b/a.png", True),
        ("Cache/a.png", True),
        ("Thumbnails/a.png", True),
        ("b/cache", False),
    ],
)
def test_changes_are_judged_like_files_found(tmp_path: Path, path: str, passed_over: bool) -> None:
    assert is_passed_over(tmp_path / path, below=[tmp_path]) == passed_over


async def test_a_file_that_is_still_written_is_not_at_rest(tmp_path: Path) -> None:
    whole, growing, gone = tmp_path / "whole", tmp_path / "growing", tmp_path / "gone"
    whole.write_bytes(b"1")
    with growing.open("wb", buffering=0) as file:
        judging = asyncio.create_task(at_rest({whole, growing, gone}, seconds=0.05))
        while not judging.done():
            file.write(b"1")
            await asyncio.sleep(0)
    assert await judging == [gone, whole]


def test_a_name_that_is_not_utf8_is_shown_with_replacement_characters() -> None:
    assert shown(Path(os.fsdecode(b"/shots/bad\xff.png"))) == "/shots/bad\N{REPLACEMENT CHARACTER}.png"
