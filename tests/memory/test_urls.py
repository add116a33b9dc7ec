import ipaddress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.media import MediaError
from memory.urls import absolute_url, check_url, is_public, normalize_url, path_below


@pytest.mark.parametrize(
    "address",
    [
        "0.1.2.3", "10.1.2.3", "100.64.0.1", "127.0.0.1", "169.254.169.254", "172.16.0.1", "192.168.1.1", "192.0.0.8", "198.18.0.1",
        "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fc00::1", "fd12::1", "fec0::1", "ff02::1", "2001:db8::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::1", "2001::1", "fe80::1%eth0",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "114.114.114.114", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "url",
    [
        "ftp://h.example/a.png", "file:///etc/passwd", "javascript:alert(1)", "gopher://h.example/", "//h.example/a.png", "/a.png", "",
        "http://", "http:///a.png", "http:/h.example/a.png", "http://user@h.example/", "http://u:p@h.example/", "http://h.example:0/",
        "http://h.example:99999/", "http://h.example\\@127.0.0.1/", "http://[::1", "http://127.0.0.1/", "http://127.1/", "http://127.0.1/",
        "http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0177.0.0.1/", "http://017700000001/", "http://127.0.0.1./",
        "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[fd00::1]/", "http://[fe80::1%25eth0]/", "http://0/", "http://169.254.169.254/",
        "http://localhost/", "http://LOCALHOST:80/", "http://a.localhost/", "http://printer.local/", "http://db.internal/", "http://api:5001/",
        "http://router.lan/", "http://x.home.arpa/", "http://127.0.0.%31/", "http://①27.0.0.1/", "http://127。0。0。1/", "http://999.1.1.1/",
        "http://a b.example/", "http://-/", "http://.example./..",
    ],
)  # fmt: skip
def test_forbidden_addresses(url: str) -> None:
    with pytest.raises(MediaError) as error:
        check_url(url)
    assert error.value.code == "forbidden_url"


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://img.shop.example/a.png", "img.shop.example"),
        ("HTTP://IMG.Shop.Example.:8080/a", "img.shop.example"),
        ("http://8.8.8.8/a.png", "8.8.8.8"),
        ("http://0x08080808/a.png", "0x08080808"),
        ("https://[2606:4700::1111]/a", "2606:4700::1111"),
        ("https://xn--fiqs8s/a".replace("xn--fiqs8s", "a.xn--fiqs8s"), "a.xn--fiqs8s"),
    ],
)
def test_allowed_addresses(url: str, host: str) -> None:
    assert check_url(url) == host


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_every_spelling_of_an_address_gets_the_same_verdict(number: int) -> None:
    address = ipaddress.IPv4Address(number)
    for spelling in (str(address), str(number), hex(number), f"0{number:o}", f"[::ffff:{address}]"):
        try:
            check_url(f"http://{spelling}/")
        except MediaError:
            assert not is_public(address)
        else:
            assert is_public(address)


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("https://h.example/椅 子.png?q=图#段", "https://h.example/%E6%A4%85%20%E5%AD%90.png?q=%E5%9B%BE#%E6%AE%B5"),
        ("https://h.example/%E6%A4%85.png?s=a%2Bb+c&x=(1)!*'", "https://h.example/%E6%A4%85.png?s=a%2Bb+c&x=(1)!*'"),
        ("https://图片.中国/a.png", "https://xn--wcsw84d.xn--fiqs8s/a.png"),
    ],
)
def test_normal_form(url: str, normal: str) -> None:
    assert normalize_url(url) == normal
    assert normalize_url(normal) == normal


def test_relative_addresses_start_at_the_base() -> None:
    base = "https://app.example/evatar"
    assert absolute_url("/a.png", base) == "https://app.example/a.png"
    assert absolute_url("a.png", base) == "https://app.example/evatar/a.png"
    assert absolute_url("//cdn.example/a.png", base) == "https://cdn.example/a.png"


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://app.example/evatar/api/assets/1?x=2", "/api/assets/1"),
        ("https://APP.example/evatar/x", "/x"),
        ("https://app.example/evatarx/x", None),
        ("http://app.example/evatar/x", None),
        ("https://other.example/evatar/x", None),
    ],
)
def test_path_below_our_own_address(url: str, path: str | None) -> None:
    assert path_below(url, "https://app.example/evatar/") == path
