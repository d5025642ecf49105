"""The whole way, as a client pays it: spawn `snell-hook`, have the daemon ask twenty Python hooks, take the answer."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.shim import spawned

HOOK = Path(sys.executable).with_name("snell-hook")
EVENT = {"hook_event_name": "PreToolUse", "session_id": "bench", "tool_name": "Bash", "tool_input": {"command": "ls"}}
HOOKS = "from snell import judges\n" + "".join(
    f"\n\n@judges('PreToolUse', kind='shell')\ndef hook_{number}(call):\n    return None\n" for number in range(20)
)


def warm_hook_over_true(rounds: int = 300) -> tuple[float, dict[str, float]]:
    """Median of a warm round trip with twenty hooks that all run, over spawning `/bin/true`."""
    times = _measured({"snell-hook": [str(HOOK), "--client", "claude-code"], "/bin/true": ["/bin/true"]}, rounds)
    return times["snell-hook"] / times["/bin/true"], times


def warm_hook_in_shell_over_true_in_shell(rounds: int = 200) -> tuple[float, dict[str, float]]:
    """The same through `sh -c`, as most clients run hooks."""
    ours, theirs = f"exec '{HOOK}' --client claude-code", "/bin/true"
    candidates = {"sh -c 'exec snell-hook'": ["/bin/sh", "-c", ours], "sh -c /bin/true": ["/bin/sh", "-c", theirs]}
    times = _measured(candidates, rounds)
    return times["sh -c 'exec snell-hook'"] / times["sh -c /bin/true"], times


def _measured(candidates: dict[str, list[str]], rounds: int) -> dict[str, float]:
    samples: dict[str, list[float]] = {name: [] for name in candidates}
    with _daemon() as env:
        for _ in range(rounds):
            for name, argv in candidates.items():
                samples[name].append(spawned(argv, env, json.dumps(EVENT).encode())[0])
    return {name: statistics.median(taken) for name, taken in samples.items()}


@contextmanager
def _daemon() -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory(prefix="snell-bench-") as folder:
        pack = Path(folder, "config", "pack")
        pack.mkdir(parents=True)
        (pack / "pack.toml").write_text('name = "bench"\n', encoding="utf-8")
        (pack / "hooks.py").write_text(HOOKS, encoding="utf-8")
        (pack.parent / "snell.toml").write_text('packs = ["pack"]\n', encoding="utf-8")
        env = {"PATH": os.environ["PATH"], "HOME": folder, "SNELL_HOME": folder}
        try:
            for _ in range(30):
                spawned([str(HOOK), "--client", "claude-code"], env, json.dumps(EVENT).encode())
            yield env
        finally:
            subprocess.run([sys.executable, "-m", "snell", "daemon", "stop"], env=env, capture_output=True, check=False)
