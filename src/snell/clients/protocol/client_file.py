"""
Read the file of a client, `clients/<name>.toml`:

    title, about          its name, and what is unusual about it
    capabilities          what the tables below do not show, such as `native`
    [quirks]              texts by their source
    [protocol]            the fields of `ClientTable`, and `unanswered`: events whose answers the client ignores
    [protocol.tools]      by the client's name of a tool: Claude Code's name, or a `Tool`
    [protocol.answers]    by event: a list of answers that are as in Claude Code, an event with the same answers, or a
                          table: `claude` is such a list, and every other key is the JSON of an answer
    [install]             the fields of `Install`

`<reason>`, `<command>` and the like are filled in later: see `Slot` and `Placeholder`. In a reply, `specific` is
`hookSpecificOutput` with the event's name.
"""

import tomllib
from collections.abc import Mapping
from enum import Enum
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec import Struct, ValidationError, convert

from snell.clients.protocol.decode import decode_payload
from snell.clients.protocol.encode import encode_decision, encode_error
from snell.clients.protocol.table import ClientTable, Slot
from snell.model.decision import Decision
from snell.model.errors import ClientError, PayloadError
from snell.model.events import Event
from snell.model.installs import Install, Placeholder
from snell.model.protocols import Capabilities, Client, Quirk, Reply

Json = Mapping[str, Any]


def specific(fields: Json) -> Json:
    """Return fields inside `hookSpecificOutput`, under the client's own name of the event."""
    return {"hookSpecificOutput": {"hookEventName": Slot.EVENT, **fields}}


def _permission(decision: str) -> Json:
    return specific({"permissionDecision": decision, "permissionDecisionReason": Slot.REASON})


# Claude Code's answers at most events, and at those where they differ.
USUAL_ANSWERS: Mapping[str, Json] = {
    "deny": {"decision": "block", "reason": Slot.REASON},
    "note": specific({"additionalContext": Slot.NOTE}),
    "stop": {"continue": False, "stopReason": Slot.STOP},
    "tell": {"systemMessage": Slot.TELL},
}
CLAUDE_ANSWERS: Mapping[str, Mapping[str, Json]] = {
    "PreToolUse": {
        "deny": _permission("deny"),
        "ask": _permission("ask"),
        "allow": _permission("allow"),
        "rewrite": specific({"updatedInput": Slot.INPUT}),
    },
    "PermissionRequest": {
        "deny": specific({"decision": {"behavior": "deny", "message": Slot.REASON}}),
        "allow": specific({"decision": {"behavior": "allow"}}),
    },
}
# Answers that are not JSON.
NAMED_FORMS: Mapping[str, dict[str, Any]] = {
    "exit_2": {"stderr": Slot.REASON, "exit_code": 2},
    "text": {"text": Slot.NOTE},
}

_SHELL: Json = {"type": "command", "command": Placeholder.COMMAND, "timeout": Placeholder.SECONDS}
TEMPLATES: Mapping[str, Json] = {
    "shell": _SHELL,
    # As Claude Code nests it: a matcher, and the list of hooks that it applies to.
    "group": {"matcher": Placeholder.MATCHER, "hooks": [_SHELL]},
    "stdio": {"type": "stdio", "command": Placeholder.PROGRAM, "args": Placeholder.ARGUMENTS},
}
HOOK_FORMS: Mapping[str, dict[str, Any]] = {
    "groups": {"name": "groups", "layout": "lists", "entry": TEMPLATES["group"]},
    # Copilot CLI and VS Code read the same files, so the commands in them name one client.
    "copilot_file": {
        "name": "copilot",
        "layout": "files",
        "entry": _SHELL,
        "files": {"": {"version": 1, "hooks": Placeholder.HOOKS}},
        "called_as": "copilot",
    },
    "plugin": {"name": "bridge", "layout": "plugin"},
}


FOLDER = Path(__file__).parent.parent


class ClientFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of a client's file."""

    title: str
    about: str
    capabilities: dict[str, bool] = {}
    quirks: dict[str, list[str]] = {}
    protocol: dict[str, Any] | None = None
    install: dict[str, Any] = {}


@cache
def read_client(name: str) -> Client:
    """Return the client that `clients/<name>.toml` describes. Raises ClientError for an invalid file."""
    path = FOLDER / f"{name}.toml"
    try:
        return _client(name, convert(tomllib.loads(path.read_text(encoding="utf-8")), ClientFile))
    except (tomllib.TOMLDecodeError, ValidationError, KeyError) as error:
        advice = f"correct it; {__name__} says what may be in it"
        raise ClientError(f"the table is invalid: {error}", where=f"`{path}`", advice=advice) from None


def _client(name: str, file: ClientFile) -> Client:
    title = file.title
    install = _install(name, {"title": title, **file.install})
    table = _table(name, title, file.protocol) if file.protocol else None
    return Client(
        name=name,
        title=title,
        about=file.about.strip(),
        capabilities=_capabilities(table, install, file.capabilities),
        quirks=tuple(Quirk(text, source) for source, texts in file.quirks.items() for text in texts),
        install=install,
        table=table,
        decode=partial(decode_payload, table) if table else partial(_refuse_payload, title),
        encode=partial(encode_decision, table) if table else _no_reply,
        encode_failure=partial(encode_error, table) if table else _exit_code,
    )


def _capabilities(table: ClientTable | None, install: Install, stated: Mapping[str, bool]) -> Capabilities:
    """Return what the client can do: what its tables say, and what its file states itself."""
    answers = table.answers if table else {}
    events = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop")
    before, after, prompt, end = (answers.get(event) for event in events)
    found = {
        "hooks": install.form is not None,
        "native": False,
        "plugin": install.form is not None and install.form.layout == "plugin",
        "deny": bool(before and before.deny),
        "ask": bool(before and before.ask),
        # A rewrite that also approves the call is only sent with an approval, so it is not a capability.
        "rewrite": bool(table and before and before.rewrite and not table.rewrite_allows),
        "output": bool(after and (after.rewrite or after.deny_replaces)),
        "note": any(each.note for each in answers.values()),
        "stop": bool(end and end.deny),
        "prompt_block": bool(prompt and prompt.deny),
        "mcp": bool(install.mcp),
        "rules": bool(install.rules),
    }
    return convert({**found, **stated}, Capabilities)


def _table(name: str, title: str, given: Mapping[str, Any]) -> ClientTable:
    values = {**given, "name": name, "title": title}
    values["tools"] = {each: _tool(tool) for each, tool in given.get("tools", {}).items()}
    rows = given.get("answers", {}) | {event: [] for event in values.pop("unanswered", ())}
    values["answers"] = {event: _answers(event, rows) for event in rows}
    values["neutral"] = _form(given["neutral"]) if "neutral" in given else {}
    if given.get("adjust"):
        values["adjust"] = import_module(f"snell.clients.{name}").adjust
    return convert(values, ClientTable)


def _tool(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


def _answers(event: str, rows: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers at one event: a text is an event with the same ones, a list those as in Claude Code."""
    row = rows[rows[event]] if isinstance(rows[event], str) else rows[event]
    row = {"claude": row} if isinstance(row, list) else row
    claude = {**USUAL_ANSWERS, **CLAUDE_ANSWERS.get(event, {})}
    own = {key: value if isinstance(value, bool) else _form(value) for key, value in row.items() if key != "claude"}
    return {**{key: {"json": claude[key]} for key in row.get("claude", ())}, **own}


def _form(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return NAMED_FORMS[value]
    return {"json": specific(_fill(value["specific"], Slot)) if "specific" in value else _fill(value, Slot)}


def _install(name: str, given: Mapping[str, Any]) -> Install:
    values = {**_fill(given, Placeholder), "name": name}
    form = values.get("form")
    if isinstance(form, str):
        values["form"] = HOOK_FORMS[form]
    elif form:
        values["form"] = {key: _template(value) if "entry" in key else value for key, value in form.items()}
    if "mcp_entry" in values:
        values["mcp_entry"] = _template(values["mcp_entry"])
    return convert(values, Install)


def _template(value: Any) -> Any:
    return TEMPLATES[value] if isinstance(value, str) else value


def _fill(value: Any, slots: type[Enum]) -> Any:
    """Return a value with the slots that its texts name."""
    if isinstance(value, dict):
        return {key: _fill(each, slots) for key, each in value.items()}
    if isinstance(value, list):
        return [_fill(each, slots) for each in value]
    is_slot = isinstance(value, str) and value.startswith("<") and value.endswith(">")
    return slots[value[1:-1].upper()] if is_slot else value


def _refuse_payload(title: str, payload: bytes, event: str = "") -> Event:
    raise PayloadError(f"{title} has no hooks, so this payload is not from it", advice="use `--client generic`")


def _no_reply(decision: Decision) -> Reply:
    return Reply()


def _exit_code(event: str, text: str, *, blocks: bool) -> Reply:
    return Reply(stderr=text.encode("utf-8", "replace"), exit_code=2 if blocks else 0)
