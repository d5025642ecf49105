"""A daemon whose clock can be set: `python -m tests.faults.odd_clock FILE`, where the file holds seconds to add."""

import sys
import time
from pathlib import Path

_time, _time_ns = time.time, time.time_ns
_offset = Path(sys.argv[1])


def ahead() -> int:
    return int(_offset.read_text(encoding="ascii") or "0")


time.time = lambda: _time() + ahead()
time.time_ns = lambda: _time_ns() + ahead() * 10**9

if __name__ == "__main__":
    from snell.daemon import housekeeping, main

    housekeeping.SOON = housekeeping.RARELY = housekeeping.ASLEEP = 0.05
    sys.exit(main.main())
