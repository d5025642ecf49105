"""A daemon with twenty Python hooks in a home of its own, for as long as a measurement takes."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from bench.measure import process_cpu
from bench.shim import spawned
from snell.daemon.client import ask
from snell.daemon.shim_start import DAEMON

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

    def start_without_re2(self) -> None:
        """Start the daemon as on a machine for which google-re2 has no wheel."""
        code = f"import sys; sys.modules['re2'] = None; {DAEMON}"
        subprocess.Popen([sys.executable, "-I", "-c", code], env=self.env, start_new_session=True)
        while not (self.folder / "run" / "snell.sock").exists():
            time.sleep(0.01)

    def stop(self) -> None:
        subprocess.run(
            [sys.executable, "-m", "snell", "daemon", "stop"], env=self.env, capture_output=True, check=False
        )

    def wait_until_quiet(self, seconds: float = 0.5) -> None:
        """Wait until the daemon has done what it does after its replies: it has hardly run for a while."""
        daemon, until = self.daemon, time.monotonic() + 30
        spent = process_cpu(daemon)
        while time.monotonic() < until:
            time.sleep(seconds)
            spent, before = process_cpu(daemon), spent
            if spent - before < 0.002 * seconds:
                return

    @property
    def daemon(self) -> int:
        """Its process id."""
        return int(ask(self.folder / "run", "status")["pid"])


def hooks(kind: str) -> str:
    """Twenty hooks for calls of this kind of tool."""
    heads = (f"\n\n@judges('PreToolUse', kind='{kind}')\ndef hook_{number}(call):" for number in range(NUMBER))
    return "from snell import judges\n" + "".join(f"{head}\n    return None\n" for head in heads)


@contextmanager
def scene(kind: str | None = "shell", *, has_re2: bool = True) -> Iterator[Scene]:
    """`kind`: for which tools the hooks are; the event is a call of the shell. None: only the built-in packs."""
    with tempfile.TemporaryDirectory(prefix="snell-bench-", ignore_cleanup_errors=True) as folder:
        pack = Path(folder, "config", "pack")
        pack.mkdir(parents=True)
        (pack / "pack.toml").write_text('name = "bench"\n', encoding="utf-8")
        (pack / "hooks.py").write_text(hooks(kind or "shell"), encoding="utf-8")
        (pack.parent / "snell.toml").write_text('packs = ["pack"]\n' if kind else "", encoding="utf-8")
        made = Scene(Path(folder), {"PATH": os.environ["PATH"], "HOME": folder, "SNELL_HOME": folder})
        try:
            if not has_re2:
                made.start_without_re2()
            for _ in range(30):
                made.send()
            assert made.daemon, "without a daemon there is nothing to measure"
            yield made
        finally:
            made.stop()
