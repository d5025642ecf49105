"""Watching decisions as they are made: lines, a table, JSON, and a clean end."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.fork_server import ROOT, run_snell

BOUND = 60.0
HOOKS = '[[hooks]]\nid="stop-it"\nevent="PreToolUse"\nmatcher="Bash"\ncommand="echo no >&2; exit 2"\n'
WITHOUT_RICH = "import sys; sys.modules['rich'] = None; from snell.cli.main import main; sys.exit(main())"


class Watcher:
    """`snell watch` with a terminal of its own, and decisions to be seen."""

    def __init__(self, folder: Path) -> None:
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder), "SNELL_HOME": str(folder / "h"), "TERM": "xterm"}
        (folder / "h/config").mkdir(parents=True)
        (folder / "h/config/snell.toml").write_text(HOOKS, encoding="utf-8")

    def fire(self, tool: str, session: str, event: str = "PreToolUse") -> None:
        given = {"command": "ls -d here"} if tool == "Bash" else {"file_path": "/etc/hosts"}
        payload = {"hook_event_name": event, "tool_name": tool, "tool_input": given, "session_id": session}
        run_snell("hook", "--client", "generic", given=json.dumps(payload).encode(), cwd=ROOT, env=self.env)

    @contextmanager
    def watching(self, *words: str, start: tuple[str, ...] = ("-m", "snell")) -> Iterator["Screen"]:
        ours, theirs = pty.openpty()
        command = [sys.executable, *start, "watch", *words]
        process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=self.env)
        os.close(theirs)
        try:
            yield Screen(process, ours)
        finally:
            process.kill()
            process.wait()
            os.close(ours)


class Screen:
    def __init__(self, process: subprocess.Popen[bytes], terminal: int) -> None:
        self.process = process
        self._terminal = terminal
        self.text = ""

    def wait_for(self, wanted: str) -> None:
        deadline = time.monotonic() + BOUND
        while wanted not in self.text:
            assert time.monotonic() < deadline, self.text
            self.read()

    def read(self) -> None:
        """Take in what was written, or nothing within a tenth of a second."""
        if select.select([self._terminal], [], [], 0.1)[0]:
            with suppress(OSError):
                self.text += os.read(self._terminal, 65536).decode("utf-8", "replace")

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + BOUND
        while self.process.poll() is None:
            assert time.monotonic() < deadline
            if select.select([self._terminal], [], [], 0.05)[0]:
                with suppress(OSError):
                    self.text += os.read(self._terminal, 65536).decode("utf-8", "replace")
        return self.process.returncode


@pytest.fixture
def watcher(tmp_path: Path) -> Watcher:
    return Watcher(tmp_path)


def test_programs_get_one_object_for_each_decision_of_the_session(watcher: Watcher) -> None:
    watcher.fire("Read", "mine-1")
    with watcher.watching("--json", "--session", "mine") as screen:
        screen.wait_for("mine-1")
        watcher.fire("Bash", "other")
        watcher.fire("Bash", "mine-2")
        screen.wait_for("mine-2")
        screen.wait_for("stop-it")
        assert screen.interrupt() == 0
    seen = [json.loads(line) for line in screen.text.split("\r\n") if line.startswith("{")]
    shown = [(each["session_id"], each["tool"], each["call"], each["verdict"], loud(each)) for each in seen]
    assert shown == [
        ("mine-1", "Read", "/etc/hosts", "no_opinion", []),
        ("mine-2", "Bash", "ls -d here", "deny", ["stop-it"]),
    ]


def test_the_doctors_own_events_are_left_out_unless_its_session_is_asked_for(watcher: Watcher) -> None:
    watcher.fire("Read", "mine-1")
    watcher.fire("Read", "doctor-1", "SnellDoctor")
    with watcher.watching("--json") as screen, watcher.watching("--json", "--session", "doctor") as of_the_doctor:
        screen.wait_for("mine-1")
        watcher.fire("Read", "doctor-2", "SnellDoctor")
        watcher.fire("Read", "mine-2")
        screen.wait_for("mine-2")
        of_the_doctor.wait_for("doctor-2")
    assert ("doctor" in screen.text, of_the_doctor.text.count("doctor-1")) == (False, 1)


def loud(seen: dict) -> list[str]:
    return [run["hook"] for run in seen["hooks"] if run["said"]]


def test_a_terminal_gets_a_table_that_grows_and_a_clean_end(watcher: Watcher) -> None:
    with watcher.watching() as screen:
        screen.wait_for("snell watch")
        watcher.fire("Bash", "here")
        screen.wait_for("stop-it")
        screen.wait_for("ls -d here")
        assert screen.interrupt() == 0
    assert "\x1b[?1049h" in screen.text  # a screen of its own,
    assert screen.text.rstrip().endswith("\x1b[?25h") or "\x1b[?1049l" in screen.text  # given back
    assert "Traceback" not in screen.text


def test_without_rich_a_terminal_gets_lines(watcher: Watcher) -> None:
    with watcher.watching("-n", "0", start=("-c", WITHOUT_RICH)) as screen:
        while "stop-it" not in screen.text:  # it may not be watching yet
            watcher.fire("Bash", "here")
            screen.read()
        assert screen.interrupt() == 0
    assert "┃" not in screen.text
    assert "\x1b[31mdeny      \x1b[0m PreToolUse" in screen.text


def test_a_number_that_cannot_be_is_a_mistake(watcher: Watcher) -> None:
    with watcher.watching("-n", "-1") as screen:
        screen.wait_for("`-1`: --last must be between 0 and 1,000")
