"""
What one event costs a client: `snell-hook` with a warm daemon, over starting `/bin/true`.

The daemon here only reads the request and sends a fixed reply, so this is the floor of every hook. All candidates take
turns in one run, in random order. `python -m bench.shim [ROUNDS]` prints everything; the functions give one ratio each.
"""

import functools
import importlib.util
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from snell.daemon.listener import listen
from snell.daemon.wire import Request, encode_reply
from snell.model.protocols import Reply

ROOT = Path(__file__).resolve().parent.parent
PYTHON_SHIM = ROOT / "src" / "snell" / "daemon" / "shim.py"
SERVE = "--serve"  # how this file calls itself for the daemon
ROUNDS = 300
WARM_UP = 5
SLOW_EVERY = 5  # Python's candidates take ten times as long, so they run in every fifth round only
PAYLOAD = msgspec.json.encode(
    {
        "session_id": "3f1c2d6e-8a4b-4a57-9f3e-0d7d6b0a9c11",
        "hook_event_name": "PreToolUse",
        "cwd": "/home/me/project",
        "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": {"command": "pytest -q tests", "description": "Run the tests"},
        "tool_use_id": "toolu_01ABCDEFGHJKLMNPQRSTUVWX",
    }
)


class Cost(msgspec.Struct, frozen=True):
    """Seconds."""

    median: float
    worst_of_100: float
    cpu: float


def shim_over_true() -> tuple[float, dict[str, float]]:
    return _ratio("snell-hook", "/bin/true", "median")


def shim_cpu_over_true() -> tuple[float, dict[str, float]]:
    return _ratio("snell-hook", "/bin/true", "cpu")


def shim_in_shell_over_true_in_shell() -> tuple[float, dict[str, float]]:
    return _ratio("sh -c 'exec snell-hook'", "sh -c /bin/true", "median")


def python_shim_over_bare_python() -> tuple[float, dict[str, float]]:
    return _ratio("shim.py", "python -I -S -c pass", "median")


@functools.cache
def costs(rounds: int = ROUNDS) -> Mapping[str, Cost]:
    """One run over all candidates."""
    with tempfile.TemporaryDirectory(prefix="snell-") as folder:
        candidates = _candidates(Path(folder))
        with _echo(Path(folder)):
            return _measured(candidates, {"SNELL_HOME": folder, **os.environ}, rounds)


def _ratio(ours: str, theirs: str, field: str) -> tuple[float, dict[str, float]]:
    found = {name: float(getattr(costs()[name], field)) for name in (ours, theirs)}
    return found[ours] / found[theirs], found


def _candidates(folder: Path) -> dict[str, list[str]]:
    program = str(_compiled(folder / "snell-hook"))
    python = [sys.executable, "-I", "-S"]
    return {
        "/bin/true": ["/bin/true"],
        "snell-hook": [program, "--client", "claude-code"],
        "sh -c /bin/true": ["/bin/sh", "-c", "/bin/true"],
        "sh -c 'exec snell-hook'": ["/bin/sh", "-c", f"exec {program} --client claude-code"],
        "python -I -S -c pass": [*python, "-c", "pass"],
        "shim.py": [*python, str(PYTHON_SHIM), "0.1.0", "--client", "claude-code"],
    }


def _compiled(program: Path) -> Path:
    """Compiled as for the wheel; where that cannot be, the one that is installed."""
    specification = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert specification
    assert specification.loader
    hatch_build = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(hatch_build)
    if hatch_build.compiled(program, "0.1.0"):
        return program
    shutil.copy(Path(sys.executable).with_name("snell-hook"), program)
    return program


@contextmanager
def _echo(folder: Path) -> Iterator[None]:
    """A warm daemon in a process of its own."""
    listening = listen(folder / "run").socket
    number = listening.fileno()
    command = [sys.executable, __file__, SERVE, str(number)]
    with listening, subprocess.Popen(command, pass_fds=[number]) as daemon:
        try:
            yield
        finally:
            daemon.kill()


def _serve(listening: socket.socket) -> None:
    reply = encode_reply(Reply(b'{"continue":true}\n'))
    listening.setblocking(True)
    while True:
        connection, _ = listening.accept()
        with connection:
            data = b""
            while len(data) != Request.frame_length(data):
                data += connection.recv(1 << 18)
            Request.decode(data)
            connection.sendall(reply)


def _measured(candidates: Mapping[str, list[str]], env: dict[str, str], rounds: int) -> dict[str, Cost]:
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in candidates}
    chosen = random.Random(1)
    for number in range(-WARM_UP, rounds):
        names = [name for name in candidates if "py" not in name or number % SLOW_EVERY == 0]
        for name in chosen.sample(names, len(names)):
            sample = spawned(candidates[name], env)
            if number >= 0:
                seen[name].append(sample)
    return {name: _cost(samples) for name, samples in seen.items()}


def spawned(argv: list[str], env: dict[str, str], payload: bytes = PAYLOAD) -> tuple[float, float]:
    """Wall and CPU seconds of a process, used as a client does: payload written, reply read to its end, waited for."""
    stdin, give = os.pipe()
    take, stdout = os.pipe()
    os.write(give, payload)
    os.close(give)
    start = time.perf_counter()
    # Not subprocess: what it adds of its own would be most of what is measured.
    actions = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, stdout, 1)]
    child = os.posix_spawn(argv[0], argv, env, file_actions=actions)
    os.close(stdout)
    while os.read(take, 1 << 16):
        pass
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - start
    os.close(stdin)
    os.close(take)
    if status != 0:
        raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), argv)
    return wall, used.ru_utime + used.ru_stime


def _cost(samples: list[tuple[float, float]]) -> Cost:
    walls = sorted(wall for wall, _ in samples)
    cpus = [cpu for _, cpu in samples]
    return Cost(statistics.median(walls), walls[int(len(walls) * 0.99)], statistics.median(cpus))


def main() -> None:
    if sys.argv[1:2] == [SERVE]:
        return _serve(socket.socket(fileno=int(sys.argv[2])))
    found = costs(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
    base = found["/bin/true"]
    print(f"{'':<26} {'median us':>10} {'p99 us':>10} {'cpu us':>10}   over /bin/true: {'wall':>6} {'cpu':>6}")
    for name, cost in found.items():
        figures = " ".join(f"{seconds * 1e6:10.0f}" for seconds in (cost.median, cost.worst_of_100, cost.cpu))
        print(f"{name:<26} {figures} {cost.median / base.median:23.2f} {cost.cpu / base.cpu:6.2f}")
    return None


if __name__ == "__main__":
    main()
