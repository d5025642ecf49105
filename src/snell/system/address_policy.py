"""
Decide which addresses a hook may call.

A URL is parsed strictly and its host name is resolved once. Every address is checked, and the connection uses exactly
the checked addresses, so a name that resolves differently the next time (DNS rebinding) cannot lead elsewhere. Refused
are private, link-local and reserved addresses, cloud metadata services, and addresses embedded in another form.
"""

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from msgspec import Struct

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Resolve = Callable[[str, int], list[str]]

LONGEST_URL = 2_000


class RefusedError(Exception):
    """A URL that may not be called; the message says why."""


class Target(Struct, frozen=True):
    """A URL and its checked addresses."""

    scheme: str
    host: str
    port: int
    path: str
    addresses: tuple[str, ...]

    @property
    def authority(self) -> str:
        """Return the value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def resolve_host(host: str, port: int) -> list[str]:
    """Return all addresses that the system resolves a name to."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


def check_url(
    url: str, *, loopback: bool = False, allowed: Iterable[str] = (), resolve: Resolve = resolve_host
) -> Target:
    """Return the target of a URL if it may be called. `allowed`: names, addresses, networks, each maybe with a port."""
    scheme, host, port, path = _parts(url)
    literal = _literal(host)
    allowance = _Allowance(tuple(allowed), host, port)
    if literal is None and host in _METADATA_NAMES and not allowance.names_host:
        raise RefusedError(f"`{host}` is a cloud's metadata service")
    names_loopback = host in _LOOPBACK_NAMES or bool(literal and _is_plain_loopback(literal))
    addresses = [literal] if literal else _resolve_addresses(host, port, resolve)
    for address in addresses:
        if why := _refusal(address, allowance, names_loopback and loopback):
            raise RefusedError(f"`{host}`{'' if literal else f' is {address}, which'} {why}")
    if scheme == "http" and not names_loopback and not (allowance.names_host or all(map(allowance.names, addresses))):
        raise RefusedError("only loopback may be called without TLS; use https")
    return Target(scheme, host, port, path, tuple(map(str, addresses)))


_PORTS = {"http": 80, "https": 443}
_ODD_CHARACTERS = re.compile(r"[\x00-\x20\x7f-\U0010ffff\\]")
_HOST = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERIC_END = re.compile(r"(?:^|\.)(?:0x[0-9a-f]*|[0-9]+)$")
_LOOPBACK_NAMES = frozenset({"localhost"})
_METADATA_NAMES = (
    *("metadata", "metadata.google.internal", "metadata.goog", "metadata.azure.internal", "metadata.azure.com"),
    *("instance-data", "instance-data.ec2.internal"),
)


def _parts(url: str) -> tuple[str, str, int, str]:
    if len(url) > LONGEST_URL:
        raise RefusedError(f"the URL has more than {LONGEST_URL:,} characters")
    if _ODD_CHARACTERS.search(url):
        raise RefusedError("the URL has a space, a backslash, or a character that is not ASCII")
    try:
        found = urlsplit(url)
        port = found.port
    except ValueError as error:
        raise RefusedError(f"the URL cannot be parsed: {error}") from None
    if found.scheme not in _PORTS or not url[len(found.scheme) :].startswith("://"):
        raise RefusedError("the URL must begin with https:// (or http:// for loopback)")
    if "@" in found.netloc:
        raise RefusedError("the URL contains a user name; use a header")
    host = _host(found.netloc)
    if port == 0 or found.netloc.endswith(":"):
        raise RefusedError("the URL has an invalid port")
    path = (found.path or "/") + (f"?{found.query}" if found.query else "")
    return found.scheme, host, port or _PORTS[found.scheme], path


def _host(netloc: str) -> str:
    if netloc.startswith("["):
        host, bracket, rest = netloc[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")) or "%" in host:
            raise RefusedError("the URL has an invalid IPv6 address")
        return host.lower()
    host = netloc.partition(":")[0].lower()
    if netloc.count(":") > 1 or not _HOST.fullmatch(host) or len(host) > 253:
        raise RefusedError("the URL has no valid host name")
    return host


def _literal(host: str) -> Address | None:
    """Return the address that is written out; None for a name. Other notations of a number are refused, not guessed."""
    if ":" not in host and not _NUMERIC_END.search(host):
        return None
    try:
        return ipaddress.IPv6Address(host) if ":" in host else ipaddress.IPv4Address(host)
    except ValueError:
        why = "is not an IPv6 address" if ":" in host else "is an unusual notation of an address"
        raise RefusedError(f"`{host}` {why}") from None


def _resolve_addresses(host: str, port: int, resolve: Resolve) -> list[Address]:
    if host in _LOOPBACK_NAMES:
        return [ipaddress.IPv4Address("127.0.0.1"), ipaddress.IPv6Address("::1")]
    try:
        texts = resolve(host, port)
    except (OSError, UnicodeError) as error:
        raise RefusedError(f"`{host}` cannot be resolved: {error}") from None
    if not texts:
        raise RefusedError(f"`{host}` has no address")
    try:
        return [ipaddress.ip_address(text) for text in texts]
    except ValueError:
        raise RefusedError(f"`{host}` has an address with a zone, or an invalid one") from None


def _refusal(address: Address, allowance: "_Allowance", loopback: bool) -> str:
    if _is_plain_loopback(address):
        return "" if loopback or allowance.names(address) else "is loopback, which only your own and policy hooks call"
    if allowance.names(address):
        return ""
    if _is_in(address, _METADATA):
        return "is a cloud's metadata service"
    if isinstance(address, ipaddress.IPv6Address) and _embeds_ipv4(address):
        return "embeds an IPv4 address"
    if address.is_link_local:
        return "is link-local"
    is_public = _is_in(address, _GLOBAL) and not _is_in(address, _NOT_PUBLIC)
    if not is_public and not (allowance.names_host and _is_in(address, _PRIVATE)):
        return "is private or reserved; list it in `webhook_hosts` if it may be called"
    return ""


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(map(ipaddress.ip_network, text.split()))


_NOT_PUBLIC = _networks(
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24"
    " 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24"
    " 203.0.113.0/24 224.0.0.0/3"
    " 2001::/23 2001:db8::/32 2002::/16 3fff::/20 2620:4f:8000::/48"
)
_GLOBAL = _networks("0.0.0.0/0 2000::/3")
# What a name in `webhook_hosts` may resolve to: private networks, but not this machine.
_PRIVATE = _networks("10.0.0.0/8 100.64.0.0/10 172.16.0.0/12 192.168.0.0/16 198.18.0.0/15 fc00::/7")
_EMBEDDING_V6 = _networks("::ffff:0:0/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 2002::/16 2001::/32")
_COMPATIBLE = _networks("::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)
_METADATA = _networks(
    "169.254.169.254 169.254.170.2 100.100.100.200 168.63.129.16 192.0.0.192 fd00:ec2::254 fd20:ce::254"
)


def _is_in(address: Address, networks: Iterable[Network]) -> bool:
    return any(address.version == each.version and address in each for each in networks)


def _is_plain_loopback(address: Address) -> bool:
    return address.is_loopback and not (isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped)


def _embeds_ipv4(address: ipaddress.IPv6Address) -> bool:
    number = int(address)
    is_compatible = _is_in(address, _COMPATIBLE) and number > 1  # :: and ::1 are themselves
    return is_compatible or _is_in(address, _EMBEDDING_V6) or (number >> 32) & 0xFFFFFFFF in _ISATAP


class Allowed(Struct, frozen=True):
    """One entry of `webhook_hosts`: a name or a network (an address is a small one), maybe at one port only."""

    name: str = ""
    network: Network | None = None
    port: int | None = None


def allowed_entry(text: str) -> Allowed:
    """Parse `host`, `host:port`, `[v6]:port`, an address or a network. Raises ValueError with what is wrong."""
    name, port = _split_entry(text)
    if "/" in name or ":" in name or _NUMERIC_END.search(name):
        try:
            return Allowed(network=ipaddress.ip_network(name), port=port)
        except ValueError as error:
            advice = "write the host alone" if "//" in text else str(error)
            raise ValueError(f"it is neither a host, an address nor a network: {advice}") from None
    if not _HOST.fullmatch(name.lower()) or len(name) > 253:
        raise ValueError("it is neither a host, an address nor a network; there are no wildcards")
    return Allowed(name=name.lower(), port=port)


def _split_entry(text: str) -> tuple[str, int | None]:
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if not bracket or ":" not in host or (rest and not rest.startswith(":")):
            raise ValueError("its brackets hold no IPv6 address")
        port = rest.removeprefix(":") if rest else None
    elif text.count(":") == 1 and "//" not in text:
        host, _, port = text.partition(":")
    else:
        return text, None
    if port is None:
        return host, None
    if not (port.isascii() and port.isdigit() and 1 <= int(port) <= 65_535):
        raise ValueError(f"`{port[:20]}` is not a port")
    return host, int(port)


class _Allowance:
    """What `webhook_hosts` allows for one host and its addresses; an invalid entry allows nothing."""

    def __init__(self, allowed: tuple[str, ...], host: str, port: int) -> None:
        entries = [entry for entry in map(_parse_entry, allowed) if entry and entry.port in (None, port)]
        self._networks = [entry.network for entry in entries if entry.network]
        self.names_host = any(entry.name == host for entry in entries)

    def names(self, address: Address) -> bool:
        return _is_in(address, self._networks)


def _parse_entry(text: str) -> Allowed | None:
    try:
        return allowed_entry(text)
    except ValueError:
        return None
