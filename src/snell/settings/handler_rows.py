"""Which handler an entry means, where its keys stand, and the handler row that they make."""

import os
import re
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.model.catalogue import nearest
from snell.model.hooks import Agent, Command, Handler, McpTool, Prompt, PythonFile, Webhook
from snell.settings.parse_types import Entry, Reading
from snell.settings.problems import InvalidValueError
from snell.settings.schema import (
    ENTRY,
    HANDLER_TYPES,
    HANDLER_WORDS,
    HANDLERS,
    HandlerRow,
    fold_spelling,
    handler_of_table,
    handler_of_type,
)
from snell.settings.value_tree import Node, noun

_WORD = re.compile(r"[A-Za-z0-9_.-]+")


class HandlerPart(Struct, frozen=True):
    """An entry taken apart: the handler's own table (if it has one) and everything else."""

    row: HandlerRow
    rest: dict[str, Node]
    table: dict[str, Node] | None = None
    is_quiet: bool = False  # the `shell` form: nothing on stdin, stdout not read, unless it says so

    def defaults_of(self, values: dict[str, Any]) -> dict[str, Any]:
        """What the form of the entry decides, written out, so that two forms never look the same."""
        if self.row.name != "command":
            return {}
        usual = not self.is_quiet
        return {name: values.get(name, usual) for name in ("pass_context", "parse_result")}


def handler_part(entry: Entry) -> HandlerPart:
    """The one handler of an entry. Raises WrongError when there is none, or more than one."""
    tables = [
        HandlerPart(row, {}, node.value, fold_spelling(name) == "shell")
        for name, node in entry.fields.items()
        if node.is_table and (row := handler_of_table(name))
    ]
    rest = {name: node for name, node in entry.fields.items() if not (node.is_table and handler_of_table(name))}
    named = _named_type(rest)
    parts = tables + _flat_parts(rest, named, has_table=bool(tables))
    names = [part.row.name for part in parts] + ([named.name] if named and parts and parts[0].row is not named else [])
    if len(names) > 1:
        raise InvalidValueError(f"the hook has two handlers: {' and '.join(names[:2])}", entry.line, "keep one of them")
    if not parts:
        raise _no_handler(entry)
    return replace(parts[0], rest=rest)


def _named_type(rest: dict[str, Node]) -> HandlerRow | None:
    node = next((node for name, node in rest.items() if ENTRY.is_named(name, "type")), None)
    if node is None:
        return None
    row = handler_of_type(node.value) if isinstance(node.value, str) else None
    if row is None:
        said = f"`{node.value[:80]}`" if isinstance(node.value, str) else noun(node.value)
        near = nearest(str(node.value)[:60], HANDLER_TYPES)
        advice = f"did you mean `{near}`?" if near else f"use one of {', '.join(HANDLER_TYPES)}"
        raise InvalidValueError(f"{said} is not a type of handler", node.line, advice)
    return row


def _flat_parts(rest: dict[str, Node], named: HandlerRow | None, *, has_table: bool) -> list[HandlerPart]:
    """The handlers whose keys stand in the entry itself; `type` decides about keys that several handlers have."""
    present = {fold_spelling(name) for name in rest}
    rows = [row for row in HANDLERS if any(fold_spelling(mark) in present for mark in row.marks)]
    if named:
        own = {fold_spelling(key.name) for key in named.keys}
        strangers = [row for row in rows if row is not named and not own.issuperset(map(fold_spelling, row.marks))]
        # With a table beside it, `type` only repeats what the table says.
        rows = ([named] if own & present or not has_table else []) + strangers
    is_quiet = any(ENTRY.is_named(name, "type") and node.value == "shell" for name, node in rest.items())
    return [HandlerPart(row, rest, None, is_quiet) for row in rows]


def _no_handler(entry: Entry) -> InvalidValueError:
    loose = next((node for name, node in entry.fields.items() if handler_of_table(name) and not node.is_table), None)
    if loose:
        return InvalidValueError("the handler must be a table", loose.line, "write its keys below [hooks.NAME]")
    for name, node in entry.fields.items():
        if not ENTRY.find(name) and (near := nearest(name[:60], HANDLER_WORDS)):
            return InvalidValueError(f"`{name[:80]}` is not a key of a hook", node.line, f"did you mean `{near}`?")
    return InvalidValueError("the hook has no handler", entry.line, "add a `command`, or one of the handler tables")


def handler_for(part: HandlerPart, values: dict[str, Any], reading: Reading) -> Handler:
    return _MAKERS[part.row.name](part, values, reading)


def json_type_name(handler: Handler) -> str:
    """A word that reminds people of what a handler does."""
    if isinstance(handler, Command):
        words = handler.command.split()
        text = os.path.basename(words[0]) if words else ""
    elif isinstance(handler, PythonFile):
        text = handler.function
    elif isinstance(handler, McpTool):
        text = handler.tool
    else:
        text = handler.kind
    found = _WORD.search(text)
    return found.group()[:40] if found else handler.kind


def full_path(text: str, folder: str) -> str:
    """A path of a settings file: `~` and relative paths are meant from the file's own folder."""
    return os.path.normpath(os.path.join(folder or os.sep, os.path.expanduser(text)))


def _command(part: HandlerPart, values: dict[str, Any], reading: Reading) -> Handler:
    defaults = part.defaults_of(values)
    return Command(
        values["command"],
        values.get("args"),
        **defaults,
        plugin_root=reading.plugin_root,
        written_for=values.get("written_for", ""),
        their_matcher=values.get("their_matcher", ""),
    )


def _webhook(_part: HandlerPart, values: dict[str, Any], _reading: Reading) -> Handler:
    return Webhook(
        values["url"],
        method=values.get("method", "POST"),
        headers=values.get("headers", {}),
        allowed_env=values.get("allowed_env", ()),
        secret_env=values.get("secret_env", ""),
        redact=values.get("redact", True),
    )


def _prompt(_part: HandlerPart, values: dict[str, Any], _reading: Reading) -> Handler:
    return Prompt(values["prompt"], values.get("model", ""), values.get("continue_on_block", False))


def _agent(_part: HandlerPart, values: dict[str, Any], _reading: Reading) -> Handler:
    return Agent(values["prompt"], values.get("model", ""))


def _mcp_tool(_part: HandlerPart, values: dict[str, Any], _reading: Reading) -> Handler:
    return McpTool(values["server"], values["tool"], values.get("input", {}))


def _python(_part: HandlerPart, values: dict[str, Any], reading: Reading) -> Handler:
    return PythonFile(full_path(values["file"], reading.folder), values["function"])


_MAKERS = {
    "command": _command,
    "webhook": _webhook,
    "prompt": _prompt,
    "agent": _agent,
    "mcp_tool": _mcp_tool,
    "python": _python,
}
