"""
Who may look at the page: a browser that was opened by the one-time link, at this address, from this page.

The link is exchanged for a cookie that scripts cannot read and that other sites cannot send. A request under another
host name is refused, because a site could point its own name at this machine (DNS rebinding); so is one from another
origin. The headers of every answer forbid scripts, styles and connections that are not the page's own.
"""

import secrets
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from snell.ui.render import Renderer

OPEN = "/open"
STATIC = "/static/"
_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_AGAIN = "Run `snell ui` in your terminal for a new link."


class Keys:
    """The key of the one-time link and the value of the cookie; both end with this process."""

    def __init__(self, port: int) -> None:
        self.hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self.cookie = f"snell_ui_{port}"
        self._link, self._value = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._is_used = False
        self.link = f"http://{self.hosts[0]}{OPEN}?key={self._link}"

    def use_link(self, key: str) -> bool:
        """Return whether this is the key of the link, and the first use of it."""
        is_right = compare_digest(key.encode(), self._link.encode()) and not self._is_used
        self._is_used |= is_right
        return is_right

    def set_cookie(self) -> str:
        return f"{self.cookie}={self._value}; Path=/; HttpOnly; SameSite=Strict"

    def has_cookie(self, header: str) -> bool:
        try:
            found = SimpleCookie(header).get(self.cookie)
        except CookieError:
            return False
        return found is not None and compare_digest(found.value.encode(), self._value.encode())


class Gate:
    """Answers what the page does not: wrong hosts, other origins, and browsers without the cookie."""

    def __init__(self, app: ASGIApp, keys: Keys, renderer: Renderer) -> None:
        self._app, self._keys, self._renderer = app, keys, renderer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        if refusal := self._refusal(Headers(scope=scope), scope["method"]):
            answer: ASGIApp = self._renderer.message(403, "Not from here", refusal)
        elif scope["path"] == OPEN:
            answer = self._open(Request(scope))
        elif scope["path"].startswith(STATIC) or self._keys.has_cookie(Headers(scope=scope).get("cookie", "")):
            answer = self._app
        else:
            answer = self._renderer.message(403, "This page is closed", f"It is opened by a link. {_AGAIN}")
        return await answer(scope, receive, send_with_headers)

    def _refusal(self, headers: Headers, method: str) -> str:
        host, origin = headers.get("host", ""), headers.get("origin")
        if headers.getlist("host") != [host] or host not in self._keys.hosts:
            return f"The page is only at {self._keys.hosts[0]}; this request names another host."
        if origin is None and method in ("GET", "HEAD"):
            return ""
        return "" if origin == f"http://{host}" else "The request comes from another page."

    def _open(self, request: Request) -> ASGIApp:
        """Exchange the link for the cookie. The page follows from there, so that the cookie counts as this site's."""
        if request.method != "GET" or not self._keys.use_link(request.query_params.get("key", "")):
            return self._renderer.message(403, "This link does not work", f"It was used before, or is wrong. {_AGAIN}")
        answer = self._renderer.answer("opened.html", {})
        answer.headers["Set-Cookie"] = self._keys.set_cookie()
        return answer
