"""The call that starts a daemon is answered before there is a loop; what cannot be, waits for the loop."""

import asyncio
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from snell import Deny, judges
from snell.daemon.listener import Listener, listen
from snell.daemon.request_handler import RequestHandler
from snell.daemon.socket_server import SocketServer
from snell.daemon.wire import KEEPALIVE, Request
from snell.handlers.command import Command
from snell.model.hooks import Hook
from snell.operations.rpc import Rpc
from snell.runtime.app import Runtime
from tests.waiting import wait_until
from tests.wire_client import Reply, encode

CALL = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}
BOUND = 60.0  # seconds; a hang, on a busy machine

LIGHT = """
import socket, sys
from pathlib import Path
from snell.daemon.listener import listen
from snell.daemon.shim_connection import encode_request
from snell.daemon.socket_server import SocketServer
from snell.runtime.app import Runtime
from snell.daemon.request_handler import RequestHandler

home = Path(sys.argv[1])
env = {"PATH": "/usr/bin:/bin", "HOME": str(home), "SNELL_HOME": str(home)}
listener = listen(home / "run")
caller = socket.socket(socket.AF_UNIX)
caller.connect(str(listener.path))
words = bytes(1).join([b"--client", b"claude-code"])
caller.sendall(encode_request(b"0" * 32, b"0.1.0", b"/", words, b"", sys.argv[2].encode()))
with Runtime.for_user(env) as runtime:
    runtime.executor.quick_seconds = 60
    SocketServer(listener.socket, RequestHandler(runtime)).accept(1)
    print([name for name in ("asyncio", "logging", "ssl", "snell.redact.scan") if name in sys.modules])
    print(caller.recv(65536).decode("ascii", "replace"))
"""


@judges("PreToolUse")
def refuses(call):
    return Deny("not that")


def test_what_the_first_answer_does_not_need_is_not_loaded_before_it(tmp_path: Path) -> None:
    pack = tmp_path / "config" / "pack"
    pack.mkdir(parents=True)
    (pack / "pack.toml").write_text('name = "p"\n', encoding="utf-8")
    text = 'from snell import Deny, judges\n@judges("PreToolUse")\ndef no(call):\n    return Deny("not that")\n'
    (pack / "rules.py").write_text(text, encoding="utf-8")
    (pack.parent / "snell.toml").write_text('packs = ["pack"]\n', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", "-c", LIGHT, str(tmp_path), json.dumps(CALL)],
        capture_output=True,
        text=True,
        timeout=BOUND,
        check=True,
    )
    loaded, answer = done.stdout.split("\n", 1)
    assert loaded == "[]"
    assert "not that" in answer


class LocalServer:
    """A socket server without an event loop, in this process."""

    def __init__(self, folder: Path, *hooks: Hook | Callable[..., object]) -> None:
        self.listener: Listener = listen(folder / "run")
        self.runtime = Runtime.embed(*hooks)
        self.server = SocketServer(self.listener.socket, RequestHandler(self.runtime))
        self.seen: list[str] = []

    def caller(self) -> socket.socket:
        made = socket.socket(socket.AF_UNIX)
        made.settimeout(BOUND)
        made.connect(str(self.listener.path))
        return made

    def open_until(self, is_done: threading.Event) -> None:
        asyncio.run(self._open(is_done))

    async def _open(self, is_done: threading.Event) -> None:
        loop = asyncio.get_running_loop()
        self.server.start(loop, Rpc({"ping": lambda *_: "pong"}), lambda request: self.seen.append(request.request_id))
        await loop.run_in_executor(None, is_done.wait, BOUND)
        self.listener.withdraw()
        self.server.stop_accepting()
        await self.server.finish(BOUND)


@pytest.fixture
def local_server(tmp_path: Path) -> Iterator[LocalServer]:
    made = LocalServer(tmp_path, refuses)
    yield made
    made.runtime.close()


def request(number: int = 0) -> bytes:
    words = ("--client", "claude-code")
    return encode(Request("1 0.1.0", f"{number:032x}", "/", words, b"", json.dumps(CALL).encode()))


def answered(caller: socket.socket) -> Reply:
    data = b""
    while not Reply.is_complete(data):
        part = caller.recv(65536)
        assert part, "the connection was closed before the answer"
        data = (data + part).lstrip(KEEPALIVE)  # sent before an answer that takes time
    return Reply.decode(data)


def through_the_loop(local_server: LocalServer, talk: Callable[[], object]) -> None:
    """Start the loop in another thread while this one talks to it."""
    is_done = threading.Event()
    serving = threading.Thread(target=local_server.open_until, args=(is_done,))
    serving.start()
    try:
        talk()
    finally:
        is_done.set()
        serving.join(BOUND)


def test_a_whole_request_is_answered_at_once_and_told_of_later(local_server: LocalServer) -> None:
    with local_server.caller() as caller:
        caller.sendall(request(1))
        assert local_server.server.accept(1) == 1
        assert b"not that" in answered(caller).stdout
    through_the_loop(local_server, lambda: None)
    assert local_server.seen == [f"{1:032x}"]


def test_half_a_request_waits_for_its_other_half(local_server: LocalServer) -> None:
    with local_server.caller() as caller:
        caller.sendall(request(2)[:50])
        local_server.server.accept(1)

        def rest() -> None:
            caller.sendall(request(2)[50:])
            assert b"not that" in answered(caller).stdout

        through_the_loop(local_server, rest)
    assert local_server.seen == [f"{2:032x}"]


def test_lines_of_remote_calls_wait_for_the_loop(local_server: LocalServer) -> None:
    with local_server.caller() as caller:
        caller.sendall(b'{"cmd": "ping"}\n')
        local_server.server.accept(1)

        def talk() -> None:
            assert json.loads(caller.recv(65536)) == {"ok": True, "data": "pong"}

        through_the_loop(local_server, talk)


def test_a_hook_that_must_be_waited_for_is_waited_for_in_the_loop(tmp_path: Path) -> None:
    slow = Hook(id="slow", event="PreToolUse", handler=Command("echo slowly >&2; exit 2"), timeout=BOUND)
    local_server = LocalServer(tmp_path, slow)
    with local_server.caller() as caller, local_server.runtime:
        caller.sendall(request(3))
        local_server.server.accept(1)

        def talk() -> None:
            found = answered(caller)
            assert b"slowly" in found.stdout + found.stderr

        through_the_loop(local_server, talk)


def test_the_same_delivery_twice_while_it_is_being_decided_runs_its_hooks_once(tmp_path: Path) -> None:
    log, gate = tmp_path / "log", tmp_path / "gate"
    command = f"echo x >> '{log}'; while [ ! -e '{gate}' ]; do sleep 0.01; done; echo waited >&2; exit 2"
    local_server = LocalServer(tmp_path, Hook(id="slow", event="PreToolUse", handler=Command(command), timeout=BOUND))
    with local_server.caller() as one, local_server.caller() as other, local_server.runtime:

        def talk() -> None:
            one.sendall(request(4))
            wait_until(log.exists, BOUND)
            other.sendall(request(4))
            wait_until(lambda: len(local_server.seen) == 2, BOUND)
            gate.touch()
            assert answered(one) == answered(other)

        through_the_loop(local_server, talk)
    assert log.read_text(encoding="ascii") == "x\n"
