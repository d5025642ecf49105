"""An agent called ann in a project: the real `snell-hook`, the command line, the socket and the stored rows."""

import json
from typing import Any, NamedTuple

import apsw

from tests.fork_server import run_snell
from tests.process.machine import Machine

# What an index computes of a text column, so that no row can be written: triggers of the file do not run in Snell.
REFUSED = "json('{{' || {})"


class Done(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        assert self.returncode == 0, self.stderr
        return json.loads(self.stdout)


class Desk:
    """An agent in a project. Every event comes through `snell-hook`, every call through the socket."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.project = machine.project

    def fire(self, event: str, agent: str = "ann", **fields: Any) -> dict[str, Any]:
        """Return the answer to one event; text that is no JSON is `text`."""
        given = {"session_id": "s", "transcript_path": "", "cwd": str(self.project), **fields}
        payload = json.dumps({"hook_event_name": event, **given}).encode()
        code, out, err = self.machine.hook(raw=payload, **({"AGENT_ID": agent} if agent else {}))
        assert (code, err) == (0, "")
        return json.loads(out) if out.startswith("{") else {"text": out} if out else {}

    def told(self, event: str, agent: str = "ann", **fields: Any) -> str:
        """Return what the model is told at an event."""
        answer = self.fire(event, agent, **fields)
        return str(answer.get("text") or answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def call(self, number: int, **fields: Any) -> dict[str, Any]:
        """Return the answer before a tool call; without other fields it reads a file."""
        given = {"tool_name": "Read", "tool_input": {"file_path": "a"}, "tool_use_id": f"t{number}", **fields}
        return dict(self.fire("PreToolUse", **given).get("hookSpecificOutput", {}))

    def verdict(self, number: int, **fields: Any) -> str:
        """Return the verdict on a tool call; empty for no opinion."""
        return str(self.call(number, **fields).get("permissionDecision", ""))

    def snell(self, *words: str, given: object = None, agent: str = "ann") -> Done:
        stdin = json.dumps(given).encode() if given is not None else b""
        env = self.machine.env(**({"AGENT_ID": agent} if agent else {}))
        return Done(*run_snell(*words, cwd=self.project, env=env, given=stdin))

    def ask(self, command: str, agent: str = "ann", /, **arguments: Any) -> dict[str, Any]:
        """Return the whole answer of the daemon to a call."""
        env = {"CWD": str(self.project), **({"AGENT_ID": agent} if agent else {})}
        return self.machine.ask(json.dumps({"cmd": command, "args": arguments, "env": env}))[0]

    def data(self, command: str, agent: str = "ann", /, **arguments: Any) -> Any:
        """Return the data of a call that succeeds."""
        answer = self.ask(command, agent, **arguments)
        assert answer["ok"], answer
        return answer["data"]

    def code(self, command: str, /, **arguments: Any) -> str:
        """Return the error code of a call that is refused."""
        return str(self.ask(command, **arguments)["error"])

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self.database() as database:
            return database.execute(sql).fetchall()

    def database(self) -> apsw.Connection:
        made = apsw.Connection(str(self.machine.home / "state" / "snell.db"))
        made.set_busy_timeout(20_000)
        made.execute("PRAGMA foreign_keys = ON")
        return made
