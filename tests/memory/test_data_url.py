import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.data_url import decode_base64, decode_data_url, looks_like_media
from memory.media import MediaError
from tests.memory.pictures import base64_of, encoded

PNG = encoded()
TEXT = base64_of(PNG)
BIG = 10**7


@pytest.mark.parametrize(
    "url",
    [
        f"data:image/png;base64,{TEXT}",
        f"DATA:Image/PNG;BASE64,{TEXT}",
        f"data:image/png;charset=utf-8;name=a.png;base64,{TEXT}",
        f"data:image/png;base64, {TEXT[:60]}\r\n {TEXT[60:]}\n",
        f"data:image/png;base64,{TEXT.replace('+', '%2B').replace('/', '%2F').replace('=', '%3D')}",
        f"data:image/png;base64,{TEXT.replace('+', '-').replace('/', '_')}",
        f"data:image/png;base64,{TEXT.rstrip('=')}",
        f"data:image/png,{TEXT}",
        f"data:image/png;base64;{TEXT}",
        f"data:image/png;base64,data:image/png;base64,{TEXT}",
        f"data:image/png;base64,'{TEXT}'",
    ],
)
def test_tolerated_forms(url: str) -> None:
    assert decode_data_url(url, max_bytes=BIG) == (PNG, "image/png")


def test_plain_data_is_percent_decoded() -> None:
    assert decode_data_url("data:image/svg+xml;utf8,%3Csvg/%3E", max_bytes=BIG) == (b"<svg/>", "image/svg+xml")


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("data:image/png;base64,", "empty"),
        ("data:,", "empty"),
        ("data:image/png;base64,!!!!", "corrupt"),
        ("data:image/png;base64,abcde", "corrupt"),
        ("data:image/png", "corrupt"),
        (f"data:image/png;base64,{'A' * 4000}", "too_large"),
    ],
)
def test_refused_forms(url: str, code: str) -> None:
    with pytest.raises(MediaError) as error:
        decode_data_url(url, max_bytes=1000)
    assert error.value.code == code


@settings(max_examples=80, deadline=None)
@given(st.binary(min_size=1, max_size=300))
def test_base64_round_trip_with_blanks_and_without_padding(data: bytes) -> None:
    text = base64.encodebytes(data).decode()
    assert decode_base64(text, max_bytes=BIG) == data
    assert decode_base64(base64.urlsafe_b64encode(data).decode().rstrip("="), max_bytes=BIG) == data


def test_plus_signs_that_a_form_turned_into_blanks_come_back() -> None:
    data = b"picture\xfb" * 8
    assert base64_of(data).count("+") % 4
    assert decode_base64(base64_of(data).replace("+", " "), max_bytes=BIG) == data


def test_only_pictures_and_videos_look_like_media() -> None:
    assert looks_like_media(TEXT)
    assert looks_like_media(base64_of(encoded(form="JPEG")))
    assert not looks_like_media(base64_of(b"just some text, long enough"))
    assert not looks_like_media("/uploads/a.png")
