"""Stop commands that wipe files beyond recovery: `shred`, `wipe`, `scrub`; or that empty the trash."""

from collections.abc import Iterator

from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import Finding, Rule, Trigger
from snell.packs.guard.shell.shell_state import Step
from snell.shell.arguments import arguments_of

RULE = Rule(name="wipe", family="files", instead="delete with `rm`, or leave it to the user")

WIPERS = frozenset(("shred", "wipe", "scrub", "bcwipe"))

TRIGGER = Trigger(programs=WIPERS | {"trash-empty", "gio"})


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    given = arguments_of(step.program, step.args, "-n -s")
    if step.program in ("trash-empty", "gio"):
        if (step.program != "gio" or given.has("--empty")) and not given.has("--help", "--dry-run"):
            yield RULE.deny("it deletes everything that is in the trash")
    elif given.operands and not given.has("--help"):
        yield RULE.deny(f"it wipes `{given.operands[0]}` so that it cannot be recovered")
