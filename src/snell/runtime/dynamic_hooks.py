"""Hooks that are registered at run time: an embedding program's, a session's, a running skill's."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from snell.engine.match import compile_matcher, names_nothing
from snell.model.catalogue import row_of
from snell.model.decision import Decision
from snell.model.errors import HookError, PatternError
from snell.model.hooks import Hook, Scope
from snell.sdk.decorators import declarations, hooks_of

OnSuccess = Callable[[], None]


class DynamicHooks:
    def __init__(self) -> None:
        self.hooks: tuple[Hook, ...] = ()
        self._on_success: dict[int, OnSuccess] = {}  # by handler, which a hook keeps when its id is changed

    def add(
        self,
        *items: Hook | Callable[..., Any],
        scope: Scope = Scope.SESSION,
        group: str = "",
        session_id: str = "",
        on_success: OnSuccess | None = None,
    ) -> list[Hook]:
        """Add ready-made hooks, or functions with a role decorator."""
        added = [each for item in items for each in _as_hooks(item, scope)]
        for hook in added:
            _check(hook)
        if group or session_id:
            added = [replace(hook, group=group or hook.group, session_id=session_id) for hook in added]
        self.hooks = (*self.hooks, *added)
        if on_success:
            self._on_success.update(dict.fromkeys((id(hook.handler) for hook in added), on_success))
        return added

    def remove(self, is_removed: Callable[[Hook], bool]) -> int:
        """Remove hooks; returns how many."""
        kept = tuple(hook for hook in self.hooks if not is_removed(hook))
        number = len(self.hooks) - len(kept)
        self.hooks = kept
        self._on_success = {key: call for key, call in self._on_success.items() if key in {id(h.handler) for h in kept}}
        return number

    def call_on_success(self, decision: Decision) -> None:
        """Call the callbacks of hooks that ran with success."""
        if self._on_success:
            for _, hook, outcome in decision.runs():
                call = self._on_success.get(id(hook.handler))
                if call and outcome.status == "success":
                    call()


def _as_hooks(item: Hook | Callable[..., Any], scope: Scope) -> list[Hook]:
    if isinstance(item, Hook):
        return [item]
    if not declarations(item):
        raise TypeError(f"`{getattr(item, '__name__', item)}` has no role; decorate it with @judges, @rewrites, ...")
    return hooks_of([item], scope=scope)


def _check(hook: Hook) -> None:
    """
    Raise for a hook whose matcher can never fit. Hooks from files are reported with their line when they are loaded.
    """
    row = row_of(hook.event)
    if not row.matches or hook.source.file:
        return
    try:
        compile_matcher(hook.matcher, hook.matcher_type, row)
    except PatternError as error:
        raise HookError(f"hook `{hook.id}` for {hook.event} can never run: {error}") from None
    if hook.matcher and names_nothing(hook.matcher, hook.matcher_type, row):
        raise HookError(f"hook `{hook.id}` for {hook.event} can never run: `{hook.matcher}` names nothing")
