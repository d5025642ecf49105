"""
What one new command line costs with other guards for coding agents, of those that install here; over ours.

Each is installed from its package into `build/peers` when it is first measured, and is run as its own set-up enters it
into Claude Code. All get the same command lines in turn, no two the same. Ours does its default work: all packs, a row
kept.
"""

import functools
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from bench.commands import new_commands
from bench.measure import Measured, NotHere
from bench.scene import EVENT, OURS, scene
from bench.shim import ROOT, spawned

FOLDER = ROOT / "build" / "peers"
ROUNDS = 40
LIMIT = 300  # seconds for an installation
NAH, SAFETY_NET = "nah==0.11.0", "cc-safety-net@2.4.5"


def nah_over_ours() -> Measured:
    """A guard in Python, started for every call."""
    return _over_ours(NAH)


def safety_net_over_ours() -> Measured:
    """A guard in Node, started for every call."""
    return _over_ours(SAFETY_NET)


def _over_ours(theirs: str) -> Measured:
    found = costs()
    if theirs not in found:
        raise NotHere(f"{theirs} could not be installed")
    names = ("/bin/true", "snell-hook", theirs)
    return found[theirs] / found["snell-hook"], {name: found[name] for name in names}


@functools.cache
def costs() -> dict[str, float]:
    """Medians of one interleaved run."""
    makers: dict[str, Callable[[], list[str]]] = {NAH: _nah, SAFETY_NET: _safety_net}
    candidates = {"/bin/true": ["/bin/true"], "snell-hook": OURS}
    for name, make in makers.items():
        try:
            candidates[name] = make()
        except (OSError, subprocess.SubprocessError):
            continue  # its measure says that it is not here
    lines = new_commands()
    samples: dict[str, list[float]] = {name: [] for name in candidates}
    with scene(kind=None) as here:
        for number in range(ROUNDS):
            call = {
                **EVENT,
                "cwd": str(here.folder),
                "tool_input": {"command": next(lines)},
                "tool_use_id": f"t{number}",
            }
            for name in random.sample(list(candidates), len(candidates)):
                samples[name].append(spawned(candidates[name], here.env, json.dumps(call).encode())[0])
    return {name: statistics.median(taken) for name, taken in samples.items()}


def _nah() -> list[str]:
    program = FOLDER / "nah" / "bin" / "nah"
    if not program.exists():
        _install(sys.executable, "-m", "venv", str(FOLDER / "nah"))
        _install(str(program.with_name("pip")), "install", "--quiet", NAH)
    return [str(program), "_claude-hook"]


def _safety_net() -> list[str]:
    program = FOLDER / "net" / "node_modules" / ".bin" / SAFETY_NET.split("@", maxsplit=1)[0]
    if not program.exists():
        npm = shutil.which("npm")
        if not npm:
            raise FileNotFoundError("npm")
        _install(npm, "install", "--silent", "--no-save", "--prefix", str(FOLDER / "net"), SAFETY_NET)
    return [str(program), "hook", "--claude-code"]


def _install(*command: str) -> None:
    Path(FOLDER).mkdir(parents=True, exist_ok=True)
    subprocess.run(command, check=True, timeout=LIMIT, env=dict(os.environ), stdout=subprocess.DEVNULL)
