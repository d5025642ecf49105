"""
A daemon on a disk that fills up, or is full before it starts: `python -m tests.faults.daemon_on_a_full_disk FOLDER
EVENTS [full]`, in a namespace of its own. Prints how many events were answered rightly, how many are on record once
there is room, and what was said.
"""

import json
import subprocess
import sys
from pathlib import Path

from tests.faults.ledger_on_a_full_disk import fill_disk
from tests.process.machine import Machine
from tests.waiting import wait_until

ROOM = "64m"


def main(path: str, events: str, *full: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", path], check=True)
    machine = Machine(Path(path))
    try:
        print(json.dumps((told_from_the_start if full else told)(machine, int(events))))
    finally:
        machine.stop()


def told(machine: Machine, events: int) -> dict[str, object]:
    machine.hook()
    wait_until(lambda: on_record(machine) == 1)
    ballast = fill_disk(machine.home / "ballast")
    replies = [machine.send({"tool_input": {"command": "bad"}, "tool_use_id": f"t{n}"}) for n in range(events)]
    right = sum(bool(reply) and b"not that" in reply.stdout for reply in replies)
    journal = machine.status()["journal"]
    machine.stop()
    ballast.unlink()
    machine.hook()
    wait_until(lambda: on_record(machine) >= events + 2)
    return {"answered": right, "on_record": on_record(machine) - 2, "said": journal["problem"], "lost": journal["lost"]}


def told_from_the_start(machine: Machine, events: int) -> dict[str, object]:
    ballast = fill_disk(machine.home / "ballast")
    replies = [machine.hook({"tool_input": {"command": "bad"}, "tool_use_id": f"t{n}"}) for n in range(events)]
    right = sum((code, "not that" in out, err) == (0, True, "") for code, out, err in replies)
    words = [sys.executable, "-m", "snell", "doctor", "--json"]
    doctor = subprocess.run(words, env=machine.env(), cwd=machine.project, capture_output=True, check=False)
    failed = [each for each in json.loads(doctor.stdout)["checks"] if each["status"] == "fail"]
    ballast.unlink()
    wait_until(lambda: on_record(machine) >= events)
    said = {each["name"]: f"{each['detail']}; {each['advice']}" for each in failed}
    return {
        "answered": right,
        "on_record": on_record(machine),
        "store": said.pop("store"),
        "others": list(said.values()),
    }


def on_record(machine: Machine) -> int:
    command = [sys.executable, "-m", "snell", "log", "--json", "-n", "10000"]
    return len(subprocess.run(command, env=machine.env(), capture_output=True, check=True).stdout.splitlines())


if __name__ == "__main__":
    main(*sys.argv[1:])
