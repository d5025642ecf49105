"""What every page gets: the user's folders, the store, and who started the process."""

import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct

from snell.daemon.listener import socket_path
from snell.model.errors import SnellError
from snell.system.files import stat_or_none
from snell.system.paths import Places
from snell.ui.store import ReadOnlyStore

Query = Mapping[str, str]


class Site(Struct, frozen=True):
    where: Places
    env: Mapping[str, str]
    store: ReadOnlyStore
    is_person: bool  # not started in the shell of an agent

    @property
    def has_daemon(self) -> bool:
        """Whether a daemon listens; it is not asked anything, so that it still ends when it is idle."""
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(1.0)
            connection.connect(str(socket_path(self.where.run)))
            return True
        return False

    @property
    def daemon_mark(self) -> int:
        """A number that another daemon changes, also one that was started at once after the last one ended."""
        found = stat_or_none(str(socket_path(self.where.run)))
        return found.st_ctime_ns if found else 0


class MissingError(SnellError):
    """What a page was asked for does not exist."""

    id = "no-such-page"


class Page(Struct, frozen=True):
    """One page: its path, its title in the list of pages (empty: it is reached from another one), what it shows."""

    path: str
    template: str
    show: Callable[[Site, Query], dict[str, Any]]
    title: str = ""
    accepts_form: bool = False  # then `show` also gets the fields of a form that was sent
    media_type: str = ""  # of a picture: `show` returns its text as `body`
