"""Stop commands that destroy, weaken or take over a Windows machine, in `cmd` or PowerShell."""

from collections.abc import Iterator

from snell.packs.guard.known_names import pattern
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import Finding, Rule, Trigger, given_to
from snell.packs.guard.shell.shell_state import Step
from snell.shell.arguments import matches_any
from snell.shell.programs import program_row

RULE = Rule(name="windows", family="system", instead="let an administrator of the machine do this")

_LISTS = frozenset(("get-childitem", "gci", "dir", "ls"))
_REMOVERS = frozenset(("remove-item", "ri", "rm", "del"))

TRIGGER = Trigger(programs=_REMOVERS, prefixes=("remove-az", "stop-az"), rows=("breaks_windows", "changes_windows"))


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    given, row = given_to(step), program_row(step.program)
    if step.program in _REMOVERS and step.stdin is not None and step.stdin.detail("output") in _LISTS:
        yield RULE.deny("it deletes all results of an unfiltered search")
    elif step.program.startswith(("remove-az", "stop-az")) or matches_any(given, row.breaks_windows):
        yield RULE.deny(f"`{step.text[:80]}` destroys, weakens or takes over the machine")
    elif matches_any(given, row.changes_windows):
        yield RULE.ask(f"`{step.text[:80]}` changes the machine for all its users")


_FETCHES_AND_RUNS = pattern("fetches_and_runs_on_windows")


def find_unread(command: str) -> Iterator[Finding]:
    """Judge PowerShell text that is no valid shell command."""
    if _FETCHES_AND_RUNS.match(command[:4000]):
        yield RULE.deny("it runs code from the network that was not reviewed")
