"""
The first event of a session: CPU time of the daemon up to its first answer, over that of a bare Python.

The socket exists and the request waits in it when the daemon starts, as when `snell-hook` starts it; the settings and
the database are there from earlier days.
"""

import functools
import json
import os
import socket
import subprocess
import sys
import time

import msgspec

from bench.measure import Measured, process_cpu
from bench.scene import Scene, scene
from snell.daemon.listener import LISTEN_FD, listen
from snell.daemon.shim_connection import encode_request
from snell.daemon.shim_start import DAEMON
from snell.daemon.wire import KEEPALIVE

ROUNDS = 12
SESSION = {"session_id": "cold", "hook_event_name": "SessionStart", "source": "startup"}
CALL = {
    "session_id": "cold",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "git status --short | head -20"},
    "tool_use_id": "toolu_1",
}


class Start(msgspec.Struct, frozen=True):
    """Seconds from starting the program to the first answer, or to its end."""

    cpu: float
    wall: float


def cold_cpu_of_tool_call() -> Measured:
    return _over_bare("PreToolUse", "cpu")


def cold_cpu_of_session_start() -> Measured:
    return _over_bare("SessionStart", "cpu")


def cold_wall_of_session_start() -> Measured:
    return _over_bare("SessionStart", "wall")


def _over_bare(name: str, field: str) -> Measured:
    found = starts()
    times = {f"{each}, {field}": min(getattr(start, field) for start in taken) for each, taken in found.items()}
    return times[f"{name}, {field}"] / times[f"python -I -c pass, {field}"], times


@functools.cache
def starts(rounds: int = ROUNDS) -> dict[str, list[Start]]:
    """Start the daemon with each first event and a bare Python in turn."""
    found: dict[str, list[Start]] = {"PreToolUse": [], "SessionStart": [], "python -I -c pass": []}
    with scene(kind=None) as here:
        here.stop()
        for _ in range(rounds):
            found["PreToolUse"].append(_first_answer(here, CALL))
            found["SessionStart"].append(_first_answer(here, SESSION))
            found["python -I -c pass"] += [_bare(here) for _ in range(3)]
    return found


def _first_answer(here: Scene, event: dict[str, object]) -> Start:
    folder = here.folder
    payload = json.dumps({**event, "cwd": str(folder), "session_id": os.urandom(4).hex()}).encode()
    listener = listen(folder / "run")
    number = listener.socket.fileno()
    environment = "\0".join(f"{name}={value}" for name, value in here.env.items()).encode()
    identity = os.urandom(16).hex().encode()
    frame = encode_request(identity, b"0.1.0", os.fsencode(folder), b"--client\0claude-code", environment, payload)
    with socket.socket(socket.AF_UNIX) as connection, listener.socket:
        connection.connect(str(listener.path))
        connection.sendall(frame)
        began = time.perf_counter()
        argv = [sys.executable, "-I", "-c", DAEMON]
        with subprocess.Popen(argv, env={**here.env, LISTEN_FD: str(number)}, pass_fds=[number]) as daemon:
            try:
                answer = KEEPALIVE
                while answer == KEEPALIVE:
                    answer = connection.recv(1)
                took = Start(process_cpu(daemon.pid), time.perf_counter() - began)
            finally:
                daemon.terminate()
    return took


def _bare(here: Scene) -> Start:
    began = time.perf_counter()
    child = os.posix_spawn(sys.executable, [sys.executable, "-I", "-c", "pass"], here.env)
    _, _, used = os.wait4(child, 0)
    return Start(used.ru_utime + used.ru_stime, time.perf_counter() - began)
