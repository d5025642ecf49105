"""Finds hooks that cannot run because a package is not installed, when they are loaded and not when one fails."""

from collections.abc import Mapping

from msgspec import Struct

from snell.model.context import Context, ModelSettings
from snell.model.hooks import Handler, Hook
from snell.settings.handler_types import handler_module
from snell.system.optional_packages import install_advice, is_installed, missing_message


class MissingPackage(Struct, frozen=True):
    """One extra that is not installed, and the hooks that need it."""

    message: str
    advice: str

    def __str__(self) -> str:
        return f"{self.message}; {self.advice}"


def missing_packages(context: Context) -> tuple[MissingPackage, ...]:
    """Return what the active hooks need and this installation lacks, one row for each extra."""
    needing: dict[str, list[Hook]] = {}
    for hook in context.registry.hooks():
        extra = extra_for(hook.handler, context.settings.model, context.env)
        if extra and hook.enabled and not hook.untrusted and not context.registry.switches.why_disabled(hook):
            needing.setdefault(extra, []).append(hook)
    return tuple(_row(extra, those) for extra, those in needing.items() if not is_installed(extra))


def extra_for(handler: Handler, model: ModelSettings, env: Mapping[str, str]) -> str:
    """Return the extra that a handler needs; empty when it needs no further package."""
    module = handler_module(handler.kind)
    extra = module.TYPE.extra if module else ""
    if not module or not module.TYPE.asks_model:
        return extra
    from snell.llm.client import api_for  # slow to import, and few users have such hooks

    return extra if api_for(model, env) else ""  # a program on this machine answers without a package


def _row(extra: str, hooks: list[Hook]) -> MissingPackage:
    hooks = sorted(hooks, key=lambda hook: (hook.source.file, hook.source.line))
    named = ", ".join(f"`{hook.id}` ({hook.source})" for hook in hooks)
    what = "hook" if len(hooks) == 1 else "hooks"
    return MissingPackage(f"{what} {named} cannot run: {missing_message(extra)}", install_advice(extra))
