"""Load the hooks that are active in a folder, as an event there would find them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from snell.model.context import Context
from snell.model.events import Event
from snell.model.hooks import Hook
from snell.runtime.app import Runtime
from snell.settings.load import Loaded, load
from snell.settings.packs import OFF
from snell.settings.parse_types import Value
from snell.setup.plan import Options
from snell.setup.status import with_needed_options
from snell.store import display_address
from snell.system.paths import Places
from snell.system.run_program import adopt_orphans


def folder_context(where: Places, cwd: Path, env: Mapping[str, str]) -> Context:
    """Return the context of a session that starts in this folder; Python files of hooks are loaded for it."""
    adopt_orphans()
    with Runtime.for_user(env, where) as runtime:
        runtime.audit_log = None  # nothing is decided, so a look need not wait for a locked database
        return runtime.context_for(Event(name="SessionStart", payload={"cwd": str(cwd)}))


def active_hooks(context: Context, loaded: Loaded) -> list[Hook]:
    """Return the hooks that an event can run: enabled, approved, and disabled by no switch."""
    return [hook for hook in context.registry.hooks() if not why_inactive(hook, loaded)]


def why_inactive(hook: Hook, loaded: Loaded) -> str:
    """Return why no event can run this hook; empty if one can."""
    return loaded.switches.why_disabled(hook) or hook.untrusted or ("" if hook.enabled else "it is disabled")


def as_row(value: Value) -> dict[str, Any]:
    """Return a setting with its origin, without secrets such as the password in a database address."""
    shown = display_address(value.value) if value.name == "database" and value.value else value.value
    origin = f"{value.layer} ({value.file}:{value.line})" if value.file else "default"
    return {"name": value.name, "value": shown, "from": origin}


def packs_of(hooks: Iterable[Hook]) -> list[str]:
    """Return the packs that are on; one that is off may have hooks for that time."""
    sources = [hook.source for hook in hooks if hook.source.layer.startswith("pack:")]
    return sorted({each.layer[5:] for each in sources if not each.file.endswith(f"/{OFF}.py")})


def needed_options(options: Options, where: Places, cwd: Path, env: Mapping[str, str]) -> Options:
    """Return the options of set-up with what the hooks that are active in this folder need."""
    loaded = load(where, cwd, env)
    return with_needed_options(options, loaded, active_hooks(folder_context(where, cwd, env), loaded))
