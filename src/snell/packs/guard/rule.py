"""
What a rule of the guard is made of: what it finds, and the trigger that decides for which steps it is called.

Every rule declares its trigger next to its `find`: the programs it is about, and traits of a step that matter with any
program, such as a redirection. A step calls only the rules whose trigger occurs in it.
"""

from msgspec import Struct

from snell.packs.guard.known_names import names, pattern
from snell.packs.guard.known_values import ENVIRONMENT, NETWORK, PACKAGE, UNKNOWN
from snell.packs.guard.reading_programs import only_reads
from snell.packs.guard.shell.shell_state import Step
from snell.shell.arguments import Arguments, sort_words
from snell.shell.programs import program_row
from snell.system.lazy_regex import lazy_regex

DENY, ASK = "deny", "ask"


class Finding(Struct, frozen=True):
    """One reason to deny a command, or to ask about it."""

    rule: str
    verdict: str
    why: str
    instead: str = ""
    secret: str = ""  # the secret that the command would print or copy


class Rule(Struct, frozen=True):
    """A rule of the guard; its cases are in `<name>.toml` beside it."""

    name: str
    family: str
    instead: str
    about: str = ""  # the documentation of a rule without a file of its own

    def deny(self, why: str, secret: str = "") -> Finding:
        return Finding(self.name, DENY, why, self.instead, secret)

    def ask(self, why: str, secret: str = "") -> Finding:
        return Finding(self.name, ASK, why, self.instead, secret)


WRITES = 1  # its output, or a file that it is told to write, replaces or extends a file
READS = 2  # its input is redirected from a file
SWEEPS = 4  # it acts on what a search finds
CODE = 8  # it is given code to run
ENV = 16  # variables are set for it
ADDRESS = 32  # a word holds the address of another machine
FETCHED = 64  # the program, its input or a file that it names comes from the network
MAY_CHANGE_PATH = 128  # a program that does not only read names a path
MAY_CHANGE_SNELL = 256  # such a program names Snell, or the setting that disables hooks
MAY_TAKE_DOWN = 512  # a word is a verb that deletes or empties
IN_SNELL_FOLDER = 1_024  # it runs in a folder of Snell's own files, where plain names are paths of those
NAMES = 2_048  # a word is more than an option, or files that it names have labels
VARIABLES = 4_096  # its input holds variables of the environment
WRITES_APART = 8_192  # such a file is hidden, of the system, in a folder of programs, or named at run time
MAY_GO_LIVE = 32_768  # a word may name production
INSTALLS = 16_384  # it may be told to install something

_ADDRESS = lazy_regex(r"stratum\+|(?:\d{1,3}\.){3}\d|metadata\.google|\[fd00:")
TAKES_DOWN = pattern("takes_down")
_APART = lazy_regex(r"^(?:[^/]|/(?:dev|etc|var|private)(?:/|$))|/\.|\.git/|/etc/|bin/|/Library/|\.ps1$")
_NAMES = lazy_regex(r"(?:^|\0)[^-\0]|[=@:]")
_HIDDEN = lazy_regex(r"(?:^|[\0=])\.")


class Trigger(Struct, frozen=True):
    """
    Calls a rule for these programs, for programs whose name begins so, and for steps with one of these traits.

    For the programs in `some` it is called only where one of the traits in `when` occurs, too.
    `rows` are keys of `programs.toml`: the rule is called for every program whose section has one of them.
    """

    programs: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    traits: int = 0
    rows: tuple[str, ...] = ()
    some: frozenset[str] = frozenset()
    when: int = 0

    def occurs(self, program: str, traits: int) -> bool:
        if self.traits & traits or program in self.programs or program.startswith(self.prefixes):
            return True
        if self.when & traits and program in self.some:
            return True
        return bool(self.rows) and any(getattr(program_row(program), key) for key in self.rows)


def given_to(step: Step) -> Arguments:
    """Return the arguments of a step, sorted by what is known about its program."""
    return sort_words(step.program, step.args, "")


_DRY = names("dry_options")
_HELP = frozenset((("-h", ""), ("-help", "")))


def only_asks(step: Step) -> bool:
    """Tell whether the command shows help or a plan, and changes nothing."""
    given = given_to(step)
    if (
        given.operands[:1] in (("plan",), ("help",))
        or given.operands[-1:] == ("help",)
        or not _HELP.isdisjoint(given.options)
    ):
        return True
    named = dict(given.options).keys() & _DRY
    return bool(named) and any(name in named and value not in ("none", "false") for name, value in given.options)


def traits_of(step: Step) -> int:
    """Return the traits of a step, except `IN_SNELL_FOLDER`."""
    first, text = step.words[0], "\0".join(step.args)
    named = f"{first.text}\0{text}"
    may_have_address = ":" in named or named.count(".") > 2 or "+" in named or "metadata" in named
    traits = (
        WRITES * bool(step.writes or step.appends)
        | WRITES_APART * any(map(_APART.search, step.writes + step.appends))
        | READS * bool(step.reads)
        | SWEEPS * bool(step.sweeps)
        | CODE * (step.code is not None)
        | ENV * bool(step.env)
        | ADDRESS * (may_have_address and _has_address(named))
        | FETCHED * (bool(first.labels) and first.has(NETWORK))
        | FETCHED * (bool(step.words[-1].labels) and step.words[-1].has(PACKAGE))
        | FETCHED * (step.stdin is not None and step.stdin.has(NETWORK))
        | FETCHED * (bool(step.touched) and any(label.startswith(NETWORK) for label in step.touched))
        | NAMES * (bool(step.touched) or _NAMES.search(text) is not None)
        | VARIABLES * (step.stdin is not None and ENVIRONMENT in "\0".join(step.stdin.labels))
    )
    traits |= INSTALLS * ("install" in text or text.startswith(("i\0", "in\0", "add\0", "copr\0")))
    unknown = UNKNOWN in text and any("PROD" in label for word in step.words for label in word.labels)
    told = f"{named}\0{step.env}" if step.env else named
    traits |= MAY_GO_LIVE * (unknown or "rod" in told or "live" in told or "ROD" in told or "prd" in told)
    if text and not (program_row(step.program).only_reads or only_reads(step)):
        traits |= MAY_CHANGE_PATH * ("/" in text or _HIDDEN.search(text) is not None)
        traits |= MAY_TAKE_DOWN * (TAKES_DOWN.search(text) is not None)
        traits |= MAY_CHANGE_SNELL * ("snell" in text or "disableAllHooks" in text)
    return traits


def _has_address(text: str) -> bool:
    if "://" in text:
        return True
    may_have = text.count(".") > 2 or "stratum+" in text or "metadata.google" in text or "[fd00:" in text
    return may_have and _ADDRESS.search(text) is not None
