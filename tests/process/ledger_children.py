"""
A process with a ledger, which ends itself where it is told: `python -m tests.process.ledger_children FOLDER STEP ...`.

A step is `before:ID`, `after:ID`, `failed:ID` or `start:SOURCE`. The verdict of each is printed when the answer would
leave, so before what follows it. DIE_AT names a point between two phases; only this program knows that variable.
"""

import json
import os
import signal
import sys
from pathlib import Path

from snell.model.events import event_from
from snell.records import crash_points
from tests.ledger_client import LETTER, MAIL, LedgerClient


def main(folder: str, *steps: str) -> None:
    crash_points.on_reached = _die if os.environ.get("DIE_AT") else None
    ledger_client = LedgerClient(Path(folder))
    for step in steps:
        what, _, id_ = step.partition(":")
        _tell(ledger_client, what, id_)
    print(json.dumps(ledger_client.statuses()))
    ledger_client.close()


def _tell(ledger_client: LedgerClient, what: str, id_: str) -> None:
    names = {"before": "PreToolUse", "after": "PostToolUse", "failed": "PostToolUseFailure", "start": "SessionStart"}
    fields = {
        "start": {"source": id_},
        "before": {},
        "after": {"tool_response": {"id": "m1"}},
        "failed": {"error": "timed out"},
    }[what]
    call = {} if what == "start" else {"tool_name": MAIL, "tool_input": LETTER, "tool_use_id": id_}
    event = event_from({"session_id": "s", "cwd": str(ledger_client.folder), **call, **fields}, names[what])
    work = ledger_client.runtime.prepare(event)
    decision = work.earlier or ledger_client.runtime.commit(work, ledger_client.runtime.run_to_end(work))
    print(decision.verdict, flush=True)
    ledger_client.runtime.after_reply(work, decision)
    ledger_client.runtime.executor.close()


def _die(point: str) -> None:
    if point == os.environ["DIE_AT"]:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
