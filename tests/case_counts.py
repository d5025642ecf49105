"""How many cases a test tries: few in the ordinary run, many in the nightly one."""

import os

IS_NIGHTLY = bool(os.environ.get("SNELL_NIGHTLY"))


def cases(usual: int, nightly: int) -> int:
    """Return the number of cases to try in this run."""
    return nightly if IS_NIGHTLY else usual
