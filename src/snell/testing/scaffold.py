"""Create the files of a new hook or pack from templates that work and have passing cases."""

import json
import keyword
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from snell.model.catalogue import CATALOGUE, TURN_ENDS, EventRow, canonical, nearest
from snell.model.errors import SnellError
from snell.model.tools import ALL_KINDS
from snell.settings.pack_manifest import MANIFEST
from snell.testing.case_errors import did_you_mean
from snell.testing.case_event import case_event_from
from snell.testing.cases import ENDING
from snell.testing.scaffold_examples import Example, example_for
from snell.testing.scaffold_templates import CASES, HOOK, PACK, WATCHER

ROLES = ("judges", "rewrites", "informs", "watches")
PACKS_FIRST_HOOK = "first_hook"

Files = dict[Path, str]


class NewHook(msgspec.Struct, frozen=True):
    """The checked description of a hook that is to be written."""

    name: str
    row: EventRow
    kind: str
    role: str

    @property
    def example(self) -> Example:
        return example_for(self.row, self.kind)

    @property
    def can_note(self) -> bool:
        """Return whether a note is useful: one given when the agent stops would wait for the next prompt."""
        return "note" in self.row.can and self.row.name not in TURN_ENDS

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
    row = _row(event)
    about_tool = row.matches == "tool_name"
    if kind and not about_tool:
        raise SnellError(f"{row.name} has no tool, so it has no `--kind`", advice="leave it out")
    if kind and kind not in ALL_KINDS:
        advice = did_you_mean(kind, ALL_KINDS, f"use one of {', '.join(ALL_KINDS)}")
        raise SnellError(f"unknown tool kind `{kind}`", advice=advice)
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
    return {folder / f"{hook.name}.py": _source(hook), folder / f"{hook.name}{ENDING}": _cases(hook)}


def files_of_pack(name: str, folder: Path) -> Files:
    """Return the files of a pack with one hook and its cases."""
    return {folder / MANIFEST: PACK.format(name=name), **files_of_hook(new_hook(PACKS_FIRST_HOOK), folder)}


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
            raise SnellError(f"`{path}` cannot be written: {error.strerror}") from None


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


def _row(event: str) -> EventRow:
    row = CATALOGUE.get(canonical(event))
    if row is None:
        near = nearest(event)
        raise SnellError(f"unknown event `{event}`", advice=f"did you mean `{near}`?" if near else "")
    return row


def _role(role: str, row: EventRow) -> str:
    fits = [each for each in ROLES if _fits(each, row)]
    if role and role not in ROLES:
        advice = did_you_mean(role, ROLES, f"use one of {', '.join(ROLES)}")
        raise SnellError(f"unknown role `{role}`", advice=advice)
    if role and role not in fits:
        raise SnellError(f"{row.name} does not support the role `{role}`", advice=f"use --role {' or '.join(fits)}")
    return role or next(each for each in ("judges", "informs", "rewrites", "watches") if each in fits)


def _fits(role: str, row: EventRow) -> bool:
    needs = {"judges": {"deny"}, "rewrites": {"rewrite"}, "informs": {"note", "tell"}}
    return role == "watches" or bool(needs[role] & row.can)


def _source(hook: NewHook) -> str:
    example = hook.example
    effect, answer = _answer(hook)
    names = sorted({effect, example.type} - {""})
    return (WATCHER if hook.role == "watches" else HOOK).format(
        name=hook.name,
        role=hook.role,
        declared=f'"{hook.row.name}", kind="{hook.kind}"' if hook.kind else f'"{hook.row.name}"',
        imports=", ".join([*names, hook.role]),
        parameter=example.parameter,
        type=example.type,
        effect=effect,
        asks=example.asks,
        answer=answer,
        does=f"{_DOES[hook.role]} {example.what}.",
        why=f"It {example.why}.",
        instead=f"{example.instead[0].upper()}{example.instead[1:]}.",
        what=example.what,
    )


_DOES = {"judges": "Denies", "rewrites": "Changes", "informs": "Adds a note about", "watches": "Logs"}


def _answer(hook: NewHook) -> tuple[str, str]:
    """Return the hook's effect, as a name and as code."""
    example = hook.example
    about = f"{hook.name}: {example.what} {example.why}"
    if hook.role == "judges":
        return "Deny", _call("Deny", _text(about), f"instead={_text(example.instead)}")
    if hook.role == "rewrites":
        change = _text(hook.new_text) if hook.new_text else example.change
        return "Rewrite", _call("Rewrite", change, f"because={_text(about)}")
    if hook.role == "informs":
        effect = "Note" if hook.can_note else "Tell"
        return effect, _call(effect, _text(f"{about}; {example.instead}"))
    return "", ""


def _call(name: str, *arguments: str) -> str:
    return "\n".join([f"{name}(", *(f"            {each}," for each in arguments), "        )"])


def _cases(hook: NewHook) -> str:
    example = hook.example
    return CASES.format(
        name=hook.name,
        yes=f"{example.what} {_RESULTS[hook.role]}",
        yes_event=_toml(hook.event(example.yes)),
        yes_expect=_toml(_expectation(hook)),
        no_event=_toml(hook.event(example.no)),
    )


_RESULTS = {"judges": "is denied", "rewrites": "is changed", "informs": "gets a note", "watches": "is logged"}


def _expectation(hook: NewHook) -> Any:
    example = hook.example
    if hook.role == "judges":
        return {"deny": example.why}
    if hook.role == "rewrites":
        return {"rewrite": hook.new_text or example.changed}
    if hook.role == "informs":
        return {"note" if hook.can_note else "tell": example.why}
    return "no_opinion"


def _toml(value: Any) -> str:
    """Return a value as TOML on one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
