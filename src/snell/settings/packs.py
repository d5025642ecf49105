"""
Read packs, which are folders of hooks with a `pack.toml`, and load the built-in ones that are enabled.

    name    = "tidy"
    purpose = "keep the working tree clean"
    enabled = true                 # whether its hooks run unless the settings disable it
    [options]                      # the options of its hooks
"""

import itertools
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any
from weakref import finalize

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from snell.model.catalogue import did_you_mean
from snell.model.errors import SettingsError
from snell.model.hooks import Hook, Scope, Source
from snell.model.protocols import Database
from snell.sdk.decorators import context_with, declarations, declared_in, hooks_of
from snell.settings.read_toml import read_toml
from snell.settings.schema import TABLES, Spellings
from snell.settings.value_check import read_keys
from snell.settings.value_tree import InvalidValueError, Node, text_of
from snell.system.files import FileError, read_capped, text_or_nothing
from snell.system.lazy_regex import lazy_regex

MANIFEST = "pack.toml"
LONGEST_MANIFEST = 1_000_000
Options = Mapping[str, Any]
OPTION_PROBLEMS = "option_problems"  # the module of a pack that checks its options
OFF = "off"  # the module of a pack with the hooks that run while the user has disabled it
SERVICE = "service"  # the module of a pack with `serve(database, options)`, which the daemon calls when it starts
FOLDER = Path(__file__).parent.parent / "packs"
_KEYS = Spellings(TABLES.pack)
_NAME = lazy_regex(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


class Pack(Struct, frozen=True):
    """The content of a `pack.toml`, and the files with the hooks."""

    name: str
    purpose: str = ""
    enabled: bool = True
    options: dict[str, Any] = {}
    choices: dict[str, list[str]] = {}
    files: tuple[Path, ...] = ()


def read_pack(folder: Path) -> Pack:
    """Read the pack in this folder. Raises SettingsError with file and line."""
    path = folder / MANIFEST
    try:
        values = _values(_table(path), folder)
    except InvalidValueError as wrong:
        raise SettingsError(wrong.message, where=f"{path}:{wrong.line}", advice=wrong.advice) from None
    return Pack(**values, files=hook_files(folder))


def hook_files(folder: Path) -> tuple[Path, ...]:
    """Return the Python files of a folder that may have hooks; files such as `_shared.py` are left out."""
    try:
        found = [path for path in folder.iterdir() if path.suffix == ".py" and not path.name.startswith(("_", "."))]
    except OSError as error:
        raise SettingsError(f"the folder cannot be read: {error.strerror}", where=f"`{folder}`") from None
    return tuple(sorted(path for path in found if path.is_file()))


def _table(path: Path) -> Node:
    try:
        data = read_capped(path, LONGEST_MANIFEST)
    except (FileNotFoundError, NotADirectoryError):
        advice = "create one with `snell new pack NAME`"
        raise SettingsError(f"there is no {MANIFEST} in `{path.parent}`", advice=advice) from None
    except (OSError, FileError) as error:
        advice = "check what it is and its permissions"
        raise InvalidValueError(f"the file cannot be read: {error}", 1, advice) from None
    return read_toml(text_of(data)) or Node({}, 1)


def _values(table: Node, folder: Path) -> dict[str, Any]:
    values = read_keys(table, _KEYS, "a key of a pack")
    if "name" not in values:
        raise InvalidValueError("the pack has no `name`", 1, f'add name = "{folder.resolve().name}", for example')
    if not _NAME.fullmatch(values["name"]):
        line = next(node.line for spelled, node in table.value.items() if _KEYS.is_named(spelled, "name"))
        advice = "use letters, digits, `_` and `-`, and begin with a letter"
        raise InvalidValueError(f"`{values['name'][:80]}` cannot be the name of a pack", line, advice)
    return values


def builtin_hooks(settings: Mapping[str, Options], problems: list[str]) -> list[Hook]:
    """Return the hooks of all enabled packs; `settings` has the options of packs by name."""
    packs = builtin_packs()
    for name in settings.keys() - packs.keys():
        hint = did_you_mean(name, packs, f"use one of {', '.join(packs)}")
        problems.append(f"[pack.{name}]: there is no such pack; {hint}")
    hooks: list[Hook] = []
    for name, pack in packs.items():
        options = settings.get(name, {})
        if _is_enabled(pack, options, problems):
            hooks += pack_hooks(name, _check_options(pack, options, problems))
        elif options.get("enabled") is False and any(path.stem == OFF for path in pack.files):
            hooks += _load_hooks(name, b"{}", is_on=False)
    return hooks


def with_place(problem: str, files: Iterable[str]) -> str:
    """Return a problem of an option with the file and line of that option, or else of the pack's table."""
    table, option = problem.partition(":")[0], re.search(r"`(\w+)`", problem)
    for path in (each for each in files if each.endswith(".toml")):
        lines = [line.strip() for line in text_or_nothing(Path(path), LONGEST_MANIFEST).splitlines()]
        start = next((number for number, line in enumerate(lines, 1) if line.startswith(table[:-1])), 0)
        inside = itertools.takewhile(lambda line: not line.startswith("["), lines[start:]) if start else ()
        named = (start + number for number, line in enumerate(inside, 1) if option and line.startswith(option[1]))
        if start:
            return f"{path}:{next(named, start)}: {problem}"
    return problem


def start_services(settings: Mapping[str, Options], database: Database) -> None:
    """Start what enabled packs do in the daemon beside hooks."""
    for name, pack in builtin_packs().items():
        if _is_enabled(pack, settings.get(name, {}), []) and any(path.stem == SERVICE for path in pack.files):
            import_module(f"snell.packs.{name}.{SERVICE}").serve(database, options_in(name, settings, []))


def _is_enabled(pack: Pack, options: Options, problems: list[str]) -> bool:
    """Return whether a pack is on; a value that is neither true nor false is reported and left out."""
    given = options.get("enabled", pack.enabled)
    if not isinstance(given, bool):
        problems.append(f"[pack.{pack.name}]: `enabled` must be true or false; the default is used")
    return given if isinstance(given, bool) else pack.enabled


@cache
def builtin_packs() -> Mapping[str, Pack]:
    """Return the built-in packs by name. They are part of the program, so they are read once."""
    found = (_read(FOLDER / name) for name in sorted(os.listdir(FOLDER)) if os.path.isfile(FOLDER / name / MANIFEST))
    return {pack.name: pack for pack in found}


@cache
def _indexed_packs() -> Mapping[str, Any]:
    """Return what is known of the built-in packs without reading and importing them; Snell works without it."""
    try:
        from snell.settings.pack_index import current_packs
    except ModuleNotFoundError:
        return {}
    return current_packs(FOLDER)


def _read(folder: Path) -> Pack:
    """Read a manifest like `read_pack`, but without checks: the manifests of built-in packs are valid."""
    if known := _indexed_packs().get(folder.name):
        files = tuple(folder / name for name in sorted(known.sizes) if name.endswith(".py") and name[0] not in "_.")
        return msgspec.convert({**known.manifest, "files": files}, Pack)
    manifest = tomllib.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return msgspec.convert({**manifest, "files": hook_files(folder)}, Pack)


def pack_hooks(name: str, options: Options | None = None) -> tuple[Hook, ...]:
    """Return the hooks of one pack, with these options instead of its defaults."""
    pack = builtin_packs()[name]
    return _load_hooks(name, msgspec.json.encode(_merge_options(pack, options or {})))


def options_in(name: str, settings: Mapping[str, Options], problems: list[str]) -> Options:
    """Return the options of a pack, enabled or not: its defaults and those in the settings."""
    pack = builtin_packs()[name]
    return _merge_options(pack, _check_options(pack, settings.get(name, {}), problems))


def _merge_options(pack: Pack, given: Options) -> Options:
    """Return the defaults with the given options over them; tables are merged entry by entry."""
    own = pack.options
    tables = {
        name: {**own[name], **value}
        for name, value in given.items()
        if isinstance(value, Mapping) and isinstance(own.get(name), Mapping)
    }
    merged = {**own, **given, **tables}
    # An invalid choice becomes the last valid one, which is the strictest or does the least: a mistyped value must not
    # disable a guard without notice.
    mistyped = {name: known[-1] for name, known in pack.choices.items() if merged.get(name) not in known}
    return {**merged, **mistyped}


def is_builtin(path: Path) -> bool:
    """Whether this is the folder of a built-in pack, or a file in one."""
    return FOLDER in (path.absolute().parent, path.absolute().parent.parent)


def options_of(name: str, hooks: Iterable[Hook]) -> Options:
    """Return the options of a pack's hooks among these; its defaults when it has no hooks there."""
    made = (_OPTIONS[id(hook.handler)] for hook in hooks if id(hook.handler) in _OPTIONS)
    return next((options for pack, options in made if pack == name), builtin_packs()[name].options)


CACHED = 32  # sets of hooks, by pack and options
_OPTIONS: dict[int, tuple[str, Options]] = {}  # by handler; an entry is removed with its handler


@lru_cache(maxsize=CACHED)
def _load_hooks(name: str, options: bytes, is_on: bool = True) -> tuple[Hook, ...]:
    chosen = msgspec.json.decode(options)
    files = [path.stem for path in builtin_packs()[name].files if (path.stem == OFF) is not is_on]
    modules = (import_module(f"snell.packs.{name}.{stem}") for stem in files)
    known = _indexed_packs().get(name)
    imported = (hook for module in modules for hook in _hooks_of(module, name, chosen))
    hooks = tuple(known.hooks_in(files, name, chosen) if known else imported)
    for hook in hooks:
        _OPTIONS[id(hook.handler)] = (name, chosen)
        finalize(hook.handler, _OPTIONS.pop, id(hook.handler), None).atexit = False
    return hooks


def _hooks_of(module: Any, pack: str, options: Options) -> Iterable[Hook]:
    context = context_with(options)
    own = [
        function
        for function in declared_in(vars(module)).values()
        if function.__module__ == module.__name__
        and all(options.get(name) == value for each in declarations(function) for name, value in each.when.items())
    ]
    for hook in hooks_of(own, scope=Scope.PLUGIN, pack=pack, layer=f"pack:{pack}", supplies={"context": context}):
        yield replace(hook, source=Source(f"pack:{pack}", f"{module.__name__.replace('.', '/')}.py", 1))


def _check_options(pack: Pack, given: Options, problems: list[str]) -> dict[str, Any]:
    """Return the options that the pack has and whose type is right; other options are reported and left out."""
    good, found, known = {}, [], ("enabled", *pack.options)
    for name, value in ((name, value) for name, value in given.items() if name != "enabled"):
        default = pack.options.get(name)
        if name not in known:
            found.append(f"`{name}` is not an option of this pack; {did_you_mean(name, known, 'remove it')}")
        elif (choices := pack.choices.get(name)) and value not in choices:
            found.append(f"`{name}` must be one of {', '.join(choices)}; `{choices[-1]}` is used")
        elif not _fits(value, default):
            wanted = type(default).__name__
            found.append(f"`{name}` must be {wanted}, not {type(value).__name__}; the default is used")
        if name in pack.choices or (name in known and _fits(value, default)):
            good[name] = value
    if good and any(path.stem == OPTION_PROBLEMS for path in pack.files):
        found += import_module(f"snell.packs.{pack.name}.{OPTION_PROBLEMS}").option_problems(good)
    problems += [f"[pack.{pack.name}]: {each}" for each in found]
    return good


def _fits(value: Any, default: Any) -> bool:
    return type(value) is type(default) or (isinstance(default, float) and type(value) is int)
