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
from snell.model.context import Context, ModelSettings
from snell.model.decision import Outcome
from snell.model.errors import HookError
from snell.model.events import Event
from snell.model.hooks import Handler, Hook, Switches
from snell.model.protocols import HookRegistry
from snell.runtime.callback_hooks import DynamicHooks
from snell.runtime.hook_loader import HookLoader, LoadedHooks
from snell.runtime.running_skills import MARK as SKILLS
from snell.runtime.running_skills import hooks_of
from snell.sdk.permission_rules import holds
from snell.settings.file_digests import have_changed
from snell.settings.handler_types import handler_module
from snell.settings.load import Loaded, with_unique_ids
from snell.system.optional_packages import install_advice, is_installed, missing_message

DIRECTORIES = 64  # how many working directories are remembered

Key = tuple[str, str, str]  # working directory, client, and the policy that the caller adds
Late = Callable[[Hook, Event, Outcome, str, str], None]  # with the id of the decision, and the project


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

    def context_for(self, event: Event, env: Mapping[str, str] | None = None, decision_id: str = "") -> Context:
        """Return what applies to this event; `env` is the caller's environment where it is not our own."""
        decision_id = decision_id or new_id()
        if self.loader:
            policy = "" if env is None else env.get("SNELL_POLICY", "")
            context = self._folder_context((event.cwd or "/", event.client, policy))
            if event.session_id and (running := context.marks.get(f"session:{event.session_id}", SKILLS)):
                hooks = (*context.registry.hooks(), *hooks_of(running, event, self.loader.skill))
                context = replace(context, registry=_registry(hooks, context.registry.switches))
            registry, env = context.registry, self.base.env if env is None else env
        else:
            context, registry, env = self.base, self._embedded_registry(), self.base.env
        project = context.project_dir
        context = replace(
            context,
            env=env,
            registry=registry,
            decision_id=decision_id,
            late=lambda hook, on, outcome: self._late(hook, on, outcome, decision_id, project),
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
            self.loader.files.forget_unused(hook for each in self._folders.values() for hook in each.loaded.hooks)
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
            trusts_mission=loaded.files.trusts_mission,
        )
        return Folder(loaded, registered, context)


def is_stale(loaded: Loaded) -> bool:
    """Return whether a file that was read, or was not found, has changed since, or a pause has run out."""
    return have_changed(loaded.files) or (loaded.pause is not None and not loaded.pause.is_on())


def new_id() -> str:
    """Return an id for a decision: time first, so that ids sort; random enough for one machine."""
    return f"{time.time_ns() // 1_000_000:x}-{os.urandom(4).hex()}"


def _registry(hooks: Iterable[Hook], switches: Switches) -> Registry:
    return Registry(with_unique_ids(hooks), switches=switches, condition=_holds)


def _holds(rule: str, event: Event) -> bool:
    subject = (event.tool_names, event.readable_input, event.kind)
    return holds(rule, *subject, cwd=event.cwd, home=os.path.expanduser("~"))


def missing_packages(context: Context) -> tuple[HookError, ...]:
    """Return which active hooks cannot run because a package is not installed, one error for each extra."""
    needing: dict[str, list[Hook]] = {}
    for hook in context.registry.hooks():
        extra = extra_for(hook.handler, context.settings.model, context.env)
        if extra and hook.enabled and not hook.untrusted and not context.registry.switches.why_disabled(hook):
            needing.setdefault(extra, []).append(hook)
    return tuple(_missing(extra, those) for extra, those in needing.items() if not is_installed(extra))


def extra_for(handler: Handler, model: ModelSettings, env: Mapping[str, str]) -> str:
    """Return the extra that a handler needs; empty when it needs no further package."""
    module = handler_module(handler.kind)
    extra = module.TYPE.extra if module else ""
    if not module or not module.TYPE.asks_model:
        return extra
    from snell.llm.client import api_for  # slow to import, and few users have such hooks

    return extra if api_for(model, env) else ""  # a program on this machine answers without a package


def _missing(extra: str, hooks: list[Hook]) -> HookError:
    hooks = sorted(hooks, key=lambda hook: (hook.source.file, hook.source.line))
    named = ", ".join(f"`{hook.id}` ({hook.source})" for hook in hooks)
    what = "hook" if len(hooks) == 1 else "hooks"
    return HookError(f"{what} {named} cannot run: {missing_message(extra)}", advice=install_advice(extra))
