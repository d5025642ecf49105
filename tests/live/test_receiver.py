"""A trace reaches a real receiver, Phoenix, which is installed from its package, and is read back from it."""

import json
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live.installed import INSTALL_SECONDS, cache
from tests.process.machine import HOOK, Machine
from tests.process.test_traces import SECRET, SESSION, enable, run_session, status
from tests.waiting import wait_until

PHOENIX = "arize-phoenix==20.26.1"
START_SECONDS = 240.0  # it makes its database first


@pytest.fixture(scope="session")
def phoenix_python() -> Path:
    """The interpreter of an environment with Phoenix, or a skip with the reason."""
    if os.environ.get("SNELL_LIVE_CLIENTS"):
        pytest.skip("Phoenix is large: it is tried only where all clients are, with `dev.py test --live`")
    folder = cache() / PHOENIX.replace("==", "-")
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        steps = [sys.executable, "-m", "venv", str(folder)], [str(python), "-m", "pip", "install", "-q", PHOENIX]
        for step in steps:  # what pip builds writes to the home
            env = {**os.environ, "HOME": str(folder)}
            done = subprocess.run(step, env=env, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
            if done.returncode:
                pytest.skip(f"Phoenix: pip could not install it: {done.stderr.strip()[-120:]}")
        (folder / "installed").touch()
    return python


@pytest.fixture
def phoenix(phoenix_python: Path, tmp_path: Path) -> Iterator[str]:
    port, other = free_ports(2)
    env = {
        **{name: value for name, value in os.environ.items() if name in ("PATH", "LANG")},
        "HOME": str(tmp_path),
        "PHOENIX_WORKING_DIR": str(tmp_path / "phoenix"),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(other),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    words = [str(phoenix_python), "-m", "phoenix.server.main", "serve"]
    with (tmp_path / "phoenix.log").open("wb") as log:
        server = subprocess.Popen(words, env=env, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: answers(url) or server.poll() is not None, START_SECONDS)
        assert server.poll() is None, (tmp_path / "phoenix.log").read_text(encoding="utf-8")[-2_000:]
        yield url
    finally:
        server.terminate()
        server.wait(60)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    if not HOOK.exists():
        pytest.skip("snell-hook is not installed beside this Python")
    machine = Machine(tmp_path)
    yield machine
    machine.stop()
    machine.end_hooks()


def free_ports(number: int) -> list[int]:
    sockets = [socket.socket() for _ in range(number)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status == 200
    except OSError:
        return False


def spans_in(url: str) -> dict[str, dict[str, Any]]:
    with urllib.request.urlopen(f"{url}/v1/projects/default/spans?limit=100", timeout=30) as answer:
        return {each["name"]: each for each in json.load(answer)["data"]}


def test_a_session_is_read_back_from_phoenix(phoenix: str, machine: Machine):
    enable(machine, phoenix, "inputs = true")
    assert f"one span sent to {phoenix}" in machine.snell("traces", "test")
    run_session(machine, session="one", command="bad")
    run_session(machine, session="two", command=f"curl -H 'x-api-key: {SECRET}' example.com")
    wait_until(lambda: status(machine)["sent"] and not status(machine)["waiting"], 60.0)
    found = wait_until(lambda: {SESSION, "execute_tool Bash", "hook p/no_bad"} <= spans_in(phoenix).keys(), 60.0)
    assert found
    spans = spans_in(phoenix)
    session, call, hook = (spans[name] for name in (SESSION, "execute_tool Bash", "hook p/no_bad"))
    assert (call["parent_id"], hook["status_code"]) == (session["context"]["span_id"], "UNSET")
    assert (session["span_kind"], call["span_kind"]) == ("AGENT", "TOOL")
    assert "a1B2a1B2" not in json.dumps(spans)
    shown = status(machine)
    assert (shown["error"], shown["lost"], shown["remark"]) == ("", 0, "the receiver takes no metrics")
