"""
Parse requests to the loopback HTTP endpoint strictly; every other request is refused with a status.

A web page can make a browser send requests to this port, under any host name that it makes resolve to this machine.
So the host must be one of this machine's own names, there must be no Origin, and a token is needed that no page can
read. No header of a response lets a page read it.
"""

import hmac
import re
from collections.abc import Mapping
from http import HTTPStatus

from msgspec import Struct

LARGEST_HEAD = 16 * 1024
MOST_HEADERS = 64
LARGEST_BODY = 16 * 1024 * 1024

# A duplicate of these headers may be an attempt at request smuggling.
SINGLE = frozenset(
    ("host", "content-length", "content-type", "authorization", "origin", "sec-fetch-site", "transfer-encoding")
)
_FIXED_HEADERS = (
    b"Connection: close\r\n"
    b"Cache-Control: no-store\r\n"
    b"X-Content-Type-Options: nosniff\r\n"
    b"Cross-Origin-Resource-Policy: same-origin\r\n"
    b"Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"
)


class RefusedRequestError(Exception):
    """A request is refused with this status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


Head = tuple[str, str, Mapping[str, str]]  # method, target, headers


class HttpRequest(Struct, frozen=True):
    """The request of an accepted head."""

    client: str
    length: int
    waits: bool  # the sender waits for `100 Continue` before it sends the body


def read_head(data: bytes) -> Head:
    """Parse the head of a request, without the empty line at its end. Raises RefusedRequestError."""
    first, *rest = data.split(b"\r\n")
    line = _REQUEST_LINE(first)
    if not line:
        raise RefusedRequestError(400, "invalid request line")
    if line[3] != b"1.1":
        raise RefusedRequestError(505, "only HTTP/1.1 is supported")
    if len(rest) > MOST_HEADERS:
        raise RefusedRequestError(431, f"more than {MOST_HEADERS} headers")
    headers: dict[str, str] = {}
    for field in rest:
        found = _HEADER(field)
        if not found:
            raise RefusedRequestError(400, "invalid header")
        name = found[1].decode("ascii").lower()
        if name in headers and name in SINGLE:
            raise RefusedRequestError(400, f"duplicate header `{name}`")
        headers[name] = found[2].decode("latin-1")
    return line[1].decode("ascii"), line[2].decode("ascii"), headers


def authorise(head: Head, port: int, token: str) -> HttpRequest:
    """Return what an authorised request asks for. Raises RefusedRequestError; host and token are checked first."""
    method, path, headers = head
    _check_sender(headers, port, token)
    if method != "POST":
        raise RefusedRequestError(405, "only POST is supported")
    target = _TARGET(path)
    if not target:
        raise RefusedRequestError(404, "the only path is /hook/CLIENT")
    if not _JSON(headers.get("content-type", "").lower()):
        raise RefusedRequestError(415, "the content type must be application/json")
    length, expected = _length(headers), headers.get("expect", "").lower()
    if expected not in ("", "100-continue"):
        raise RefusedRequestError(400, "unsupported Expect header")
    return HttpRequest(target[1], length, bool(expected))


def response(status: int, body: bytes = b"", *, is_json: bool = True, exit_code: int | None = None) -> bytes:
    kind = "application/json" if is_json else "text/plain; charset=utf-8"
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
    if status == 401:
        lines.append("WWW-Authenticate: Bearer")
    if status == 405:
        lines.append("Allow: POST")
    if exit_code is not None:
        lines.append(f"X-Snell-Exit-Code: {exit_code}")
    return "\r\n".join(lines).encode("ascii") + b"\r\n" + _FIXED_HEADERS + b"\r\n" + body


_REQUEST_LINE = re.compile(rb"([A-Z]{1,16}) ([!-~]{1,512}) HTTP/([0-9]\.[0-9])").fullmatch
_HEADER = re.compile(rb"([0-9A-Za-z!#$%&'*+.^_`|~-]{1,64}):[ \t]*([ \t!-~\x80-\xff]*?)[ \t]*").fullmatch
_TARGET = re.compile(r"/hook/([a-z][a-z0-9_-]{0,40})").fullmatch
_JSON = re.compile(r'application/json(?:\s*;\s*charset="?utf-8"?)?').fullmatch
_DIGITS = re.compile(r"[0-9]{1,12}").fullmatch


def _check_sender(headers: Mapping[str, str], port: int, token: str) -> None:
    if "transfer-encoding" in headers:
        raise RefusedRequestError(501, "Transfer-Encoding is not supported; send Content-Length")
    if headers.get("host", "").lower() not in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"):
        raise RefusedRequestError(421, "the Host header does not name this machine")
    if "origin" in headers or headers.get("sec-fetch-site", "none") != "none":
        raise RefusedRequestError(403, "requests from web pages are not allowed")
    if "upgrade" in headers:
        raise RefusedRequestError(400, "Upgrade is not supported")
    scheme, _, word = headers.get("authorization", "").partition(" ")
    # Compared in constant time, and also when the scheme is wrong.
    is_right = hmac.compare_digest(word.strip().encode("latin-1"), token.encode("ascii"))
    if scheme.lower() != "bearer" or not is_right:
        raise RefusedRequestError(401, "the token is missing or wrong")


def _length(headers: Mapping[str, str]) -> int:
    given = headers.get("content-length")
    if given is None:
        raise RefusedRequestError(411, "Content-Length is missing")
    if not _DIGITS(given):
        raise RefusedRequestError(400, "Content-Length is not a number")
    if int(given) > LARGEST_BODY:
        raise RefusedRequestError(413, f"the body is longer than {LARGEST_BODY} bytes")
    return int(given)
