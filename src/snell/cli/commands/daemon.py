"""Start, stop and inspect the daemon. Clients start it by themselves; this command is for people."""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import msgspec

from snell.cli.daemon_process import ensure_started, running_status, wait_until
from snell.cli.health.daemon import describe_journal_problem
from snell.daemon.client import HungDaemonError, ask
from snell.daemon.hung_daemon import end_if_hung
from snell.system.paths import places

EXAMPLE = "snell daemon status"

WHERE = ("SNELL_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
UNITS = {
    "systemd": """\
[Unit]
Description=Snell, hooks for coding agents

[Service]
ExecStart="{python}" -I -m snell.daemon.main
{environment}Restart=on-failure

[Install]
WantedBy=default.target
""",
    "launchd": """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
  <key>Label</key><string>snell</string>
  <key>ProgramArguments</key>
  <array><string>{python}</string><string>-I</string><string>-m</string><string>snell.daemon.main</string></array>
{environment}  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
</dict></plist>
""",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        choices=["start", "stop", "status", "run", "unit"],
        help="`run` runs it in the foreground; `unit` prints a service file",
    )
    parser.add_argument(
        "--kind", choices=sorted(UNITS), default="systemd", help="the kind of service file that `unit` prints"
    )
    parser.add_argument("--json", action="store_true", help="print the status as JSON")


def run(args: argparse.Namespace) -> int:
    where = places(os.environ).run
    if args.what == "unit":
        sys.stdout.write(_unit(args.kind))
        return 0
    if args.what == "run":
        from snell.daemon.main import main

        return main()
    return {"start": _start, "stop": _stop, "status": _status}[args.what](where, args)


def _unit(kind: str) -> str:
    """Return a service file; it names this user's folders, since services do not inherit the environment."""
    given = {name: os.environ[name] for name in WHERE if os.environ.get(name)}
    if kind == "systemd":
        lines = "".join(f'Environment="{name}={_for_systemd(value)}"\n' for name, value in given.items())
        return UNITS[kind].format(python=_for_systemd(sys.executable), environment=lines)
    pairs = "".join(f"<key>{name}</key><string>{escape(value)}</string>" for name, value in given.items())
    dictionary = f"  <key>EnvironmentVariables</key><dict>{pairs}</dict>\n" if pairs else ""
    return UNITS[kind].format(python=escape(sys.executable), environment=dictionary)


def _for_systemd(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


def _start(where: Path, args: argparse.Namespace) -> int:
    return _show(ensure_started(where), args)


def _stop(where: Path, _args: argparse.Namespace) -> int:
    try:
        pid = ask(where, "stop")["pid"]
    except HungDaemonError:
        pid = end_if_hung(where)
        if pid is None:
            raise
        print(f"daemon killed (pid {pid}): it did not respond; all decisions it replied with are stored")
        return 0
    wait_until(lambda: not running_status(where), f"the daemon (pid {pid}) is still running a hook")
    print(f"daemon stopped (pid {pid})")
    return 0


def _status(where: Path, args: argparse.Namespace) -> int:
    return _show(ask(where, "status"), args)


def _show(found: Any, args: argparse.Namespace) -> int:
    if args.json:
        print(msgspec.json.encode(found).decode())
    else:
        since = time.strftime("%F %T", time.localtime(found["since"]))
        print(f"running since {since}, pid {found['pid']}, version {found['version']}, {found['served']} events")
        print(f"socket {found['socket']}")
        for line in _optional_lines(found):
            print(line)
    return 0


def _optional_lines(found: Any) -> Iterator[str]:
    """Yield the parts of the status that not every daemon has; an older version may have fewer."""
    if found.get("paused"):
        yield f"{found['paused']}: only policy hooks run"
    if (journal := found.get("journal")) and (journal["problem"] or journal["lost"]):
        yield describe_journal_problem(journal)
    if http := found.get("http"):
        yield http.get("problem") or f"http hooks at {http['address']}, token in {http['token_file']}"
    if database := found.get("database"):
        counts = ((database["waiting"], "decisions"), (database.get("work"), "rows of work"))
        waiting = ", ".join(f"{count} {what} not sent yet" for count, what in counts if count) or "in sync"
        yield f"database {database['address']}, {waiting}" + (f"; {database['problem']}" if database["problem"] else "")
