"""Many agents at once in one directory: no heartbeat is lost, and no agent is counted by another's."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from snell.daemon.wire import Request
from snell.store.sqlite import SqliteDatabase
from snell.system.version import our_version
from snell.work import agents, efforts, sessions
from tests.faults.counts import Figure, times
from tests.process.machine import CALL, Machine
from tests.wire_client import Reply, encode

pytest_plugins = ("tests.process.machine_fixtures",)

AT_ONCE = 16
EVENTS = 50


@times("number", 20, 200)
def test_every_call_of_every_agent_is_counted_for_its_own_effort(machine: Machine, number: int, figure: Figure):
    machine.write("snell.toml", 'packs = ["pack"]\n[pack.sessions]\nheartbeat = 100000\n')
    machine.hook()
    names = [f"agent-{each:03}" for each in range(number)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        begun = dict(zip(names, pool.map(lambda name: _begin(machine, name), names), strict=True))
        turns = [(name, turn) for turn in range(EVENTS) for name in names]
        began = time.monotonic()
        answers = list(pool.map(lambda turn: _fire(machine, turn[0], "PreToolUse", tool_use_id=f"{turn[1]}"), turns))
    taken = time.monotonic() - began
    database = SqliteDatabase(machine.home / "state/snell.db")
    found = {each["id"]: each for each in database.run(agents.list_)}
    open_ = {name: database.run(lambda tx, id_=effort: sessions.find(tx, id_)) for name, effort in begun.items()}
    figure(figure="agents at once", agents=number, events=len(answers), per_second=round(len(answers) / taken))
    assert {name: found[name]["effortId"] for name in names} == begun
    assert len(set(begun.values())) == number == len(database.run(efforts.list_))
    counted = {name: (each["clientSessionId"], each["heartbeatCounter"]) for name, each in open_.items()}
    assert counted == {name: (f"window of {name}", EVENTS) for name in names}
    assert all(answer.exit_code == 0 for answer in answers)
    database.close()


def _begin(machine: Machine, name: str) -> int:
    given = {"taskName": f"task of {name}", "skill": "work"}
    env = {"AGENT_ID": name, "CWD": str(machine.project)}
    (answer,) = machine.ask(json.dumps({"cmd": "commands.effort.start", "args": given, "env": env}))
    _fire(machine, name, "SessionStart", source="startup")
    id_: int = answer["data"]["effort"]["id"]
    return id_


def _fire(machine: Machine, name: str, event: str, **fields: Any) -> Reply:
    common = {"hook_event_name": event, "session_id": f"window of {name}", "transcript_path": f"/t/{name}"}
    payload = json.dumps({**CALL, "cwd": str(machine.project), **common, **fields}).encode()
    request = Request(
        version=f"1 {our_version()}",
        request_id=os.urandom(16).hex(),
        cwd=str(machine.project),
        argv=("--client", "claude-code"),
        environment=f"AGENT_ID={name}".encode(),
        stdin=payload,
    )
    return Reply.decode(machine.send_bytes(encode(request)))
