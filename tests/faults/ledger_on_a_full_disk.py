"""
A daemon with a ledger on a disk that fills up: `python -m tests.faults.ledger_on_a_full_disk FOLDER MODE`, in a
namespace of its own. Prints what a client was answered before, meanwhile and once there was room again.
"""

import json
import subprocess
import sys
from pathlib import Path

from snell.records import ledger
from snell.store.sqlite import SqliteDatabase
from tests.process.machine import Machine
from tests.waiting import wait_until

MAIL = "mcp__mail__send_email"


def main(path: str, mode: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", path], check=True)
    machine = Machine(Path(path))
    machine.write("snell.toml", f'[pack.ledger]\nmode = "{mode}"\n')
    try:
        print(json.dumps(told(machine)))
    finally:
        machine.stop()


def told(machine: Machine) -> dict[str, object]:
    before = asked(machine, "t1")
    answered(machine, "t1")
    wait_until(lambda: statuses(machine).get("s/t1") == "succeeded")
    ballast = fill_disk(machine.home / "ballast")
    meanwhile = [asked(machine, f"t{number}") for number in range(2, 6)]
    again = asked(machine, "t6", subject="t1")
    report = answered(machine, "t7")
    ballast.unlink()
    after = asked(machine, "t9")
    wait_until(lambda: "s/t9" in statuses(machine))
    database = SqliteDatabase(machine.home / "state" / "snell.db")
    damage = database.check()
    database.close()
    found = {"before": before, "meanwhile": sorted(set(meanwhile)), "again": again, "report": report, "after": after}
    known = statuses(machine)
    refused = {known[f"s/t{number}"] for number in range(2, 7) if f"s/t{number}" in known}  # as far as there was room
    return {**found, "ledger": [known["s/t1"], known["s/t9"]], "refused": sorted(refused), "damage": damage}


def asked(machine: Machine, number: str, subject: str = "") -> str:
    letter = {"to": "a@example.com", "subject": subject or number, "body": "text"}
    return machine.reason({"tool_name": MAIL, "tool_input": letter, "tool_use_id": number})


def answered(machine: Machine, number: str) -> str:
    letter = {"to": "a@example.com", "subject": number, "body": "text"}
    end = {"hook_event_name": "PostToolUse", "tool_response": {"id": "m1"}, "tool_use_id": number}
    code, out, err = machine.hook({"tool_name": MAIL, "tool_input": letter, **end})
    assert (code, err) == (0, "")
    message = json.loads(out)["systemMessage"] if out else ""
    # The user may also be warned that a hook could not write its row.
    return "\n".join(line for line in message.splitlines() if "failed and was ignored" not in line)


def fill_disk(path: Path) -> Path:
    """A file that takes the last byte of the disk."""
    with path.open("wb", buffering=0) as out:
        for size in (65_536, 1):
            try:
                while True:
                    out.write(bytes(size))
            except OSError:
                continue
    return path


def statuses(machine: Machine) -> dict[str, str]:
    database = SqliteDatabase(machine.home / "state" / "snell.db")
    try:
        calls = database.run(lambda tx: ledger.recent(tx), only_reads=True)
        return {call.tool_call_id: call.status for call in reversed(calls)}
    finally:
        database.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
