"""What a rule is: its name, what it says, and the function that looks at one step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

DENY, ASK = "deny", "ask"


class Finding(Struct, frozen=True):
    rule: str
    verdict: str
    why: str
    instead: str = ""


class Rule(Struct, frozen=True):
    """`flagged` and `fine` are cases: commands that the rule stops, and look-alikes that it lets pass."""

    name: str
    family: str
    instead: str
    flagged: tuple[str, ...] = ()
    fine: tuple[str, ...] = ()
    about: str = ""  # of a rule without a file of its own

    def deny(self, why: str) -> Finding:
        return Finding(self.name, DENY, why, self.instead)

    def ask(self, why: str) -> Finding:
        return Finding(self.name, ASK, why, self.instead)


class Arguments(Struct, frozen=True):
    """The words of a command, told apart: options (clusters taken apart, values cut off) and the rest."""

    flags: frozenset[str]
    operands: tuple[str, ...]
    values: dict[str, str]

    def has(self, *flags: str) -> bool:
        """One of these is given; long ones may be cut short, as most programs allow."""
        if not self.flags.isdisjoint(flags):
            return True
        short = [flag for flag in self.flags if flag.startswith("--") and len(flag) > 4]
        return any(full.startswith(flag) for flag in short for full in flags)


def arguments(args: Iterable[str], valued: str = "") -> Arguments:
    """`valued` names the options that take the next word."""
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
