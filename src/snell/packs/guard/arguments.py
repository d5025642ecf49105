"""Split the words of a command into options and operands, and those of git into sub-command and words."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from snell.packs.guard.shell.shell_state import Step

_GIT_VALUED = frozenset(
    ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix")
)

# Sub-commands that change files in the work tree.
GIT_CHANGES_FILES = frozenset(
    (
        *("config", "init", "clean", "checkout", "restore", "reset", "rm", "mv", "apply", "clone", "stash", "pull"),
        *("am", "switch", "merge", "rebase", "cherry-pick", "revert", "checkout-index", "read-tree", "worktree"),
    )
)


class Arguments(Struct, frozen=True):
    """The options of a command (clusters split, values separated) and its operands."""

    flags: frozenset[str]
    operands: tuple[str, ...]
    values: dict[str, str]

    def has(self, *flags: str) -> bool:
        """Tell whether one of these options is given; long ones may be abbreviated, as most programs allow."""
        if not self.flags.isdisjoint(flags):
            return True
        short = [flag for flag in self.flags if flag.startswith("--") and len(flag) > 4]
        return any(full.startswith(flag) for flag in short for full in flags)


def parse_arguments(args: Iterable[str], valued: str = "") -> Arguments:
    """Split the words of a command; `valued` names the options that take the next word."""
    takes = frozenset(valued.split())
    flags, operands, values = set[str](), list[str](), dict[str, str]()
    waiting = iter(args)
    for arg in waiting:
        if arg == "--":
            operands.extend(waiting)
        elif arg.startswith("--") or (arg.startswith("-") and arg in takes):
            name, equals, value = arg.partition("=")
            flags.add(name)
            if equals:
                values[name] = value
            elif name in takes:
                values[name] = next(waiting, "")
        elif arg.startswith("-") and len(arg) > 1:
            _cluster(arg, takes, flags, values, waiting)
        else:
            operands.append(arg)
    return Arguments(frozenset(flags), tuple(operands), values)


def _cluster(arg: str, takes: frozenset[str], flags: set[str], values: dict[str, str], waiting: Iterator[str]) -> None:
    flags.add(arg)
    for index, letter in enumerate(arg[1:], 2):
        name = f"-{letter}"
        flags.add(name)
        if name in takes:
            values[name] = arg[index:] or next(waiting, "")
            return


def git_command(step: Step) -> tuple[str, list[str]]:
    """Return the sub-command in lower case and its words; both empty when the step is no git call."""
    if step.program not in ("git", "hub"):
        return "", []
    words = list(step.args)
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in _GIT_VALUED and words:
            words.pop(0)
    return (words[0].lower(), words[1:]) if words else ("", [])
