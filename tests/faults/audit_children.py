"""
A process that decides and chains that until it is killed: `python -m tests.faults.audit_children [POINT]`. With a
point, it kills itself there.
"""

import os
import signal
import sys

from snell.clients import client_named
from snell.records import crash_points
from snell.runtime.app import Runtime


def main(point: str = "") -> None:
    crash_points.on_reached = lambda name: os.kill(os.getpid(), signal.SIGKILL) if name == point else None
    client = client_named("claude-code")
    with Runtime.for_user() as runtime:
        assert runtime.audit_log
        while True:
            runtime.handle(client, b'{"hook_event_name": "Notification", "session_id": "s"}', os.urandom(8).hex())
            runtime.audit_log.keep_up(at_once=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
