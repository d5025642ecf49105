"""Read the rules about tools: the user's files, then our own. They are read again when one of them changes."""

import os
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from snell.model.context import Context
from snell.model.errors import SettingsError
from snell.packs.ledger.published import Renewal
from snell.records.side_effects import Rule
from snell.system.files import FileError, read_capped

BASE = Path(__file__).with_name("policy.toml")
LARGEST = 1_000_000
_BASE = str(BASE)
_ONLY_BASE = (_BASE,)

Stamps = tuple[tuple[str, int, int], ...]


class Rules(Struct, frozen=True):
    """The current rules. With a `problem` they are the last good ones; a caller that must be sure checks it."""

    rules: tuple[Rule, ...]
    stamps: Stamps = ()
    problem: str = ""
    may_relaunch: bool = False  # a rule lets calls start again; such rules are rare
    renewed: tuple[Renewal, ...] = ()


class PolicyFile(Struct, frozen=True, forbid_unknown_fields=True):
    rule: tuple[Rule, ...] = ()
    renewed: tuple[Renewal, ...] = ()


MOST_KNOWN = 64  # sets of files
_known: dict[tuple[str, ...], Rules] = {}


def rules_for(context: Context) -> Rules:
    """Return the rules that apply: the user's files in their order, then our own."""
    paths = _paths(context)
    known, stamps = _known.get(paths), _stamps(paths[:-1])  # our own file does not change
    if known is not None and known.stamps == stamps:
        return known
    try:
        fresh = _merge_files([read_rules(Path(path)) for path in paths], stamps)
    except SettingsError as error:
        last = known or _merge_files([read_rules(BASE)])
        fresh = msgspec.structs.replace(last, stamps=stamps, problem=str(error))
    if len(_known) >= MOST_KNOWN:
        _known.clear()
    _known[paths] = fresh
    return fresh


def _merge_files(files: Sequence[PolicyFile], stamps: Stamps = ()) -> Rules:
    rules = tuple(rule for file in files for rule in file.rule)
    may_relaunch = any(rule.replay == "RELAUNCH" for rule in rules)
    return Rules(rules, stamps, "", may_relaunch, tuple(each for file in files for each in file.renewed))


def read_rules(path: Path) -> PolicyFile:
    """Return the rules of one file. Raises SettingsError with what is wrong and where."""
    try:
        text = read_capped(path, LARGEST).decode()
        table = _yaml(text) if path.suffix in (".yaml", ".yml") else tomllib.loads(text)
        found = msgspec.convert(table or {}, PolicyFile)
    except (OSError, FileError, ValueError, msgspec.ValidationError) as error:
        raise _error(path, str(error)) from None
    if path != BASE:
        _check_patterns(path, found)
    return found


def _check_patterns(path: Path, found: PolicyFile) -> None:
    import regex  # slow to import, and not needed for the base policy

    for id_, pattern in [*((rule.id, rule.tool) for rule in found.rule), *((r.id, r.command) for r in found.renewed)]:
        try:
            regex.compile(pattern)
        except regex.error as error:
            raise _error(path, f"rule `{id_}`: `{pattern}` is not a pattern: {error}") from None


def _paths(context: Context) -> tuple[str, ...]:
    """Return the files with rules; a file in the settings must exist, those beside the settings may."""
    named = context.options.get("policies")
    chosen = [os.path.expanduser(each) for each in named if isinstance(each, str)] if named else []
    defaults = [path for path in _default_paths(context.config) if os.access(path, os.F_OK)] if context.config else []
    return (*chosen, *defaults, _BASE) if chosen or defaults else _ONLY_BASE


@cache
def _default_paths(config: Path) -> tuple[str, ...]:
    return tuple(str(config / name) for name in ("ledger.toml", "ledger.yaml"))


def _stamps(paths: Sequence[str]) -> Stamps:
    found = []
    for path in paths:
        try:
            status = os.stat(path)
            found.append((path, status.st_mtime_ns, status.st_size))
        except (OSError, ValueError):  # the second for a path that cannot exist
            found.append((path, 0, -1))
    return tuple(found)


def _yaml(text: str) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise msgspec.ValidationError(" ".join(str(error).split())) from None


def _error(path: Path, what: str) -> SettingsError:
    return SettingsError(f"the ledger's rules cannot be used: {what}", where=f"`{path}`", advice="correct the file")
