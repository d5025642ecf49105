"""Settings that cannot be meant, hooks that nobody approved, and switches that keep hooks from running."""

from collections.abc import Iterator
from pathlib import Path

from snell.cli.health import Check, Status, Visit
from snell.cli.memory_switch import is_on
from snell.model.context import Context
from snell.model.events import Event
from snell.model.hooks import Broken, Scope
from snell.runtime.app import Runtime
from snell.runtime.missing_packages import missing_packages
from snell.settings.load import Loaded, load
from snell.settings.pause import PAUSE_FILE
from snell.system.run_program import adopt_orphans

SHOWN = 20


def checks(visit: Visit) -> Iterator[Check]:
    loaded = load(visit.where, visit.cwd, visit.env)
    adopt_orphans()
    with Runtime.for_user(visit.env, visit.where) as runtime:
        context = runtime.context_for(Event(name="SessionStart", payload={"cwd": str(visit.cwd)}))
    yield from _switches(loaded)
    yield from _problems(loaded, context)
    yield from _hooks(loaded, context)
    yield _memory(visit)


def _memory(visit: Visit) -> Check:
    """Either is well; that nobody has to guess which is what matters."""
    if is_on(visit.where, visit.cwd, visit.env):
        return Check("memory", "ok", f"on: what sessions decide here is kept in {visit.where.state}")
    return Check("memory", "ok", "off: nothing is captured here; `snell setup --memory` turns it on")


def _switches(loaded: Loaded) -> Iterator[Check]:
    if loaded.pause:
        yield Check("pause", "warn", f"{loaded.pause}: only policy hooks run", "`snell pause --end` ends it")
    switches = loaded.switches
    if switches.policy_disables_all or switches.disable_all_hooks:
        whose = "all hooks" if switches.policy_disables_all else "all hooks but the policy's"
        yield Check(
            "switches", "warn", f"disable_all_hooks turns {whose} off", "see which file says so: `snell settings`"
        )
    elif switches.allow_managed_hooks_only:
        yield Check("switches", "ok", "the policy lets none but its own hooks run")


def _problems(loaded: Loaded, context: Context) -> Iterator[Check]:
    found = [each for each in loaded.problems if Path(each.file).name != PAUSE_FILE]  # that has its own line
    for problem in found[:SHOWN]:
        status: Status = "fail" if problem.severity == "error" else "warn"
        yield Check("settings", status, f"{problem.file}:{problem.line}: {problem.message}", problem.advice)
    lacking = missing_packages(context)
    for each in lacking[:SHOWN]:
        yield Check("hooks", "fail", each.message, each.advice)
    known = {str(each) for each in (*loaded.problems, *lacking)}
    later = [each for each in context.problems if each not in known]
    for text in later[:SHOWN]:
        yield Check("settings", "warn", text, "`snell settings` shows the hooks that count here")
    if not found and not later and not lacking:
        yield Check("settings", "ok", "nothing is wrong with them")


def _hooks(loaded: Loaded, context: Context) -> Iterator[Check]:
    hooks = list(context.registry.hooks())
    unapproved = [hook.id for hook in hooks if hook.untrusted] + [each.path for each in loaded.python if each.untrusted]
    if unapproved:
        shown = ", ".join(unapproved[:5]) + (", ..." if len(unapproved) > 5 else "")
        advice = "look at them and approve them with `snell trust`"
        yield Check("trust", "warn", f"{len(unapproved)} of this project's hooks do not run: {shown}", advice)
    broken = [hook for hook in hooks if isinstance(hook.handler, Broken)]
    for hook in broken[:SHOWN]:
        yield Check("hooks", "fail", f"{hook.id} ({hook.source}) cannot run", "mend what the lines above name")
    running = [hook for hook in hooks if hook.enabled and not hook.untrusted and not loaded.switches.off(hook)]
    policy = sum(hook.scope is Scope.POLICY for hook in running)
    yield Check("hooks", "ok", f"{len(running)} count here, {policy} of them by policy")
