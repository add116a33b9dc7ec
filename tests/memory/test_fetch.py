"""The fetcher against a real server on the loopback address, which the test's own address policy admits."""

import asyncio
import ipaddress
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from memory.fetch import Fetcher, resolve_host
from memory.media import MediaError
from memory.urls import is_public

LOOPBACK = ipaddress.ip_address("127.0.0.1")
Handler = Callable[[str, dict[str, str]], bytes]


def answer(body: bytes = b"picture", status: str = "200 OK", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@asynccontextmanager
async def serving(handler: Handler, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Answers every request by `handler(path, headers)` and yields the port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in request[1:] if line)
        writer.write(handler(request[0].split()[1], headers))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[1]


def resolver(**hosts: str) -> Callable[[str, int], Awaitable[list[ipaddress.IPv4Address | ipaddress.IPv6Address]]]:
    async def resolve(host: str, port: int) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
        return [ipaddress.ip_address(hosts.get(host.replace(".", "_"), "127.0.0.1"))]

    return resolve


def fetcher(**options: object) -> Fetcher:
    return Fetcher(**{"resolve": resolver(), "allowed": lambda address: address == LOOPBACK, **options})  # type: ignore[arg-type]


async def code_of(fetching: Awaitable[object]) -> str:
    with pytest.raises(MediaError) as error:
        await fetching
    return error.value.code


async def test_it_asks_under_the_hosts_own_name_and_sends_no_credentials(monkeypatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    seen: list[dict[str, str]] = []

    def handler(path: str, headers: dict[str, str]) -> bytes:
        seen.append({"path": path, **headers})
        return answer(Content_Type="image/png", Set_Cookie="session=1")

    async with serving(handler) as port:
        client = fetcher()
        fetched = await client.fetch(f"http://img.shop.example:{port}/椅.png?s=a%2Bb", seconds=5)
        await client.fetch(f"http://img.shop.example:{port}/again", seconds=5)
    assert (fetched.data, fetched.content_type) == (b"picture", "image/png")
    assert seen[0]["path"] == "/%E6%A4%85.png?s=a%2Bb"
    assert seen[0]["host"] == f"img.shop.example:{port}"
    assert all({"cookie", "authorization", "referer"}.isdisjoint(headers) for headers in seen)


async def test_the_connection_goes_to_the_checked_address() -> None:
    """A second DNS answer, as in a rebinding attack, is never asked for."""
    answers = iter([[LOOPBACK], [ipaddress.ip_address("10.0.0.1")]])

    async def rebinding(host: str, port: int) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
        return next(answers)  # type: ignore[return-value]

    async with serving(lambda path, headers: answer()) as port:
        fetched = await fetcher(resolve=rebinding).fetch(f"http://rebind.example:{port}/", seconds=5)
    assert fetched.data == b"picture"


async def test_one_private_address_among_public_ones_is_enough_to_refuse() -> None:
    async def mixed(host: str, port: int) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
        return [LOOPBACK, ipaddress.ip_address("10.0.0.1")]

    assert await code_of(fetcher(resolve=mixed).fetch("http://mixed.example/", seconds=5)) == "forbidden_url"


async def test_by_default_nothing_private_is_asked() -> None:
    client = Fetcher(resolve=resolver())
    assert await code_of(client.fetch("http://looks-public.example/", seconds=5)) == "forbidden_url"
    assert await code_of(client.fetch("http://127.0.0.1/", seconds=5)) == "forbidden_url"
    assert [address.is_loopback for address in await resolve_host("localhost", 80)]
    assert not is_public(LOOPBACK)


async def test_redirects_are_followed_three_times() -> None:
    def handler(path: str, headers: dict[str, str]) -> bytes:
        left = int(path.strip("/"))
        return answer(b"", "302 Found", Location=f"/{left - 1}") if left else answer()

    async with serving(handler) as port:
        assert (await fetcher().fetch(f"http://h.example:{port}/3", seconds=5)).url.endswith("/0")
        assert await code_of(fetcher().fetch(f"http://h.example:{port}/4", seconds=5)) == "fetch_failed"


@pytest.mark.parametrize(
    "target",
    ["http://10.0.0.1/", "http://inner.example/", "file:///etc/passwd", "http://user:pw@h.example/", "http://printer/", "//2130706434/"],
)
async def test_redirects_are_checked_like_the_first_address(target: str) -> None:
    async with serving(lambda path, headers: answer(b"", "307 Temporary Redirect", Location=target)) as port:
        client = fetcher(resolve=resolver(inner_example="10.0.0.1"))
        assert await code_of(client.fetch(f"http://h.example:{port}/", seconds=5)) == "forbidden_url"


@pytest.mark.parametrize(
    ("response", "query", "code"),
    [
        (answer(b"", "404 Not Found"), "", "fetch_failed"),
        (answer(b"", "403 Forbidden"), "?Expires=1&Signature=x", "expired"),
        (answer(b"", "403 Forbidden"), "?search=1", "fetch_failed"),
        (answer(b"", "410 Gone"), "", "expired"),
        (answer(b"", "500 Oops"), "", "fetch_failed"),
        (answer(b"", "302 Found"), "", "fetch_failed"),
        (answer(b"x" * 2000), "", "too_large"),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"x" * 2000, "", "too_large"),
        (answer(b"zip", Content_Encoding="gzip"), "", "fetch_failed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "", "fetch_failed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "", "fetch_failed"),
        (b"garbage\r\n\r\n", "", "fetch_failed"),
    ],
)
async def test_failures_have_codes(response: bytes, query: str, code: str) -> None:
    async with serving(lambda path, headers: response) as port:
        assert await code_of(fetcher(max_bytes=1000).fetch(f"http://h.example:{port}/a{query}", seconds=5)) == code


async def test_time_is_capped_however_slowly_bytes_drip() -> None:
    stop = asyncio.Event()

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        await stop.wait()
        writer.close()

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        assert await code_of(fetcher().fetch(f"http://h.example:{port}/", seconds=0.1)) == "fetch_failed"
        stop.set()


async def test_an_unknown_host_is_a_failure() -> None:
    async def unknown(host: str, port: int) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
        raise OSError("no such host")

    assert await code_of(fetcher(resolve=unknown).fetch("http://nowhere.example/", seconds=5)) == "fetch_failed"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> tuple[Path, Path]:
    """A certificate for secure.example that signs itself."""
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=secure.example"
    command += f" -addext subjectAltName=DNS:secure.example -keyout {key} -out {cert}"
    try:
        subprocess.run(command.split(), check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    return key, cert


async def test_the_certificate_is_checked_for_the_hosts_name(certificate: tuple[Path, Path]) -> None:
    key, cert = certificate
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(cert, key)
    async with serving(lambda path, headers: answer(), tls=server_side) as port:
        client = fetcher(tls=lambda: ssl.create_default_context(cafile=str(cert)))
        assert (await client.fetch(f"https://secure.example:{port}/", seconds=5)).data == b"picture"
        assert await code_of(client.fetch(f"https://other.example:{port}/", seconds=5)) == "fetch_failed"
        assert await code_of(fetcher().fetch(f"https://secure.example:{port}/", seconds=5)) == "fetch_failed"
