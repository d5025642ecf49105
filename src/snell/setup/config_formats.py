"""Write hooks and the MCP server in the form that each client's configuration takes."""

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.clients import canonical_event, client_named
from snell.model.catalogue import can_be_refused
from snell.model.installs import (
    ENTRY_NAME,
    OUR_MARK,
    FileEdit,
    HookForm,
    Install,
    ListEntries,
    Member,
    OwnFile,
    Placeholder,
    TomlTables,
)

MCP_PURPOSE = "MCP server"
PLAIN_COMMAND = 'const COMMAND = ["snell-hook"]'  # in a plugin, as it is in the package
MISSING_REFUSAL = "snell-hook is not installed, and nothing may run unchecked (--fail-closed)"
# Without Snell only these events are refused: a refused end of a turn would never end.
_BEFORE_TOOLS = ("pretool", "beforetool", "pre_")
_REFUSED = re.compile(r"(const REFUSED(?:: string\[\])? = )\[\]")


class Programs(Struct, frozen=True):
    """Snell's programs by absolute path, or `snell-hook` by its name in files that other machines share."""

    shim: str
    snell: str
    is_windows: bool = False
    is_on_path: bool = False  # a shell finds `snell-hook` by its name
    fails_closed: bool = False  # calls that cannot be checked are refused

    def words(self, client: str, event: str = "") -> list[str]:
        """Return `snell-hook` and its arguments; `event` is given where the payload may not name it."""
        named = ["--event", event] if event else []
        closed = ["--fail-closed"] if self.fails_closed and is_refusable(client, event) else []
        return [self.shim, "--client", client.replace("_", "-"), *named, *closed]

    def line(self, client: str, event: str = "", *, missing: str = "") -> str:
        """
        Return the shell command, with `exec` so that no shell stays beside it.

        `missing` is what the shell does if `snell-hook` is not installed: many clients take a command that is not found
        for a refusal of everything.
        """
        line = self.join(self.words(client, event))
        return f"{_shell_test(self.shim)} || {missing}; {line}" if missing and not self.is_windows else line

    def display(self, name: str) -> tuple[str, str]:
        """Return the command of a display such as the status line, and the shell test that it is installed."""
        return self.join([self.snell, name]), "" if self.is_windows else _shell_test(self.snell)

    def join(self, words: Sequence[str]) -> str:
        """Return a shell command from words."""
        if self.is_windows:
            return " ".join(f'"{word}"' if " " in word else word for word in words)
        return f"exec {shlex.join(words)}"

    def mcp_server(self) -> list[str]:
        """Return the command of Snell's MCP server: `snell-hook` as a bridge, which starts in a few milliseconds."""
        return [self.snell, "mcp"] if self.is_windows else [self.shim, "--bridge", "mcp"]


def is_refusable(client: str, event: str) -> bool:
    """Return whether `--fail-closed` can refuse this event; `event` is empty in a command for all events."""
    return not event or can_be_refused(canonical_event(client_named(client), event))


def hook_files(
    install: Install, path: str, events: Sequence[str], programs: Programs, late_events: Sequence[str] = ()
) -> list[FileEdit]:
    """
    Return the files that make this client call Snell.

    For `late_events` there is a second call that the client does not wait for, if it takes one.
    """
    if install.form is None:
        return []
    return _LAYOUTS[install.form.layout](_HookFiles(install, install.form, path, events, programs, late_events))


def mcp_file(install: Install, path: str, programs: Programs) -> FileEdit:
    """Return the file that names Snell's MCP server."""
    program, *arguments = argv = programs.mcp_server()
    values = {Placeholder.PROGRAM: program, Placeholder.ARGUMENTS: arguments, Placeholder.ARGV: argv}
    edit = Member((*install.mcp_at, ENTRY_NAME), _fill(install.mcp_entry, values))
    return FileEdit(path, install.mcp_format, (edit,), MCP_PURPOSE)


def command_file(install: Install, path: str) -> FileEdit:
    """Return the file that makes `/harness` a command of the client; Snell's hooks then see it as a prompt."""
    about = "Work on an objective until it is done"
    if path.endswith(".toml"):
        text = f'# {OUR_MARK}\ndescription = "{about}"\nprompt = "{install.command_text}"\n'
    else:
        head = f"description: {about} ({OUR_MARK})\nargument-hint: OBJECTIVE"
        if path.endswith("SKILL.md"):  # for the user alone: a model that reads it would start nothing
            head = f"name: harness\n{head}\ndisable-model-invocation: true"
        text = f"---\n{head}\n---\n{install.command_text}\n"
    return FileEdit(path, "own file", (OwnFile(text),), "command `/harness`")


def plugin_text(file: str, command: Sequence[str] = ("snell-hook",), refused: Sequence[str] = ()) -> str:
    """Return a plugin such as `opencode.js` that runs this command; without it, the plugin refuses events `refused`."""
    text = files("snell.clients").joinpath("plugin_files", file).read_text(encoding="utf-8")
    text = _REFUSED.sub(lambda found: f"{found[1]}{json.dumps(list(refused))}", text, count=1)
    return text.replace(PLAIN_COMMAND, f"const COMMAND = {json.dumps(list(command))}", 1)


class _HookFiles(Struct, frozen=True):
    """Builds the hook files of one client."""

    install: Install
    form: HookForm
    path: str
    events: Sequence[str]
    programs: Programs
    late_events: Sequence[str] = ()

    def entries(self, event: str) -> list[Any]:
        """Return the entries of one event."""
        form = self.form
        is_other = form.entry_without_tool is not None and not _is_about_tools(event)
        template = {**((form.entry_without_tool if is_other else form.entry) or {}), **form.more.get(event, {})}
        is_late = form.late_entry is not None and event in self.late_events
        return [_fill(each, self._values(event)) for each in (template, *([form.late_entry] if is_late else []))]

    def command(self, event: str) -> str:
        client, closed = self.form.called_as or self.install.name, self.programs.fails_closed
        return self.programs.line(client, event, missing=_without_snell(self.install, event, fails_closed=closed))

    def script(self, event: str = "") -> str:
        """Return a script that runs `snell-hook`; without an event it is for all events."""
        return f'#!/bin/sh\n# {OUR_MARK}\n{self.command(event)} "$@"\n'

    @property
    def script_path(self) -> str:
        """Return where the script is: two scopes of a project have settings of their own, and share it."""
        return f"{self.path.rpartition('/')[0]}/{self.form.script}"

    def _values(self, event: str) -> dict[Placeholder, Any]:
        install = self.install
        is_closed = self.programs.fails_closed and is_refusable(install.name, event)
        program, *arguments = replace(self.programs, fails_closed=is_closed).words(install.name)
        late = replace(self.programs, fails_closed=False).words(install.name)[1:]
        seconds = install.timeouts.get(event, install.timeout)
        return {
            Placeholder.COMMAND: self.command(event),
            Placeholder.PROGRAM: program,
            Placeholder.ARGUMENTS: arguments,
            Placeholder.LATE_ARGUMENTS: [*late, "--rewake"],
            Placeholder.ON_FAILURE: "block" if is_closed else None,
            Placeholder.SCRIPT: self.script_path,
            Placeholder.EVENT: event,
            Placeholder.EVENT_ENTRY_NAME: f"{ENTRY_NAME}-{event}",
            Placeholder.MATCHER: install.matcher if _is_about_tools(event) else None,
            Placeholder.SECONDS: seconds,
            Placeholder.MILLISECONDS: seconds * 1000,
        }


def _lists(plan: _HookFiles) -> list[FileEdit]:
    form = plan.form
    edit = ListEntries(form.at, {event: tuple(plan.entries(event)) for event in plan.events})
    file = FileEdit(plan.path, plan.install.format, (edit,), "hooks", form.start)
    return [file, _own_file(plan.script_path, plan.script(), executable=True)] if form.script else [file]


def _member(plan: _HookFiles) -> list[FileEdit]:
    edit = Member(plan.form.at, {event: plan.entries(event) for event in plan.events})
    return [FileEdit(plan.path, plan.install.format, (edit,), "hooks")]


def _tables(plan: _HookFiles) -> list[FileEdit]:
    items = tuple(entry for event in plan.events for entry in plan.entries(event))
    return [FileEdit(plan.path, plan.install.format, (TomlTables(plan.form.at[0], items),), "hooks")]


def _files(plan: _HookFiles) -> list[FileEdit]:
    hooks = {event: plan.entries(event) for event in plan.events}
    values = {Placeholder.HOOKS: hooks, Placeholder.HOOK_LIST: [each for entries in hooks.values() for each in entries]}
    contents = {name: _fill(template, values) for name, template in plan.form.files.items()}
    return [
        _own_file(
            f"{plan.path}/{name}" if name else plan.path, json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        )
        for name, content in contents.items()
    ]


def _scripts(plan: _HookFiles) -> list[FileEdit]:
    return [_own_file(f"{plan.path}/{event}", plan.script(event), executable=True) for event in plan.events]


def _plugin(plan: _HookFiles) -> list[FileEdit]:
    """Return a plugin in the client's own language; the plugin itself says which events it reports."""
    name, is_closed = plan.install.name, plan.programs.fails_closed
    refused = [event for event in ("PreToolUse", "UserPromptSubmit") if is_closed and is_refusable(name, event)]
    command = [plan.programs.shim, *(["--fail-closed"] if is_closed else [])]
    text = plugin_text(f"{name}.{plan.path.rpartition('.')[2]}", command, refused)
    return [_own_file(plan.path, f"// {OUR_MARK}\n{text}")]


_LAYOUTS: Mapping[str, Callable[[_HookFiles], list[FileEdit]]] = {
    "lists": _lists,
    "member": _member,
    "tables": _tables,
    "files": _files,
    "scripts": _scripts,
    "plugin": _plugin,
}


def _fill(template: Any, values: Mapping[Placeholder, Any]) -> Any:
    """Return the template with its placeholders replaced; a key without a value is left out."""
    if isinstance(template, Placeholder):
        return values[template]
    if isinstance(template, Mapping):
        filled = {key: _fill(value, values) for key, value in template.items()}
        return {key: value for key, value in filled.items() if value is not None}
    return [_fill(each, values) for each in template] if isinstance(template, list) else template


def _without_snell(install: Install, event: str, *, fails_closed: bool) -> str:
    """Return what a shell does without `snell-hook`: no opinion in the client's form, or a refusal if fail-closed."""
    if fails_closed and event.lower().startswith(_BEFORE_TOOLS):
        if install.refusal:
            return f"{{ echo '{install.refusal}'; exit 0; }}"
        return f"{{ echo '{MISSING_REFUSAL}' >&2; exit 2; }}"
    neutral = install.neutral.get(event, install.neutral.get("", ""))
    if neutral:
        return f"{{ echo '{neutral}'; exit 0; }}"
    return "" if install.ignores_missing else "exit 0"


def _shell_test(program: str) -> str:
    """Return a shell test that the program exists, of builtin commands only: it runs on every event."""
    is_named = "/" not in program
    return f"command -v {program} >/dev/null" if is_named else f"[ -x {shlex.quote(program)} ]"


def _is_about_tools(event: str) -> bool:
    return event.lower().endswith(("tooluse", "tooluse_failure", "toolusefailure", "tool", "permissionrequest"))


def _own_file(path: str, text: str, *, executable: bool = False) -> FileEdit:
    return FileEdit(path, "own file", (OwnFile(text, executable),), "hooks")
