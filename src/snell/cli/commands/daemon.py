"""Start, stop and inspect the daemon. Clients start it by themselves; this command is for people."""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from snell.cli.call_operation import ensure_started, running_status, wait_until
from snell.cli.health.daemon import describe_journal_problem, describe_unsent
from snell.cli.templates import template
from snell.cli.terminal import print_json
from snell.daemon.client import HungDaemonError, ask, end_if_hung
from snell.system.paths import places
from snell.system.process_table import process_at

WHERE = ("SNELL_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
UNITS = {"launchd": "snell.plist", "systemd": "snell.service"}


def run(args: argparse.Namespace) -> int:
    where = places(os.environ).run
    if args.what == "unit":
        sys.stdout.write(_unit(args.kind))
        return 0
    if args.what == "run":
        from snell.daemon.main import main

        return main()
    if args.what == "stop":
        return _stop(where)
    found = ensure_started(where) if args.what == "start" else ask(where, "status")
    if args.json:
        print_json(found)
    else:
        print("\n".join(_lines(found)))
    return 0


def _unit(kind: str) -> str:
    """Return a service file; it names this user's folders, since services do not inherit the environment."""
    given = {name: os.environ[name] for name in WHERE if os.environ.get(name)}
    if kind == "systemd":
        lines = "".join(f'Environment="{name}={_for_systemd(value)}"\n' for name, value in given.items())
        return template(UNITS[kind]).format(python=_for_systemd(sys.executable), environment=lines)
    pairs = "".join(f"<key>{name}</key><string>{escape(value)}</string>" for name, value in given.items())
    dictionary = f"  <key>EnvironmentVariables</key><dict>{pairs}</dict>\n" if pairs else ""
    return template(UNITS[kind]).format(python=escape(sys.executable), environment=dictionary)


def _for_systemd(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


def _stop(where: Path) -> int:
    try:
        pid = ask(where, "stop")["pid"]
    except HungDaemonError:
        pid = end_if_hung(where)
        if pid is None:
            raise
        print(f"daemon killed (pid {pid}): it did not respond; all decisions it replied with are stored")
        return 0
    busy = f"the daemon (pid {pid}) takes no more events, but still runs a hook; it ends when that hook has ended"
    wait_until(lambda: not running_status(where) and not _is_running(pid), busy)
    print(f"daemon stopped (pid {pid})")
    return 0


def _is_running(pid: int) -> bool:
    found = process_at(pid)
    return found is not None and found.alive


def _lines(found: Any) -> Iterator[str]:
    """Yield the status as text; some parts are optional, and an older daemon has fewer."""
    since = time.strftime("%F %T", time.localtime(found["since"]))
    yield f"running since {since}, pid {found['pid']}, version {found['version']}, {found['served']} events"
    yield f"socket {found['socket']}"
    if found.get("paused"):
        yield f"{found['paused']}: only policy hooks run"
    if (journal := found.get("journal")) and (journal["problem"] or journal["lost"]):
        yield describe_journal_problem(journal)
    if http := found.get("http"):
        yield http.get("problem") or f"http hooks at {http['address']}, token in {http['token_file']}"
    if database := found.get("database"):
        problem = f"; {database['problem']}" if database["problem"] else ""
        yield f"database {database['address']}, {describe_unsent(database)}{problem}"
