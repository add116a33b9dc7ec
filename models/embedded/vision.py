"""Answers about pictures without a model: text by OCR, size and colours by counting pixels, and said to be just that."""

import colorsys
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from memory.language import Language

_TEXT_QUESTION = re.compile(r"文字|文本|字|写(了|着)?(什么|啥)|提取|识别|OCR|内容|read|text|words?\b|say|transcribe|extract|written", re.I)
_COLOUR_QUESTION = re.compile(r"颜色|色调|色彩|什么色|colou?r|hue|tone", re.I)
_SIZE_QUESTION = re.compile(r"尺寸|大小|分辨率|多大|像素|宽|高|比例|size|resolution|pixels?|dimensions?|aspect|wide|tall", re.I)

_NAMES: dict[str, dict[Language, str]] = {
    "black": {"zh": "黑色", "en": "black"},
    "white": {"zh": "白色", "en": "white"},
    "grey": {"zh": "灰色", "en": "grey"},
    "red": {"zh": "红色", "en": "red"},
    "orange": {"zh": "橙色", "en": "orange"},
    "yellow": {"zh": "黄色", "en": "yellow"},
    "green": {"zh": "绿色", "en": "green"},
    "cyan": {"zh": "青色", "en": "cyan"},
    "blue": {"zh": "蓝色", "en": "blue"},
    "purple": {"zh": "紫色", "en": "purple"},
    "pink": {"zh": "粉色", "en": "pink"},
    "brown": {"zh": "棕色", "en": "brown"},
}
_HUES = (
    (0.04, "red"),
    (0.11, "orange"),
    (0.18, "yellow"),
    (0.44, "green"),
    (0.53, "cyan"),
    (0.72, "blue"),
    (0.83, "purple"),
    (0.94, "pink"),
)


@dataclass(frozen=True, slots=True)
class PictureFacts:
    """`colours`: names of `_NAMES` with their share of the picture (0-1), largest first, at most three."""

    width: int
    height: int
    colours: tuple[tuple[str, float], ...]
    transparent: bool


def colour_name(red: int, green: int, blue: int) -> str:
    """The everyday name of an sRGB colour (components 0-255)."""
    hue, saturation, value = colorsys.rgb_to_hsv(red / 255, green / 255, blue / 255)
    if value < 0.18:
        return "black"
    if saturation < 0.12:
        return "white" if value > 0.88 else "grey"
    name = next((name for limit, name in _HUES if hue < limit), "red")
    if name in ("orange", "red", "yellow") and value < 0.6 and saturation > 0.3:
        return "brown"
    if name == "red" and saturation < 0.5 and value > 0.8:
        return "pink"
    return name


def picture_facts(data: bytes) -> PictureFacts:
    """Size and main colours of an encoded picture. Blocking: call it in a worker."""
    from PIL import Image

    with Image.open(io.BytesIO(data)) as picture:
        width, height = picture.size
        transparent = "A" in picture.getbands() and min(picture.getchannel("A").tobytes()) < 255
        small = picture.convert("RGB").resize((48, 48), Image.Resampling.BOX)
    counts = Counter(colour_name(*pixel) for pixel in _pixels(small.tobytes()))
    total = sum(counts.values())
    colours = tuple((name, count / total) for name, count in counts.most_common(3) if count / total >= 0.05)
    return PictureFacts(width=width, height=height, colours=colours, transparent=transparent)


def _pixels(raw: bytes) -> Iterator[tuple[int, int, int]]:
    return zip(raw[::3], raw[1::3], raw[2::3], strict=True)


def _size_line(facts: PictureFacts, language: Language) -> str:
    if language == "en":
        return f"- Size: {facts.width} × {facts.height} px" + (", with transparency" if facts.transparent else "")
    return f"- 尺寸：{facts.width} × {facts.height} 像素" + ("，含透明区域" if facts.transparent else "")


def _colour_line(facts: PictureFacts, language: Language) -> str:
    shares = [f"{_NAMES[name][language]} {share:.0%}" for name, share in facts.colours]
    return ("- Main colours: " + ", ".join(shares)) if language == "en" else ("- 主要颜色：" + "、".join(shares))


def _text_lines(text: str, language: Language) -> list[str]:
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return ["- No text was found in it." if language == "en" else "- 没有识别到文字。"]
    head = f"- Text ({len(lines)} lines):" if language == "en" else f"- 文字（{len(lines)} 行）："
    return [head, "", "```", *lines, "```"]


def describe(question: str, facts: PictureFacts, text: str, language: Language) -> str:
    """Markdown for one picture: what the question asks of text, colours and size; all three when it asks something else."""
    wanted = {
        "text": bool(_TEXT_QUESTION.search(question)),
        "colour": bool(_COLOUR_QUESTION.search(question)),
        "size": bool(_SIZE_QUESTION.search(question)),
    }
    everything = not any(wanted.values())
    lines = [_size_line(facts, language)] if wanted["size"] or everything else []
    lines += [_colour_line(facts, language)] if wanted["colour"] or everything else []
    lines += _text_lines(text, language) if wanted["text"] or everything else []
    note = (
        "No vision model is configured: this comes from text recognition and pixel counts; I cannot name objects or people."
        if language == "en"
        else "没有配置视觉模型：以上来自文字识别和像素统计，我无法辨认其中的人和物。"
    )
    return "\n".join([*lines, "", note])
