"""Decide the input of one decision again, as `snell replay` does: in a process that can neither write nor connect."""

import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import msgspec

from snell.ui.site import Site

LONGEST_SECONDS = 120.0
_RESULTS = {"unchanged": "The same as then.", "cannot_be_replayed": "It cannot be decided again."}


def can_replay() -> bool:
    return find_spec("snell.replay") is not None


def replay_decision(site: Site, decision_id: str) -> dict[str, Any]:
    """Return what today's hooks say to the same input, or what kept them from saying it as `problem`."""
    command = [sys.executable, "-m", "snell", "replay", "--decision", decision_id, "--json"]
    try:
        done = subprocess.run(
            command,
            env=dict(site.env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LONGEST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"problem": f"it took longer than {LONGEST_SECONDS:.0f} seconds"}
    if done.returncode:
        return {"problem": done.stderr.decode("utf-8", "replace").strip().removeprefix("snell: ")}
    found = msgspec.json.decode(done.stdout)["decision"]
    return {**found, "words": _RESULTS.get(found["result"], f"{found['result'].replace('_', ' ').capitalize()}.")}
