"""
Remote calls: one JSON object per line in, one per line out.

    {"cmd": "status", "args": {...}, "env": {...}}
    {"ok": true, "data": ...}     or     {"ok": false, "error": "UNKNOWN_COMMAND", "message": "...", "details": {...}}

A line that is not such an object gets an error and the connection stays usable.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from snell.machine.json_output import json_bytes
from snell.model.catalogue import nearest
from snell.model.errors import SnellError

Arguments = Mapping[str, Any]
Command = Callable[[Arguments, Mapping[str, str]], Any]

# Of the caller's environment only these names are taken.
ENV_NAMES = (
    "CWD",
    "AGENT_ID",
    "CLAUDE_PLUGIN_ROOT",
    "AGENT_CLAIMS",
    "AGENT_TARGETED_CLAIMS",
    "AGENT_MANAGES",
    "AGENT_PARENT",
)


class CallError(SnellError):
    """A call that cannot be answered; the code is for programs, the message for people."""

    id = "call"

    def __init__(self, code: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.details = dict(details or {})


class Rpc:
    """The commands that can be called, by name."""

    def __init__(self, commands: Mapping[str, Command]) -> None:
        self._commands = dict(commands)
        self._tasks: set[asyncio.Task[None]] = set()

    def call(self, line: bytes, send: Callable[[bytes], None]) -> None:
        """Answer one line."""
        if not line.strip():
            return
        try:
            command, arguments, env = self._read(line)
            came = command(arguments, env)
        except SnellError as error:
            send(_failed(error))
            return
        if isinstance(came, Awaitable):
            task = asyncio.ensure_future(self._answer_later(came, send))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            send(_answered(came))

    async def _answer_later(self, came: Awaitable[Any], send: Callable[[bytes], None]) -> None:
        try:
            send(_answered(await came))
        except SnellError as error:
            send(_failed(error))

    def _read(self, line: bytes) -> tuple[Command, Arguments, dict[str, str]]:
        try:
            call = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise CallError("PARSE_ERROR", f"the line is not JSON: {error}") from None
        if not isinstance(call, dict) or not isinstance(call.get("cmd"), str):
            raise _invalid("cmd: must be text")
        command = self._commands.get(call["cmd"])
        if command is None:
            near = nearest(call["cmd"], self._commands)
            hint = f"; did you mean `{near}`?" if near else ""
            raise CallError("UNKNOWN_COMMAND", f"there is no command `{call['cmd'][:80]}`{hint}")
        arguments, env = ({} if call.get(name) is None else call[name] for name in ("args", "env"))
        if not isinstance(arguments, dict):
            raise _invalid("args: must be an object")
        if not isinstance(env, dict):
            raise _invalid("env: must be an object")
        return command, arguments, {name: env[name] for name in ENV_NAMES if isinstance(env.get(name), str)}


def _invalid(issue: str) -> CallError:
    return CallError("VALIDATION_ERROR", f"the call is not valid: {issue}", {"issues": [issue]})


def _answered(data: Any) -> bytes:
    return json_bytes({"ok": True, "data": data}) + b"\n"


def _failed(error: SnellError) -> bytes:
    answer: dict[str, Any] = {"ok": False, "error": getattr(error, "code", "HANDLER_ERROR"), "message": str(error)}
    if details := getattr(error, "details", None):
        answer["details"] = details
    return json_bytes(answer) + b"\n"
