"""What is wrong with what a user tells this pack."""

from collections.abc import Iterator, Mapping
from typing import Any

from snell.model.catalogue import nearest
from snell.packs.toolchain.toolchains import ACTIONS, TOOLCHAINS

KEYS = ("files", "family", "commands", "before")


def option_problems(options: Mapping[str, Any]) -> list[str]:
    given = options.get("toolchains", {})
    return [f"`toolchains`: `{name[:80]}`: {each}" for name, entry in given.items() for each in _of_entry(entry)]


def _of_entry(entry: Any) -> Iterator[str]:
    if not isinstance(entry, dict):
        yield "is no table, so it is left out; write `files` and `commands` under it"
        return
    for key in entry.keys() - set(KEYS):
        near = nearest(key, KEYS)
        yield f"`{key[:80]}` is not understood; " + (
            f"did you mean `{near}`?" if near else f"there are {', '.join(KEYS)}"
        )
    files = entry.get("files")
    if not files or not (isinstance(files, str) or _are_texts(files)):
        yield "`files` names no files by which it is recognised, so it is left out"
    families = {chain.family for chain in TOOLCHAINS}
    if entry.get("family", "") not in families:
        yield f"`family` is one of {', '.join(sorted(families - {''}))}, or empty for any language"
    names = list(dict.fromkeys(chain.name for chain in TOOLCHAINS))
    if entry.get("before", "") not in ("", *names):
        yield f"`before` is one of {', '.join(names)}; it is asked before all of them"
    yield from _of_commands(entry.get("commands"))


def _of_commands(commands: Any) -> Iterator[str]:
    if not isinstance(commands, dict) or not commands:
        yield "`commands` has no commands, so it answers for nothing"
        return
    for job, command in commands.items():
        if job not in ACTIONS:
            near = nearest(job, ACTIONS)
            hint = f"did you mean `{near}`?" if near else f"there are {', '.join(ACTIONS)}"
            yield f"`commands`: there is no job `{job[:80]}`; {hint}"
        elif not isinstance(command, str) or not command.strip():
            yield f"`commands`: `{job}` is no command"


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
