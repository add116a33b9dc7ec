"""Which addresses may be fetched: pure judgements about URLs and IP addresses, no DNS."""

import ipaddress
import re
import socket
import unicodedata
from collections.abc import Callable
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

from memory.media import MediaError

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
AddressPolicy = Callable[[IPAddress], bool]
"""Whether a connection to an address may be made."""

_REFUSED_NETWORKS = tuple(
    ipaddress.ip_network(network)
    for network in (
        "100.64.0.0/10",  # carrier-grade NAT
        "192.0.0.0/24",
        "192.88.99.0/24",
        "64:ff9b:1::/48",
        "2001::/23",
        "2002::/16",  # 6to4 wraps any IPv4 address
        "fec0::/10",
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_PRIVATE_SUFFIXES = ("localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "localdomain", "home.arpa")
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?", re.IGNORECASE)
_NUMERIC_HOST = re.compile(r"(?:0x[0-9a-f]*|\d+)(?:\.(?:0x[0-9a-f]*|\d+)){0,3}", re.IGNORECASE)
_UNSAFE = re.compile(r"[^\x21-\x7e]|[\"<>\\^`{|}]")


def is_public(address: IPAddress) -> bool:
    """Whether anybody on the internet could have this address; embedded IPv4 addresses are judged as such."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address in _NAT64:
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        if address.scope_id is not None:
            return False
    refused = any(address.version == network.version and address in network for network in _REFUSED_NETWORKS)
    return address.is_global and not address.is_multicast and not address.is_reserved and not refused


def normalize_url(url: str) -> str:
    """`url` with what a request line cannot hold percent-encoded and an international host in ASCII; the rest byte for byte."""
    parts = urlsplit(url)
    netloc = parts.netloc
    if not netloc.isascii():
        try:
            netloc = unicodedata.normalize("NFKC", netloc).replace("。", ".").encode("idna").decode()
        except UnicodeError as error:
            raise MediaError("forbidden_url", "a host that is no name") from error
    path, query, fragment = (_UNSAFE.sub(lambda match: quote(match[0]), part) for part in (parts.path, parts.query, parts.fragment))
    return SplitResult(parts.scheme, netloc, path, query, fragment).geturl()


def absolute_url(url: str, base_url: str) -> str:
    """`url` as seen from a page at `base_url`; protocol-relative addresses take the scheme of that page."""
    return urljoin(base_url.rstrip("/") + "/", url)


def path_below(url: str, base_url: str) -> str | None:
    """The path of `url` below our own `base_url`; None for any other site."""
    own, given = urlsplit(base_url), urlsplit(url)
    prefix = own.path.rstrip("/")
    if (given.scheme.lower(), given.netloc.lower()) != (own.scheme.lower(), own.netloc.lower()):
        return None
    return given.path[len(prefix) :] if given.path.startswith(prefix + "/") else None


def check_url(url: str, *, allowed: AddressPolicy = is_public) -> str:
    """The host of an address that may be fetched, as far as can be told without DNS.

    Raises MediaError `forbidden_url`: scheme, credentials, malformed or single-label host, private name, or a literal
    address (in any notation that resolvers accept) that `allowed` refuses.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise MediaError("forbidden_url", "malformed address") from error
    if parts.scheme.lower() not in {"http", "https"}:
        raise MediaError("forbidden_url", f"scheme {parts.scheme[:20]!r}")
    if "@" in parts.netloc:
        raise MediaError("forbidden_url", "credentials in the address")
    if port == 0 or "\\" in parts.netloc or _UNSAFE.search(parts.netloc):
        raise MediaError("forbidden_url", "malformed address")
    host = _plain_host(host)
    literal = _literal_address(host)
    if literal is not None:
        if not allowed(literal):
            raise MediaError("forbidden_url", "an address that is not public")
    elif not _HOST.fullmatch(host) or "." not in host or host.endswith(tuple("." + suffix for suffix in _PRIVATE_SUFFIXES)):
        raise MediaError("forbidden_url", "a host name that is not public")
    return host


def _plain_host(host: str) -> str:
    return unicodedata.normalize("NFKC", unquote(host)).replace("。", ".").rstrip(".").lower()


def _literal_address(host: str) -> IPAddress | None:
    """The address that `host` spells out: dotted, short (127.1), decimal, octal, hexadecimal or IPv6."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    if not _NUMERIC_HOST.fullmatch(host):
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError as error:
        raise MediaError("forbidden_url", "malformed address") from error
