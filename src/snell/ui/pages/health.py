"""Health: the daemon, the store and the clients at a glance; and, when asked, every check of `snell doctor`."""

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from snell.cli.active_hooks import active_hooks, folder_context, needed_options, packs_of
from snell.cli.health import PARTS, QUICK, Check, Installation, examine
from snell.cli.health.activity import events_by_client
from snell.cli.terminal import near_home
from snell.daemon.client import DaemonError, ask
from snell.packs.coverage.notice import LARGEST, Comparison
from snell.settings.load import load
from snell.settings.pause import current_pause
from snell.setup.plan import Options
from snell.setup.status import client_rows
from snell.system.files import struct_or_none
from snell.system.paths import Places
from snell.system.version import our_version
from snell.ui.decision_rows import counts_since
from snell.ui.pages.now import DAY_MS
from snell.ui.site import Query, Site

KEPT_SECONDS = 30.0
_STATES = {"yes": ("ok", "connected"), "no": ("", "not connected"), "nothing to install": ("", "no set-up needed")}
_STATES |= {"outdated": ("warn", "out of date"), "off": ("warn", "disabled")}


class Client(Struct, frozen=True):
    name: str
    tag: str
    state: str
    last: int  # milliseconds since 1970; 0: it has sent no event
    number: int


class State(Struct, frozen=True):
    """What is read from settings and from the clients' files."""

    at: float
    clients: list[dict[str, Any]]
    problems: list[Check]
    packs: list[str]
    preset: str
    store_megabytes: int


_LAST: dict[Places, State] = {}


def show(site: Site, query: Query) -> dict[str, Any]:
    home = Path.home()
    parts = ["coverage"] if query.get("what") == "coverage" else PARTS
    checks = list(examine(Installation(site.where, site.env, home), parts)) if query["is_sent"] else []
    since = round(time.time() * 1000) - DAY_MS
    seen, counts = site.store.run(lambda tx: (events_by_client(tx), counts_since(tx, since)))
    if query["is_sent"]:
        _LAST.clear()
    known = _read_state(site, home)
    return {
        "checks": sorted(checks, key=lambda each: ("fail", "warn", "ok").index(each.status)),
        "is_checked": bool(query["is_sent"]),
        "coverage": struct_or_none(site.where.state / "coverage.json", Comparison, LARGEST),
        "has_coverage": "coverage" in PARTS,
        "preset": known.preset,
        "packs": known.packs,
        "daemon": _daemon(site),
        "version": our_version(),
        "clients": list(_clients(known.clients, seen)),
        "counts": counts,
        "size": site.store.size(),
        "limit": known.store_megabytes * 1_000_000,
        "path": near_home(site.store.path),
        "problems": known.problems,
        "pause": str(current_pause(site.where) or ""),
    }


def _daemon(site: Site) -> dict[str, Any]:
    """Return the daemon's status; what is wrong with it, if it does not answer; empty if there is none."""
    if not site.has_daemon:
        return {}
    with suppress(DaemonError):
        return dict(ask(site.where.run, "status", seconds=2.0))
    return {"problem": "it does not answer; `snell daemon stop` ends it, and the next hook starts a new one"}


def _read_state(site: Site, home: Path) -> State:
    """Return what `snell status` reads from files; kept for a while, since every event makes the page read it again."""
    last = _LAST.get(site.where)
    if last is None or time.monotonic() - last.at > KEPT_SECONDS:
        loaded = load(site.where, home, site.env)
        last = _LAST[site.where] = State(
            at=time.monotonic(),
            clients=client_rows(site.env, home, needed_options(Options(), site.where, home, site.env)),
            problems=[each for each in examine(Installation(site.where, site.env, home), QUICK) if each.status != "ok"],
            packs=packs_of(active_hooks(folder_context(site.where, home, site.env), loaded)),
            preset=str(loaded.value("profile")),
            store_megabytes=loaded.value("store_megabytes"),
        )
    return last


def _clients(rows: list[dict[str, Any]], seen: dict[str, tuple[int, int]]) -> Iterator[Client]:
    """Yield the clients of this machine, and others that have sent events, as set-up sees them."""
    for row in rows:
        last, number = seen.pop(row["client"], (0, 0))
        tag, state = _STATES.get(row["installed"], ("warn", row["installed"]))
        if row["found"] or last:
            yield Client(row["client"], tag, state, last, number)
    for name, (last, number) in seen.items():
        yield Client(name, "", "no set-up needed", last, number)
