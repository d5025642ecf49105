"""Load the hooks of the built-in packs that are enabled, with their options."""

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any
from weakref import finalize

import msgspec
from msgspec.structs import replace

from snell.model.catalogue import nearest
from snell.model.hooks import Hook, Scope, Source
from snell.sdk.decorators import context_with, declarations, declared_in, hooks_of
from snell.settings.pack_manifest import MANIFEST, Pack, hook_files

Options = Mapping[str, Any]
OPTION_PROBLEMS = "option_problems"  # the module of a pack that checks its options
OFF = "off"  # the module of a pack with the hooks that run while the user has disabled it
FOLDER = Path(__file__).parent.parent / "packs"


def builtin_hooks(settings: Mapping[str, Options], problems: list[str]) -> list[Hook]:
    """Return the hooks of all enabled packs; `settings` has the options of packs by name."""
    packs = builtin_packs()
    for name in settings.keys() - packs.keys():
        near = nearest(name, packs)
        hint = f"did you mean `{near}`?" if near else f"use one of {', '.join(packs)}"
        problems.append(f"[pack.{name}]: there is no such pack; {hint}")
    hooks: list[Hook] = []
    for name, pack in packs.items():
        options = settings.get(name, {})
        if options.get("enabled", pack.enabled):
            hooks += pack_hooks(name, _check_options(pack, options, problems))
        elif "enabled" in options and any(path.stem == OFF for path in pack.files):
            hooks += _load_hooks(name, b"{}", is_on=False)
    return hooks


@cache
def builtin_packs() -> Mapping[str, Pack]:
    """Return the built-in packs by name. They are part of the program, so they are read once."""
    found = (_read(FOLDER / name) for name in sorted(os.listdir(FOLDER)) if os.path.isfile(FOLDER / name / MANIFEST))
    return {pack.name: pack for pack in found}


def _read(folder: Path) -> Pack:
    """Read a manifest like `read_pack`, but without checks: the manifests of built-in packs are valid."""
    manifest = tomllib.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return msgspec.convert({**manifest, "files": hook_files(folder)}, Pack)


def pack_hooks(name: str, options: Options | None = None) -> tuple[Hook, ...]:
    """Return the hooks of one pack, with these options instead of its defaults."""
    pack = builtin_packs()[name]
    return _load_hooks(
        name, msgspec.json.encode(_with_valid_choices(pack, _merge_options(pack.options, options or {})))
    )


def options_in(name: str, settings: Mapping[str, Options], problems: list[str]) -> Options:
    """Return the options of a pack, enabled or not: its defaults and those in the settings."""
    pack = builtin_packs()[name]
    return _with_valid_choices(
        pack, _merge_options(pack.options, _check_options(pack, settings.get(name, {}), problems))
    )


def _merge_options(own: Options, given: Options) -> Options:
    """Return the defaults with the given options over them; tables are merged entry by entry."""
    tables = {
        name: {**own[name], **value}
        for name, value in given.items()
        if isinstance(value, Mapping) and isinstance(own.get(name), Mapping)
    }
    return {**own, **given, **tables}


def _with_valid_choices(pack: Pack, options: Options) -> Options:
    """
    Replace an invalid choice by the last valid one, which is the strictest or does the least.

    A mistyped value must not disable a guard without notice.
    """
    mistyped = {name: known[-1] for name, known in pack.choices.items() if options.get(name) not in known}
    return {**options, **mistyped} if mistyped else options


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
    files = (path.stem for path in builtin_packs()[name].files if (path.stem == OFF) is not is_on)
    modules = (import_module(f"snell.packs.{name}.{stem}") for stem in files)
    hooks = tuple(hook for module in modules for hook in _hooks_of(module, name, chosen))
    for hook in hooks:
        _OPTIONS[id(hook.handler)] = (name, chosen)
        finalize(hook.handler, _OPTIONS.pop, id(hook.handler), None).atexit = False
    return hooks


def _hooks_of(module: Any, pack: str, options: Options) -> Iterable[Hook]:
    context = context_with(options)
    own = [
        function
        for function in declared_in(vars(module)).values()
        if function.__module__ == module.__name__ and _is_wanted(function, options)
    ]
    for hook in hooks_of(own, scope=Scope.PLUGIN, pack=pack, layer=f"pack:{pack}", supplies={"context": context}):
        yield replace(hook, source=Source(f"pack:{pack}", f"{module.__name__.replace('.', '/')}.py", 1))


def _is_wanted(function: Callable[..., Any], options: Options) -> bool:
    return all(options.get(name) == value for each in declarations(function) for name, value in each.when.items())


def _check_options(pack: Pack, given: Options, problems: list[str]) -> dict[str, Any]:
    """Return the options that the pack has and whose type is right; other options are reported and left out."""
    good = {}
    for name, value in given.items():
        if name == "enabled":
            continue
        if name not in pack.options:
            near = nearest(name, pack.options)
            hint = f"did you mean `{near}`?" if near else "remove it"
            problems.append(f"[pack.{pack.name}]: `{name}` is not an option of this pack; {hint}")
        elif (choices := pack.choices.get(name)) and value not in choices:
            problems.append(
                f"[pack.{pack.name}]: `{name}` must be one of {', '.join(choices)}; `{choices[-1]}` is used"
            )
            good[name] = value
        elif not _fits(value, pack.options[name]):
            wanted = type(pack.options[name]).__name__
            problems.append(
                f"[pack.{pack.name}]: `{name}` must be {wanted}, not {type(value).__name__}; the default is used"
            )
        else:
            good[name] = value
    problems += [f"[pack.{pack.name}]: {each}" for each in _problems_of_pack(pack, good)]
    return good


def _problems_of_pack(pack: Pack, options: Options) -> list[str]:
    """Return the problems that the pack's own check of its options finds."""
    if not any(path.stem == OPTION_PROBLEMS for path in pack.files):
        return []
    found: list[str] = import_module(f"snell.packs.{pack.name}.{OPTION_PROBLEMS}").option_problems(options)
    return found


def _fits(value: Any, default: Any) -> bool:
    if isinstance(default, float):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is type(default)
