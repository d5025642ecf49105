"""
The environment of `snell demo`: a temporary project and home, the real `snell-hook`, and the daemon that it starts.

Only the agent is simulated.
"""

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from snell.cli.daemon_process import poll
from snell.cli.health.program import shim_path
from snell.cli.templates import template
from snell.daemon.client import DaemonError, ask
from snell.model.errors import StoreError
from snell.runtime.app import database_of
from snell.runtime.database_journal import StoreJournal
from snell.system.paths import Places, places

PROJECT = Path(__file__).parent / "demo_project"
WAIT_SECONDS = 5.0  # for a trace that is written after the reply, and for a daemon that stops
ROUNDS, PYTHON_ROUNDS = 60, 6  # few, so that the demo stays quick
PLAIN_HOOK = """\
import json, re, sys

event = json.load(sys.stdin)
if re.search(r"git commit .*(-n|--no-verify)\\b", event["tool_input"].get("command", "")):
    sys.exit(2)
"""


class DemoEnvironment:
    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        shutil.copytree(PROJECT, self.project)
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "HOME") if name in os.environ}
        self.env = {**kept, "SNELL_HOME": str(folder / "home")}
        self.where: Places = places(self.env)
        self.where.config.mkdir(parents=True)
        (self.where.config / "snell.toml").write_text(template("demo_settings.toml"), encoding="utf-8")
        self._database = database_of(self.where)
        self._plain_hook = folder / "plain_hook.py"
        self._plain_hook.write_text(PLAIN_HOOK, encoding="utf-8")

    def send(self, event: Mapping[str, Any]) -> tuple[dict[str, Any], float]:
        """Send one event through `snell-hook`; return its record in the store, and the seconds until the reply."""
        before = self._last()
        payload = self._payload(event)
        start = time.perf_counter()
        subprocess.run(hook_command(), input=payload, env=self.env, cwd=self.project, capture_output=True, check=False)
        seconds = time.perf_counter() - start
        return self._record_after(before), seconds

    def wait_for_memory(self) -> bool:
        """Wait until a memory was captured, which happens after the reply; return whether it was."""

        def is_known() -> bool:
            where = {"CWD": str(self.project)}
            return bool(ask(self.where.run, "memory.list", {}, where)["memories"])

        with contextlib.suppress(DaemonError):
            return poll(is_known, WAIT_SECONDS)
        return False

    def measure_costs(self, event: Mapping[str, Any]) -> dict[str, float]:
        """Return the median seconds of `/bin/true`, `snell-hook` and a plain Python hook, run in turns."""
        payload = self._payload(event)
        plain = [sys.executable, str(self._plain_hook)]
        taken: dict[str, list[float]] = {"true": [], "snell": [], "python": []}
        for number in range(ROUNDS):
            taken["true"].append(self._seconds_of(["/bin/true"], payload))
            taken["snell"].append(self._seconds_of(hook_command(), payload))
            if number % (ROUNDS // PYTHON_ROUNDS) == 0:
                taken["python"].append(self._seconds_of(plain, payload))
        return {name: statistics.median(each) for name, each in taken.items()}

    def close(self) -> None:
        """Stop the daemon and wait until it has ended."""
        self._database.close()
        try:
            daemon = int(ask(self.where.run, "stop")["pid"])
        except DaemonError:
            return
        poll(lambda: not _is_alive(daemon), WAIT_SECONDS)

    def _payload(self, event: Mapping[str, Any]) -> bytes:
        usual = {"hook_event_name": "PreToolUse", "session_id": "demo", "cwd": str(self.project)}
        return msgspec.json.encode({**usual, **event})

    def _last(self) -> str:
        with contextlib.suppress(StoreError):
            for row in StoreJournal(self._database).recent(limit=1):
                return row.id
        return ""

    def _record_after(self, before: str) -> dict[str, Any]:
        """Return the record of the next decision; its details are written a moment after the reply."""
        journal = StoreJournal(self._database)
        found: dict[str, Any] = {}

        def is_there() -> bool:
            with contextlib.suppress(StoreError):
                last = journal.find("last")
                found.clear()
                found.update(last)
            return found.get("id", before) != before and "cwd" in found

        if not poll(is_there, WAIT_SECONDS):
            raise StoreError("the event did not reach the store", advice="try `snell-hook --help`, then `snell doctor`")
        return found

    def _seconds_of(self, argv: list[str], payload: bytes) -> float:
        """Start a program as a client does; `subprocess` itself would take most of the measured time."""
        stdin, give = os.pipe()
        take, stdout = os.pipe()
        os.write(give, payload)
        os.close(give)
        start = time.perf_counter()
        actions = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, stdout, 1)]
        child = os.posix_spawn(argv[0], argv, self.env, file_actions=actions)
        os.close(stdout)
        while os.read(take, 1 << 16):
            pass
        os.waitpid(child, 0)
        seconds = time.perf_counter() - start
        os.close(stdin)
        os.close(take)
        return seconds


def hook_command() -> list[str]:
    """Return the command line of this installation's `snell-hook`."""
    return [str(_program()), "--client", "claude-code"]


def is_native() -> bool:
    with open(_program(), "rb") as program:
        return program.read(2) != b"#!"


def _program() -> Path:
    found = shim_path(os.environ)
    if found is None:
        advice = "install Snell again, or run `python3 dev.py demo` in a clone"
        raise StoreError("`snell-hook` is not installed", advice=advice)
    return found


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True
