"""
Loads the hooks that are active in a folder, from all settings files, Python files and packs.

A Python file that no longer loads keeps its last good version, and is reported: a user who is editing it must not lose
a guard in the middle of a line.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from snell.clients import CLIENTS, client_named
from snell.handlers.worker.client import Worker
from snell.model.context import HandlerSettings
from snell.model.errors import HookError, SnellError
from snell.model.events import Event
from snell.model.hooks import Broken, Hook, PythonFile, Scope
from snell.sdk.decorators import hook_for
from snell.settings.file_digests import FileDigests
from snell.settings.load import Loaded, load
from snell.settings.packs import builtin_hooks, read_pack, with_place
from snell.settings.parse_types import PackSource, Parsed
from snell.system.files import read_capped
from snell.system.paths import POLICY_FILE, Places
from snell.system.version import any_declares

if TYPE_CHECKING:
    from snell.runtime.running_skills import RunningSkill
    from snell.settings.skill_hooks import SkillHooks


LARGEST = 1_000_000
FILES = 256  # with more, files whose hooks are not active anywhere are forgotten
NO_HOOK = (
    "the file declares no hook; decorate a function with @judges, @informs, ..., or begin the file's name with `_`"
)


class LoadedHooks(Struct, frozen=True, eq=False):
    """What was loaded for one folder and client."""

    hooks: tuple[Hook, ...]
    problems: tuple[str, ...]
    settings: HandlerSettings
    files: Loaded  # the merged settings files


class HookLoader:
    """Reads settings, Python files and packs; remembers what has not changed."""

    def __init__(
        self, where: Places, env: Mapping[str, str], worker: Worker, policy_files: Sequence[Path] = (POLICY_FILE,)
    ) -> None:
        self._where = where
        self._env = env
        self._policy_files = policy_files
        self._worker = worker
        self.files = PythonFiles(worker)
        self._digests = FileDigests()  # hashes of files that did not change since
        self._readable: dict[str, Parsed] = {}

    def skill(self, skill: "RunningSkill", event: Event) -> "SkillHooks":
        """Return the hooks in a skill's or agent's front matter, except for a client that runs them itself."""
        from snell.settings.skill_hooks import SkillHooks, skill_hooks  # slow to import, and few events need it

        path, cwd = Path(skill.path), Path(event.cwd or "/")
        runs_some = f"{'agent' if skill.is_agent else 'skill'}:" in _own_layers(event.client)
        if runs_some and _is_in_its_folder(path, event.client, self._env):
            return SkillHooks()
        found = skill_hooks(self._where, path, cwd, self._env, is_agent=skill.is_agent, digests=self._digests)
        return replace(found, hooks=tuple(self._with_digest(hook, []) for hook in found.hooks))

    def load(self, cwd: str, client: str, policy: str = "") -> LoadedHooks:
        """Read the hooks for this folder and client, with a policy file that the caller adds."""
        env = {**self._env, "SNELL_POLICY": policy} if policy else self._env
        loaded = load(
            self._where, Path(cwd), env, policy_files=self._policy_files, digests=self._digests, readable=self._readable
        )
        problems = [str(each) for each in loaded.problems]
        in_files = any(isinstance(hook.handler, PythonFile) and not hook.untrusted for hook in loaded.hooks)
        in_files = in_files or any(not source.untrusted for source in loaded.python)
        if in_files or loaded.packs or self._entry_point_packs:
            self._worker.prepare()  # while the built-in packs are loaded
        pack_problems: list[str] = []
        built_in = builtin_hooks(loaded.value("pack") or {}, pack_problems)
        own = _own_layers(client)
        hooks = [self._with_digest(hook, problems) for hook in loaded.hooks if not hook.source.layer.startswith(own)]
        for source in loaded.python:
            if source.untrusted:
                continue  # a file that the user has not approved is not opened, so its hooks have no names yet
            found = self.files.load(
                Path(source.path),
                scope=Scope.SESSION,
                layer=source.layer,
                pack=Path(source.path).stem,
                pinned=source.digest,
            )
            hooks += _hooks_of(found, problems)
        hooks += built_in
        problems += [with_place(each, [file.path for file in loaded.files]) for each in pack_problems]
        for pack in (*loaded.packs, *self._entry_point_packs):
            hooks += self._pack_hooks(Path(pack.folder), problems)
        settings = loaded.handler_settings(self._where)
        return LoadedHooks(tuple(hooks), tuple(problems), settings, loaded)

    def _pack_hooks(self, folder: Path, problems: list[str]) -> list[Hook]:
        try:
            pack = read_pack(folder)
        except SnellError as error:
            problems.append(str(error))
            return []
        hooks: list[Hook] = []
        for path in pack.files if pack.enabled else ():
            found = self.files.load(path, scope=Scope.PLUGIN, layer=f"pack:{pack.name}", pack=pack.name)
            hooks += _hooks_of(found, problems)
        return hooks

    @cached_property
    def _entry_point_packs(self) -> tuple[PackSource, ...]:
        """Return packs of other distributions, by their entry points; their code is not imported here."""
        if not any_declares("snell.packs"):
            return ()
        from importlib.metadata import entry_points  # slow to import, and needed once
        from importlib.util import find_spec

        specs = [find_spec(point.module.partition(".")[0]) for point in entry_points(group="snell.packs")]
        return tuple(PackSource(str(Path(each.origin).parent), "installed") for each in specs if each and each.origin)

    def _with_digest(self, hook: Hook, problems: list[str]) -> Hook:
        """Load the file of a hook that names a function in one, and pin the file's digest."""
        handler = hook.handler
        if not isinstance(handler, PythonFile) or hook.untrusted:
            return hook
        found = self.files.load(
            Path(handler.path), scope=hook.scope, layer=hook.source.layer, pack=hook.id, pinned=handler.digest
        )
        digests = {
            each.handler.digest
            for each in found.hooks
            if isinstance(each.handler, PythonFile) and each.handler.function == handler.function
        }
        if not digests:
            why = found.problem or f"{handler.path} declares no hook `{handler.function}`"
            problems.append(f"{hook.source}: hook `{hook.id}` cannot run: {why}")
            return replace(hook, handler=Broken(why))
        return replace(hook, handler=replace(handler, digest=digests.pop()))


def _own_layers(client: str) -> tuple[str, ...]:
    """Return the layers whose hooks a client runs itself: its own files, and others that it reads."""
    also = client_named(client).install.reads if client in CLIENTS else ()
    return (f"{client.replace('_', '-')}:", *also)


def _is_in_its_folder(path: Path, client: str, env: Mapping[str, str]) -> bool:
    """Return whether a client finds a skill by itself: in its own folder, of the user or of a project."""
    install = client_named(client).install
    moved = env.get(install.base_variable)
    return Path(install.base).name in path.parts or bool(moved and path.is_relative_to(moved))


def _hooks_of(found: "LoadedFile", problems: list[str]) -> tuple[Hook, ...]:
    if found.problem:
        problems.append(found.problem)
    return found.hooks


class LoadedFile(Struct, frozen=True):
    """The hooks of a file, and what is wrong with it."""

    hooks: tuple[Hook, ...] = ()
    problem: str = ""


class PythonFiles:
    """Reads Python files, checks their pinned digest, loads them in the worker process, keeps the last good one."""

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
        loaded = LoadedFile(hooks, "" if hooks else f"{path}:1: {NO_HOOK}")
        self._good[str(path)] = (digest, loaded)
        return loaded

    def forget_unused(self, hooks: Iterable[Hook]) -> None:
        """Forget the files that none of these hooks comes from, if many are known."""
        if len(self._good) <= FILES:
            return
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
