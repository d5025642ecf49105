"""Start, stop and ask the daemon. Clients start it by themselves; this is for people who want to know."""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import msgspec

from snell.cli.health.daemon import trouble_with
from snell.daemon.client import DaemonError, HungDaemonError, ask
from snell.daemon.hung_daemon import end_if_hung
from snell.model.errors import SnellError
from snell.system.paths import make_private, places

EXAMPLE = "snell daemon status"

START_SECONDS = 15.0
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
        "what", choices=["start", "stop", "status", "run", "unit"], help="`run` stays in the foreground"
    )
    parser.add_argument("--kind", choices=sorted(UNITS), default="systemd", help="which unit file `unit` prints")
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
    """The service starts in an environment of its own, so it is told where this person's things are."""
    given = {name: os.environ[name] for name in WHERE if os.environ.get(name)}
    if kind == "systemd":
        lines = "".join(f'Environment="{name}={_for_systemd(value)}"\n' for name, value in given.items())
        return UNITS[kind].format(python=_for_systemd(sys.executable), environment=lines)
    pairs = "".join(f"<key>{name}</key><string>{escape(value)}</string>" for name, value in given.items())
    dictionary = f"  <key>EnvironmentVariables</key><dict>{pairs}</dict>\n" if pairs else ""
    return UNITS[kind].format(python=escape(sys.executable), environment=dictionary)


def _for_systemd(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


def ensure_started(where: Path) -> Any:
    """The status of the daemon, which is started if need be."""
    if found := _running(where):
        return found
    from snell.daemon.main import daemon_environment

    make_private(where)
    subprocess.Popen(
        [sys.executable, "-I", "-m", "snell.daemon.main"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
        env=daemon_environment(os.environ),
    )
    return _wait_for(lambda: _running(where), "the daemon did not start; `snell daemon run` shows why")


def _start(where: Path, args: argparse.Namespace) -> int:
    return _show(ensure_started(where), args)


def _stop(where: Path, _args: argparse.Namespace) -> int:
    try:
        pid = ask(where, "stop")["pid"]
    except HungDaemonError:
        pid = end_if_hung(where)
        if pid is None:
            raise
        print(f"killed (pid {pid}): it gave no answer; nothing that it had answered for is lost")
        return 0
    _wait_for(lambda: not _running(where), f"the daemon (pid {pid}) is still finishing a hook")
    print(f"stopped (pid {pid})")
    return 0


def _status(where: Path, args: argparse.Namespace) -> int:
    return _show(ask(where, "status"), args)


def _running(where: Path) -> Any:
    try:
        return ask(where, "status")
    except DaemonError:
        return None


def _wait_for(condition: Any, otherwise: str) -> Any:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.02)
    raise SnellError(otherwise)


def _show(found: Any, args: argparse.Namespace) -> int:
    if args.json:
        print(msgspec.json.encode(found).decode())
    else:
        since = time.strftime("%F %T", time.localtime(found["since"]))
        print(f"running since {since} as pid {found['pid']}, version {found['version']}, {found['served']} events")
        print(f"socket {found['socket']}")
        for line in _further(found):
            print(line)
    return 0


def _further(found: Any) -> Iterator[str]:
    """What is not there in every daemon. One of an older version may know less."""
    if found.get("paused"):
        yield f"{found['paused']}: only policy hooks run"
    if (journal := found.get("journal")) and (journal["problem"] or journal["lost"]):
        yield trouble_with(journal)
    if http := found.get("http"):
        yield http.get("problem") or f"http hooks at {http['address']}, token in {http['token_file']}"
    if database := found.get("database"):
        counts = ((database["waiting"], "decisions"), (database.get("work"), "rows of work"))
        waiting = ", ".join(f"{count} {what} wait" for count, what in counts if count) or "everything is there"
        yield f"server {database['address']}, {waiting}" + (f"; {database['problem']}" if database["problem"] else "")
