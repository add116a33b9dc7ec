import io

import pytest
from PIL import Image

from models.embedded.vision import colour_name, describe, picture_facts


def encoded(picture: Image.Image, kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    picture.save(out, kind)
    return out.getvalue()


@pytest.mark.parametrize(
    ("rgb", "name"),
    [
        ((0, 0, 0), "black"),
        ((255, 255, 255), "white"),
        ((128, 128, 128), "grey"),
        ((220, 20, 20), "red"),
        ((255, 140, 0), "orange"),
        ((250, 230, 20), "yellow"),
        ((30, 160, 40), "green"),
        ((0, 200, 210), "cyan"),
        ((20, 60, 220), "blue"),
        ((128, 30, 160), "purple"),
        ((255, 170, 180), "pink"),
        ((110, 65, 25), "brown"),
    ],
)
def test_colours_have_their_everyday_names(rgb: tuple[int, int, int], name: str):
    assert colour_name(*rgb) == name


def test_facts_are_counted_from_the_pixels():
    picture = Image.new("RGB", (300, 100), (255, 255, 255))
    picture.paste((220, 20, 20), (0, 0, 100, 100))
    facts = picture_facts(encoded(picture))
    assert (facts.width, facts.height, facts.transparent) == (300, 100, False)
    assert [name for name, _ in facts.colours] == ["white", "red"]
    assert facts.colours[0][1] == pytest.approx(2 / 3, abs=0.03)


def test_transparency_is_seen():
    assert picture_facts(encoded(Image.new("RGBA", (20, 20), (0, 0, 0, 0)))).transparent


@pytest.mark.parametrize(
    ("question", "has", "has_not"),
    [
        ("提取图里的文字", "取件码 1-2-3", "主要颜色"),
        ("这张图主色调是什么", "主要颜色", "取件码"),
        ("图片多大尺寸", "300 × 100", "取件码"),
        ("这是什么", "主要颜色", "No vision model"),
    ],
)
def test_an_answer_holds_what_was_asked_and_names_its_limits(question: str, has: str, has_not: str):
    facts = picture_facts(encoded(Image.new("RGB", (300, 100), (255, 255, 255))))
    text = describe(question, facts, "取件码 1-2-3", "zh")
    assert has in text
    assert has_not not in text
    assert "没有配置视觉模型" in text


def test_a_picture_without_text_says_so_in_the_users_language():
    facts = picture_facts(encoded(Image.new("RGB", (300, 100))))
    assert "No text was found" in describe("Read the text", facts, "", "en")
