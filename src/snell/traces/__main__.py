"""The exporter's process: options as one JSON line on stdin, whose end is the end of the daemon."""

import os
import sys
import threading
from contextlib import closing, suppress

import msgspec

from snell.packs.traces.options import Options
from snell.runtime.app import database_of
from snell.system.files import LockedError, file_lock
from snell.system.paths import places
from snell.traces.exporter import Exporter

if __name__ == "__main__":
    where, ended, is_done = places(os.environ), threading.Event(), False
    options = msgspec.json.decode(sys.stdin.buffer.readline(), type=Options)
    threading.Thread(target=lambda: ended.set() if not sys.stdin.buffer.read() else None, daemon=True).start()
    while not is_done:  # an exporter of the same user, whose daemon ends, is waited for
        is_done = ended.is_set()
        with suppress(LockedError), file_lock(where.state / "traces.lock"), closing(database_of(where)) as database:
            Exporter(where.state, options, database, ended).run()
