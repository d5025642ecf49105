"""Programs that may mount what they like, since no other process sees it."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
HANG_BOUND = 60.0
IN_A_NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]


def alone(*argv: str) -> dict[str, Any]:
    """What a program prints there, as JSON; a skip where that cannot be had."""
    try:
        probe = subprocess.run([*IN_A_NAMESPACE, "true"], capture_output=True, encoding="utf-8", check=False)
    except OSError as error:
        pytest.skip(f"no user namespaces here: {error}")
    if probe.returncode != 0:
        pytest.skip(f"no user namespaces here: {probe.stderr.strip()}")
    return json_output_of([*IN_A_NAMESPACE, *argv])


def json_output_of(argv: Sequence[str]) -> dict[str, Any]:
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, encoding="utf-8", timeout=HANG_BOUND, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found
