"""Serve the page: a socket on loopback, the application, and the end when the last page is closed."""

import asyncio
import socket
from collections.abc import Mapping
from contextlib import suppress

import uvicorn

from snell.model.errors import SnellError
from snell.system.paths import Places
from snell.ui.app import make_app
from snell.ui.gate import Keys
from snell.ui.lifetime import Lifetime
from snell.ui.site import Site
from snell.ui.store import ReadOnlyStore

CHECK_SECONDS = 0.5
LAST_SECONDS = 2  # that an open stream may take to end


class PageServer:
    def __init__(self, where: Places, env: Mapping[str, str], *, port: int = 0, is_person: bool = True) -> None:
        self._socket = _listen(port)
        self.port = self._socket.getsockname()[1]
        self._keys, self._lifetime = Keys(self.port), Lifetime()
        store = ReadOnlyStore(where.state / "snell.db")
        site = Site(where=where, env=env, store=store, is_person=is_person)
        app = make_app(site, self._keys, self._lifetime)
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=LAST_SECONDS,
            limit_concurrency=200,
        )
        self._server = uvicorn.Server(config)

    @property
    def link(self) -> str:
        return self._keys.link

    def serve(self) -> None:
        """Serve until no page is open, or until an interrupt."""
        with suppress(KeyboardInterrupt):
            asyncio.run(self._serve())

    async def _serve(self) -> None:
        ending = asyncio.create_task(self._end_when_over())
        try:
            await self._server.serve(sockets=[self._socket])
        finally:
            self._lifetime.is_ended = True
            ending.cancel()

    async def _end_when_over(self) -> None:
        while not self._lifetime.is_over and not self._server.should_exit:  # noqa: ASYNC110 - only time passes
            await asyncio.sleep(CHECK_SECONDS)
        self._lifetime.is_ended = True  # the streams end by themselves
        self._server.should_exit = True


def _listen(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(("127.0.0.1", port))
        found.listen(100)  # the link is printed before the server runs
    except OSError as error:
        found.close()
        reason = (error.strerror or str(error)).lower()
        raise SnellError(f"port {port} cannot be used: {reason}", advice="choose another `--port`") from None
    return found
