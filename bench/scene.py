"""A daemon with twenty Python hooks in a home of its own, for as long as a measurement takes."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from bench.shim import spawned
from snell.daemon.client import ask

HOOK = Path(sys.executable).with_name("snell-hook")
OURS = [str(HOOK), "--client", "claude-code"]
EVENT = {"hook_event_name": "PreToolUse", "session_id": "bench", "tool_name": "Bash", "tool_input": {"command": "ls"}}
PAYLOAD = json.dumps(EVENT).encode()
NUMBER = 20


class Scene(msgspec.Struct, frozen=True):
    folder: Path
    env: dict[str, str]

    def send(self) -> float:
        """One event through `snell-hook`; seconds."""
        return spawned(OURS, self.env, PAYLOAD)[0]

    def stop(self) -> None:
        subprocess.run(
            [sys.executable, "-m", "snell", "daemon", "stop"], env=self.env, capture_output=True, check=False
        )

    @property
    def daemon(self) -> int:
        """Its process id."""
        return int(ask(self.folder / "run", "status")["pid"])


def hooks(kind: str) -> str:
    """Twenty hooks for calls of this kind of tool."""
    heads = (f"\n\n@judges('PreToolUse', kind='{kind}')\ndef hook_{number}(call):" for number in range(NUMBER))
    return "from snell import judges\n" + "".join(f"{head}\n    return None\n" for head in heads)


@contextmanager
def scene(kind: str = "shell") -> Iterator[Scene]:
    """`kind`: for which tools the hooks are; the event is a call of the shell."""
    with tempfile.TemporaryDirectory(prefix="snell-bench-", ignore_cleanup_errors=True) as folder:
        pack = Path(folder, "config", "pack")
        pack.mkdir(parents=True)
        (pack / "pack.toml").write_text('name = "bench"\n', encoding="utf-8")
        (pack / "hooks.py").write_text(hooks(kind), encoding="utf-8")
        (pack.parent / "snell.toml").write_text('packs = ["pack"]\n', encoding="utf-8")
        made = Scene(Path(folder), {"PATH": os.environ["PATH"], "HOME": folder, "SNELL_HOME": folder})
        try:
            for _ in range(30):
                made.send()
            assert made.daemon, "without a daemon there is nothing to measure"
            yield made
        finally:
            made.stop()
