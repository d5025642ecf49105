"""
Builds the Context of an event: from the settings of the folder where it happens, or from what a program that embeds
Snell has given. All that does not change from event to event is built once and kept until a settings file changes.
"""

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from snell.engine.registry import Registry
from snell.model.context import Context
from snell.model.decision import Outcome
from snell.model.events import Event
from snell.model.hooks import Hook, Switches
from snell.model.protocols import HookRegistry
from snell.runtime.dynamic_hooks import DynamicHooks
from snell.runtime.hook_loader import HookLoader, LoadedHooks
from snell.runtime.missing_packages import missing_packages
from snell.sdk.permission_rules import holds
from snell.settings.file_watch import FileStamp
from snell.settings.load import Loaded

DIRECTORIES = 64  # how many working directories are remembered

Key = tuple[str, str, str]  # working directory, client, and the policy that the caller adds
Late = Callable[[Hook, Event, Outcome, str], None]  # with the id of the decision


class Folder(Struct, frozen=True):
    """What was built for one folder and client."""

    loaded: LoadedHooks
    registered: tuple[Hook, ...]  # hooks that were registered at run time when this was built
    context: Context


class ContextBuilder:
    """Owns the hooks of all folders. `base` has what all events share; a program that embeds Snell may replace it."""

    def __init__(self, base: Context, loader: HookLoader | None, late: Late) -> None:
        self.base = base
        self.loader = loader
        self.switches = Switches()  # of an embedded runtime, which has no settings files
        self.dynamic_hooks = DynamicHooks()
        self._late = late
        self._folders: OrderedDict[Key, Folder] = OrderedDict()
        self._embedded: tuple[tuple[Hook, ...], Registry] | None = None

    def context_for(self, event: Event, env: Mapping[str, str] | None = None) -> Context:
        """Return what applies to this event; `env` is the caller's environment where it is not our own."""
        decision_id = new_id()
        if self.loader:
            policy = "" if env is None else env.get("SNELL_POLICY", "")
            context = self._folder_context((event.cwd or "/", event.client, policy))
            registry, env = context.registry, self.base.env if env is None else env
        else:
            context, registry, env = self.base, self._embedded_registry(), self.base.env
        context = replace(
            context,
            env=env,
            registry=registry,
            decision_id=decision_id,
            late=lambda hook, on, outcome: self._late(hook, on, outcome, decision_id),
        )
        if event.name != "SessionStart" or not self.loader:
            return context
        return replace(context, load_problems=(*map(str, missing_packages(context)), *context.load_problems))  # slow

    def _embedded_registry(self) -> HookRegistry:
        registered = self.dynamic_hooks.hooks
        if self._embedded is None or self._embedded[0] is not registered:
            self._embedded = (registered, _registry(registered, self.switches))
        return self._embedded[1]

    def _folder_context(self, key: Key) -> Context:
        assert self.loader
        known = self._folders.get(key)
        if known is None or is_stale(known.loaded.files):
            known = self._folders[key] = self._build(self.loader.load(*key))
            if len(self._folders) > DIRECTORIES:
                self._folders.popitem(last=False)
            self.loader.forget_unused(hook for each in self._folders.values() for hook in each.loaded.hooks)
        elif known.registered is not self.dynamic_hooks.hooks:
            known = self._folders[key] = self._build(known.loaded)
        self._folders.move_to_end(key)
        return known.context

    def _build(self, loaded: LoadedHooks) -> Folder:
        registered = self.dynamic_hooks.hooks
        context = replace(
            self.base,
            registry=_registry((*loaded.hooks, *registered), loaded.files.switches),
            load_problems=loaded.problems,
            project_dir=loaded.files.project_root,
            settings=loaded.settings,
            is_trusted=loaded.files.is_trusted,
            trusts_notes=loaded.files.trusts_notes,
        )
        return Folder(loaded, registered, context)


def is_stale(loaded: Loaded) -> bool:
    """Return whether a file that was read, or was not found, has changed since, or a pause has run out."""
    return _have_changed(loaded.files) or (loaded.pause is not None and not loaded.pause.is_on())


def _have_changed(files: Iterable[FileStamp]) -> bool:
    """Return whether one of the files has changed, or was written too recently to tell."""
    stat, access = os.stat, os.access
    for file in files:  # this runs for every event, so it is one plain loop
        stamp = file.stamp
        try:
            if stamp is None:  # most files: `access` costs less than a failing `stat`
                if access(file.path, os.F_OK):
                    return True
                continue
            if not file.is_settled:
                return True
            now = stat(file.path)
        except (OSError, ValueError):
            if stamp is not None:
                return True
            continue
        # A change that leaves ctime as it was is only possible by setting the clock.
        if now.st_ctime_ns != stamp[1] or now.st_ino != stamp[3] or now.st_dev != stamp[4]:
            return True
    return False


def new_id() -> str:
    """Return an id for a decision: time first, so that ids sort; random enough for one machine."""
    return f"{time.time_ns() // 1_000_000:x}-{os.urandom(4).hex()}"


def _registry(hooks: Iterable[Hook], switches: Switches) -> Registry:
    return Registry(_with_unique_ids(hooks), switches=switches, condition=_holds)


def _with_unique_ids(hooks: Iterable[Hook]) -> list[Hook]:
    """INVARIANT: an id names one hook, since marks and traces go by it."""
    seen: dict[str, int] = {}
    named = []
    for hook in hooks:
        times = seen[hook.id] = seen.get(hook.id, 0) + 1
        named.append(hook if times == 1 else replace(hook, id=f"{hook.id}#{times}"))
    return named


def _holds(rule: str, event: Event) -> bool:
    subject = (event.tool_names, event.readable_input, event.kind)
    return holds(rule, *subject, cwd=event.cwd, home=os.path.expanduser("~"))
