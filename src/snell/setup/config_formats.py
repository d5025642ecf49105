"""How hooks, MCP servers and rules are written for each kind of configuration file: one function per form."""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.clients import client_named, meaning_of
from snell.clients.protocol.plugin_files import plugin_text
from snell.model.catalogue import can_be_refused
from snell.model.installs import Edit, Entries, FileEdit, Format, Install, Lists, Member, Whole
from snell.setup.apply_edits import OUR_MARK

SERVER = "snell"
GONE = "snell-hook is not installed, and nothing may run unchecked (--fail-closed)"
# The events that a refusal without Snell is about; the empty one is a script for them all. A refused end of a turn
# would never end.
_BEFORE_TOOLS = ("pretool", "beforetool", "pre_")


class Programs(Struct, frozen=True):
    """Our programs by absolute path, or the shim by its name where others have it elsewhere."""

    shim: str
    snell: str
    is_windows: bool = False
    is_on_path: bool = False  # is there a `snell-hook` that a shell finds by its name?
    fails_closed: bool = False  # shall what cannot be checked be refused?

    def words(self, client: str, event: str = "") -> list[str]:
        """The command in words; the event is named where the payload may not name it."""
        named = ["--event", event] if event else []
        closed = ["--fail-closed"] if self.fails_closed and is_refusable(client, event) else []
        return [self.shim, "--client", client.replace("_", "-"), *named, *closed]

    def line(self, client: str, event: str = "", *, missing: str = "") -> str:
        """
        The command for a shell, which gives its process to ours instead of waiting beside it. `missing` is what the
        shell does where the shim is not: to many clients a command that is not found is a refusal of everything.
        """
        line = self.joined(self.words(client, event))
        return f"{_test(self.shim)} || {missing}; {line}" if missing and not self.is_windows else line

    def display(self, name: str) -> tuple[str, str]:
        """The command of ours that makes a status line or the like, and how a shell finds out whether it is there."""
        return self.joined([self.snell, name]), "" if self.is_windows else _test(self.snell)

    def joined(self, words: Sequence[str]) -> str:
        if self.is_windows:
            return " ".join(f'"{word}"' if " " in word else word for word in words)
        return f"exec {shlex.join(words)}"

    def for_shared_file(self) -> "Programs":
        """For files that others get too: the shim by its name, unless it could not be found by it even here."""
        return replace(self, shim="snell-hook") if self.is_on_path else self

    def server_words(self) -> list[str]:
        """The command of our MCP server: the bridge itself, which answers in a few milliseconds."""
        return [self.snell, "mcp"] if self.is_windows else [self.shim, "--bridge", "mcp"]

    def server(self, name: str = "command") -> dict[str, Any]:
        """The same as program and arguments."""
        program, *args = self.server_words()
        return {name: program, "args": args}


def is_refusable(client: str, event: str) -> bool:
    """Whether `--fail-closed` refuses an event that cannot be checked; a command for all events names none."""
    return not event or can_be_refused(meaning_of(client_named(client), event))


def _test(program: str) -> str:
    """Is the program there? Only what shells have built in: this runs on every event."""
    is_named = "/" not in program
    return f"command -v {program} >/dev/null" if is_named else f"[ -x {shlex.quote(program)} ]"


Form = Callable[[Install, str, Sequence[str], Programs], list[FileEdit]]


def hook_files(install: Install, path: str, events: Sequence[str], programs: Programs) -> list[FileEdit]:
    """The files that make this client call us."""
    return FORMS[install.form](install, path, events, programs)


def with_rewakes(install: Install, files: list[FileEdit], events: Sequence[str], programs: Programs) -> list[FileEdit]:
    """The same files, with a second call for each of these events that the client does not wait for."""
    if install.form != "exec_groups" or not events:
        return files
    shim, *args = replace(programs, fails_closed=False).words(install.name)
    entry = {"type": "command", "command": shim, "args": [*args, "--rewake"], "asyncRewake": True}
    (file,) = files
    (edit,) = file.edits
    assert isinstance(edit, Lists)
    second = {event: (*edit.lists[event], _group(install, event, entry)) for event in events}
    return [replace(file, edits=(replace(edit, lists={**edit.lists, **second}),))]


MCP_PURPOSE = "MCP server"


def mcp_file(install: Install, path: str, programs: Programs) -> FileEdit:
    """The file that names our MCP server."""
    at, value = MCP_FORMS[install.mcp_form](programs)
    return FileEdit(path, install.mcp_format, (Member(at, value),), MCP_PURPOSE)


def _exec_groups(install: Install, path: str, events: Sequence[str], programs: Programs) -> list[FileEdit]:
    return [
        _lists(install, path, ("hooks",), {event: _group(install, event, _exec(event, programs)) for event in events})
    ]


def _exec(event: str, programs: Programs) -> dict[str, Any]:
    """
    Return Claude Code's entry for an event, which it starts without a shell.

    With `onFailure` Claude Code refuses what cannot be checked also when the shim is gone or killed.
    """
    is_closed = programs.fails_closed and is_refusable("claude_code", event)
    shim, *args = replace(programs, fails_closed=is_closed).words("claude_code")
    return {"type": "command", "command": shim, "args": args, **({"onFailure": "block"} if is_closed else {})}


def _groups(install: Install, path: str, events: Sequence[str], programs: Programs) -> list[FileEdit]:
    return [_lists(install, path, ("hooks",), _shell_groups(install, events, programs))]


def _bare_groups(install: Install, path: str, events: Sequence[str], programs: Programs) -> list[FileEdit]:
    return [_lists(install, path, (), _shell_groups(install, events, programs))]


def _own_file(install: Install, path: str, events: Sequence[str], programs: Programs) -> list[FileEdit]:
    groups = _shell_groups(install, events, programs)
    return [_whole(path, _json({"hooks": {event: [group] for event, group in groups.items()}}))]


def _gemini(install: Install, path: str, events: Sequence[str], programs: Programs) -> list[FileEdit]:
    groups = {
        event: _group(
            install,
            event,
            {"type": "command", "name": SERVER, "command": _line(install, event, programs)},
            milliseconds=True,
        )
        for event in events
    }
    return [_lists(install, path, ("hooks",), groups)]


def _augment(install: Install, path: str, events: Sequence[str], programs: Programs) -> list[FileEdit]:
    folder = path.rpartition("/")[0]
    # Two scopes of one project have settings of their own, and share the program.
    script = f"{folder}/snell-hook-augment"
    text = f'#!/bin/sh\n# {OUR_MARK}\n{_line(install, "", programs)} "$@"\n'
    entry = {"type": "command", "command": script}
    groups = {event: _group(install, event, entry, milliseconds=True) for event in events}
    return [_lists(install, path, ("hooks",), groups), _whole(script, text, executable=True)]


def _copilot(install: Install, path: str, events: Sequence[str], programs: Programs) -> list[FileEdit]:
    # The file is Copilot's and VS Code's alike, so its commands name one client, whichever was set up first.
    entries = {
        event: [
            {
                "type": "command",
                "command": _line(install, event, programs, "copilot"),
                "timeout": _seconds(install, event),
            },
        ]
        for event in events
    }
    return [_whole(path, _json({"version": 1, "hooks": entries}))]


def _cursor(install: Install, path: str, events: Sequence[str], programs: Programs) -> list[FileEdit]:
    entries: dict[str, Any] = {}
    for event in events:
        entries[event] = {"command": _line(install, event, programs), "timeout": _seconds(install, event)}
        if event in ("stop", "subagentStop"):
            entries[event]["loop_limit"] = 5
    return [_lists(install, path, ("hooks",), entries, start={"version": 1})]


def _windsurf(install: Install, path: str, events: Sequence[str], programs: Programs) -> list[FileEdit]:
    entries = {event: {"command": _line(install, event, programs), "show_output": False} for event in events}
    return [_lists(install, path, ("hooks",), entries)]


def _antigravity(install: Install, path: str, events: Sequence[str], programs: Programs) -> list[FileEdit]:
    value: dict[str, Any] = {}
    for event in events:
        entry = {"type": "command", "command": _line(install, event, programs), "timeout": _seconds(install, event)}
        value[event] = [{"matcher": install.matcher, "hooks": [entry]} if _is_about_tools(event) else entry]
    return [FileEdit(path, install.format, (Member((SERVER,), value),), "hooks")]


def _kiro(install: Install, path: str, events: Sequence[str], programs: Programs) -> list[FileEdit]:
    hooks = [
        {
            "name": f"{SERVER}-{event}",
            "trigger": event,
            **({"matcher": install.matcher} if _is_about_tools(event) else {}),
            "action": {"type": "command", "command": _line(install, event, programs)},
            "timeout": _seconds(install, event),
            "enabled": True,
        }
        for event in events
    ]
    return [_whole(path, _json({"version": "v1", "hooks": hooks}))]


def _goose(install: Install, path: str, events: Sequence[str], programs: Programs) -> list[FileEdit]:
    groups = _shell_groups(install, events, programs)
    hooks = {"hooks": {event: [group] for event, group in groups.items()}}
    manifest = {"name": SERVER, "version": "1.0.0", "description": f"runs Snell's hooks; {OUR_MARK}"}
    return [_whole(f"{path}/plugin.json", _json(manifest)), _whole(f"{path}/hooks/hooks.json", _json(hooks))]


def _crush(install: Install, path: str, events: Sequence[str], programs: Programs) -> list[FileEdit]:
    entries = {
        event: {
            "name": SERVER,
            "matcher": install.matcher,
            "command": _line(install, event, programs),
            "timeout": _seconds(install, event),
        }
        for event in events
    }
    return [_lists(install, path, ("hooks",), entries)]


def _kimi(install: Install, path: str, events: Sequence[str], programs: Programs) -> list[FileEdit]:
    items = tuple(
        {
            "event": event,
            "matcher": install.matcher,
            "command": _line(install, event, programs),
            "timeout": _seconds(install, event),
        }
        for event in events
    )
    return [FileEdit(path, install.format, (Entries("hooks", items),), "hooks")]


def _scripts(install: Install, path: str, events: Sequence[str], programs: Programs) -> list[FileEdit]:
    def script(event: str) -> str:
        return f'#!/bin/sh\n# {OUR_MARK}\n{_line(install, event, programs)} "$@"\n'

    return [_whole(f"{path}/{event}", script(event), executable=True) for event in events]


def _bridge(install: Install, path: str, events: Sequence[str], programs: Programs) -> list[FileEdit]:
    """A plugin in the client's own language; which events it reports is written in it."""
    suffix = path.rpartition(".")[2]
    if not programs.fails_closed:
        return [_whole(path, f"// {OUR_MARK}\n{plugin_text(f'{install.name}.{suffix}', [programs.shim])}")]
    refused = [event for event in ("PreToolUse", "UserPromptSubmit") if is_refusable(install.name, event)]
    text = plugin_text(f"{install.name}.{suffix}", [programs.shim, "--fail-closed"], refused)
    return [_whole(path, f"// {OUR_MARK}\n{text}")]


FORMS: Mapping[str, Form] = {
    "exec_groups": _exec_groups,
    "groups": _groups,
    "bare_groups": _bare_groups,
    "own_file": _own_file,
    "gemini": _gemini,
    "augment": _augment,
    "copilot": _copilot,
    "cursor": _cursor,
    "windsurf": _windsurf,
    "antigravity": _antigravity,
    "kiro": _kiro,
    "goose": _goose,
    "crush": _crush,
    "kimi": _kimi,
    "scripts": _scripts,
    "bridge": _bridge,
}

Server = tuple[tuple[str, ...], dict[str, Any]]
MCP_FORMS: Mapping[str, Callable[[Programs], Server]] = {
    "mcpServers": lambda ours: (("mcpServers", SERVER), ours.server()),
    "typed": lambda ours: (("mcpServers", SERVER), {"type": "stdio", **ours.server()}),
    "copilot": lambda ours: (
        ("mcpServers", SERVER),
        {"type": "local", **ours.server(), "tools": ["*"]},
    ),
    "servers": lambda ours: (("servers", SERVER), {"type": "stdio", **ours.server()}),
    "context_servers": lambda ours: (("context_servers", SERVER), ours.server()),
    "mcp": lambda ours: (("mcp", SERVER), {"type": "stdio", **ours.server()}),
    "opencode": lambda ours: (
        ("mcp", SERVER),
        {"type": "local", "command": ours.server_words(), "enabled": True},
    ),
    "mcp_servers": lambda ours: (("mcp_servers", SERVER), ours.server()),
    "extensions": lambda ours: (
        ("extensions", SERVER),
        {"name": SERVER, "type": "stdio", **ours.server("cmd"), "envs": {}, "enabled": True},
    ),
}


def _line(install: Install, event: str, programs: Programs, client: str = "") -> str:
    return programs.line(client or install.name, event, missing=_missing(install, event, programs.fails_closed))


def _missing(install: Install, event: str, fails_closed: bool) -> str:
    """What a shell does without the shim: nothing, as this client wants it said, or a refusal where that was wished."""
    if fails_closed and event.lower().startswith(_BEFORE_TOOLS):
        return f"{{ echo '{install.refusal}'; exit 0; }}" if install.refusal else f"{{ echo '{GONE}' >&2; exit 2; }}"
    said = install.neutral.get(event, install.neutral.get("", ""))
    if said:
        return f"{{ echo '{said}'; exit 0; }}"
    return "" if install.ignores_missing else "exit 0"


def _shell_groups(install: Install, events: Sequence[str], programs: Programs) -> dict[str, Any]:
    return {
        event: _group(install, event, {"type": "command", "command": _line(install, event, programs)})
        for event in events
    }


def _group(install: Install, event: str, entry: Mapping[str, Any], *, milliseconds: bool = False) -> dict[str, Any]:
    """Handlers that share a matcher; on events that are not about tools there is nothing to match."""
    limit = _seconds(install, event) * (1000 if milliseconds else 1)
    timed = {**entry, "timeout": limit}
    matcher = {"matcher": install.matcher} if install.matcher is not None and _is_about_tools(event) else {}
    return {**matcher, "hooks": [timed]}


def _seconds(install: Install, event: str) -> int:
    return install.timeouts.get(event, install.timeout)


def _is_about_tools(event: str) -> bool:
    return event.lower().endswith(("tooluse", "tooluse_failure", "toolusefailure", "tool", "permissionrequest"))


def _lists(
    install: Install,
    path: str,
    at: tuple[str, ...],
    entries: Mapping[str, Any],
    start: Mapping[str, Any] | None = None,
) -> FileEdit:
    edit: Edit = Lists(at, {event: (entry,) for event, entry in entries.items()})
    return FileEdit(path, install.format, (edit,), "hooks", start or {})


def _whole(path: str, text: str, *, executable: bool = False) -> FileEdit:
    whole: Format = "whole"
    return FileEdit(path, whole, (Whole(text, executable),), "hooks")


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
