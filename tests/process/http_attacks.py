"""
Requests that a caller without the token, or a web page, or a broken proxy could send to the loopback endpoint, each
with the status that it must get. `None`: no answer is owed, only an end.
"""

from collections.abc import Iterator

from msgspec import Struct

BODY = b'{"hook_event_name":"PreToolUse","session_id":"attack","tool_name":"Bash","tool_input":{"command":"ls"}}'
MARKUP = ("<script>alert(1)</script>", "'\"><img src=x onerror=alert(1)>", "{{7*7}}", "\x1b[2J", "%0d%0aX: y")


class Attack(Struct, frozen=True):
    name: str
    data: bytes
    status: int | None


def attacks(port: int, token: str) -> list[Attack]:
    kinds = (_hosts, _pages, _tokens, _targets, _types, _methods, _smuggled, _malformed, _too_large)
    return [attack for kind in kinds for attack in kind(port, token)]


def request(
    port: int,
    token: str,
    *more: str,
    line: str = "POST /hook/claude-code HTTP/1.1",
    without: tuple[str, ...] = (),
    body: bytes = BODY,
    **changed: str,
) -> bytes:
    """A good request but for what is changed (`content_type=...`), left out, or added."""
    headers = {
        "Host": f"127.0.0.1:{port}",
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        **{name.replace("_", "-").title(): value for name, value in changed.items()},
    }
    lines = [line, *(f"{name}: {value}" for name, value in headers.items() if name not in without), *more]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def _hosts(port: int, token: str) -> Iterator[Attack]:
    """DNS rebinding: a name of the attacker's that leads here, or one that looks like ours."""
    names = [
        "evil.example", f"evil.example:{port}", f"127.evil.example:{port}", f"127.0.0.1.evil.example:{port}",
        f"localhost.evil.example:{port}", f"127.0.0.1:{port}.evil.example", f"evil.example#127.0.0.1:{port}",
        f"127.0.0.1:{port}@evil.example", f"evil@127.0.0.1:{port}", f"127.0.0.2:{port}", f"0.0.0.0:{port}", f"0:{port}",
        f"127.1:{port}", f"2130706433:{port}", f"0x7f000001:{port}", f"0177.0.0.1:{port}", f"[::]:{port}",
        f"[::ffff:127.0.0.1]:{port}", f"::1:{port}", "127.0.0.1", "localhost", "[::1]", f"127.0.0.1:{port + 1}",
        f"localhost:{port}0", f"localhost.:{port}", f"127.0.0.1.:{port}", f"127.0.0.1:{port}:{port}",
        f"127.0.0.1 :{port}", f"127.0.0.1:{port}/", "", f"localhost:{port},evil.example",
        f"\xef\xbc\x9127.0.0.1:{port}", f"127.0.0.1:0{port}", f"169.254.169.254:{port}",
        f"metadata.google.internal:{port}",
    ]  # fmt: skip
    for name in names:
        yield Attack(f"host {name}", request(port, token, host=name), 421)
    yield Attack("no host", request(port, token, without=("Host",)), 421)
    for first, second in ((f"127.0.0.1:{port}", "evil.example"), ("evil.example", f"127.0.0.1:{port}")):
        yield Attack(f"two hosts, {first} first", request(port, token, f"Host: {second}", host=first), 400)
    ours = f"X-Forwarded-Host: 127.0.0.1:{port}"
    yield Attack("forwarded host", request(port, token, ours, f"X-Host: 127.0.0.1:{port}", host="evil.example"), 421)


def _pages(port: int, token: str) -> Iterator[Attack]:
    """What a browser sends on behalf of a page, even one that knows the token."""
    origins = [
        "https://evil.example", "http://evil.example", "null", "", f"http://127.0.0.1:{port}", f"http://localhost:{port}",
        f"https://localhost:{port}", "file://", "chrome-extension://abcdef", "vscode-webview://x", f"http://[::1]:{port}",
        "http://localhost", f"http://127.0.0.1:{port}.evil.example",
    ]  # fmt: skip
    for origin in origins:
        yield Attack(f"origin {origin}", request(port, token, f"Origin: {origin}"), 403)
    for site in ("cross-site", "same-site", "same-origin", "", "None", "none, cross-site", "unknown"):
        yield Attack(f"sec-fetch-site {site}", request(port, token, f"Sec-Fetch-Site: {site}"), 403)
    yield Attack("two fetch sites", request(port, token, "Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"), 400)
    preflight = ("Origin: https://evil.example", "Access-Control-Request-Method: POST")
    yield Attack(
        "preflight", request(port, token, *preflight, line="OPTIONS /hook/claude-code HTTP/1.1", body=b""), 403
    )
    private = ("Access-Control-Request-Private-Network: true",)
    yield Attack("private network", request(port, token, *private, line="OPTIONS / HTTP/1.1", body=b""), 405)
    socket = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: x", "Sec-WebSocket-Version: 13")
    line = "GET /hook/claude-code HTTP/1.1"
    yield Attack("websocket", request(port, token, *socket, line=line, body=b""), 400)
    yield Attack("websocket from a page", request(port, token, *socket, "Origin: https://evil.example", line=line), 403)
    yield Attack("http2 upgrade", request(port, token, "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"), 400)


def _tokens(port: int, token: str) -> Iterator[Attack]:
    given = [
        "", "Bearer", "Bearer ", f"Basic {token}", f"bearer{token}", token, f"Bearer {token}x", f"Bearer {token[:-1]}",
        f"Bearer {token.upper()}" if token.upper() != token else "Bearer x", f"Bearer {token} {token}", "Bearer null",
        "Bearer undefined", f"Bearer {'0' * 64}", f'Bearer "{token}"', f"Token {token}", f"Bearer {token[::-1]}",
        f"Bearer {token},{token}", "Bearer \xe9\xff", "Bearer " + "a" * 8_000, f"Digest Bearer {token}",
    ]  # fmt: skip
    for number, each in enumerate(given):
        yield Attack(f"token {number}", request(port, token, authorization=each), 401)
    bare = ("Authorization",)
    yield Attack("no token", request(port, token, without=bare), 401)
    yield Attack(
        "token in a cookie", request(port, token, f"Cookie: token={token}; Authorization={token}", without=bare), 401
    )
    yield Attack(
        "token in the query", request(port, token, line=f"POST /hook/generic?token={token} HTTP/1.1", without=bare), 401
    )
    yield Attack("token in another header", request(port, token, f"X-Api-Key: {token}", without=bare), 401)
    yield Attack("token of a proxy", request(port, token, f"Proxy-Authorization: Bearer {token}", without=bare), 401)
    yield Attack("two tokens", request(port, token, "Authorization: Bearer x"), 400)
    yield Attack("nothing but a path", request(port, token, line="GET / HTTP/1.1", without=bare, body=b""), 401)


def _targets(port: int, token: str) -> Iterator[Attack]:
    targets = [
        "/", "/hook", "/hook/", "/hook/claude-code/", "//hook/claude-code", "/hook//claude-code", "/hook/../hook/x",
        "/hook/..", "/hook/../../etc/passwd", "/hook/%2e%2e/x", "/hook/claude%2dcode", "/hook/claude-code?x=1",
        "/hook/claude-code#x", "/hook/claude-code;x", "/HOOK/claude-code", "/hook/Claude", "/hook/.hidden", "/hook/\\x",
        "/hook/snell.clients.generic", "/hook/a/b", "/favicon.ico", "/status", "/stop", "/hook/claude-code\x7f",
        "*", f"http://127.0.0.1:{port}/hook/generic", "http://evil.example/hook/generic", "/hook/" + "a" * 100,
        "/hook/-claude", "/hook/<script>", "/hook/${jndi:x}", "/hook/claude-code%00",
    ]  # fmt: skip
    for target in targets:
        status = 400 if "\x7f" in target else 404
        yield Attack(f"target {target[:40]!r}", request(port, token, line=f"POST {target} HTTP/1.1"), status)
    yield Attack("unknown client", request(port, token, line="POST /hook/unheard-of HTTP/1.1"), 400)
    yield Attack("tunnel", request(port, token, line="CONNECT evil.example:443 HTTP/1.1"), 405)


def _types(port: int, token: str) -> Iterator[Attack]:
    """What a form can send without asking the user."""
    kinds = [
        "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "application/jsonx",
        "text/json", "application/json, text/plain", "text/plain; application/json", "application/json; charset=utf-16",
        "application/ld+json", "application/json;charset=utf-8;x=y", "*/*",
    ]  # fmt: skip
    for kind in kinds:
        yield Attack(f"type {kind}", request(port, token, content_type=kind), 415)
    yield Attack("no type", request(port, token, without=("Content-Type",)), 415)
    yield Attack("two types", request(port, token, "Content-Type: text/plain"), 400)
    form = b"hook_event_name=PreToolUse&tool_name=Bash"
    yield Attack("form", request(port, token, content_type="application/x-www-form-urlencoded", body=form), 415)
    for text in MARKUP:
        yield Attack(
            f"markup {text!r}", request(port, token, line="POST /hook/generic HTTP/1.1", body=text.encode()), 400
        )
    for body in (b"", b"null", b"[]", b'{"a":1,"a":2}', b"\xff\xfe", b"[" * 100_000):
        yield Attack(f"body {body[:12]!r}", request(port, token, body=body), 400)


def _methods(port: int, token: str) -> Iterator[Attack]:
    for method in ("GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "PRI", "DEBUG"):
        yield Attack(method, request(port, token, line=f"{method} /hook/claude-code HTTP/1.1"), 405)


def _smuggled(port: int, token: str) -> Iterator[Attack]:
    """A second request, hidden in or behind the first."""
    second = request(port, token)
    length = str(len(BODY))
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
    for coding in ("chunked", "Chunked", "identity", "gzip, chunked", "\x0bchunked", "xchunked", ""):
        status = 400 if "\x0b" in coding else 501
        yield Attack(f"coding {coding!r}", request(port, token, f"Transfer-Encoding: {coding}", body=chunked), status)
    chunks = ("Transfer-Encoding: chunked",)
    yield Attack("chunks without a length", request(port, token, *chunks, without=("Content-Length",)), 501)
    yield Attack("space before the colon", request(port, token, "Transfer-Encoding : chunked"), 400)
    yield Attack("folded header", request(port, token, "X: y", " Transfer-Encoding: chunked"), 400)
    yield Attack("two equal lengths", request(port, token, f"Content-Length: {length}"), 400)
    yield Attack("two lengths", request(port, token, "Content-Length: 0"), 400)
    for value in (
        f"{length}, {length}",
        f"+{length}",
        f"-{length}",
        f"0x{len(BODY):x}",
        f"{length}.0",
        "",
        "1e3",
        "９",
    ):
        raw = value.encode().decode("latin-1")
        yield Attack(f"length {value}", request(port, token, content_length=raw), 400)
    yield Attack("no length", request(port, token, without=("Content-Length",)), 411)
    yield Attack("a second request behind", second + second, 400)
    yield Attack("a body longer than it says", request(port, token, content_length="5"), 400)
    yield Attack("a length of nothing", request(port, token, content_length="0"), 400)
    yield Attack("expectation", request(port, token, "Expect: 200-ok"), 400)


def _malformed(port: int, token: str) -> Iterator[Attack]:
    good = request(port, token)
    for line in (
        "POST  /hook/generic HTTP/1.1", "POST /hook/generic", "POST /hook/generic HTTP/1.1 x", " POST / HTTP/1.1",
        "post /hook/generic HTTP/1.1", "POST\t/hook/generic\tHTTP/1.1", "POST /hook/a b HTTP/1.1", "HTTP/1.1 200 OK",
        "POST /hook/generic HTTP/x.y", "POST /hook/gen\xe9ric HTTP/1.1", "POST /hook/generic http/1.1",
    ):  # fmt: skip
        yield Attack(f"line {line}", request(port, token, line=line), 400)
    for version in ("HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/1.2", "HTTP/3.0"):
        yield Attack(version, request(port, token, line=f"POST /hook/generic {version}"), 505)
    for header in ("no colon", ": empty", "Na me: x", "X: a\x00b", "X: a\x07b", "X\x80: y", "(X): y"):
        yield Attack(f"header {header!r}", request(port, token, header), 400)
    yield Attack("bare newlines", good.replace(b"\r\n", b"\n"), None)
    yield Attack("one bare newline", good.replace(b"\r\nContent-Type", b"\nContent-Type"), 400)
    yield Attack("a return without newline", good.replace(b"\r\nContent-Type", b"\rContent-Type"), 400)
    yield Attack("tls", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 32, None)
    yield Attack("http2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505)
    yield Attack("a frame of the other socket", b"SNL1\x00\x00\x00\x00", None)
    yield Attack("a remote call", b'{"cmd": "stop"}\n', None)
    yield Attack("nothing", b"", None)
    yield Attack("empty lines", b"\r\n\r\n\r\n\r\n", 400)
    yield Attack("zeros", b"\x00" * 4_096, None)


def _too_large(port: int, token: str) -> Iterator[Attack]:
    yield Attack("a header of a megabyte", request(port, token, f"X: {'a' * 1_000_000}"), 431)
    yield Attack("an endless line", b"POST /" + b"a" * 1_000_000, 431)
    yield Attack("many headers", request(port, token, *(f"X{number}: y" for number in range(500))), 431)
    yield Attack("a hundred headers of one name", request(port, token, *["X: y"] * 100), 431)
    yield Attack("a body of a terabyte", request(port, token, content_length="999999999999"), 413)
    yield Attack("a number without end", request(port, token, content_length="9" * 400), 400)
    yield Attack("17 MB", request(port, token, content_length=str(17 * 1024 * 1024)), 413)
    yield Attack("a long name", request(port, token, f"{'X' * 200}: y"), 400)
