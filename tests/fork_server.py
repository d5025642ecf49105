"""
Run Python modules in processes that are forked from one with the imports already made.

`python -m snell` spends most of its time on importing. A test that is about what a command does, not about how it
starts, runs it here: a process of its own, with its own environment, folder, arguments and streams, in a tenth of the
time; a daemon, in a third. Nightly runs start real interpreters instead, as do systems without pidfd.
"""

import atexit
import contextlib
import fcntl
import functools
import gc
import importlib
import json
import os
import pkgutil
import random
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import snell
from snell.packs.guard.judge import judge
from snell.redact import redact
from tests.person import as_person
from tests.process_identity import appear_as

ROOT = Path(__file__).resolve().parents[1]
DAEMON_CODE = "from snell.daemon.main import main; raise SystemExit(main())"  # as in native/snell-hook.c
_LENGTH = 4  # bytes that say how long a request is


def run_snell(
    *words: str | bytes, cwd: Path | str, env: Mapping[str, str], given: bytes = b"", timeout: float = 60.0
) -> tuple[int, str, str]:
    """Run one command of Snell to its end, with a person's consent; return its exit code, stdout and stderr."""
    done = run_module("snell", *as_person(words, env), cwd=cwd, env=env, given=given, timeout=timeout)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def run_module(
    module: str, *words: str | bytes, cwd: Path | str, env: Mapping[str, str], given: bytes = b"", timeout: float = 60.0
) -> subprocess.CompletedProcess[bytes]:
    """Run `python -m MODULE WORDS` to its end, with `given` on stdin."""
    with contextlib.ExitStack() as stack:
        stdin, stdout, stderr = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        stdin.write(given)
        stdin.seek(0)
        streams = (stdin.fileno(), stdout.fileno(), stderr.fileno())
        started = start_module(module, *words, cwd=cwd, env=env, streams=streams)
        try:
            code = started.wait(timeout)
        except subprocess.TimeoutExpired:
            started.kill()
            raise
        stdout.seek(0)
        stderr.seek(0)
        return subprocess.CompletedProcess([module, *words], code, stdout.read(), stderr.read())


def start_module(
    module: str, *words: str | bytes, cwd: Path | str, env: Mapping[str, str], streams: tuple[int, int, int]
) -> "Forked | subprocess.Popen[bytes]":
    """Start `python -m MODULE WORDS` on these three descriptors; both kinds of result have `pid`, `wait` and `kill`."""
    if _needs_interpreter(env):
        stdin, stdout, stderr = streams
        command = [sys.executable, "-m", module, *words]
        return subprocess.Popen(command, cwd=cwd, env=dict(env), stdin=stdin, stdout=stdout, stderr=stderr)
    return _server().start({"module": module, "words": words, "cwd": str(cwd), "env": dict(env)}, streams)


def start_daemon(listener: socket.socket, env: Mapping[str, str]) -> bool:
    """Start a daemon with this listening socket, as `snell-hook` does; return False where only an interpreter can."""
    if sys.platform != "linux" or _needs_interpreter(env):
        return False
    request = {"module": "snell.daemon.main", "words": [], "cwd": "/", "env": dict(env), "is_daemon": True}
    with open(os.devnull, "r+b") as nothing:
        _server().start(request, (*[nothing.fileno()] * 3, listener.fileno())).leave()
    return True


def _needs_interpreter(env: Mapping[str, str]) -> bool:
    """Whether only a new interpreter will do: it reads PYTHONPATH and its like when it starts."""
    own_settings = any(name.startswith("PYTHON") and os.environ.get(name) != env[name] for name in env)
    return own_settings or bool(os.environ.get("SNELL_NIGHTLY")) or not hasattr(os, "pidfd_open")


class Forked:
    """A process that the server forked."""

    def __init__(self, connection: socket.socket, command: str) -> None:
        self._connection, self._command = connection, command
        self._answers = connection.makefile("rb")
        self._process = int(self._answers.readline())

    def wait(self, timeout: float) -> int:
        """Return the exit code; negative for a signal, as subprocess has it."""
        self._connection.settimeout(timeout)
        try:
            line = self._answers.readline()
        except TimeoutError:
            raise subprocess.TimeoutExpired(self._command, timeout) from None
        self._answers.close()
        self._connection.close()
        return int(line)

    def leave(self) -> None:
        """Let it run; nothing waits for its end."""
        self._answers.close()
        self._connection.close()

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself
            os.kill(self._process, signal.SIGKILL)
        self._connection.close()


class _Server:
    """The process that forks, as its client sees it."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.fork_server", str(theirs.fileno())],
                cwd=ROOT,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        self._socket = ours

    def start(self, request: dict[str, Any], streams: tuple[int, ...]) -> Forked:
        body = json.dumps(request, default=os.fsdecode).encode()  # also bytes that are no text
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        ours.sendall(len(body).to_bytes(_LENGTH, "big") + body)
        with theirs:
            socket.send_fds(self._socket, [b"1"], [*streams, theirs.fileno()])
        return Forked(ours, f"{request['module']} {request['words']}")

    def close(self) -> None:
        self._socket.close()
        self._process.wait(30)


@functools.cache
def _server() -> _Server:
    server = _Server()
    atexit.register(server.close)
    return server


def serve(control: socket.socket) -> dict[str, Any] | None:  # noqa: C901 - one loop over all that may happen
    """Fork for each request until the client closes; return the request in the child, None in the server."""
    running: dict[int, tuple[int, socket.socket]] = {}  # by pidfd
    poller = select.poll()
    poller.register(control, select.POLLIN)
    while True:
        for ready, _ in poller.poll():
            if ready != control.fileno():
                poller.unregister(ready)
                pid, answers = running.pop(ready)
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                with contextlib.suppress(OSError):  # the test did not wait for it
                    answers.sendall(b"%d\n" % code)
                os.close(ready)
                answers.close()
                continue
            data, fds, _, _ = socket.recv_fds(control, 1, 5)
            if not data:
                return None
            answers = socket.socket(fileno=fds.pop())
            with answers.makefile("rb") as lines:
                request = json.loads(lines.read(int.from_bytes(lines.read(_LENGTH), "big")))
            pid = os.fork()
            if pid == 0:
                for each in running:
                    os.close(each)
                for _, other in running.values():
                    other.close()
                answers.close()
                control.close()
                _put_first(fds)
                return dict(request)
            for each in fds:
                os.close(each)
            answers.sendall(b"%d\n" % pid)
            pidfd = os.pidfd_open(pid)
            running[pidfd] = (pid, answers)
            poller.register(pidfd, select.POLLIN)


def _put_first(descriptors: list[int]) -> None:
    """Give these descriptors the numbers from 0 on."""
    aside = [fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in descriptors]  # out of each other's way
    for each in descriptors:
        os.close(each)
    for number, each in enumerate(aside):
        os.dup2(each, number)
        os.close(each)


def become(request: dict[str, Any]) -> None:
    """Make this process what `python -m MODULE` would be, or what `snell-hook` starts as a daemon."""
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.path[0] = request["cwd"]
    if request.get("is_daemon"):
        os.setsid()
        os.environ["SNELL_LISTEN_FD"] = "3"
        del sys.path[0]  # `-I` has no folder of the caller there
        appear_as([sys.executable, "-I", "-c", DAEMON_CODE], os.environ)
    sys.stdin = os.fdopen(0, encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
    random.seed()
    sys.argv = ["-m", *request["words"]]


def run(module: str) -> int:
    """Run it; return the exit code that an interpreter would end with."""
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:  # noqa: BLE001  # an interpreter prints it, too
        traceback.print_exc()
        return 1
    return 0


def end(code: int) -> NoReturn:
    """End as an interpreter does, but without taking 700 modules apart."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def import_snell() -> None:
    """Import every module but the adapters, whose libraries may be missing."""
    for module in pkgutil.walk_packages(snell.__path__, "snell."):
        if not module.name.startswith("snell.embed.") and not module.name.endswith(".__main__"):
            importlib.import_module(module.name)


def compile_patterns() -> None:
    """Let Snell build the tables that each process builds when it first redacts a text or judges a command."""
    redact("password = nothing")
    judge("ls")


def main(descriptor: str) -> None:
    import_snell()
    compile_patterns()
    gc.collect()
    gc.freeze()  # fewer pages are copied by a collection in the child
    request = serve(socket.socket(fileno=int(descriptor)))
    if request is not None:
        become(request)
        end(run(request["module"]))


if __name__ == "__main__":
    main(sys.argv[1])
