"""
Decide which rules are called for a step of a command.

Every rule declares its trigger next to its `find`: the programs it is about, and traits of a step that matter with any
program, such as a redirection. A step calls only the rules whose trigger occurs in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from snell.packs.guard.known_values import NETWORK
from snell.packs.guard.reading_programs import only_reads
from snell.packs.guard.shell.shell_state import Step
from snell.system.lazy_regex import lazy_regex

WRITES = 1  # its output, or a file that it is told to write, replaces or extends a file
READS = 2  # its input is redirected from a file
SWEEPS = 4  # it acts on what a search finds
CODE = 8  # it is given code to run
ENV = 16  # variables are set for it
ADDRESS = 32  # a word holds the address of another machine
FETCHED = 64  # the program or its input comes from the network
MAY_CHANGE_PATH = 128  # a program that does not only read names a path
MAY_CHANGE_SNELL = 256  # such a program names Snell, or the setting that disables hooks
IN_SNELL_FOLDER = 512  # it runs in a folder of Snell's own files, where plain names are paths of those

LONGEST_NAME = 64  # no trigger names a longer program

_ADDRESS = lazy_regex(r"://|stratum\+|(?:\d{1,3}\.){3}\d|metadata\.google|\[fd00:")
_PATH = lazy_regex(r"/|(?:^|[\0=])\.")
_SNELL = lazy_regex(r"snell|disableAllHooks")


class Trigger(Struct, frozen=True):
    """Calls a rule for these programs, for programs whose name begins so, and for steps with one of these traits."""

    programs: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    traits: int = 0

    def occurs(self, program: str, traits: int) -> bool:
        return bool(self.traits & traits) or program in self.programs or program.startswith(self.prefixes)


def traits_of(step: Step) -> int:
    """Return the traits of a step, except `IN_SNELL_FOLDER`."""
    traits = sum(trait for trait, has in _TRAITS if has(step))
    if step.args and not only_reads(step):
        text = "\0".join(step.args)
        traits += MAY_CHANGE_PATH * _matches(_PATH, text) + MAY_CHANGE_SNELL * _matches(_SNELL, text)
    return traits


def _matches(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.search(text) is not None


_TRAITS: tuple[tuple[int, Callable[[Step], object]], ...] = (
    (WRITES, lambda step: step.writes or step.appends),
    (READS, lambda step: step.reads),
    (SWEEPS, lambda step: step.sweeps),
    (CODE, lambda step: step.code is not None),
    (ENV, lambda step: step.env),
    (ADDRESS, lambda step: _ADDRESS.search("\0".join(word.text for word in step.words))),
    (FETCHED, lambda step: step.words[0].has(NETWORK) or (step.stdin is not None and step.stdin.has(NETWORK))),
)
