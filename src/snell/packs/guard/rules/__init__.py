"""The rules of the guard, one file each, in the order in which their findings are shown."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import IN_SNELL_FOLDER, Finding, Rule, traits_of
from snell.packs.guard.shell.shell_state import LONGEST_NAME, Step

Finder = Callable[[Step, Workspace], Iterator[Finding]]

FORK_BOMB = Rule(
    name="fork-bomb",
    family="system",
    instead="start a fixed number of processes and wait for them",
    about="Stop commands that start processes without end.",
)
AFTER_SECRET = Rule(
    name="send-after-secret",
    family="exfiltration",
    instead="say what is sent and where, and let the user decide",
    about="Ask about commands that send data in a session that has read a secret; deny those that send its value.",
)
UNREADABLE = Rule(
    name="unreadable",
    family="execution",
    instead="write it as a plain, complete command",
    about="Ask about commands that cannot be parsed completely: invalid, too long, or nested too deeply.",
)

# One name per rule, in the order in which findings are shown; a rule is the module of that name.
_NAMES = """
own_files own_code own_install own_processes delete_tree delete_found overwrite wipe disks
git_history remote_code hidden_code send_secret send_project read_secret secret_stores environment
permissions privileges startup traces machine windows databases infrastructure exposure
"""
_ALONE = ("git_discard", "production", "packages", "automatic_files")
# Rules in folders of their own, which the guard works without.
_FOLDERS = [name for each in _ALONE if find_spec(name := f"snell.packs.guard.{each}")]
_MODULES: tuple[Any, ...] = (
    *(import_module(f"{__name__}.{name}") for name in _NAMES.split()),
    *(import_module(f"{name}.rule") for name in _FOLDERS),
)
# Notes what each call of a session changes; the guard works without.
CHANGES: Any = import_module(f"{name}.changes") if find_spec(name := "snell.packs.guard.git_discard") else None

RULES: dict[str, Rule] = {
    rule.name: rule for rule in (*(module.RULE for module in _MODULES), AFTER_SECRET, FORK_BOMB, UNREADABLE)
}


def find_in_step(step: Step, real: Step | None, workspace: Workspace) -> list[Finding]:
    """
    Call the rules whose trigger occurs in a step.

    Args:
        real: the same step with symbolic links resolved, where there are any; it is judged, too.
    """
    place = IN_SNELL_FOLDER if workspace.is_snell_folder else 0
    called = _finders(step.program[:LONGEST_NAME], traits_of(step) | place)
    findings = list[Finding]()
    if real is None:
        for find in called:
            findings += find(step, workspace)
        return findings
    called_by_real = _finders(real.program[:LONGEST_NAME], traits_of(real) | place)
    for find in _FINDERS:
        for each, finders in ((step, called), (real, called_by_real)):
            if find in finders:
                findings += find(each, workspace)
    return findings


@lru_cache(maxsize=2048)
def _finders(program: str, traits: int) -> tuple[Finder, ...]:
    return tuple(module.find for module in _MODULES if module.TRIGGER.occurs(program, traits))


_FINDERS: tuple[Finder, ...] = tuple(module.find for module in _MODULES)
