"""A machine with `snell-hook` on it, in both of its forms, and peers that play the daemon."""

import importlib.util
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from snell.daemon.wire import Request
from tests.wire_client import Reply

ROOT = Path(__file__).resolve().parents[2]
SHIM = ROOT / "src" / "snell" / "daemon" / "shim.py"
TEST_DAEMON = Path(__file__).with_name("shim_daemon.py")
VERSION = "1.2.3"
BOUND = 60.0  # seconds; a hang, on a busy machine

# What stands for Snell's Python: it plays the daemon, or tells what a decision in process would have got.
PYTHON = f"""#!/bin/sh
case "$*" in
*snell.daemon.main*) exec {sys.executable} {TEST_DAEMON} ;;
*) echo "in process: $*"; cat; echo "$LD_LIBRARY_PATH$PYTHONPATH"; exit 7 ;;
esac
"""

HASTY_PYTHON = """
import sys
sys.path.insert(0, sys.argv[1])
from snell.daemon import shim_connection
from snell.daemon.python_form import hang
shim_connection.CONNECT_SECONDS, hang.BUSY_SECONDS, shim_connection.ANSWER_SECONDS = 0.3, 0.6, 3.0
from snell.daemon.python_form.event import main
sys.exit(main(sys.argv[2], sys.argv[3:]))
"""


class Ended(msgspec.Struct, frozen=True):
    exit_code: int
    stdout: bytes
    stderr: bytes


class ShimSandbox:
    """Programs in `bin`, and a home for the daemon whose path is short enough for a socket."""

    def __init__(self, form: str, folder: Path, program: Path | None) -> None:
        self.form = form
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.home = Path(tempfile.mkdtemp(prefix="snell-"))
        self.run = self.home / "run"
        self.socket = self.run / "snell.sock"
        self.script("python3", PYTHON)
        if program:
            shutil.copy(program, self.bin / "snell-hook")
        # With no locale given, Python would add one to its own environment.
        self.env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(folder), "SNELL_HOME": str(self.home)}

    def script(self, name: str, text: str) -> None:
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def start(
        self, *words: str | bytes, env: Mapping[str, str] | None = None, before: str = "", **options: Any
    ) -> "Started":
        """Start it; `before` is Python that runs in the process just before."""
        command: list[str | bytes] = [str(self.bin / "snell-hook"), *words]
        program = command[0]
        if self.form != "native":
            shim = [str(SHIM)] if self.form == "python" else ["-c", HASTY_PYTHON, str(ROOT / "src")]
            # Called by this name, the interpreter takes the script of that name for itself.
            command = [str(self.bin / "python3"), "-I", "-S", *shim, VERSION, *words]
            program = sys.executable
        if before:
            code = f"import os, sys; {before}; os.execv(sys.argv[1], sys.argv[2:])"
            command = [sys.executable, "-I", "-S", "-c", code, program, *command]
            program = sys.executable
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        given = {**pipes, "env": {**self.env, **(env or {})}, **options}
        return subprocess.Popen(command, executable=program, **given)

    def call(self, *words: str | bytes, stdin: bytes = b"", **options: Any) -> Ended:
        return wait_for_end(self.start(*words, **options), stdin)

    def daemon_starts(self) -> list[dict[str, Any]]:
        """What each daemon that was started noted about itself."""
        notes = sorted(self.home.glob("daemon-*"))
        return [msgspec.json.decode(note.read_bytes()) for note in notes]

    def close(self) -> None:
        for note in self.daemon_starts():
            with suppress(ProcessLookupError):
                os.kill(note["pid"], signal.SIGKILL)
        shutil.rmtree(self.home)


Started = subprocess.Popen[bytes]


def wait_for_end(started: Started, stdin: bytes = b"") -> Ended:
    try:
        out, err = started.communicate(stdin if started.stdin else None, timeout=BOUND)
    finally:
        started.kill()
    return Ended(started.returncode, out, err)


def compile_shim(folder: Path, *options: str) -> Path | None:
    """The shim as the wheel would have it, but with warnings as errors; None without a compiler."""
    program = folder / "snell-hook"
    is_made = build_hook().compiled(program, VERSION, "-Werror", *options)
    assert is_made or not shutil.which("cc"), "snell-hook.c does not compile, so none of its tests would run"
    return program if is_made else None


def build_hook() -> Any:
    """The module that builds the shim into the wheel."""
    specification = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert specification
    assert specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


class Peer:
    """A daemon in this process: each connection is one turn."""

    def __init__(self, sandbox: ShimSandbox, *turns: "Turn") -> None:
        sandbox.run.mkdir(mode=0o700, exist_ok=True)
        self.requests: list[Request] = []
        self.signs: list[bytes] = []  # what came after each of them
        self.turns = turns
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listening.bind(str(sandbox.socket))
        self.listening.listen(16)
        self.listening.settimeout(BOUND)
        self.thread = threading.Thread(target=self._serve)

    def __enter__(self) -> "Peer":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.thread.join(BOUND)
        self.was_called_again = bool(select.select([self.listening], [], [], 0)[0])  # after the last turn
        self.listening.close()

    def _serve(self) -> None:
        for turn in self.turns:
            connection, _ = self.listening.accept()
            with connection:
                connection.settimeout(BOUND)
                turn(self, connection)


Turn = Callable[[Peer, socket.socket], object]


def answers(answer: Callable[[Request], Reply]) -> Turn:
    return lambda peer, connection: connection.sendall(answer(reads(peer, connection)).encode())


def says(data: bytes) -> Turn:
    """Reads the request, then sends this and closes."""

    def turn(peer: Peer, connection: socket.socket) -> None:
        reads(peer, connection)
        connection.sendall(data)

    return turn


def reads(peer: Peer, connection: socket.socket) -> Request:
    data = bytearray()
    while (length := Request.frame_length(data)) is None or len(data) < length:
        part = connection.recv(1 << 20)
        assert part, "the shim closed in the middle of its request"
        data += part
    peer.signs.append(bytes(data[length:]))
    peer.requests.append(Request.decode(data[:length]))
    return peer.requests[-1]
