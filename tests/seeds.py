"""
The seed of tests that draw random cases.

An ordinary run draws the same cases each time, so that it fails only for what was changed; the nightly run draws new
ones. SNELL_SEED=N chooses or repeats a draw.
"""

import os
import random

ORDINARY = 1


def draw_seed() -> int:
    """Return the seed that the caller chose, else a new one in a nightly run, else always the same one."""
    if chosen := os.environ.get("SNELL_SEED"):
        return int(chosen)
    return random.randrange(10**6) if os.environ.get("SNELL_NIGHTLY") else ORDINARY
