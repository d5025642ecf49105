"""
The shelf: the hooks that count where an event happens, from all settings files and Python files, read again when one
of them changed.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from snell.clients.installs import install_names, install_of
from snell.engine.registry import Switches
from snell.handlers.worker.client import Worker
from snell.model.errors import SnellError
from snell.model.events import Event
from snell.model.hooks import Broken, Hook, PythonFile, Scope
from snell.runtime.python_hook_files import LoadedFile, PythonFiles
from snell.settings.builtin_packs import builtin_hooks
from snell.settings.file_digests import FileDigests
from snell.settings.load import Loaded, load
from snell.settings.pack_manifest import read_pack
from snell.settings.parse_types import Parsed
from snell.settings.plugins import PackSource
from snell.system.distributions import any_declares
from snell.system.handler_context import HandlerSettings
from snell.system.paths import POLICY_FILE, Places

if TYPE_CHECKING:
    from snell.settings.skill_hooks import SkillHooks

DIRECTORIES = 64  # how many working directories are remembered

Key = tuple[str, str, str]  # working directory, client, and the policy that the caller adds


class LoadedHooks(Struct, frozen=True, eq=False):
    """What counts in one place, until a file changes."""

    hooks: tuple[Hook, ...]
    switches: Switches
    problems: tuple[str, ...]
    project_dir: str
    loaded: Loaded
    key: Key
    handlers: HandlerSettings = HandlerSettings()


class HookLoader:
    def __init__(
        self, where: Places, env: Mapping[str, str], worker: Worker, policy_files: Sequence[Path] = (POLICY_FILE,)
    ) -> None:
        self._where = where
        self._env = env
        self._policy_files = policy_files
        self._worker = worker
        self._files = PythonFiles(worker)
        self._digests = FileDigests()  # hashes of files that did not change since
        self._readable: dict[str, Parsed] = {}
        self._known: OrderedDict[Key, LoadedHooks] = OrderedDict()
        self._from_entry_points: tuple[PackSource, ...] | None = None

    def hooks_for(self, event: Event, policy: str = "") -> LoadedHooks:
        """What counts where this event happens, for the client that reported it, with a policy that its caller adds."""
        key = (event.cwd or "/", event.client, policy)
        known = self._known.get(key)
        if known is None or known.loaded.is_stale():
            known = self._known[key] = self._read(*key)
        self._known.move_to_end(key)
        while len(self._known) > DIRECTORIES:
            self._known.popitem(last=False)
        if self._files.are_many:
            self._files.forget_unused(hook for each in self._known.values() for hook in each.hooks)
        return known

    def skill(self, path: Path, cwd: str, *, is_agent: bool) -> "SkillHooks":
        """The hooks in a skill's or agent's front matter."""
        from snell.settings.skill_hooks import skill_hooks  # slow to import, and few events need it

        return skill_hooks(self._where, path, Path(cwd), self._env, is_agent=is_agent)

    def _read(self, cwd: str, client: str, policy: str) -> LoadedHooks:
        env = {**self._env, "SNELL_POLICY": policy} if policy else self._env
        loaded = load(
            self._where, Path(cwd), env, policy_files=self._policy_files, digests=self._digests, readable=self._readable
        )
        problems = [str(each) for each in loaded.problems]
        if _needs_child(loaded) or self._installed():
            self._worker.prepare()  # while we load what is built in
        of_packs: list[str] = []
        built_in = builtin_hooks(loaded.value("pack") or {}, of_packs)
        # A client runs the hooks of its own file itself; running them here too would fire them twice.
        its_own = _runs_itself(client)
        hooks = [self._ready(hook, problems) for hook in loaded.hooks if not hook.source.layer.startswith(its_own)]
        for source in loaded.python:
            if source.untrusted:
                continue  # what nobody approved is not opened, so its hooks have no names yet
            found = self._files.load(
                Path(source.path),
                scope=Scope.SESSION,
                layer="project",
                pack=Path(source.path).stem,
                pinned=source.digest,
            )
            hooks += _reported(found, problems)
        hooks += built_in
        problems += of_packs
        for pack in (*loaded.packs, *self._installed()):
            hooks += self._pack_hooks(Path(pack.folder), problems)
        handlers = loaded.handler_settings(self._where)
        key = (cwd, client, policy)
        return LoadedHooks(tuple(hooks), loaded.switches, tuple(problems), loaded.project_root, loaded, key, handlers)

    def _pack_hooks(self, folder: Path, problems: list[str]) -> list[Hook]:
        try:
            pack = read_pack(folder)
        except SnellError as error:
            problems.append(str(error))
            return []
        hooks: list[Hook] = []
        for path in pack.files if pack.enabled else ():
            found = self._files.load(path, scope=Scope.PLUGIN, layer=f"pack:{pack.name}", pack=pack.name)
            hooks += _reported(found, problems)
        return hooks

    def _installed(self) -> tuple[PackSource, ...]:
        """Packs that other distributions bring, by their entry points; their code is not imported here."""
        if self._from_entry_points is None:
            self._from_entry_points = tuple(PackSource(folder, "installed") for folder in _entry_point_folders())
        return self._from_entry_points

    def _ready(self, hook: Hook, problems: list[str]) -> Hook:
        """A hook that names a function in a file needs that file loaded first."""
        handler = hook.handler
        if not isinstance(handler, PythonFile) or hook.untrusted:
            return hook
        found = self._files.load(
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


def _needs_child(loaded: Loaded) -> bool:
    hooks = any(isinstance(hook.handler, PythonFile) and not hook.untrusted for hook in loaded.hooks)
    return hooks or bool(loaded.packs) or any(not source.untrusted for source in loaded.python)


def _runs_itself(client: str) -> tuple[str, ...]:
    """The layers of hooks that a client runs without us: its own files, and other clients' that it reads too."""
    also = install_of(client).reads if client in install_names() else ()
    return (f"{client.replace('_', '-')}:", *also)


def _entry_point_folders() -> list[str]:
    if not any_declares("snell.packs"):
        return []
    from importlib.metadata import entry_points  # slow to import, and needed once
    from importlib.util import find_spec

    specs = [find_spec(point.module.partition(".")[0]) for point in entry_points(group="snell.packs")]
    return [str(Path(spec.origin).parent) for spec in specs if spec and spec.origin]


def _reported(found: LoadedFile, problems: list[str]) -> tuple[Hook, ...]:
    if found.problem:
        problems.append(found.problem)
    return found.hooks
