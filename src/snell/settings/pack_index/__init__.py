"""
Load the built-in packs from `index.json`, without their hooks: a hook's module is imported when the hook first runs.

`python3 dev.py docs` writes the index from the packs. A pack whose files have other names or sizes than in the index
was changed since, and is read and imported as without an index.
"""

import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from snell.model.events import Event
from snell.model.hooks import Hook, Inline, Scope, Source
from snell.sdk.decorators import SUPPLIES, Declaration, Supplies, caller_for, context_with, declarations, declared_in

INDEX = Path(__file__).with_name("index.json")
SOON = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")  # events that follow the first one in any session
_INDEXED = ("pack.toml", ".py")  # how the names end of the files from which the index is made

_needed_soon: dict[str, None] = {}  # modules, in the order of their packs


class IndexedPack(Struct, frozen=True):
    manifest: dict[str, Any]
    sizes: dict[str, int]  # bytes of each file
    hooks: dict[str, dict[str, tuple[Declaration, ...]]]  # by module and function

    def hooks_in(self, modules: Collection[str], pack: str, options: Mapping[str, Any]) -> Iterator[Hook]:
        """Yield the hooks that these modules of the pack declare, with these options."""
        supplies = {**SUPPLIES, "context": context_with(options)}
        for stem in (each for each in self.hooks if each in modules):
            for name, declared in self.hooks[stem].items():
                if all(options.get(option) == value for each in declared for option, value in each.when.items()):
                    yield from _hooks_of(pack, stem, name, declared, supplies)


def current_packs(folder: Path) -> dict[str, IndexedPack]:
    """Return the packs in this folder that are as they were when the index was written, by name of their folder."""
    try:
        known = msgspec.json.decode(INDEX.read_bytes(), type=dict[str, IndexedPack])
    except (OSError, msgspec.DecodeError):
        return {}
    return {name: pack for name, pack in known.items() if sizes_in(folder / name) == pack.sizes}


def sizes_in(folder: Path) -> dict[str, int]:
    try:
        with os.scandir(folder) as found:
            return {each.name: each.stat().st_size for each in found if each.name.endswith(_INDEXED)}
    except OSError:
        return {}


def index_of(pack: str, manifest: Mapping[str, Any], modules: Mapping[str, Any], folder: Path) -> str:
    """Return the entry of a pack, whose modules are imported, for the index."""
    hooks = {stem: {name: _data_of(each) for name, each in _own_hooks(module)} for stem, module in modules.items()}
    with_hooks = {stem: declared for stem, declared in hooks.items() if declared}
    entry = {"manifest": manifest, "sizes": dict(sorted(sizes_in(folder).items())), "hooks": with_hooks}
    return f'"{pack}": {msgspec.json.encode(entry).decode()}'


def load_needed_hooks() -> Iterator[None]:
    """Import the modules that the next events of a session need, one at each step."""
    while _needed_soon:
        import_module(_needed_soon.popitem()[0])
        yield


def _hooks_of(pack: str, stem: str, name: str, declared: tuple[Declaration, ...], supplies: Supplies) -> Iterator[Hook]:
    module = f"snell.packs.{pack}.{stem}"
    if module not in sys.modules and any(each.event in SOON for each in declared):
        _needed_soon[module] = None
    run = _late_function(module, name, supplies)
    for each in declared:
        fields = {key: value for key, value in asdict(each).items() if key not in ("when", "waits", "batches")}
        yield Hook(
            id=f"{pack}/{name}:{each.event}" if len(declared) > 1 else f"{pack}/{name}",
            handler=Inline(run, each.waits, each.batches),
            scope=Scope.PLUGIN,
            source=Source(f"pack:{pack}", f"{module.replace('.', '/')}.py", 1),
            **fields,
        )


def _late_function(module: str, name: str, supplies: Supplies) -> Callable[[Event], Any]:
    """Return a function that imports the hook when it is called; by `load` the executor gets the hook itself."""
    call: Callable[[Event], Any] | None = None

    def run(event: Event) -> Any:
        return load()(event)

    def load() -> Callable[[Event], Any]:
        nonlocal call
        call = call or caller_for(getattr(import_module(module), name), supplies)
        return call

    run.load = load  # type: ignore[attr-defined] # functions take attributes
    return run


def _own_hooks(module: Any) -> Iterator[tuple[str, tuple[Declaration, ...]]]:
    for name, function in declared_in(vars(module)).items():
        if function.__module__ == module.__name__:
            yield name, declarations(function)


def _data_of(declared: tuple[Declaration, ...]) -> list[dict[str, Any]]:
    """Return declarations as plain data, without the fields that have their default."""
    defaults = asdict(Declaration(role="judges", event=""))
    return [
        {key: value for key, value in asdict(each).items() if key in ("role", "event") or value != defaults[key]}
        for each in declared
    ]
