"""
Programs that run another program: which of their words come first, and where the other command starts.

The rows are in `programs.toml`. The reader of command lines never guesses: an option that is not listed there makes the
line unclear. The guard takes such an option for one without a value.
"""

from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from snell.shell.programs import Program, program_row
from snell.system.lazy_regex import lazy_regex

UNCLEAR = -1
MOST_LAYERS = 16

_NUMBER = lazy_regex(r"-[+-]?[0-9]+")
_NEGATIVE = lazy_regex(r"-[0-9]")  # an operand: `faketime -f -2d make`
_ASSIGNMENT = lazy_regex(r"[A-Za-z_]\w*=")
_FOLDERS = ("-C", "--chdir", "-D")


@lru_cache(maxsize=512)
def program_of(word: str) -> str:
    """Return the program that a command word names, without its folder."""
    return word.rpartition("/")[2].removesuffix(".exe")


@lru_cache(maxsize=1024)
def is_exact(program: str) -> bool:
    """Tell whether all options of this wrapper are known, so that it is certain where its command starts."""
    row = program_row(program)
    return row.wraps and row.exact


def layer_starts(words: Sequence[str], literal: Sequence[bool]) -> tuple[int, ...]:
    """Return where the command and each command wrapped in it start; UNCLEAR at the end if that is not known."""
    starts = [0]
    while len(starts) <= MOST_LAYERS:
        inner = _inner_start(words, literal, starts[-1])
        if inner is None:
            return tuple(starts)
        starts.append(inner)
        if inner == UNCLEAR:
            return tuple(starts)
    return (*starts, UNCLEAR)


def _inner_start(words: Sequence[str], literal: Sequence[bool], at: int) -> int | None:
    if at >= len(words) or not literal[at] or not is_exact(program := program_of(words[at])):
        return None
    row = program_row(program)
    after = _after_options(row, words, literal, at + 1)
    if after is None or after == UNCLEAR:
        return after
    while row.assigns and after < len(words) and "=" in words[after][1:]:
        after += 1
    after += row.operands
    return after if after < len(words) else None


def _after_options(row: Program, words: Sequence[str], literal: Sequence[bool], at: int) -> int | None:
    while at < len(words) and words[at].startswith("-"):
        word = words[at]
        if word == "--":
            return at + 1
        name, equals, _ = word.partition("=")
        if not literal[at] and not (equals and name in row.takes):
            return UNCLEAR
        taken = _option_length(row, word)
        if taken is None or taken == UNCLEAR:
            return taken
        at += taken
    return at


def _option_length(row: Program, word: str) -> int | None:
    """Return how many words this option takes; None for an option with which nothing is run."""
    if word in row.inert:
        return None
    if word == "-" and row.assigns:
        return 1  # `env -` is `env -i`
    if word.startswith("--"):
        name, equals, _ = word.partition("=")
        if name in (row.takes if equals else row.flags):
            return 1
        return 2 if name in row.takes else UNCLEAR
    if row.numeric and _NUMBER.fullmatch(word):
        return 1
    return 2 if word in row.takes else _cluster_length(row, word[1:])


def _cluster_length(row: Program, letters: str) -> int | None:
    for index, letter in enumerate(letters):
        option = f"-{letter}"
        if option in row.takes:
            return 1 if index + 1 < len(letters) else 2
        if option in row.attached:
            return 1
        if option in row.inert:
            return None
        if option not in row.flags:
            return UNCLEAR if row.exact or index + 1 == len(letters) else _cluster_length(row, letters[index + 1 :])
    return 1 if letters else UNCLEAR


class Inner(Struct):
    """The command inside a wrapper, as far as its words tell."""

    start: int  # its first word
    code: int = 0  # or the word that is a shell line
    attached_code: str = ""  # or a shell line that is a part of a word
    assignments: list[tuple[str, str]] = []
    folder: str = ""  # where it runs


def find_inner(row: Program, words: Sequence[str]) -> Inner | None:
    """Return where the command in the words after a wrapper's name starts; None when it runs none."""
    at = _after_verb(row, words)
    if at is None:
        return None
    if not row.wraps:
        return _find_code(row, words)
    inner, operands = Inner(at), row.operands
    while inner.start < len(words):
        word = words[inner.start]
        if word in row.inert:
            return None
        if word == "--" or not _is_own(row, word, operands):
            inner.start += word == "--"
            return inner if inner.start < len(words) else None
        if _note_option(row, words, inner):
            return inner
        is_option = word.startswith("-") and not (operands and not row.numeric and _NEGATIVE.match(word))
        operands -= not (is_option or (row.assigns and _ASSIGNMENT.match(word)))
    return None


def _after_verb(row: Program, words: Sequence[str]) -> int | None:
    """Return where the words after the sub-command begin; if the wrapper needs `--`, where that is."""
    at = 0
    if row.verbs:
        while at < len(words) and words[at].startswith("-"):
            at += _tolerant_length(row, words[at])
        verb = next((verb for verb in row.verbs if list(words[at : at + len(verb.split())]) == verb.split()), "")
        if not verb:
            return None
        at += len(verb.split())
    if row.dashes:
        return list(words).index("--", at) if "--" in words[at:] else None
    return at


def _find_code(row: Program, words: Sequence[str]) -> Inner | None:
    inner = Inner(0)
    while inner.start < len(words) and words[inner.start] != "--":
        if _note_option(row, words, inner):
            return inner
    return None


def _tolerant_length(row: Program, word: str) -> int:
    length = _option_length(row, word)
    return 2 if length == 2 else 1


def _is_own(row: Program, word: str, operands: int) -> bool:
    """Return whether the word belongs to the wrapper itself."""
    is_assignment = row.assigns and _ASSIGNMENT.match(word) is not None
    return operands > 0 or is_assignment or (word.startswith("-") and (len(word) > 1 or row.assigns))


def _note_option(row: Program, words: Sequence[str], inner: Inner) -> bool:
    """Pass one word of the wrapper; True when it says what the code is."""
    word = words[inner.start]
    name, equals, value = word.partition("=")
    if row.assigns and _ASSIGNMENT.match(word):
        inner.assignments.append((name, value))
        inner.start += 1
        return False
    if not word.startswith("-"):
        inner.start += 1
        return False
    following = words[inner.start + 1] if inner.start + 1 < len(words) else ""
    if name in _FOLDERS and name in row.takes:
        inner.folder = value if equals else following
    if name in row.code and equals:
        inner.attached_code = value
        return True
    if following and _is_code_option(row, word):
        inner.code = inner.start + 1
        return True
    inner.start += _tolerant_length(row, word)
    return False


def _is_code_option(row: Program, word: str) -> bool:
    """Return whether code follows the option: `-c`, or `-lc` where the letters before it take no value."""
    if word in row.code:
        return True
    is_cluster = not word.startswith("--") and len(word) > 2 and f"-{word[-1]}" in row.code
    return is_cluster and all(f"-{letter}" not in row.takes for letter in word[1:-1])
