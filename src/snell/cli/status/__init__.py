"""Show on one screen how Snell is doing: clients, daemon, packs, the decisions of the last day, and problems."""

import argparse
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins

from snell.cli.active_hooks import active_hooks, folder_context, needed_options, packs_of
from snell.cli.call_operation import running_status
from snell.cli.health import QUICK, Check, Installation, examine
from snell.cli.health.activity import events_by_client
from snell.cli.read_journal import read_journal
from snell.cli.terminal import Colours, align, fit, near_home, plural, print_json, time_ago, visible
from snell.engine.explain import wrap
from snell.model.protocols import Transaction
from snell.records.decisions import SELF_TEST
from snell.settings.load import load
from snell.settings.pause import current_pause
from snell.setup.plan import Options
from snell.setup.status import client_rows
from snell.system.capabilities import capability
from snell.system.paths import places

DAY = 86_400_000  # milliseconds
_STATES = {"yes": "connected", "no": "not connected", **dict.fromkeys(("", "nothing to install"), "no set-up needed")}
_OBSERVES = "nothing is denied, asked or changed; `snell replay --preset balanced` lists what would have been"
_IDLE = "not running; the next event of a client starts it"
_NO_CLIENTS = "none found on this machine; `snell clients` lists those that Snell knows"


class Client(Struct, frozen=True):
    name: str
    installed: str
    last_event: int = 0  # milliseconds since 1970; 0 if there was none
    recent_events: int = 0


class Status(Struct, frozen=True):
    clients: list[Client]
    daemon: Mapping[str, Any] | None
    preset: str
    packs: list[str]
    hooks: int
    last_day: Mapping[str, int]  # the number of decisions by verdict
    pause: str
    coverage: str  # what the last comparison with the clients' own records found
    store: str
    store_bytes: int
    store_megabytes: int  # the limit
    problems: list[Check]


def run(args: argparse.Namespace) -> int:
    status = read_status(Installation(places(os.environ), dict(os.environ), Path.cwd()))
    print_json(to_builtins(status)) if args.json else print("\n".join(_lines(status, Colours.for_stdout())))
    return 0


def read_status(installation: Installation) -> Status:
    """Return the state of an installation; nothing is started or changed for it."""
    where, env, cwd = installation.where, installation.env, installation.cwd
    seen, last_day, size = _read_store(installation)
    options = needed_options(Options(), where, cwd, env)
    rows = [row for row in client_rows(env, cwd, options) if row["found"] or row["client"] in seen]
    clients = [Client(row["client"], row["installed"], *seen.pop(row["client"], ())) for row in rows]
    loaded = load(where, cwd, env)
    hooks = active_hooks(folder_context(where, cwd, env), loaded)
    return Status(
        clients=[*clients, *(Client(name, "", *found) for name, found in seen.items())],
        daemon=running_status(where.run),
        preset=str(loaded.value("profile")),
        packs=packs_of(hooks),
        hooks=len(hooks),
        last_day=last_day,
        pause=str(current_pause(where) or ""),
        coverage=notice.last_comparison(where.state) if (notice := capability("snell.packs.coverage.notice")) else "",
        store=str(where.state / "snell.db"),
        store_bytes=size,
        store_megabytes=loaded.value("store_megabytes"),
        problems=[check for check in examine(installation, QUICK) if check.status != "ok"],
    )


def _read_store(installation: Installation) -> tuple[dict[str, tuple[int, int]], dict[str, int], int]:
    """Return last event and number of events by client, the decisions of the last day, and the size of the store."""
    if not (installation.where.state / "snell.db").exists():
        return {}, {}, 0
    with read_journal(installation.where) as (database, _):
        found, last_day = database.run(lambda tx: (events_by_client(tx), _last_day(tx)), only_reads=True)
        return found, last_day, database.size()


def _last_day(tx: Transaction) -> dict[str, int]:
    sql = "SELECT verdict, COUNT(*) FROM decisions WHERE at >= ? AND event <> ? GROUP BY verdict"
    return {verdict: int(number) for verdict, number in tx.rows(sql, time.time_ns() // 1_000_000 - DAY, SELF_TEST)}


def _lines(status: Status, paint: Colours) -> Iterator[str]:
    yield paint.bold("clients")
    rows = [[f"  {each.name}", _STATES.get(each.installed, each.installed), _events(each)] for each in status.clients]
    yield from align(rows) if rows else [f"  {_NO_CLIENTS}"]
    daemon = status.daemon
    running = daemon and f"running, pid {daemon['pid']}, {plural(daemon['served'], 'event')} so far"
    shed = f"; {plural(daemon['shed'], 'trace')} left out under load" if daemon and daemon.get("shed") else ""
    pause = f"{status.pause}: only policy hooks run; `snell pause --end` ends it"
    told = {
        "daemon": f"{running or _IDLE}{shed}",
        "preset": f"{paint.yellow('observe')}: {_OBSERVES}" if status.preset == "observe" else status.preset,
        "packs": f"{', '.join(status.packs) or 'none'}; {plural(status.hooks, 'active hook')} here",
        "last day": _decision_counts(status.last_day, paint),
        "pause": paint.yellow(pause) if status.pause else "none",
        "coverage": status.coverage or "not compared yet; `snell coverage` does that",
        "store": _store(status),
    }
    for name, text in told.items():
        yield fit(f"{name:<8}  {text}", 10).replace(name, paint.bold(name), 1)
    heading = paint.red(plural(len(status.problems), "problem")) if status.problems else paint.green("no problems")
    yield f"{heading}; `snell doctor` checks everything"
    for check in status.problems:
        yield from wrap(f"{visible(check.name)}: {visible(check.detail)}")
        yield from wrap(visible(check.advice), 4) if check.advice else ()


def _events(client: Client) -> str:
    if client.last_event:
        return f"last event {time_ago(client.last_event)}, {plural(client.recent_events, 'recent event')}"
    if client.installed == "yes":
        return "no event yet; run a tool in it"
    return f"`snell setup {client.name}` {'updates' if client.installed == 'outdated' else 'connects'} it"


def _decision_counts(counts: Mapping[str, int], paint: Colours) -> str:
    if not counts:
        return "no decisions; `snell fire --command 'rm -rf /'` makes one without running anything"
    denied, asked = counts.get("deny", 0), counts.get("ask", 0) + counts.get("defer", 0)
    shown = f"{paint.red(f'{denied:,} denied') if denied else '0 denied'}, {asked:,} asked"
    return f"{plural(sum(counts.values()), 'decision')}: {shown}; `snell log --verdict deny` lists them"


def _store(status: Status) -> str:
    if not status.store_bytes:
        return f"{near_home(status.store)} does not exist yet; the first event creates it"
    return f"{near_home(status.store)}, {status.store_bytes / 1e6:,.1f} of at most {status.store_megabytes:,} MB"
