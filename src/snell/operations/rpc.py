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

from snell.model.catalogue import nearest
from snell.model.errors import SnellError
from snell.system.crash_report import write_report
from snell.system.json_output import json_bytes

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
    "SNELL_SUPERVISOR",
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

    def __init__(self, commands: Mapping[str, Command], find: Callable[[str], Command | None] = lambda _: None) -> None:
        self._commands = dict(commands)
        self._find = find  # commands that are loaded when somebody asks for them

    def call(self, line: bytes, send: Callable[[bytes], None]) -> "asyncio.Task[None] | None":
        """Answer one line through `send`: now, or by the task that is returned. One of the nets of the house."""
        if not line.strip():
            return None
        try:
            command, arguments, env = self._read(line)
            came = command(arguments, env)
            if isinstance(came, Awaitable):
                return asyncio.get_running_loop().create_task(_answer_later(came, send))
            send(_answered(came))
        except Exception as error:  # noqa: BLE001 - whatever happens, somebody is waiting for an answer
            send(_failed(error))
        return None

    def _read(self, line: bytes) -> tuple[Command, Arguments, dict[str, str]]:
        try:
            call = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise CallError("PARSE_ERROR", f"the line is not JSON: {error}") from None
        if not isinstance(call, dict) or not isinstance(call.get("cmd"), str):
            raise _invalid("cmd: must be text")
        command = self._commands.get(call["cmd"]) or self._find(call["cmd"])
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


async def _answer_later(came: Awaitable[Any], send: Callable[[bytes], None]) -> None:
    try:
        send(_answered(await came))
    except Exception as error:  # noqa: BLE001 - likewise
        send(_failed(error))


def _answered(data: Any) -> bytes:
    return json_bytes({"ok": True, "data": data}) + b"\n"


def _failed(error: Exception) -> bytes:
    """The caller's mistake in its own words; a mistake of ours with the place of the report."""
    message = str(error)
    if not isinstance(error, SnellError):
        path = write_report(error, ["call"])
        message = f"this is a bug of Snell's: {type(error).__name__}; the report is {path}"
    answer: dict[str, Any] = {"ok": False, "error": getattr(error, "code", "HANDLER_ERROR"), "message": message}
    if details := getattr(error, "details", None):
        answer["details"] = details
    return json_bytes(answer) + b"\n"
