"""Health: the daemon, the store and the clients at a glance; and, when asked, every check of `snell doctor`."""

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from snell.cli.health import PARTS, Installation, examine
from snell.daemon.client import DaemonError, ask
from snell.model.protocols import Transaction
from snell.packs.coverage.notice import LARGEST, Found
from snell.records.decisions import SELF_TEST
from snell.settings.load import load
from snell.settings.pause import current_pause
from snell.system.files import struct_or_none
from snell.system.version import our_version
from snell.ui.decision_rows import WINDOW, counts_since
from snell.ui.pages.now import DAY_MS
from snell.ui.site import Query, Site


def show(site: Site, query: Query) -> dict[str, Any]:
    home = Path.home()
    parts = ["coverage"] if query.get("what") == "coverage" else PARTS
    checks = list(examine(Installation(site.where, site.env, home), parts)) if query["is_sent"] else []
    since = round(time.time() * 1000) - DAY_MS
    clients, counts = site.store.run(lambda tx: (_clients(tx), counts_since(tx, since)))
    loaded = load(site.where, home, site.env)
    return {
        "checks": sorted(checks, key=lambda each: ("fail", "warn", "ok").index(each.status)),
        "is_checked": bool(query["is_sent"]),
        "coverage": struct_or_none(site.where.state / "coverage.json", Found, LARGEST),
        "has_coverage": "coverage" in PARTS,
        "preset": str(loaded.value("profile")),
        "daemon": _daemon(site),
        "version": our_version(),
        "clients": clients,
        "counts": counts,
        "size": site.store.size(),
        "path": str(site.store.path),
        "problems": [str(each) for each in loaded.problems],
        "pause": str(current_pause(site.where) or ""),
    }


def _daemon(site: Site) -> dict[str, Any]:
    """Return the daemon's status; what is wrong with it, if it does not answer; empty if there is none."""
    if not site.has_daemon:
        return {}
    with suppress(DaemonError):
        return dict(ask(site.where.run, "status", seconds=2.0))
    return {"problem": "it does not answer; `snell daemon stop` ends it, and the next hook starts a new one"}


def _clients(tx: Transaction) -> list[tuple[str, int, int]]:
    sql = (
        "SELECT client, MAX(at), COUNT(*) FROM decisions"
        " WHERE seq > (SELECT COALESCE(MAX(seq), 0) FROM decisions) - ? AND event <> ? AND client NOT IN ('', 'person')"
        " GROUP BY client ORDER BY 2 DESC"
    )
    return [(str(name), int(last), int(number)) for name, last, number in tx.rows(sql, WINDOW, SELF_TEST)]
