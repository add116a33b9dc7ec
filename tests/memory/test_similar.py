import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from memory.similar import MOST_DIFFERENT_BITS, LookAlikes, difference_hash, same_screen

HASHES = st.binary(min_size=32, max_size=32)


def screen(clock: str = "09:41", *, cards: int = 5, size: tuple[int, int] = (540, 1170), form: str = "PNG") -> bytes:
    """A phone screen of coloured cards under a status bar."""
    image = Image.new("RGB", (540, 1170), "white")
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, 540, 40), fill="white")
    draw.text((20, 8), clock, fill="black", font_size=28)
    for number in range(cards):
        top = 80 + 200 * number
        draw.rectangle((20 + 37 * number, top, 400 + 20 * number, top + 150), fill=(200 - 30 * number, 40 * number, 120))
    buffer = io.BytesIO()
    image.resize(size).save(buffer, form)
    return buffer.getvalue()


def look_alike(dhash: str, others: dict[int, str]) -> list[int]:
    known = LookAlikes()
    for other in others.items():
        known.add([other])
    return known.of(dhash)


@pytest.mark.parametrize(
    "again", [screen("23:59"), screen(form="JPEG"), screen(size=(270, 585)), screen("10:00", size=(1080, 2340), form="JPEG")]
)
def test_clock_size_and_format_do_not_matter(again: bytes) -> None:
    assert look_alike(difference_hash(screen()), {7: difference_hash(again)}) == [7]


def test_another_screen_looks_different() -> None:
    assert look_alike(difference_hash(screen()), {7: difference_hash(screen(cards=2))}) == []


@given(HASHES, st.lists(HASHES, max_size=5), st.sets(st.integers(0, 255), max_size=12))
def test_distance_counts_bits(dhash: bytes, others: list[bytes], flipped: set[int]) -> None:
    number = int.from_bytes(dhash)
    near = (number ^ sum(1 << bit for bit in flipped)).to_bytes(32)
    known = {key: other.hex() for key, other in enumerate([near, *others])}
    expected = [key for key, other in known.items() if (number ^ int(other, 16)).bit_count() <= MOST_DIFFERENT_BITS]
    assert look_alike(dhash.hex(), known) == expected
    assert (0 in expected) == (len(flipped) <= MOST_DIFFERENT_BITS)


RECEIPT = "09:41\t5G 80%\n账单详情\n城北面馆\n-23.50\n支付成功\n订单号 88120345\n商品 牛肉面"


def test_the_status_bar_may_differ() -> None:
    assert same_screen(RECEIPT, RECEIPT.replace("09:41\t5G 80%", "10:02\t4G 79%"), dhash="0" * 64)


def test_one_character_read_differently_may_differ() -> None:
    assert same_screen(RECEIPT, RECEIPT.replace("账单详情", "账单洋情"), dhash="0" * 64)


@pytest.mark.parametrize(("was", "now"), [("23.50", "28.50"), ("88120345", "88120346"), ("城北面馆\n", "江南小笼汤包店\n")])
def test_another_amount_number_or_shop_is_another_screen(was: str, now: str) -> None:
    assert not same_screen(RECEIPT, RECEIPT.replace(was, now), dhash="f" * 64)


def test_without_text_the_structure_decides() -> None:
    assert same_screen("", "", dhash="f" * 64)
    assert not same_screen("", "10:00", dhash="0" * 64)
    assert not same_screen("", RECEIPT, dhash="f" * 64)


@given(st.text(max_size=60), st.text(max_size=60))
def test_symmetric_and_reflexive(one: str, two: str) -> None:
    assert same_screen(one, two, dhash="f" * 64) == same_screen(two, one, dhash="f" * 64)
    assert same_screen(one, one, dhash="f" * 64)
