"""Problems in the settings, hooks without approval, and switches that disable hooks."""

from collections.abc import Iterator
from pathlib import Path

from snell.cli.active_hooks import active_hooks, folder_context
from snell.cli.health import Check, Installation, Status
from snell.cli.terminal import near_home, plural
from snell.model.context import Context
from snell.model.hooks import Broken, Scope
from snell.runtime.context import missing_packages
from snell.settings.load import Loaded, load
from snell.settings.pause import PAUSE_FILE
from snell.settings.project_trust import RUN_TRUST
from snell.setup.status import is_memory_on

SHOWN = 20


def settings_checks(installation: Installation) -> Iterator[Check]:
    loaded = load(installation.where, installation.cwd, installation.env)
    context = folder_context(installation.where, installation.cwd, installation.env)
    yield from _switches(loaded)
    unapproved = [hook.id for hook in context.registry.hooks() if hook.untrusted]
    unapproved += [near_home(each.path) for each in loaded.python if each.untrusted]
    yield from _problems(loaded, context, has_line_for_trust=bool(unapproved))
    yield from _hooks(loaded, context, unapproved)
    if is_memory_on(loaded):
        yield Check("memory", "ok", f"on: sessions in this folder are captured, in {installation.where.state}")
    else:
        yield Check("memory", "ok", "off: sessions in this folder are not captured; `snell setup --memory` enables it")


def _switches(loaded: Loaded) -> Iterator[Check]:
    if loaded.pause:
        yield Check("pause", "warn", f"{loaded.pause}: only policy hooks run", "`snell pause --end` ends it")
    switches = loaded.switches
    if switches.policy_disables_all or switches.disable_all_hooks:
        which = "all hooks" if switches.policy_disables_all else "all hooks except policy hooks"
        yield Check(
            "switches", "warn", f"disable_all_hooks disables {which}", "`snell settings` shows which file sets it"
        )
    elif switches.allow_managed_hooks_only:
        yield Check("switches", "ok", "the policy allows only its own hooks")


def _problems(loaded: Loaded, context: Context, *, has_line_for_trust: bool) -> Iterator[Check]:
    found = [each for each in loaded.problems if Path(each.file).name != PAUSE_FILE]  # the pause has its own line
    if has_line_for_trust:
        found = [each for each in found if not (each.severity == "hint" and each.advice.startswith(RUN_TRUST))]
    for problem in found[:SHOWN]:
        status: Status = "fail" if problem.severity == "error" else "warn"
        yield Check("settings", status, f"{problem.file}:{problem.line}: {problem.message}", problem.advice)
    missing = missing_packages(context)
    for each in missing[:SHOWN]:
        yield Check("hooks", "fail", each.message, each.advice)
    known = {str(each) for each in (*loaded.problems, *missing)}
    later = [each for each in context.problems if each not in known]
    for text in later[:SHOWN]:
        yield Check("settings", "warn", text, "`snell settings` lists the active hooks")
    if not found and not later and not missing:
        yield Check("settings", "ok", "no problems found")


def _hooks(loaded: Loaded, context: Context, unapproved: list[str]) -> Iterator[Check]:
    if unapproved:
        shown = ", ".join(unapproved[:5]) + (", ..." if len(unapproved) > 5 else "")
        what = f"{plural(len(unapproved), 'hook')} of this project not approved, so without effect: {shown}"
        yield Check("trust", "warn", what, f"{RUN_TRUST} to see and approve what is there")
    broken = [hook for hook in context.registry.hooks() if isinstance(hook.handler, Broken)]
    for hook in broken[:SHOWN]:
        yield Check("hooks", "fail", f"{hook.id} ({hook.source}) cannot run", "fix the problems listed above")
    running = active_hooks(context, loaded)
    policy = sum(hook.scope is Scope.POLICY for hook in running)
    yield Check("hooks", "ok", f"{len(running)} active hooks ({policy} from policy)")
