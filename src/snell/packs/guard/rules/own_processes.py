"""
Stop commands that end, suspend or slow Snell's processes.

This covers the daemon, its children and `snell-hook`: by process id, by name, by a pattern that matches them, or by an
id that another command prints. Listing processes and signalling other processes is fine.
"""

import re
from collections.abc import Iterator

from snell.packs.guard.known_values import PROCESS
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import Finding, Rule, Trigger
from snell.packs.guard.sensitive_files import is_snell_file
from snell.packs.guard.shell.process_signals import WITH_OTHERS, finds_snell
from snell.packs.guard.shell.shell_state import HERE, Step
from snell.packs.guard.snell_processes import is_snell_process
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="own-processes",
    family="self",
    instead="leave Snell's processes alone; end one of your own by its id (`kill PID`) or its job (`kill %1`)",
)

_BY_NAME = frozenset(("pkill", "killall", "skill"))
_SLOWERS = frozenset(("prlimit", "renice", "chrt", "ionice", "taskset", "cpulimit"))
_ENDERS = _BY_NAME | _SLOWERS | {"kill", "fuser", "tskill", "xkill", "gdb", "lldb"}
_WHOLE = lazy_regex(r"-\w*f\w*|--full")
_HARMLESS = lazy_regex(r"-(?:s\s*)?(?:0|CONT|SIGCONT|18|WINCH|SIGWINCH|l|L)|--list|--table|--help")

TRIGGER = Trigger(programs=_ENDERS)


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    program, args = step.program, step.args
    if step.where != HERE or _is_harmless(args):
        return
    if any(word.has(PROCESS) for word in step.words) or any(
        is_snell_process(each, workspace.snell_paths) for each in _numbers(args)
    ):
        yield RULE.deny(f"it {'slows' if program in _SLOWERS else 'ends or suspends'} a process of Snell")
    elif program in _BY_NAME:
        named = finds_snell(args, is_whole=any(map(_WHOLE.fullmatch, args)))
        if named:
            verdict = RULE.ask if named == WITH_OTHERS else RULE.deny
            yield verdict(f"`{step.text}` ends or suspends a process of Snell")
    elif program == "fuser" and any(re.match(r"-\w*k|--kill", arg) for arg in args):
        paths = [workspace.absolute(arg) for arg in args if not arg.startswith("-")]
        if any(
            is_snell_file(path) or workspace.snell_paths.holds(path) or workspace.snell_paths.program.holds(path)
            for path in paths
        ):
            yield RULE.deny("it ends the processes that use a file of Snell")


def _is_harmless(args: tuple[str, ...]) -> bool:
    """Tell whether the signal only checks or continues a process, or the command only lists signals."""
    signal = " ".join(args[:2]) if args[:1] in (("-s",), ("-n",), ("--signal",)) else "".join(args[:1])
    return _HARMLESS.fullmatch(signal.replace("--signal ", "-s ").replace("-n ", "-s ")) is not None


def _numbers(args: tuple[str, ...]) -> Iterator[int]:
    """Return the ids of processes and, negative, of process groups, without the signal."""
    for index, arg in enumerate(args):
        is_signal = arg.startswith("-") if index == 0 else args[index - 1] in ("-s", "-n", "--signal")
        if not is_signal and re.fullmatch(r"-?\d{1,9}", arg):
            yield int(arg)
