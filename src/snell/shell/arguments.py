"""
The arguments of one command, sorted: options with their values, and operands; and phrases that they are compared with.

`-sd a=b`, `-da=b` and `--data=a=b` are the same option. Which options take a value is in `programs.toml`; of an option
that is not known, the word after it may be its value or an operand, and either reading counts.
"""

import fnmatch
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct, field

from snell.shell.programs import UNKNOWN_PROGRAM, Program, program_row, programs_with_verbs
from snell.system.lazy_regex import lazy_regex

_CLUSTER = lazy_regex(r"-([A-Za-z0-9]+)")
_WILD = lazy_regex(r"[*?\[]")
_SHORTEST = 5  # of an abbreviated long option, with its dashes


class Arguments(Struct, gc=False):
    """What stands after the program's name. It is shared, so no caller may change it."""

    words: tuple[str, ...] = ()
    options: list[tuple[str, str]] = field(default_factory=list)  # in their order; without a value it is empty
    operands: tuple[str, ...] = ()
    # Operands, by number, that may be the value of an unknown option, or a toolchain such as `+nightly`
    unsure: set[int] = field(default_factory=set)
    same: tuple[frozenset[str], ...] = ()
    single_dash: bool = False

    def has(self, *names: str) -> bool:
        """Tell whether one of these options is given; long ones may be abbreviated, as most programs allow."""
        for given, _ in self.options:
            if given in names:
                return True
            if given.startswith("--") and len(given) >= _SHORTEST:
                lower = given.lower()
                for name in names:
                    if name.startswith(lower):
                        return True
        return False

    def values(self, *names: str) -> list[str]:
        return [value for name, value in self.options if name in names]

    def value(self, *names: str) -> str:
        """Return the last value of these options, which is the one that counts for most programs; empty without one."""
        return next(reversed(self.values(*names)), "")


def arguments_of(program: str, words: Iterable[str], takes: str = "") -> Arguments:
    """Sort the words after a program's name; `takes` names more options that take the next word."""
    return sort_words(program, tuple(words), takes)


@lru_cache(maxsize=64)  # several rules of the guard ask about the same command
def sort_words(program: str, words: tuple[str, ...], takes: str) -> Arguments:
    row = program_row(program)
    found = Arguments(words=words, same=row.same, single_dash=row.single_dash)
    reader = _Reader(program, row, row.takes.union(takes.split()) if takes else row.takes, found)
    reader.read(words)
    return found


class _Reader:
    """Sorts words; the options of a sub-command count as soon as its name was read."""

    def __init__(self, program: str, row: Program, takes: frozenset[str], found: Arguments) -> None:
        self._program, self._row, self._takes, self._found = program, row, takes, found
        self._operands: list[str] = []

    def read(self, words: Sequence[str]) -> None:
        rest = iter(self._without_bundle(words) if self._row.bundle else words)
        may_be_value = False
        for word in rest:
            if word == "--":
                self._operands += rest
            elif len(word) > 1 and word.startswith("-"):
                may_be_value = self._add_option(word, rest)
            else:
                self._add_operand(word, is_unsure=may_be_value)
                may_be_value = False
        self._found.operands = tuple(self._operands)

    def _add_operand(self, word: str, *, is_unsure: bool) -> None:
        if is_unsure or word.startswith("+"):
            self._found.unsure.add(len(self._operands))
        elif len(self._operands) == len(self._found.unsure) and self._program in programs_with_verbs():
            row = program_row(f"{self._program} {word}")
            self._row = self._row if row is UNKNOWN_PROGRAM else row
            self._takes |= row.takes
            self._found.same += row.same
        self._operands.append(word)

    def _add_option(self, word: str, rest: Iterator[str]) -> bool:
        """Note an option; says whether the word after it may still be its value."""
        options = self._found.options
        if word.startswith("--") or self._found.single_dash or word in self._takes:
            name, equals, value = word.partition("=")
            known = self._row.long or (self._takes if equals else ())
            name = _written_out(name, known) if known and name not in known else name
            takes = name in self._takes and not equals
            options.append((name, next(rest, "") if takes else value))
            return not takes and not equals
        letters = word[1:]
        if len(letters) > 1:
            options.append((word, ""))
        for index, letter in enumerate(letters):
            if f"-{letter}" in self._takes:
                options.append((f"-{letter}", letters[index + 1 :].removeprefix("=") or next(rest, "")))
                return False
            options.append((f"-{letter}", ""))
        return len(letters) == 1

    def _without_bundle(self, words: Sequence[str]) -> Sequence[str]:
        """Note letters without a dash, as in `tar xfC a there`, with their values; returns the words after them."""
        if not words or words[0].startswith("-"):
            return words
        rest = list(words[1:])
        for letter in words[0]:
            takes = f"-{letter}" in self._takes and rest
            self._found.options.append((f"-{letter}", rest.pop(0) if takes else ""))
        return rest


def sub_command(program: str, words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the first word that is no option or value of one, in lower case, and the words after it."""
    takes, rest = program_row(program).takes, list(words)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in takes and rest:
            rest.pop(0)
    return (rest[0].lower(), rest[1:]) if rest else ("", [])


def _written_out(name: str, known: Iterable[str]) -> str:
    meant = [option for option in known if option.startswith(name)]
    return meant[0] if len(meant) == 1 else name


def gives(program: str, arguments: Sequence[str], wanted: Sequence[str]) -> bool:
    """Return whether the operands begin with the wanted words, and every wanted option is given in some spelling."""
    given = arguments_of(program, arguments)
    operands = [re.compile(re.escape(word)) for word in wanted if not _is_option(word)]
    return _leads(given, operands) and all(_has(given, word) for word in wanted if _is_option(word))


def _is_option(word: str) -> bool:
    return len(word) > 1 and word.startswith("-")


def _has(given: Arguments, wanted: str) -> bool:
    spellings = {wanted}.union(*(group for group in given.same if wanted in group))
    if any(name in spellings for name, _ in given.options):
        return True
    letters = _CLUSTER.fullmatch(wanted)
    if not letters or len(letters[1]) < 2 or given.single_dash:
        return False
    return all(_has(given, f"-{letter}") for letter in letters[1])


ANY = "**"


class _Phrase(Struct, frozen=True):
    operands: tuple[re.Pattern[str] | None, ...]  # None: any number of operands
    options: tuple[tuple[tuple[str, ...], re.Pattern[str] | None], ...]  # spellings, and the value
    absent: frozenset[str]
    anywhere: tuple[re.Pattern[str], ...]
    is_whole: bool  # no further operands
    first_words: frozenset[str]  # in lower case, one of which is the first operand; empty where that may be any


def matches_any(given: Arguments, phrases: tuple[str, ...]) -> bool:
    """
    Compare arguments with phrases of `programs.toml`, whose words stand for themselves, but for these.

    `a|b` is either, `*` in a word any letters, and the word `**` any number of operands. The operands have to begin
    so, in any case of letters; with `$` there are no more. `-x` is an option that has to be there, `-x=v*` one with
    such a value, and `!x|-x` are words or options that must not be there. `~v*` is a word anywhere: operand, option or
    value.
    """
    if not phrases:
        return False
    by_word, first = _by_first_word(phrases), given.operands[0] if given.operands else ""
    if 0 in given.unsure:  # it may be passed, so that the next one counts
        return any(_matches(given, _compile(phrase)) for phrase in phrases)
    for phrase in by_word.get(first.lower(), by_word[""]):  # noqa: SIM110 - most often there is none
        if _matches(given, phrase):
            return True
    return False


@lru_cache(maxsize=1024)
def _by_first_word(phrases: tuple[str, ...]) -> dict[str, list[_Phrase]]:
    """Return the phrases that arguments with this first operand may match; those for any operand are at the name ""."""
    compiled = [_compile(phrase) for phrase in phrases]
    words = {word for phrase in compiled for word in phrase.first_words}
    return {
        word: [phrase for phrase in compiled if not phrase.first_words or word in phrase.first_words]
        for word in ("", *words)
    }


def _matches(given: Arguments, wanted: _Phrase) -> bool:
    if not wanted.absent.isdisjoint(given.words) or not _leads(given, wanted.operands, is_whole=wanted.is_whole):
        return False
    for names, value in wanted.options:
        if not _has_option(given, names, value):
            return False
    for pattern in wanted.anywhere:
        if not any(map(pattern.fullmatch, given.words)):
            return False
    return not (wanted.absent and given.has(*wanted.absent))


@lru_cache(maxsize=4096)
def _compile(phrase: str) -> _Phrase:
    operands, options, absent, anywhere = list[re.Pattern[str] | None](), [], list[str](), []
    first_words, is_whole = frozenset[str](), False
    for word in phrase.split():
        if word.startswith("!"):
            absent += word[1:].split("|")
        elif word.startswith("~"):
            anywhere.append(_pattern(word[1:]))
        elif word == "$":
            is_whole = True
        elif _is_option(word):
            names, equals, value = word.partition("=")
            options.append((tuple(names.split("|")), _pattern(value) if equals else None))
        else:
            if not operands and not _WILD.search(word):
                first_words = frozenset(word.lower().split("|"))
            operands.append(None if word == ANY else _pattern(word))
    return _Phrase(tuple(operands), tuple(options), frozenset(absent), tuple(anywhere), is_whole, first_words)


def _pattern(text: str) -> re.Pattern[str]:
    return lazy_regex("|".join(map(fnmatch.translate, text.split("|"))), re.IGNORECASE)  # few of them are ever asked


def _has_option(given: Arguments, names: tuple[str, ...], value: re.Pattern[str] | None) -> bool:
    if value is None:
        return given.has(*names)
    found = [each for name, each in given.options if name in names]
    found += [after for name, after in zip(given.words, given.words[1:], strict=False) if name in names]
    return any(map(value.fullmatch, found))


def _leads(given: Arguments, wanted: Sequence[re.Pattern[str] | None], *, is_whole: bool = False) -> bool:
    """Return whether the operands begin with these; operands that may be values of options may be skipped."""
    if not given.unsure and None not in wanted:  # most of them
        count = len(given.operands)
        is_long_enough = count == len(wanted) if is_whole else count >= len(wanted)
        pairs = zip(wanted, given.operands, strict=False)
        return is_long_enough and all(pattern is not None and pattern.fullmatch(word) for pattern, word in pairs)
    reached = _passing(0, wanted)
    for index, word in enumerate(given.operands):
        if len(wanted) in reached and not is_whole:
            return True
        following = set(reached) if index in given.unsure and not is_whole else set[int]()
        for at in reached - {len(wanted)}:
            pattern = wanted[at]
            if pattern is None:
                following |= _passing(at, wanted)
            elif pattern.fullmatch(word):
                following |= _passing(at + 1, wanted)
        reached = following
    return len(wanted) in reached


def _passing(at: int, wanted: Sequence[re.Pattern[str] | None]) -> set[int]:
    """Return the places in a phrase reached from here without an operand: None stands for any number of them."""
    reached = {at}
    while at < len(wanted) and wanted[at] is None:
        at += 1
        reached.add(at)
    return reached
