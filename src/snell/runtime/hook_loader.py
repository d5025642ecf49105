"""Loads the hooks that are active in a folder, from all settings files, Python files and packs."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from snell.clients import CLIENTS, client_named
from snell.handlers.worker.client import Worker
from snell.model.context import HandlerSettings
from snell.model.errors import SnellError
from snell.model.hooks import Broken, Hook, PythonFile, Scope
from snell.runtime.python_hook_files import LoadedFile, PythonFiles
from snell.settings.builtin_packs import builtin_hooks
from snell.settings.file_digests import FileDigests
from snell.settings.load import Loaded, load
from snell.settings.pack_manifest import read_pack
from snell.settings.parse_types import Parsed
from snell.settings.plugins import PackSource
from snell.system.distributions import any_declares
from snell.system.paths import POLICY_FILE, Places

if TYPE_CHECKING:
    from snell.settings.skill_hooks import SkillHooks


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
        self._files = PythonFiles(worker)
        self._digests = FileDigests()  # hashes of files that did not change since
        self._readable: dict[str, Parsed] = {}
        self._from_entry_points: tuple[PackSource, ...] | None = None

    def forget_unused(self, hooks: Iterable[Hook]) -> None:
        """Forget the Python files that none of these hooks comes from, if many are known."""
        if self._files.are_many:
            self._files.forget_unused(hooks)

    def skill(self, path: Path, cwd: str, *, is_agent: bool) -> "SkillHooks":
        """Return the hooks in a skill's or agent's front matter."""
        from snell.settings.skill_hooks import skill_hooks  # slow to import, and few events need it

        return skill_hooks(self._where, path, Path(cwd), self._env, is_agent=is_agent)

    def load(self, cwd: str, client: str, policy: str = "") -> LoadedHooks:
        """Read the hooks for this folder and client, with a policy file that the caller adds."""
        env = {**self._env, "SNELL_POLICY": policy} if policy else self._env
        loaded = load(
            self._where, Path(cwd), env, policy_files=self._policy_files, digests=self._digests, readable=self._readable
        )
        problems = [str(each) for each in loaded.problems]
        if _needs_worker(loaded) or self._entry_point_packs():
            self._worker.prepare()  # while the built-in packs are loaded
        pack_problems: list[str] = []
        built_in = builtin_hooks(loaded.value("pack") or {}, pack_problems)
        # A client runs the hooks of its own file itself; running them here too would run them twice.
        own_layers = _layers_run_by(client)
        hooks = [
            self._with_digest(hook, problems) for hook in loaded.hooks if not hook.source.layer.startswith(own_layers)
        ]
        for source in loaded.python:
            if source.untrusted:
                continue  # a file that the user has not approved is not opened, so its hooks have no names yet
            found = self._files.load(
                Path(source.path),
                scope=Scope.SESSION,
                layer="project",
                pack=Path(source.path).stem,
                pinned=source.digest,
            )
            hooks += _hooks_of(found, problems)
        hooks += built_in
        problems += pack_problems
        for pack in (*loaded.packs, *self._entry_point_packs()):
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
            found = self._files.load(path, scope=Scope.PLUGIN, layer=f"pack:{pack.name}", pack=pack.name)
            hooks += _hooks_of(found, problems)
        return hooks

    def _entry_point_packs(self) -> tuple[PackSource, ...]:
        """Return packs of other distributions, by their entry points; their code is not imported here."""
        if self._from_entry_points is None:
            self._from_entry_points = tuple(PackSource(folder, "installed") for folder in _entry_point_folders())
        return self._from_entry_points

    def _with_digest(self, hook: Hook, problems: list[str]) -> Hook:
        """Load the file of a hook that names a function in one, and pin the file's digest."""
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


def _needs_worker(loaded: Loaded) -> bool:
    hooks = any(isinstance(hook.handler, PythonFile) and not hook.untrusted for hook in loaded.hooks)
    return hooks or bool(loaded.packs) or any(not source.untrusted for source in loaded.python)


def _layers_run_by(client: str) -> tuple[str, ...]:
    """Return the layers of hooks that a client runs itself: its own files, and other clients' that it reads too."""
    also = client_named(client).INSTALL.reads if client in CLIENTS else ()
    return (f"{client.replace('_', '-')}:", *also)


def _entry_point_folders() -> list[str]:
    if not any_declares("snell.packs"):
        return []
    from importlib.metadata import entry_points  # slow to import, and needed once
    from importlib.util import find_spec

    specs = [find_spec(point.module.partition(".")[0]) for point in entry_points(group="snell.packs")]
    return [str(Path(spec.origin).parent) for spec in specs if spec and spec.origin]


def _hooks_of(found: LoadedFile, problems: list[str]) -> tuple[Hook, ...]:
    if found.problem:
        problems.append(found.problem)
    return found.hooks
