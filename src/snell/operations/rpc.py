"""
Remote procedure calls: one JSON object per line in, one per line out.

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
from snell.operations import operations_of
from snell.system.crash_report import write_report
from snell.system.json_output import json_bytes
from snell.work.errors import WorkError, invalid

Arguments = Mapping[str, Any]
Command = Callable[[Arguments, Mapping[str, str]], Any]

# Only these variables of the caller's environment are read.
_OF_AGENT = ("AGENT_ID", "AGENT_CLAIMS", "AGENT_TARGETED_CLAIMS", "AGENT_MANAGES", "AGENT_PARENT")
ENV_NAMES = ("CWD", "CLAUDE_PLUGIN_ROOT", "SNELL_SUPERVISOR", "TMUX", "TMUX_PANE", *_OF_AGENT)


class Rpc:
    """Answers calls of commands by name."""

    def __init__(self, commands: Mapping[str, Command], find: Callable[[str], Command | None] = lambda _: None) -> None:
        self._commands = dict(commands)
        self._find = find  # finds commands whose module is imported at the first call

    def call(self, line: bytes, send: Callable[[bytes], None]) -> "asyncio.Task[None] | None":
        """Answer one line through `send`: now, or by the returned task. Every exception becomes an error answer."""
        if not line.strip():
            return None
        try:
            command, arguments, env = self._read(line)
            result = command(arguments, env)
            if isinstance(result, Awaitable):
                return asyncio.get_running_loop().create_task(_answer_later(result, send))
            send(_success(result))
        except Exception as error:  # noqa: BLE001 - the caller must get an answer
            send(_failure(error))
        return None

    def _read(self, line: bytes) -> tuple[Command, Arguments, dict[str, str]]:
        try:
            call = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise WorkError("PARSE_ERROR", f"the line is not JSON: {error}") from None
        if not isinstance(call, dict) or not isinstance(call.get("cmd"), str):
            raise invalid("cmd: must be text")
        command = self._commands.get(call["cmd"]) or self._find(call["cmd"])
        if command is None:
            topic = operations_of(call["cmd"].partition(".")[0])
            near = nearest(call["cmd"], [*self._commands, *(each.name for each in topic)])
            hint = f"; did you mean `{near}`?" if near else ""
            raise WorkError("UNKNOWN_COMMAND", f"unknown command `{call['cmd'][:80]}`{hint}")
        arguments, env = ({} if call.get(name) is None else call[name] for name in ("args", "env"))
        if not isinstance(arguments, dict):
            raise invalid("args: must be an object")
        if not isinstance(env, dict):
            raise invalid("env: must be an object")
        return command, arguments, {name: env[name] for name in ENV_NAMES if isinstance(env.get(name), str)}


async def _answer_later(result: Awaitable[Any], send: Callable[[bytes], None]) -> None:
    try:
        send(_success(await result))
    except Exception as error:  # noqa: BLE001 - likewise
        send(_failure(error))


def _success(data: Any) -> bytes:
    return json_bytes({"ok": True, "data": data}) + b"\n"


def _failure(error: Exception) -> bytes:
    """Return an error answer; for a bug in Snell with the path of the crash report."""
    message = str(error)
    if not isinstance(error, SnellError):
        path = write_report(error, ["call"])
        message = f"internal error (a bug in Snell): {type(error).__name__}; report: {path}"
    answer: dict[str, Any] = {"ok": False, "error": getattr(error, "code", "HANDLER_ERROR"), "message": message}
    if details := getattr(error, "details", None):
        answer["details"] = details
    return json_bytes(answer) + b"\n"
