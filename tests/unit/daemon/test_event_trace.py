"""How many files one tool call goes through in the warm daemon before its reply is sent."""

import gc
import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import snell
from snell.daemon.request_handler import RequestHandler
from snell.daemon.shim_connection import join_environment
from snell.daemon.wire import Request
from snell.model.effects import Deny, Note
from snell.runtime.app import Runtime
from snell.sdk.decorators import informs, judges, watches
from snell.system.paths import places

SOURCE = f"{Path(snell.__file__).parent}/"
MOST_FILES = 25
MOST_HOPS = 50


@judges("PreToolUse", kind="shell")
def no_force_push(call: Any) -> Deny | None:
    return Deny("no") if "--force" in call.command else None


@informs("PreToolUse")
def mention(event: Any) -> Note | None:
    return None


@watches("PreToolUse")
def look(event: Any) -> None:
    return None


class Trace:
    """
    The files of all calls until the reply is sent.

    A hop is a call in another file than the call before it. Calls in packs, and in the reader of command lines with its
    table of programs, which only packs call here, are left out, as if they were not there.
    """

    def __init__(self) -> None:
        self.files: list[str] = []
        self.is_sent = False

    def __call__(self, frame: FrameType, kind: str, _: object) -> None:
        path = frame.f_code.co_filename
        if kind == "call" and path.startswith(SOURCE) and not self.is_sent:
            self.files.append(path.removeprefix(SOURCE))

    def send(self, _reply: object) -> None:
        self.is_sent = True

    @property
    def outside_packs(self) -> list[str]:
        return [file for file in self.files if not file.startswith(("packs/", "shell/"))]

    @property
    def hops_outside_packs(self) -> list[tuple[str, str]]:
        return [(one, other) for one, other in pairwise(self.outside_packs) if one != other]


class Daemon:
    def __init__(self, home: Path) -> None:
        self.project = home / "project"
        self.project.mkdir()
        self.env = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
        self.runtime = Runtime.for_user(self.env, places(self.env), keep_open=True)
        self.runtime.register(no_force_push, mention, look)
        self.handler = RequestHandler(self.runtime)
        self.calls = 0

    def trace(self, command: str) -> Trace:
        trace, request = Trace(), self.request(command)
        gc.disable()  # Python 3.11.2 crashes when it collects garbage in a generator that is profiled
        sys.setprofile(trace)
        try:
            waiting = self.handler.serve(request, trace.send)
        finally:
            sys.setprofile(None)
            gc.enable()
        assert (waiting, trace.is_sent) == (None, True)
        return trace

    def request(self, command: str) -> Request:
        self.calls += 1
        payload = {
            "session_id": "s1",
            "transcript_path": "",
            "cwd": str(self.project),
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": command, "description": "look"},
            "tool_use_id": f"toolu_{self.calls}",
        }
        env = join_environment(f"{name}={value}".encode() for name, value in self.env.items())
        id_ = f"{self.calls:032x}"
        return Request("1 0.1.0", id_, str(self.project), ("--client", "claude"), env, json.dumps(payload).encode())


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    daemon = Daemon(tmp_path)
    # A pattern is compiled when it is first used, by the first line that needs it.
    for command in ("git status", "grep -c name docs | sort -u", "git status"):
        daemon.trace(command)
    yield daemon
    daemon.handler.follow_up(all_at_once=True)
    daemon.runtime.close()


@pytest.mark.parametrize("command", ["git status", "grep -rn word src | head -3"], ids=["seen before", "new"])
def test_a_tool_call_goes_through_few_files_before_its_reply(daemon: Daemon, command: str) -> None:
    trace = daemon.trace(command)
    files = set(trace.outside_packs)
    assert len(files) <= MOST_FILES, sorted(files)
    assert len(trace.hops_outside_packs) <= MOST_HOPS, trace.hops_outside_packs
