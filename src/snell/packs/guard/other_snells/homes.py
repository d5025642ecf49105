"""
Tell another Snell from the one that guards the session.

Tests of Snell start and stop Snells of their own, whose homes are temporary folders. What is done to those does nothing
to the user's: not where a command names such a home itself. An agent gains nothing from that, unless the temporary
folder leads to the user's files, so links are looked at, on the disk and in the same line.
"""

import os
from collections.abc import Sequence

from snell.model.tool_names import name_set
from snell.packs.guard.file_lookups import mark_unrepeatable
from snell.packs.guard.known_values import UNKNOWN
from snell.packs.guard.path_classes import TEMP, Workspace, classify_path
from snell.packs.guard.shell.shell_state import EXPORTED, HERE, Step
from snell.packs.guard.snell_program import is_clone
from snell.shell.arguments import arguments_of
from snell.system.lazy_regex import lazy_regex

_OWN = name_set("snell snell-hook")
# What starts commands with another environment than its own, or for another user.
_WITH_OTHERS = name_set(
    "tmux screen systemd-run systemctl launchctl at batch crontab sudo su runuser doas pkexec machinectl ssh osascript "
    "open kitty wezterm gnome-terminal konsole xdotool"
)
_LOOKS = name_set("log status why check doctor audit clients coverage usage replay help --help --version")
_EVERYWHERE = name_set("unsetup uninstall")  # they also change files of clients
_PARTS = ("", "config", "state", "run/snell.sock", ".config/snell", ".local/state/snell/run/snell.sock")
# What a command does that needs a person, as a statement.
_STANDS_FOR_A_PERSON = lazy_regex(
    r"(?m)(?:^|;)\s*(?:from|import)\s+snell\.(?:cli(?:\.(?:person|confirmation|main|commands|setup)\b|\s|$)"
    r"|operations(?:\.(?:runs?|db|rpc)\b|\s|$)|settings\.(?:pause|\w*trust|approved_copies|pins)\b|records\.audit_key)"
)


def is_work_on_a_clone(code: str, workspace: Workspace) -> bool:
    """
    Tell whether code runs modules of Snell in a project that is a clone of Snell.

    What pauses, trusts or stands for a person is still asked about there, as it would do that to the user's Snell. An
    agent that calls its project `snell` gains the other modules; it could open their files without them.
    """
    return is_clone(workspace.project) and not _STANDS_FOR_A_PERSON.search(code)


def is_harmless(step: Step, workspace: Workspace) -> bool:
    """Tell whether Snell may be run with the settings of this command: it only looks, or is another Snell."""
    only_looks = step.program == "snell" and not _LOOKS.isdisjoint(step.args[:1])
    return only_looks or (step.program in _OWN and is_another_snell(step, workspace))


def is_another_snell(step: Step, workspace: Workspace) -> bool:
    """Tell whether the command itself names the home of its Snell, in a temporary folder and not this user's."""
    if step.where != HERE or step.elevated or not (step.program in _OWN or step.program.startswith("python")):
        return False
    named = _homes(step)
    if named.get("SNELL_HOME") or workspace.snell_paths.env:
        return _is_temporary_home(named.get("SNELL_HOME", ""), workspace)
    return _is_temporary_home(named.get("HOME", ""), workspace)


def keeps_to_its_home(step: Step, words: Sequence[str], workspace: Workspace) -> bool:
    """Tell whether a command of another Snell changes nothing but that, as `snell setup` does with files of clients."""
    if words[:1] == ("setup",):
        is_apart = _is_temporary_home(_homes(step).get("HOME", ""), workspace)
        return is_apart and {"--uninstall", "--scope", "--plugin"}.isdisjoint(words)
    return _EVERYWHERE.isdisjoint(words[:1]) and is_another_snell(step, workspace)


def concern_this_line(settings: Sequence[str], program: str, workspace: Workspace) -> bool:
    """Tell whether the variables only move the home of what this line runs: a client in it is judged by them."""
    if program == "unset":
        return settings == ["SNELL_HOME"] and "SNELL_HOME" not in dict(workspace.snell_paths.env)
    pairs = [each.partition("=") for each in settings]
    is_here = program in ("export", "declare", "typeset")
    return is_here and all(name == "SNELL_HOME" and _is_temporary_home(home, workspace) for name, _, home in pairs)


def _homes(step: Step) -> dict[str, str]:
    return {name.removesuffix(EXPORTED): value for name, value in step.env}


def _is_temporary_home(folder: str, workspace: Workspace) -> bool:
    real = os.path.realpath(folder)
    return is_temporary(folder, workspace) and all(
        os.path.realpath(f"{folder}/{part}") == f"{real}/{part}".rstrip("/") for part in _PARTS
    )


def is_temporary(path: str, workspace: Workspace) -> bool:
    """Tell whether the path is temporary, and no part of the project, the home, or the user's Snell."""
    if path[:1] != "/" or UNKNOWN in path or any(_may_mislead(each, workspace) for each in workspace.steps):
        return False
    mark_unrepeatable()
    real = os.path.realpath(path)
    return classify_path(real, workspace) == TEMP and not workspace.snell_paths.holds(real)


def _may_mislead(step: Step, workspace: Workspace) -> bool:
    """Tell whether the step makes a link that may lead out of temporary folders, or runs something somewhere else."""
    if step.program in _WITH_OTHERS:
        return True
    if step.program == "cp":
        return arguments_of("cp", step.args).has("-s", "-l", "--symbolic-link", "--link")
    names = arguments_of("ln", step.args).operands if step.program == "ln" else ()
    return any(".." in name or classify_path(workspace.absolute(name), workspace) != TEMP for name in names)
