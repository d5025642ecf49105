"""
Loads Python files with hooks: reads them, checks their pinned digest, and loads them in the worker process.

A file that no longer loads keeps its last good version, and is reported: a user who is editing it must not lose a guard
in the middle of a line.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from snell.handlers.worker.client import Worker
from snell.model.errors import HookError, SnellError
from snell.model.hooks import Hook, PythonFile, Scope
from snell.sdk.decorators import hook_for
from snell.system.files import read_capped

LARGEST = 1_000_000
FILES = 256  # with more, files whose hooks are not active anywhere are forgotten
NO_HOOK = (
    "the file declares no hook; decorate a function with @judges, @informs, ..., or begin the file's name with `_`"
)


class LoadedFile(Struct, frozen=True):
    """The hooks of a file, and what is wrong with it."""

    hooks: tuple[Hook, ...] = ()
    problem: str = ""


class PythonFiles:
    """Keeps the last good version of every file."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._good: dict[str, tuple[str, LoadedFile]] = {}

    def load(self, path: Path, *, scope: Scope, layer: str, pack: str, pinned: str = "") -> LoadedFile:
        """Return the hooks of a file; with `pinned` only if its bytes still have this digest."""
        try:
            source = read_capped(path, LARGEST)
        except (OSError, SnellError) as error:
            return self._last_good(path, str(error))
        digest = hashlib.sha256(source).hexdigest()
        if pinned and digest != pinned:
            return LoadedFile(problem=f"{path} changed while it was read; run `snell trust`")
        known = self._good.get(str(path))
        if known and known[0] == digest:
            return known[1]
        try:
            hooks = tuple(self._hooks(path, digest, source, scope, layer, pack))
        except HookError as error:
            return self._last_good(path, str(error))
        loaded = LoadedFile(hooks, "" if hooks else f"{path}: {NO_HOOK}")
        self._good[str(path)] = (digest, loaded)
        return loaded

    @property
    def are_many(self) -> bool:
        return len(self._good) > FILES

    def forget_unused(self, hooks: Iterable[Hook]) -> None:
        """Forget the files that none of these hooks comes from."""
        used = {hook.handler.path for hook in hooks if isinstance(hook.handler, PythonFile)}
        self._good = {path: each for path, each in self._good.items() if path in used}
        self._worker.forget_all_but(used)

    def _hooks(self, path: Path, digest: str, source: bytes, scope: Scope, layer: str, pack: str) -> list[Hook]:
        described = self._worker.load(str(path), digest, source)
        hooks = []
        for each in described:
            for declared in each.declared:
                name = f"{each.name}:{declared.event}" if len(each.declared) > 1 else each.name
                handler = PythonFile(str(path), each.name, digest)
                hooks.append(hook_for(declared, handler, f"{pack}/{name}", scope, layer, str(path), each.line))
        return hooks

    def _last_good(self, path: Path, problem: str) -> LoadedFile:
        known = self._good.get(str(path))
        if not known:
            return LoadedFile(problem=problem)
        return LoadedFile(known[1].hooks, f"{problem}; the last version that loaded stays in force")
