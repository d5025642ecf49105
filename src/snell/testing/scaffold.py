"""Create the files of a new hook or pack from templates that work and have passing cases."""

import json
import keyword
import re
import shlex
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

import msgspec
from msgspec import Struct

from snell.model.catalogue import TURN_ENDS, EventRow, did_you_mean
from snell.model.errors import SnellError, file_error
from snell.settings.packs import MANIFEST
from snell.testing.case_event import case_event_from, checked_kind, event_row
from snell.testing.cases import ENDING

TEMPLATES = Path(__file__).with_name("templates")
ROLES = ("judges", "rewrites", "informs", "watches")
PACKS_FIRST_HOOK = "first_hook"
_REGISTRY_LINE = re.compile(r'    "(\w+)": \(.*\),\n')

Files = dict[Path, str]
_NEEDS = {"judges": {"deny"}, "rewrites": {"rewrite"}, "informs": {"note", "tell"}}


class Example(Struct, frozen=True):
    """What a new hook is about; `templates/examples.toml` describes the fields."""

    type: str
    asks: str
    yes: Mapping[str, str]
    no: Mapping[str, str]
    what: str
    why: str
    instead: str
    change: str = ""
    changed: Any = None
    parameter: str = "call"


class NewHook(Struct, frozen=True):
    """The checked description of a hook that is to be written."""

    name: str
    row: EventRow
    kind: str
    role: str

    @property
    def example(self) -> Example:
        """Return the example for the kind of tool, else for the event, else for its subject."""
        examples, row = _examples(), self.row
        if self.kind:
            return examples["kind"][self.kind]
        found = examples["event"].get(row.name) or examples["subject"].get(row.subject)
        return found or _any(row.matches or "example")

    @property
    def new_text(self) -> str:
        """Return the text that the hook writes into the event's field; empty if the example changes that field."""
        if self.row.rewrites == "tool_response":
            return f"hidden by {self.name}"
        has_change = self.example.change and (not self.kind or self.row.rewrites == "tool_input")
        return "" if has_change else f"changed by {self.name}"

    def event(self, fields: Mapping[str, str]) -> dict[str, str]:
        """Return the event of a case with these fields."""
        kind = {"kind": self.kind} if self.kind else {}
        response = {"response": "..."} if self.row.rewrites == "tool_response" else {}
        return {"on": self.row.name, **kind, **fields, **response}


def new_hook(name: str, event: str = "PreToolUse", kind: str = "", role: str = "") -> NewHook:
    """Check the options and fill in defaults. Raises SnellError."""
    row = event_row(event)
    about_tool = row.matches == "tool_name"
    if kind and not about_tool:
        raise SnellError(f"{row.name} has no tool, so it has no `--kind`", advice="leave it out")
    checked_kind(kind or "shell")
    return NewHook(checked_name(name), row, (kind or "shell") if about_tool else "", _role(role, row))


def checked_name(name: str, what: str = "function") -> str:
    """Return the name if it is valid for a file and a function, or a pack. Raises SnellError."""
    if name.isascii() and name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_"):
        return name
    better = "".join(char if char.isascii() and char.isalnum() else "_" for char in name).strip("_").lower()
    usable = better.isidentifier() and not keyword.iskeyword(better)
    advice = f"did you mean `{better}`?" if usable else "use letters, digits and `_`, starting with a letter"
    raise SnellError(f"`{name}` cannot be the name of a {what}", advice=advice)


def files_of_hook(hook: NewHook, folder: Path) -> Files:
    """Return the hook's file and its case file."""
    example, (effect, arguments, expected) = hook.example, _effect(hook)
    does, result = _WORDS[hook.role]
    values = {
        "name": hook.name,
        "role": hook.role,
        "declared": f'"{hook.row.name}", kind="{hook.kind}"' if hook.kind else f'"{hook.row.name}"',
        "imports": ", ".join([*sorted({effect, example.type} - {""}), hook.role]),
        "parameter": example.parameter,
        "type": example.type,
        "effect": effect,
        "asks": example.asks,
        "answer": "\n".join([f"{effect}(", *(f"            {each}," for each in arguments), "        )"]),
        "does": f"{does} {example.what}.",
        "why": f"It {example.why}.",
        "instead": f"{example.instead[0].upper()}{example.instead[1:]}.",
        "what": example.what,
        "yes": f"{example.what} {result}",
        "yes_event": _toml(hook.event(example.yes)),
        "yes_expect": _toml(expected),
        "no_event": _toml(hook.event(example.no)),
    }
    source = fill("watcher.py" if hook.role == "watches" else "hook.py", **values)
    return {folder / f"{hook.name}.py": source, folder / f"{hook.name}{ENDING}": fill("cases.toml", **values)}


_WORDS = {
    "judges": ("Denies", "is denied"),
    "rewrites": ("Changes", "is changed"),
    "informs": ("Adds a note about", "gets a note"),
    "watches": ("Logs", "is logged"),
}


def files_of_pack(name: str, folder: Path) -> Files:
    """Return the files of a pack with one hook and its cases."""
    return {folder / MANIFEST: fill("pack.toml", name=name), **files_of_hook(new_hook(PACKS_FIRST_HOOK), folder)}


def write_new(files: Files) -> None:
    """Write all files; none if one already exists. Raises SnellError."""
    for path in files:
        if path.exists() or path.is_symlink():
            raise SnellError(f"`{path}` already exists", advice="choose another name, or remove it first")
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise file_error(error, path) from None


def fill(template: str, **values: str) -> str:
    """Return the text of a template with these values."""
    return Template((TEMPLATES / f"{template}.template").read_text(encoding="utf-8")).substitute(values)


def fire_command(hook: NewHook) -> str:
    """Return a `snell fire` command that triggers the hook."""
    given = case_event_from(hook.event(hook.example.yes))
    words = ["snell", "fire", given.name]
    payload = dict(given.payload)
    input_ = payload.pop("tool_input", None)
    if given.tool == "Bash":
        words += ["--command", input_["command"]]
    elif given.tool:
        words += ["--tool", given.tool, "--input", json.dumps(input_)]
    if "prompt" in payload:
        words += ["--prompt", payload.pop("prompt")]
    for field, value in payload.items():
        words += ["--set", f"{field}={value}"]
    return shlex.join(words)


@cache
def _examples() -> dict[str, dict[str, Example]]:
    return msgspec.toml.decode((TEMPLATES / "examples.toml").read_bytes(), type=dict[str, dict[str, Example]])


def _any(field: str) -> Example:
    return Example(
        type="Event",
        parameter="event",
        asks=f'event.payload.get("{field}") == "example"',
        yes={field: "example"},
        no={field: "other"},
        what="the example",
        why="is only an example",
        instead="write what to do instead here",
    )


def _role(role: str, row: EventRow) -> str:
    fits = [each for each in ROLES if each == "watches" or _NEEDS[each] & row.can]
    if role and role not in ROLES:
        advice = did_you_mean(role, ROLES, f"use one of {', '.join(ROLES)}")
        raise SnellError(f"unknown role `{role}`", advice=advice)
    if role and role not in fits:
        raise SnellError(f"{row.name} does not support the role `{role}`", advice=f"use --role {' or '.join(fits)}")
    return role or next(each for each in ("judges", "informs", "rewrites", "watches") if each in fits)


def _effect(hook: NewHook) -> tuple[str, list[str], Any]:
    """Return the name of the hook's effect, its arguments as code, and what the first case expects."""
    example = hook.example
    about = f"{hook.name}: {example.what} {example.why}"
    if hook.role == "judges":
        return "Deny", [_toml(about), f"instead={_toml(example.instead)}"], {"deny": example.why}
    if hook.role == "rewrites":
        change = _toml(hook.new_text) if hook.new_text else example.change
        return "Rewrite", [change, f"because={_toml(about)}"], {"rewrite": hook.new_text or example.changed}
    if hook.role == "informs":
        # A note given when the agent stops would wait for the next prompt.
        effect = "Note" if "note" in hook.row.can and hook.row.name not in TURN_ENDS else "Tell"
        return effect, [_toml(f"{about}; {example.instead}")], {effect.lower(): example.why}
    return "", [], "no_opinion"


def _toml(value: Any) -> str:
    """Return a value as TOML on one line; a text is the same in Python."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def files_of_client(name: str, checkout: Path) -> Files:
    """Return the new files of a client: its table and a golden file. Raises SnellError outside a checkout."""
    clients = _registry(checkout).parent
    name = checked_name(name, "client")
    return {
        clients / f"{name}.toml": fill("client.toml", name=name, title=name.replace("_", " ").title()),
        checkout / "tests" / "golden" / name / "PreToolUse.json": fill("client_golden.json", name=name),
    }


def add_to_registry(name: str, checkout: Path) -> Path:
    """Add the client's line to the registry, in alphabetical order, and return the registry's path."""
    path = _registry(checkout)
    text = path.read_text(encoding="utf-8")
    lines = list(_REGISTRY_LINE.finditer(text))
    after = next((line.start() for line in lines if line[1] > name), lines[-1].end())
    path.write_text(f'{text[:after]}    "{name}": (),\n{text[after:]}', encoding="utf-8")
    return path


def _registry(checkout: Path) -> Path:
    path = checkout / "src" / "snell" / "clients" / "__init__.py"
    if not path.is_file():
        advice = "a client is part of Snell: run this command at the top of a clone of it"
        raise SnellError(f"`{checkout}` is not a checkout of Snell", advice=advice)
    return path
