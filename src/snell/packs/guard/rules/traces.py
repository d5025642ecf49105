"""Stop commands that hide what was done: they clear the shell history or the system logs."""

from collections.abc import Iterator

from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import ENV, WRITES_APART, Finding, Rule, Trigger
from snell.packs.guard.shell.shell_state import HERE, Step
from snell.shell.arguments import arguments_of
from snell.system.lazy_regex import lazy_regex

RULE = Rule(name="traces", family="system", instead="leave history and logs as they are; the user can clear them")

_HISTORY = lazy_regex(r"/\.(?:bash|zsh|sh|python|psql|mysql|node_repl|sqlite|rediscli|lesshst|fish)_?(?:history|hst)$")
_LOGS = lazy_regex(r"^/(?:private/)?var/(?:log(?:/|$)|run/utmp)")
_WHO = lazy_regex(r"/(?:auth\.log|secure|[wbu]tmp|lastlog|faillog|audit)\b|^/var/log/?\*?$|^/var/log/\*")
_SETTINGS = frozenset(("HISTFILE", "HISTSIZE", "HISTFILESIZE"))
_DESTROYERS = frozenset(("rm", "truncate", "shred", "unlink", "ln", "cp", "mv"))

TRIGGER = Trigger(
    programs=_DESTROYERS | {"history", "unset", "set", "export", "declare", "typeset", "journalctl"},
    traits=ENV | WRITES_APART,
)


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    if step.where != HERE:
        return
    if step.program == "history" and arguments_of(step.program, step.args).has("-c", "-d", "-w"):
        yield RULE.deny("it clears the shell's history")
    elif (
        (step.program == "unset" and not _SETTINGS.isdisjoint(step.args))
        or (step.program == "set" and step.args[:2] == ("+o", "history"))
        or any(name in _SETTINGS and value in ("", "0", "/dev/null") for name, value in _set(step))
    ):
        yield RULE.deny("it stops recording the shell's history")
    elif step.program == "journalctl" and any(arg.startswith("--vacuum") for arg in step.args):
        yield RULE.ask("it deletes system logs")
    else:
        yield from _destroyed_records(step, workspace)


def _set(step: Step) -> Iterator[tuple[str, str]]:
    yield from step.env
    if step.program in ("export", "declare", "typeset"):
        yield from ((name, value) for name, equals, value in (arg.partition("=") for arg in step.args) if equals)


def _destroyed_records(step: Step, workspace: Workspace) -> Iterator[Finding]:
    paths = list(step.writes)
    if step.program in _DESTROYERS:
        paths += [workspace.absolute(arg) for arg in step.args if not arg.startswith("-")]
    for path in paths:
        if _HISTORY.search(path):
            yield RULE.deny(f"it empties or deletes a history file: `{path}`")
            return
        if _LOGS.match(path) and step.program not in ("cp", "mv", "tee", "ln", "dd"):
            verdict = RULE.deny if _WHO.search(path) else RULE.ask
            yield verdict(f"it empties or deletes a system log: `{path}`")
