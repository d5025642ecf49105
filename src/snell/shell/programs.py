"""
What Snell knows about programs: one section of `programs.toml` each, which the guard, the ledger and the reader share.

Only the sections that are asked for are parsed: parsing all of them would delay the first answer of a process.
"""

import re
import tomllib
from functools import cache, lru_cache
from pathlib import Path
from typing import get_type_hints

import msgspec
from msgspec import Struct

from snell.system.lazy_regex import lazy_regex

TABLE = Path(__file__).with_name("programs.toml")

_HEADER = lazy_regex(r'^\["?([^"\]\n]+)"?\]\n(?:names = "+([^"]*)"+\n)?', re.MULTILINE)

Words = frozenset[str]
Phrases = tuple[str, ...]  # as `arguments.matches` reads them


class Program(Struct, frozen=True, forbid_unknown_fields=True):
    """One section of the table. What is not said of a program has its default here."""

    # Its options
    takes: Words = frozenset()  # the next word belongs to these options, before and after a sub-command
    same: tuple[Words, ...] = ()  # options that mean the same
    long: Words = frozenset()  # all long options, where unambiguous beginnings of them are accepted
    single_dash: bool = False  # options are words behind a single dash; letters in them are no options of their own
    bundle: bool = False  # the first word may be option letters without a dash

    # How it runs another command
    wraps: bool = False  # the words after its own are a command
    verbs: Phrases = ()  # only after one of these sub-commands
    operands: int = 0  # words of its own before the command
    dashes: bool = False  # the command stands after `--`
    assigns: bool = False  # takes NAME=value words before the command
    numeric: bool = False  # takes -5 as an option
    exact: bool = False  # all its options are known: `flags` without a value, and the others here
    flags: Words = frozenset()
    attached: Words = frozenset()  # options whose value, if there is one, is part of the word
    inert: Words = frozenset()  # with one of these it runs no command
    elevates: bool = False  # the command runs as another user
    where: str = ""  # the command runs on another machine (`host`) or in a `container`
    fetches: bool = False  # what it runs is a package that it downloads
    well_known: Words = frozenset()  # packages of that registry which are run without a question
    fetches_code: Phrases = ()  # installs a plugin, or runs a package, from a publisher that is not reviewed
    same_as: dict[str, str] = {}  # its first words, and the command that they stand for
    lines: str = ""  # its operands are a shell line (`joined`), or each with a space is one (`each`), or `stdin` is
    code: Words = frozenset()  # the value of these options is a shell line
    joins: bool = False  # to which the words after it are added
    shell_code: str = ""  # a pattern whose group is a shell line; the words are joined by `\x1f`
    stdin_code: str = ""  # the same for its standard input
    language_code: tuple[str, ...] = ()  # a language, and a pattern whose group is code in that language
    carries: bool = False  # it runs commands in another way; for the ledger, which suspects what its words may be
    no_command: bool = False  # none of its words is a command, whatever it looks like

    # What it does to data and machines, for the guard
    only_reads: bool = False  # the files in its words, but for those in `writes`
    deletes_by_verb: bool = False  # whatever the noun, a verb such as `delete` takes down something that others use
    destroys: Phrases = ()  # deletes data, here or elsewhere, or takes down remote resources
    may_destroy: Phrases = ()  # the same, but little is lost, or it can be undone
    exposes: Phrases = ()  # removes the protection of a remote resource, or gives others access to it
    may_expose: Phrases = ()  # the same, but little is exposed, or it may be meant so
    stops: Phrases = ()  # stops a service that others may use
    ends: Phrases = ()  # closes or changes one thing of others: for all of a listing it is a loss
    publishes: Phrases = ()  # gives something to the public that cannot be taken back, or merges without a review
    goes_live: Phrases = ()  # changes what runs in production, or what people get
    deploys: Phrases = ()  # the same where a word names production; what is in `sends` does so, too
    options_from: Words = frozenset()  # variables whose words it takes as options of its own
    database: bool = False  # a client of a database, whose words and input may be statements
    drops: Phrases = ()  # empties or replaces a database
    may_drop: Phrases = ()
    discards: Phrases = ()  # throws away uncommitted work
    loses_history: Phrases = ()  # rewrites or deletes the history of a repository
    erases: Phrases = ()  # destroys a volume, a partition or a file system
    breaks: Phrases = ()  # weakens or stops this machine
    changes: Phrases = ()  # changes this machine for all its users
    breaks_windows: Phrases = ()
    changes_windows: Phrases = ()
    attacks: str = ""  # it is an attack `tool` or a coin miner, a `scanner` of machines, or a `tunnel` into this one
    prints_secrets: Phrases = ()
    prints_personal: Phrases = ()
    prints_code: str = ""  # shell code that is made for `eval`: `always`, or `by_word` such as `completion`

    # What it changes, for the ledger
    looks: Phrases = ()  # only looks, here or on another machine
    local: Phrases = ()  # of a program for other machines: what it changes here only
    writes: str = ""  # the operands that it writes to: `all`, the `second`, or the `last` of several (`end`: of any)
    writes_by: Words = frozenset()  # the values of these options are such files
    touches: str = ""  # operands that it creates, deletes or gives other attributes: `all`, or the `rest` after one
    statements: Words = frozenset()  # the values of these options are what a database is told
    sends: Phrases = ()  # changes something on another machine
    sends_tasks: Words = frozenset()  # a builder: how the names of tasks begin that do so
    remote: bool = False  # whatever is not in `looks` or `local` changes something on another machine
    changes_by_verb: bool = False  # the same, by the first verb


UNKNOWN_PROGRAM = Program()


@lru_cache(maxsize=2048)  # the names come from command lines
def program_row(name: str) -> Program:
    """Return what is known about a program, or about a sub-command such as `git commit`."""
    sections = _sections()
    text = sections.get(name) or sections.get(name.removesuffix(".sh").rstrip("0123456789.-"))  # `python3.12`
    return _parse(text) if text else UNKNOWN_PROGRAM


def is_known(name: str) -> bool:
    return program_row(name) is not UNKNOWN_PROGRAM


@cache
def programs_with_verbs() -> frozenset[str]:
    """Return the programs that have sections for sub-commands, such as `git commit`."""
    return frozenset(name.partition(" ")[0] for name in _sections() if " " in name)


@cache
def _sections() -> dict[str, str]:
    text = TABLE.read_text("utf-8")
    headers = list(_HEADER.finditer(text))
    ends = [*(each.start() for each in headers[1:]), len(text)]
    return {
        name: text[header.end() : end]
        for header, end in zip(headers, ends, strict=True)
        for name in (header[1], *(header[2] or "").split())
    }


@cache  # aliases share one row
def _parse(text: str) -> Program:
    given = tomllib.loads(text)
    for key, value in given.items():
        if _KINDS.get(key) == Words:
            given[key] = value.split()
        elif _KINDS.get(key) == tuple[Words, ...]:
            given[key] = [each.split() for each in value]
    return msgspec.convert(given, Program)


_KINDS = get_type_hints(Program)
