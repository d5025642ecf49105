"""A person's home with the real `snell-hook` and the daemon that it starts."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from snell.daemon.listener import listen
from snell.daemon.wire import KEEPALIVE, Request
from snell.system.paths import make_private
from snell.system.version import our_version
from tests.fork_server import run_snell, start_daemon
from tests.waiting import wait_until
from tests.wire_client import Reply, encode

HOOK = Path(sys.executable).with_name("snell-hook")
CALL = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}
PACK = """
from snell import Deny, Note, informs, judges

@judges("PreToolUse", kind="shell")
def no_bad(call):
    return Deny("{reason}") if call.command == "bad" else None
"""


class Machine:
    """A person's home with a daemon in it."""

    def __init__(self, folder: Path, *, forks_daemon: bool = False) -> None:
        """With `forks_daemon`, its first daemon saves the time of its imports; each later one is a new interpreter."""
        self.hook_program = HOOK
        self._forks_daemon = forks_daemon
        self.home = folder / "h"
        self.config = self.home / "config"
        self.project = folder / "project"
        self.project.mkdir()
        (self.config / "pack").mkdir(parents=True)
        self.write("pack/pack.toml", 'name = "p"\n')
        self.write("pack/rules.py", PACK.format(reason="not that"))
        self.write("snell.toml", 'packs = ["pack"]\n')

    def write(self, name: str, text: str) -> None:
        (self.config / name).write_text(text, encoding="utf-8")

    def env(self, **more: str) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "SNELL_HOME": str(self.home), **more}

    def hook(self, payload=None, *words: str, raw: bytes | None = None, **env: str) -> tuple[int, str, str]:
        data = raw if raw is not None else json.dumps({**CALL, "cwd": str(self.project), **(payload or {})}).encode()
        self.start_forked(**env)
        done = subprocess.run(
            [self.hook_program, "--client", "claude-code", *words],
            input=data,
            env=self.env(**env),
            cwd=self.project,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def start_forked(self, **env: str) -> None:
        """Start the first daemon of this home in the fork server, with a socket, as `snell-hook` would."""
        if not self._forks_daemon or self.socket.exists():
            return
        self._forks_daemon = False
        make_private(self.socket.parent)
        with listen(self.socket.parent).socket as listener:
            if not start_daemon(listener, self.env(**env)):
                self.socket.unlink()

    def snell(self, *words: str, given: bytes = b"", **env: str) -> str:
        """What a command of Snell prints."""
        code, out, err = run_snell(*words, cwd=self.project, env=self.env(**env), given=given)
        assert code == 0, err
        return out

    def reason(self, payload=None, **env: str) -> str:
        code, out, err = self.hook(payload, **env)
        assert (code, err) == (0, "")
        # An answer may have nothing but a message for the user.
        return json.loads(out).get("hookSpecificOutput", {}).get("permissionDecisionReason", "") if out else ""

    def ask(self, *lines: str) -> list[dict]:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(20)
            connection.connect(str(self.home / "run/snell.sock"))
            connection.sendall("".join(f"{line}\n" for line in lines).encode())
            with connection.makefile("rb") as answers:
                return [json.loads(answers.readline()) for _ in lines]

    @property
    def socket(self) -> Path:
        return self.home / "run/snell.sock"

    def send(self, payload=None, *, raw: bytes | None = None, request_id: str = "", build: str = "") -> Reply | None:
        """One request without a process for it; None when the daemon went away without an answer."""
        answer = self.send_bytes(self.frame(payload, raw=raw, request_id=request_id, build=build))
        return Reply.decode(answer) if answer else None

    def frame(self, payload=None, *, raw: bytes | None = None, request_id: str = "", build: str = "") -> bytes:
        data = raw if raw is not None else json.dumps({**CALL, "cwd": str(self.project), **(payload or {})}).encode()
        build, request_id = build or our_version(), request_id or os.urandom(16).hex()
        return encode(Request(f"1 {build}", request_id, "/", ("--client", "claude-code"), b"", data))

    def send_bytes(self, data: bytes) -> bytes:
        """Whatever these bytes are answered with."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(20)
            connection.connect(str(self.socket))
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
            except (BrokenPipeError, ConnectionResetError):
                pass  # it has answered already, perhaps
            try:
                return b"".join(iter(lambda: connection.recv(65536), b"")).lstrip(KEEPALIVE)
            except ConnectionResetError:
                return b""

    @property
    def pid(self) -> int:
        return self.status()["pid"]

    def status(self) -> dict:
        return self.ask('{"cmd": "status"}')[0]["data"]

    def daemons(self) -> list[int]:
        """The daemons of this home that are alive, by what their environment says."""
        return self._processes(b"snell.daemon.main")

    def _processes(self, word: bytes) -> list[int]:
        """Those of this home whose command line has this word."""
        found = []
        for name in os.listdir("/proc"):
            try:
                if not name.isdigit() or word not in Path(f"/proc/{name}/cmdline").read_bytes():
                    continue
                if f"SNELL_HOME={self.home}".encode() in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                    found.append(int(name))
            except OSError:
                continue
        return found

    def stop(self) -> None:
        self.signal(signal.SIGTERM)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)

    def end_hooks(self) -> None:
        """Kill what the hooks of a daemon that was killed left running."""
        for pid in self._processes(b""):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def signal(self, number: signal.Signals) -> None:
        for pid in self.daemons():
            os.kill(pid, number)
        wait_until(lambda: not self.daemons())
