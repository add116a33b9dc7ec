"""A phone screen to draw on: blocks from the top down, in a Noto CJK font of this machine."""

import functools
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT = 1080, 2340
MARGIN = 56
INK, GREY, PALE, LINE = "#1a1a1a", "#7a7a7a", "#f3f4f6", "#e3e5e8"
_FOLDERS = ("/usr/share/fonts/opentype/noto", "/usr/share/fonts/noto-cjk", "/usr/share/fonts/google-noto-cjk", "/Library/Fonts")
_SIMPLIFIED = 2  # face of NotoSansCJK-*.ttc

Cells = Sequence[str]


class Phone:
    """`y` is where the next block starts."""

    def __init__(self, *, clock: str, paper: str = "white", ink: str = INK, bar: str | None = None) -> None:
        self.image = Image.new("RGB", (WIDTH, HEIGHT), paper)
        self.draw = ImageDraw.Draw(self.image)
        self.ink = ink
        if bar:
            self.draw.rectangle((0, 0, WIDTH, 220), fill=bar)
        self._status_bar(clock, "white" if bar else ink)
        self.y = 100

    def _status_bar(self, clock: str, colour: str) -> None:
        self.text(MARGIN, 24, clock, size=40, colour=colour)
        self.text(WIDTH - 190, 24, "5G", size=40, colour=colour, right=True)
        self.draw.rounded_rectangle((WIDTH - 150, 32, WIDTH - 70, 68), 8, outline=colour, width=4)
        self.draw.rectangle((WIDTH - 143, 39, WIDTH - 100, 61), fill=colour)

    def text(
        self, x: int, y: int, words: str, *, size: int = 44, colour: str | None = None, bold: bool = False, right: bool = False
    ) -> int:
        """Returns the width in px."""
        face = font(size, bold)
        width = round(self.draw.textlength(words, font=face))
        self.draw.text((x - width if right else x, y), words, font=face, fill=colour or self.ink)
        return width

    def title(self, words: str, *, action: str = "", colour: str | None = None, centred: bool = True) -> None:
        width = round(self.draw.textlength(words, font=font(50, True)))
        self.text((WIDTH - width) // 2 if centred else MARGIN, self.y, words, size=50, bold=True, colour=colour)
        if action:
            self.text(WIDTH - MARGIN, self.y + 6, action, size=40, right=True, colour=colour)
        self.y += 130

    def line(
        self, words: str, *, size: int = 44, colour: str | None = None, bold: bool = False, centred: bool = False, gap: int = 26
    ) -> None:
        width = round(self.draw.textlength(words, font=font(size, bold)))
        self.text((WIDTH - width) // 2 if centred else MARGIN, self.y, words, size=size, colour=colour, bold=bold)
        self.y += round(size * 1.25) + gap

    def paragraph(self, words: str, *, size: int = 44, colour: str | None = None) -> None:
        for part in wrapped(words, size=size, width=WIDTH - 2 * MARGIN):
            self.line(part, size=size, colour=colour, gap=14)
        self.y += 28

    def row(self, label: str, value: str, *, size: int = 42, colour: str | None = None) -> None:
        self.text(MARGIN, self.y, label, size=size, colour=GREY)
        self.text(WIDTH - MARGIN, self.y, value, size=size, colour=colour, right=True)
        self.y += round(size * 1.25) + 32

    def columns(self, cells: Cells, *, size: int = 44, colour: str | None = None, bold: bool = False) -> None:
        """Evenly spread; the first is flush left, the last flush right."""
        for number, words in enumerate(cells):
            width = round(self.draw.textlength(words, font=font(size, bold)))
            self.text(
                MARGIN + round((WIDTH - 2 * MARGIN - width) * number / (len(cells) - 1)), self.y, words, size=size, colour=colour, bold=bold
            )
        self.y += round(size * 1.25) + 24

    def rule(self) -> None:
        self.draw.line((MARGIN, self.y, WIDTH - MARGIN, self.y), fill=LINE, width=3)
        self.y += 36

    def button(self, words: str, *, fill: str, colour: str = "white") -> None:
        self.draw.rounded_rectangle((MARGIN, self.y, WIDTH - MARGIN, self.y + 120), 60, fill=fill)
        width = round(self.draw.textlength(words, font=font(46, True)))
        self.text((WIDTH - width) // 2, self.y + 30, words, size=46, bold=True, colour=colour)
        self.y += 170

    def bubble(self, words: str, *, mine: bool, fill: str) -> None:
        parts = wrapped(words, size=44, width=640)
        width = max(round(self.draw.textlength(part, font=font(44, False))) for part in parts) + 64
        height = len(parts) * 64 + 48
        left = WIDTH - 170 - width if mine else 170
        self.draw.rounded_rectangle((left, self.y, left + width, self.y + height), 24, fill=fill)
        self.draw.rounded_rectangle(
            (WIDTH - 146, self.y, WIDTH - 46, self.y + 100) if mine else (46, self.y, 146, self.y + 100),
            16,
            fill="#8fb3d9" if mine else "#d9a78f",
        )
        for number, part in enumerate(parts):
            self.text(left + 32, self.y + 18 + number * 64, part, colour=INK)
        self.y += height + 44

    def tabs(self, cells: Cells) -> None:
        self.y = HEIGHT - 150
        self.columns(cells, size=34, colour=GREY)


def wrapped(words: str, *, size: int, width: int) -> list[str]:
    """Broken at blanks where there are some, else between characters."""
    face = font(size, False)
    parts, current = [], ""
    for token in words.replace(" ", " \0").split("\0") if words.isascii() else words:
        if current and face.getlength((current + token).rstrip()) > width:
            parts.append(current.rstrip())
            current = ""
        current += token
    return [*parts, current.rstrip()]


@functools.cache
def font(size: int, bold: bool) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(_font_file("Bold" if bold else "Regular")), size, index=_SIMPLIFIED)


@functools.cache
def _font_file(weight: str) -> Path:
    name = f"NotoSansCJK-{weight}.ttc"
    known = [path for folder in _FOLDERS if (path := Path(folder) / name).exists()]
    if known:
        return known[0]
    matcher = shutil.which("fc-match")
    if matcher:
        found = subprocess.run([matcher, "-f", "%{file}", f"Noto Sans CJK SC:style={weight}"], capture_output=True, text=True, check=True)
        if Path(found.stdout).name == name:
            return Path(found.stdout)
    raise SystemExit(f"{name} is needed to draw: install the fonts-noto-cjk package")
