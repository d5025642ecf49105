"""A place to run hostile programs in, and to see whether anything of them is left."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from snell.system.run_program import Finished, environment, run

LIMIT = 0.5
HANG_BOUND = LIMIT + 10.0  # promised is one second; a loaded machine may keep us waiting for the processor
PYTHON = [sys.executable, "-I", "-S", "-c"]


class Sandbox:
    """A directory, and a mark that every process started here carries in its environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pids = folder / "pids"
        self.pids.mkdir()
        self.mark = os.urandom(8).hex()
        self.script("sleeper", '#!/bin/sh\n: > "$1/$$"; exec sleep 60\n')
        self.env = environment(os.environ, {"MARK": self.mark, "PIDS": str(self.pids), "PYTHON": sys.executable})

    def script(self, name: str, text: str, mode: int = 0o755) -> str:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return str(path)

    def run(self, command: str | list[str], **options: Any) -> Finished:
        argv = ["/bin/sh", "-c", command] if isinstance(command, str) else command
        defaults: dict[str, Any] = {"stdin": b"", "cwd": str(self.folder), "env": self.env, "timeout": LIMIT}
        return run(argv, **{**defaults, **options})

    def survivors(self) -> set[int]:
        """Living processes that carry the mark or wrote their pid into a file here."""
        listed = {int(name) for name in os.listdir("/proc") if name.isdecimal()}
        marked = {pid for pid in listed if self.mark.encode("ascii") in contents(f"/proc/{pid}/environ")}
        noted = {int(file.name) for file in self.pids.iterdir()}
        return {pid for pid in marked | noted if is_alive(pid)}

    def end_survivors(self) -> None:
        for pid in self.survivors():
            os.kill(pid, signal.SIGKILL)


def contents(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def is_alive(pid: int) -> bool:
    return contents(f"/proc/{pid}/stat").rpartition(b")")[2][1:2] not in (b"", b"Z", b"X")


def outcome(finished: Finished) -> dict[str, Any]:
    """The whole of it but the time it took."""
    return {name: getattr(finished, name) for name in finished.__struct_fields__ if name != "seconds"}


def expected_outcome(exit_code: int | None = 0, **rest: Any) -> dict[str, Any]:
    usual = Finished(exit_code, None, b"", b"", False, False, False, None, 0.0)
    return {**outcome(usual), **rest}
