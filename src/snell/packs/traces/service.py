"""
Run the exporter (`python -m snell.traces`) beside the daemon.

The exporter ends when its stdin does, which is when the daemon ends.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import msgspec

from snell.model.protocols import Database
from snell.packs.traces.options import Options, read_options
from snell.system.child_environment import environment
from snell.system.optional_packages import is_installed
from snell.system.paths import places

_RUNNING: dict[bytes, "subprocess.Popen[bytes]"] = {}  # by its options
_LOCK = threading.Lock()


def serve(_database: Database, options: Mapping[str, Any]) -> None:
    """Start the exporter when the daemon starts."""
    _keep_running(msgspec.json.encode(msgspec.convert(options, Options)))


def serve_again() -> None:
    """Start an exporter that has ended, or the one that changed settings ask for; only the daemon has one."""
    if "snell.daemon.loop" in sys.modules:
        is_on, options = read_options(places(os.environ))
        _keep_running(msgspec.json.encode(options) if is_on else b"")


def can_export() -> bool:
    """Return whether the packages of the extra `otel` are installed."""
    return bool(find_spec("snell.traces")) and is_installed("otel") and is_installed("http")


def _keep_running(line: bytes) -> None:
    """Let the exporter with these options run and no other; none if there are no options."""
    with _LOCK:
        for other in [each for each, process in _RUNNING.items() if each != line or process.poll() is not None]:
            ended = _RUNNING.pop(other)
            threading.Thread(target=ended.communicate, daemon=True).start()  # closes its stdin and waits for it
        if line and not _RUNNING and can_export():
            _RUNNING[line] = _start(line)


def _start(line: bytes) -> "subprocess.Popen[bytes]":
    paths = [path for path in sys.path if path]
    code = f"import runpy, sys; sys.path[:] = {paths!r}; runpy.run_module('snell.traces', run_name='__main__')"
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(os.environ, {}),
    )
    assert process.stdin
    process.stdin.write(line + b"\n")
    process.stdin.flush()
    return process
