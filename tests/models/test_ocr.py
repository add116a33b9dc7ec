import io
import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from models.embedded.ocr import OcrLine, in_reading_order, read_text, tiles

DEMO = Path(__file__).parents[2] / "server" / "demo"


def png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def line(text: str, left: int, top: int, height: int = 40) -> OcrLine:
    return OcrLine(text=text, box=(left, top, left + 100, top + height), score=1.0, row=0)


def test_a_label_stays_with_the_value_beside_it() -> None:
    read = read_text((DEMO / "Screenshot_2026-11-27-12-40-05-318_com.eg.android.AlipayGphone.png").read_bytes())
    rows = read["text"].split("\n")
    assert (read["width"], read["height"]) == (1080, 2340)
    assert "订单号\t2026112722001406670012" in rows
    assert "付款方式\t余额宝" in rows
    assert rows.index("小满咖啡烘焙") < rows.index("-46.50") < rows.index("交易成功")
    assert read["text"].replace("\t", "\n").replace(" ", "") == "\n".join(one["text"] for one in read["lines"]).replace(" ", "")


def test_a_long_screenshot_is_read_in_tiles_and_no_line_twice() -> None:
    parts = [Image.open(DEMO / name).convert("RGB") for name in ("wx_20261123083015.jpg", "mmexport1795147512345.jpg")]
    long = Image.new("RGB", (1080, 3300), "white")
    long.paste(parts[0].crop((0, 240, 1080, 1540)), (0, 60))
    long.paste(parts[1].crop((0, 90, 1080, 1400)), (0, 1700))
    assert len(tiles(width=1080, height=3300)) == 2

    texts = [one["text"] for one in read_text(png(long))["lines"]]

    assert texts.index("预约成功") < texts.index("预约单号") < texts.index("青岚日报")
    for once in ("QL20261209-0087", "挂号费", "14:00-14:30", "青岚日报"):
        assert texts.count(once) == 1
    assert len(texts) == len(set(texts))


def test_a_picture_without_text_has_none() -> None:
    read = read_text((DEMO / "IMG_20261119_063000.jpg").read_bytes())
    assert read["text"] == ""
    assert read["lines"] == []


def test_what_is_no_picture_is_told() -> None:
    with pytest.raises(OSError, match="cannot identify"):
        read_text(b"no picture")


def test_turned_and_transparent_pictures_are_read_as_people_see_them() -> None:
    upright = Image.open(DEMO / "Screenshot_20261129-091502_Cainiao.png").convert("RGB").crop((0, 300, 1080, 620))
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90° clockwise
    turned = io.BytesIO()
    upright.rotate(90, expand=True).save(turned, "JPEG", quality=92, exif=exif)
    layer = upright.convert("RGBA")
    layer.putdata([(0, 0, 0, 0) if min(pixel[:3]) > 240 else pixel for pixel in layer.get_flattened_data()])

    assert "12-4-6031" in read_text(turned.getvalue())["text"]
    assert "12-4-6031" in read_text(png(layer))["text"]


def test_large_type_joins_one_of_the_rows_beside_it() -> None:
    ordered = in_reading_order([line("upper", 400, 100), line("price", 40, 110, 80), line("lower", 400, 160), line("middle", 700, 128)])
    assert [[one["text"] for one in ordered if one["row"] == row] for row in range(3)] == [["upper"], ["price", "middle"], ["lower"]]


@given(width=st.integers(100, 2000), ratio=st.floats(0.2, 15))
def test_tiles_cover_a_picture_and_overlap(width: int, ratio: float) -> None:
    height = max(16, round(width * ratio))
    cut = tiles(width=width, height=height)
    assert cut[0][0] == 0
    assert cut[-1][1] == height
    assert all(top < before_bottom for (_, before_bottom), (top, _) in itertools.pairwise(cut))
    assert all(bottom - top <= 3 * width + 1 for top, bottom in cut)
