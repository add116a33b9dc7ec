"""The one place that downloads what a stranger's address points at."""

import asyncio
import functools
import ipaddress
import re
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import httpx

from memory.media import CHAT_LIMITS, MediaError
from memory.urls import AddressPolicy, IPAddress, check_url, is_public, normalize_url

Resolver = Callable[[str, int], Awaitable[list[IPAddress]]]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SIGNED = re.compile(r"(?:^|&)(?:expires|signature|x-amz-|x-oss-|x-tos-|q-sign|ossaccesskeyid|auth_key|token=|sig=)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came back: the bytes, the address that gave them after redirects, and the type its server claims."""

    data: bytes
    url: str
    content_type: str


async def resolve_host(host: str, port: int) -> list[IPAddress]:
    """The system's answer for `host`, IPv4 first. Raises OSError."""
    loop = asyncio.get_running_loop()
    answers = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = dict.fromkeys(ipaddress.ip_address(answer[4][0]) for answer in answers)
    return sorted(addresses, key=lambda address: address.version)


class Fetcher:
    """Downloads over http and https, and only from addresses that `allowed` accepts.

    Every address that a host resolves to is checked, and the connection goes to a checked address (so that a second
    DNS answer changes nothing) under the host's own name for `Host` and TLS. Redirects are checked in the same way. No
    proxy or credentials of the environment, no cookies, no compressed bodies.
    """

    def __init__(
        self,
        *,
        resolve: Resolver = resolve_host,
        allowed: AddressPolicy = is_public,
        tls: Callable[[], ssl.SSLContext] | None = None,
        max_bytes: int = CHAT_LIMITS.max_bytes,
        max_redirects: int = 3,
    ) -> None:
        self._resolve = resolve
        self._allowed = allowed
        self._tls = functools.cache(tls or functools.partial(httpx.create_ssl_context, trust_env=False))
        self._max_bytes = max_bytes
        self._max_redirects = max_redirects

    async def fetch(self, url: str, *, seconds: float) -> Fetched:
        """Raises MediaError: `forbidden_url`, `expired`, `too_large` or `fetch_failed`."""
        try:
            async with asyncio.timeout(seconds):
                return await self._follow(normalize_url(url))
        except TimeoutError as error:
            raise MediaError("fetch_failed", f"no complete answer within {seconds:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            raise MediaError("fetch_failed", type(error).__name__) from error

    async def _follow(self, url: str) -> Fetched:
        for _ in range(self._max_redirects + 1):
            host = check_url(url, allowed=self._allowed)
            answer = await self._get(url, host, await self._checked_address(host, urlsplit(url).port or 443))
            if isinstance(answer, Fetched):
                return answer
            url = normalize_url(urljoin(url, answer))
        raise MediaError("fetch_failed", f"more than {self._max_redirects} redirects")

    async def _checked_address(self, host: str, port: int) -> IPAddress:
        addresses = await self._resolve(host, port)
        if not addresses:
            raise MediaError("fetch_failed", "the host has no address")
        if not all(map(self._allowed, addresses)):
            raise MediaError("forbidden_url", "the host resolves to an address that is not public")
        return addresses[0]

    async def _get(self, url: str, host: str, address: IPAddress) -> Fetched | str:
        """The body, or the target of a redirect."""
        pinned = httpx.URL(url).copy_with(host=str(address), fragment=None)
        headers = {
            "Host": httpx.URL(url).copy_with(host=host).netloc.decode("ascii"),
            "Accept": "image/*,video/*,*/*;q=0.5",
            "Accept-Encoding": "identity",
            "User-Agent": "evatar",
        }
        tls = await asyncio.to_thread(self._tls)
        # One client a request: a pooled connection is keyed by address and could serve another host's name.
        async with (
            httpx.AsyncClient(verify=tls, trust_env=False, follow_redirects=False, timeout=None) as client,  # noqa: S113
            client.stream("GET", pinned, headers=headers, extensions={"sni_hostname": host}) as response,
        ):
            if response.status_code in _REDIRECTS and "location" in response.headers:
                return response.headers["location"]
            self._refuse_failure(response, query=urlsplit(url).query)
            return Fetched(await self._read(response), url, response.headers.get("content-type", ""))

    def _refuse_failure(self, response: httpx.Response, *, query: str) -> None:
        if response.status_code == 410 or (response.status_code in {401, 403, 404} and _SIGNED.search(query)):
            raise MediaError("expired", f"HTTP {response.status_code}")
        if response.status_code != 200:
            raise MediaError("fetch_failed", f"HTTP {response.status_code}")
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise MediaError("fetch_failed", "a compressed body that was not asked for")
        if int(response.headers.get("content-length", 0)) > self._max_bytes:
            raise MediaError("too_large", f"at most {self._max_bytes} bytes")

    async def _read(self, response: httpx.Response) -> bytes:
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > self._max_bytes:
                raise MediaError("too_large", f"at most {self._max_bytes} bytes")
        return bytes(body)
