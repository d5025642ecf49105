"""Services that the daemon runs only if the settings enable them: an HTTP endpoint, replication, those of packs."""

import asyncio
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snell.model.errors import SnellError
from snell.runtime.app import database_of
from snell.settings.load import load
from snell.settings.packs import start_services
from snell.system.paths import Places

if TYPE_CHECKING:
    from snell.daemon.http.server import HttpServer, Serve
    from snell.runtime.app import Runtime

REPLICATION = "snell.store.replication.feed"
SIZE_LIMIT = "snell.store.size_limit"
IN_USE = ("work", "in_use")  # the mark without which hooks do not look for tasks


class OptionalServices:
    """Starts and stops the services. Only the policy and the user's settings are read, never a project's."""

    def __init__(self, where: Places, env: Mapping[str, str]) -> None:
        loaded = load(where, Path("/"), env)
        self._where = where
        self._http_wanted: dict[str, Any] = loaded.value("http") or {}
        self._http: HttpServer | None = None
        self._http_problem = ""
        self._packs: dict[str, Any] = loaded.value("pack") or {}
        memory = self._packs.get("remember", {})
        self.size_limit: Any = None  # a `SizeLimit`
        if find_spec(SIZE_LIMIT):
            self.size_limit = import_module(SIZE_LIMIT).SizeLimit(loaded.value("store_megabytes"))
        self.feed: Any = None  # a `ReplicationFeed`
        if address := loaded.value("database"):
            open_local = partial(database_of, where)
            feed = import_module(REPLICATION).ReplicationFeed  # most daemons do not need it, and start faster
            self.feed = feed(open_local, where.state, address, shares_memories=memory.get("share") is True)

    @property
    def must_stay(self) -> bool:
        """Return whether the daemon must not end when idle: HTTP clients cannot start it again."""
        return self._http is not None

    async def prepare(self) -> None:
        """Bind the HTTP port, so that `status` can report it."""
        if not self._http_wanted.get("enabled"):
            return
        port = self._http_wanted["port"]
        try:
            from snell.daemon.http.server import HttpServer, token_file  # most daemons do not need it, and start faster

            http = HttpServer(token_file(self._where))
            await http.bind(port)
            self._http = http
        except (ImportError, OSError, SnellError) as error:
            self._http_problem = f"the HTTP endpoint cannot use port {port or '(any)'}: {error}"

    def join(self, runtime: "Runtime") -> None:
        """Let a runtime share its work with the machines that use the same server, and start the services of packs."""
        if runtime.database:
            start_services(self._packs, runtime.database)
        if self.feed:
            runtime.team = self.feed.team
            self.feed.on_remote_change(lambda: runtime.store.put(*IN_USE, True))

    async def start(self, serve: "Serve") -> None:
        if self.feed:
            self.feed.start()
        if self._http:
            await self._http.start(serve)

    def stop_http(self) -> None:
        if self._http:
            self._http.stop()

    async def stop_feed(self) -> None:
        if self.feed:
            await asyncio.to_thread(self.feed.stop)

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self._http:
            details = {"token_file": str(self._http.token_file), "refused": self._http.refused}
            found["http"] = {"address": self._http.address, **details}
        elif self._http_problem:
            found["http"] = {"problem": self._http_problem}
        if self.feed:
            found["database"] = self.feed.status()
        return found
