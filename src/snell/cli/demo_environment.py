"""
What the demo plays on: a project and a home that are gone afterwards, the real `snell-hook`, the daemon that it
starts, and a stopwatch. Only the agent is a script.
"""

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from snell.daemon.client import DaemonError, ask
from snell.model.errors import StoreError
from snell.runtime.app import database_of
from snell.runtime.database_journal import StoreJournal
from snell.system.paths import Places, places

PROJECT = Path(__file__).parent / "demo_project"
PATIENCE = 5.0  # seconds for a trace that is written after the answer, and for a daemon that leaves
ROUNDS, PYTHON_ROUNDS = 60, 6  # few enough that nobody waits for them
SETTINGS = "[pack.nudges]\nenabled = true\n[pack.remember]\nenabled = true\nnudge = false\n"
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
        (self.where.config / "snell.toml").write_text(SETTINGS, encoding="utf-8")
        self._database = database_of(self.where)
        self._plain_hook = folder / "plain_hook.py"
        self._plain_hook.write_text(PLAIN_HOOK, encoding="utf-8")

    def send(self, event: Mapping[str, Any]) -> tuple[dict[str, Any], float]:
        """One event through `snell-hook`: what the store has about it, and the seconds until it was answered."""
        before = self._last()
        payload = self._payload(event)
        start = time.perf_counter()
        subprocess.run(hook_command(), input=payload, env=self.env, cwd=self.project, capture_output=True, check=False)
        seconds = time.perf_counter() - start
        return self._record_after(before), seconds

    def until_remembered(self) -> bool:
        """Wait for what was captured: that happens after the answer."""

        def is_known() -> bool:
            where = {"CWD": str(self.project)}
            return bool(ask(self.where.run, "memory.list", {}, where)["memories"])

        with contextlib.suppress(DaemonError):
            return _until(is_known)
        return False

    def costs(self, event: Mapping[str, Any]) -> dict[str, float]:
        """Median seconds of starting `/bin/true`, `snell-hook` and a plain Python hook, taking turns."""
        payload = self._payload(event)
        plain = [sys.executable, str(self._plain_hook)]
        taken: dict[str, list[float]] = {"true": [], "snell": [], "python": []}
        for number in range(ROUNDS):
            taken["true"].append(self._timed(["/bin/true"], payload))
            taken["snell"].append(self._timed(hook_command(), payload))
            if number % (ROUNDS // PYTHON_ROUNDS) == 0:
                taken["python"].append(self._timed(plain, payload))
        return {name: statistics.median(each) for name, each in taken.items()}

    def close(self) -> None:
        """Send the daemon home and see it leave."""
        self._database.close()
        try:
            daemon = int(ask(self.where.run, "stop")["pid"])
        except DaemonError:
            return
        _until(lambda: not _lives(daemon))

    def _payload(self, event: Mapping[str, Any]) -> bytes:
        usual = {"hook_event_name": "PreToolUse", "session_id": "demo", "cwd": str(self.project)}
        return msgspec.json.encode({**usual, **event})

    def _last(self) -> str:
        with contextlib.suppress(StoreError):
            for row in StoreJournal(self._database).recent(limit=1):
                return row.id
        return ""

    def _record_after(self, before: str) -> dict[str, Any]:
        """The record of the decision that came after this one; its details are written a moment later."""
        journal = StoreJournal(self._database)
        found: dict[str, Any] = {}

        def is_there() -> bool:
            with contextlib.suppress(StoreError):
                last = journal.find("last")
                found.clear()
                found.update(last)
            return found.get("id", before) != before and "cwd" in found

        if not _until(is_there):
            raise StoreError("the event did not reach the store", advice="try `snell-hook --help`, then `snell doctor`")
        return found

    def _timed(self, argv: list[str], payload: bytes) -> float:
        """As a client does it; not with `subprocess`, whose own cost would be most of what is measured."""
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
    """`snell-hook` of this installation: a native program, or what stands in for it."""
    return [str(_program()), "--client", "claude-code"]


def is_native() -> bool:
    with open(_program(), "rb") as program:
        return program.read(2) != b"#!"


def _program() -> Path:
    beside = Path(sys.executable).with_name("snell-hook")
    found = beside if beside.is_file() else Path(shutil.which("snell-hook") or "")
    if not found.is_file():
        raise StoreError("`snell-hook` is not installed", advice="install Snell with pip, or run `python3 dev.py demo`")
    return found


def _until(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True
