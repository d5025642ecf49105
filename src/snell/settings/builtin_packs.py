"""The packs that come with Snell: which are on, with which options, and their hooks."""

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
COMPLAINTS = "option_problems"  # the file of a pack that looks at what users tell it
OFF = "off"  # the file of a pack with what happens while somebody has switched it off
FOLDER = Path(__file__).parent.parent / "packs"


def builtin_hooks(settings: Mapping[str, Options], problems: list[str]) -> list[Hook]:
    """The hooks of all packs that are on; `settings` has what users say about packs, by name."""
    packs = builtin_packs()
    for name in settings.keys() - packs.keys():
        near = nearest(name, packs)
        hint = f"did you mean `{near}`?" if near else f"there are {', '.join(packs)}"
        problems.append(f"[pack.{name}]: there is no such pack; {hint}")
    hooks: list[Hook] = []
    for name, pack in packs.items():
        said = settings.get(name, {})
        if said.get("enabled", pack.enabled):
            hooks += pack_hooks(name, _checked(pack, said, problems))
        elif "enabled" in said and any(path.stem == OFF for path in pack.files):
            hooks += _made(name, b"{}", is_on=False)
    return hooks


@cache
def builtin_packs() -> Mapping[str, Pack]:
    """The packs by name. They are part of the program, so they are read once."""
    found = (_read(FOLDER / name) for name in sorted(os.listdir(FOLDER)) if os.path.isfile(FOLDER / name / MANIFEST))
    return {pack.name: pack for pack in found}


def _read(folder: Path) -> Pack:
    """What `read_pack` finds, too; but our own manifests need nobody to point at the line that is wrong in them."""
    said = tomllib.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return msgspec.convert({**said, "files": hook_files(folder)}, Pack)


def pack_hooks(name: str, options: Options | None = None) -> tuple[Hook, ...]:
    """The hooks of one pack, with these options over its own."""
    pack = builtin_packs()[name]
    return _made(name, msgspec.json.encode(_chosen(pack, _joined(pack.options, options or {}))))


def options_in(name: str, settings: Mapping[str, Options], problems: list[str]) -> Options:
    """The options of a pack, on or off, with what users say over its own."""
    pack = builtin_packs()[name]
    return _chosen(pack, _joined(pack.options, _checked(pack, settings.get(name, {}), problems)))


def _joined(own: Options, given: Options) -> Options:
    """What was given goes over the pack's own; a table is added to, entry by entry."""
    tables = {
        name: {**own[name], **value}
        for name, value in given.items()
        if isinstance(value, Mapping) and isinstance(own.get(name), Mapping)
    }
    return {**own, **given, **tables}


def _chosen(pack: Pack, options: Options) -> Options:
    """
    Where there is a choice, one that does not exist is taken for the last, which is the strictest or does the least.

    Whoever mistyped it wanted something, and must not find out by accident that nothing was on.
    """
    mistyped = {name: known[-1] for name, known in pack.choices.items() if options.get(name) not in known}
    return {**options, **mistyped} if mistyped else options


def is_builtin(path: Path) -> bool:
    """Is this the folder of a built-in pack, or a file in one?"""
    return FOLDER in (path.absolute().parent, path.absolute().parent.parent)


def options_of(name: str, hooks: Iterable[Hook]) -> Options:
    """The options with which a pack's hooks are among these; its own where it has none there."""
    made = (_OPTIONS[id(hook.handler)] for hook in hooks if id(hook.handler) in _OPTIONS)
    return next((options for pack, options in made if pack == name), builtin_packs()[name].options)


MADE = 32  # sets of hooks of a pack, each with options of its own, that are remembered
_OPTIONS: dict[int, tuple[str, Options]] = {}  # by handler; an entry goes when its handler does


@lru_cache(maxsize=MADE)
def _made(name: str, options: bytes, is_on: bool = True) -> tuple[Hook, ...]:
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


def _checked(pack: Pack, said: Options, problems: list[str]) -> dict[str, Any]:
    """The options that the pack has, of the type it has them in; anything else is reported and left out."""
    good = {}
    for name, value in said.items():
        if name == "enabled":
            continue
        if name not in pack.options:
            near = nearest(name, pack.options)
            hint = f"did you mean `{near}`?" if near else "remove it"
            problems.append(f"[pack.{pack.name}]: `{name}` is not an option of this pack; {hint}")
        elif (choices := pack.choices.get(name)) and value not in choices:
            problems.append(f"[pack.{pack.name}]: `{name}` is one of {', '.join(choices)}; `{choices[-1]}` holds")
            good[name] = value
        elif not _fits(value, pack.options[name]):
            wanted = type(pack.options[name]).__name__
            problems.append(f"[pack.{pack.name}]: `{name}` is {type(value).__name__}, not {wanted}; the default holds")
        else:
            good[name] = value
    problems += [f"[pack.{pack.name}]: {each}" for each in _complaints(pack, good)]
    return good


def _complaints(pack: Pack, options: Options) -> list[str]:
    """What the pack itself finds wrong with its options: a file that cannot be read, an entry that says nothing."""
    if not any(path.stem == COMPLAINTS for path in pack.files):
        return []
    found: list[str] = import_module(f"snell.packs.{pack.name}.{COMPLAINTS}").option_problems(options)
    return found


def _fits(value: Any, default: Any) -> bool:
    if isinstance(default, float):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is type(default)
