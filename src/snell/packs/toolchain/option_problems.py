"""Check the options of this pack."""

from collections.abc import Iterator, Mapping
from typing import Any

from snell.model.catalogue import did_you_mean
from snell.packs.toolchain.toolchains import ACTIONS, toolchains

KEYS = ("files", "family", "commands", "before")


def option_problems(options: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the options, one sentence each."""
    given = options.get("toolchains", {})
    return [f"`toolchains`: `{name[:80]}`: {each}" for name, entry in given.items() for each in _entry_problems(entry)]


def _entry_problems(entry: Any) -> Iterator[str]:
    if not isinstance(entry, dict):
        yield "is not a table, so it is ignored; write `files` and `commands` under it"
        return
    for key in entry.keys() - set(KEYS):
        hint = did_you_mean(key, KEYS, f"the keys are {', '.join(KEYS)}")
        yield f"`{key[:80]}` is an unknown key; {hint}"
    files = entry.get("files")
    if not files or not (isinstance(files, str) or _are_texts(files)):
        yield "`files` does not name files that identify the toolchain, so it is ignored"
    families = {chain.family for chain in toolchains()}
    if entry.get("family", "") not in families:
        yield f"`family` must be one of {', '.join(sorted(families - {''}))}, or empty for any language"
    names = list(dict.fromkeys(chain.name for chain in toolchains()))
    if entry.get("before", "") not in ("", *names):
        yield f"`before` must be one of {', '.join(names)}; the toolchain is tried before all of them"
    yield from _command_problems(entry.get("commands"))


def _command_problems(commands: Any) -> Iterator[str]:
    if not isinstance(commands, dict) or not commands:
        yield "`commands` has no commands, so the toolchain is never used"
        return
    for job, command in commands.items():
        if job not in ACTIONS:
            hint = did_you_mean(job, ACTIONS, f"the jobs are {', '.join(ACTIONS)}")
            yield f"`commands`: unknown job `{job[:80]}`; {hint}"
        elif not isinstance(command, str) or not command.strip():
            yield f"`commands`: `{job}` is not a command"


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
