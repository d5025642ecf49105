"""
Find code that a command gives to a shell: the string of `sh -c`, words of `eval`, a here-document, a trap's code.

Also says when a command runs something that only run time knows.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct, field

from snell.shell.cursor import DEEPEST_NESTING, Budget
from snell.shell.tree import Redirect
from snell.shell.word_texts import WordText, text_of
from snell.shell.wrappers import UNCLEAR, is_exact, layer_starts, program_of
from snell.system.lazy_regex import lazy_regex

SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "rbash"))
MOST_COMMANDS = 2_000
# Strings handed to shells are read again, and may hold such strings themselves; this bounds the sum of them.
MOST_REREADING = 262_144

_RUN_CODE = frozenset(("eval", "source", ".", "trap", "find"))
_SHELL_LONG_FLAGS = frozenset(
    ("--login", "--norc", "--noprofile", "--posix", "--verbose", "--restricted", "--noediting", "--no-rcs")
)
_SHELL_LONG_VALUED = frozenset(("--rcfile", "--init-file"))
_SHELL_FLAGS = frozenset("abcefhiklmnprstuvxBCDEHPT")
_INERT = frozenset(("--help", "--version", "--dump-strings", "--dump-po-strings"))
_HOME_PATH = lazy_regex(r"~[\w./+-]*")
_EXECUTES = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_TABS = lazy_regex(r"^\t+", re.MULTILINE)
_STDIN = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "-")


@lru_cache(maxsize=1024)
def may_run_others(program: str) -> bool:
    """Tell whether a command of this program can run another one that stands in its words."""
    return program in SHELLS or program in _RUN_CODE or is_exact(program)


class Findings(Struct):
    """What holds for a whole line."""

    budget: Budget = field(default_factory=lambda: Budget(MOST_COMMANDS))
    dynamic: bool = False
    substitutes: bool = False
    reread: int = 0

    def may_reread(self, length: int, depth: int) -> bool:
        """Count a part that is read once more; past the limits, doubt takes its place."""
        self.reread += length
        self.budget.commands += 1
        self.budget.depth = 0
        if self.reread <= MOST_REREADING and not self.budget.is_spent and depth <= DEEPEST_NESTING:
            return True
        self.budget.doubtful = True
        return False


class Inner(NamedTuple):
    """The innermost command, and the marks in it that run time replaces."""

    words: Sequence[WordText]
    marks: frozenset[str]


class Streams(NamedTuple):
    """The redirections of a command, and the text that they were read from."""

    redirects: Sequence[Redirect]
    source: str


def look_through(words: Sequence[WordText], marks: frozenset[str], findings: Findings) -> Inner:
    """Take the wrappers off; doubt and run-time values on the way are noted."""
    starts = layer_starts([word.text for word in words], [word.literal for word in words])
    if starts[-1] == UNCLEAR:
        findings.budget.doubtful = True
        starts = starts[:-1]
    outer, inner = words[: starts[-1]], words[starts[-1] :]
    if any(word.splits or not (word.literal or word.expands) for word in outer):
        findings.dynamic = True
    feeds = [start for start in starts[:-1] if program_of(words[start].text) == "xargs"]
    if feeds and inner and is_exact(program_of(inner[0].text)):
        findings.dynamic = True  # xargs itself adds the program that is run
    for start in feeds:
        marks |= frozenset(_replaced_by_xargs(outer[start:]))
    return Inner(inner, marks)


def handed_to_shells(inner: Inner, streams: Streams, findings: Findings) -> Iterator[str]:
    """Return the shell texts that this command runs."""
    words = inner.words
    if not words:
        return
    if _varies(words[0], inner.marks) and not _HOME_PATH.fullmatch(words[0].text):
        findings.dynamic = True
    for code in _codes(streams, program_of(words[0].text), words[1:], findings):
        if any(mark in code for mark in inner.marks):
            findings.dynamic = True
        yield code


def _codes(streams: Streams, program: str, words: Sequence[WordText], findings: Findings) -> Iterator[str]:
    if program == "eval":
        yield from _code(_without_dashes(words), findings)
    elif program in SHELLS:
        yield from _shell_code(streams, words, findings)
    elif program in ("source", "."):
        yield from _source_code(streams, words, findings)
    elif program == "trap":
        yield from _trap_code(_without_dashes(words), findings)


def _varies(word: WordText, marks: frozenset[str]) -> bool:
    return not word.literal or any(mark in word.text for mark in marks)


def _replaced_by_xargs(words: Sequence[WordText]) -> Iterator[str]:
    for index, word in enumerate(words):
        if word.text.startswith(("-I", "-J")):
            yield word.text[2:] or (words[index + 1].text if index + 1 < len(words) else "{}")
        elif word.text.startswith(("-i", "--replace")):
            yield word.text.removeprefix("--replace").removeprefix("-i").removeprefix("=") or "{}"


def executed_by_find(words: Sequence[WordText]) -> Iterator[Sequence[WordText]]:
    """Return the commands that `find` runs on what it finds."""
    if not words or program_of(words[0].text) != "find":
        return
    start = None
    for index, word in enumerate(words):
        if start is None:
            start = index + 1 if word.text in _EXECUTES else None
        elif word.text == ";" or (word.text == "+" and words[index - 1].text == "{}"):
            if index > start:
                yield words[start:index]
            start = None
    if start is not None and start < len(words):
        yield words[start:]


def _code(words: Sequence[WordText], findings: Findings) -> Iterator[str]:
    if any(not word.literal for word in words):
        findings.dynamic = True
    if words:
        yield " ".join(word.opaque for word in words)


def _without_dashes(words: Sequence[WordText]) -> Sequence[WordText]:
    return words[1:] if words and words[0].text == "--" else words


def _trap_code(words: Sequence[WordText], findings: Findings) -> Iterator[str]:
    if len(words) > 1 and not words[0].text.startswith("-"):
        yield from _code(words[:1], findings)


def _source_code(streams: Streams, words: Sequence[WordText], findings: Findings) -> Iterator[str]:
    script = _without_dashes(words)[:1]
    if script and _is_stream(script[0]):
        yield from _standard_input(streams, findings, streamed=script[0].text not in _STDIN)


def _shell_code(streams: Streams, words: Sequence[WordText], findings: Findings) -> Iterator[str]:
    options = _shell_options(words)
    if options is None:
        findings.budget.doubtful = True
        return
    letters, rest = options
    if "?" in letters:
        return
    if "c" in letters and rest:
        yield from _code(rest[:1], findings)
    elif not rest or "s" in letters or _is_stream(rest[0]):
        streamed = bool(rest) and "s" not in letters and rest[0].text not in _STDIN
        yield from _standard_input(streams, findings, streamed=streamed)


def _shell_options(words: Sequence[WordText]) -> tuple[str, Sequence[WordText]] | None:
    """Return the option letters and the words after them; `?` stands for an option with which nothing runs."""
    letters, at = "", 0
    while at < len(words) and words[at].text[:1] in ("-", "+") and len(words[at].text) > 1:
        word = words[at]
        at += 1
        if word.text == "--":
            break
        if not word.literal:
            return None
        if word.text in _INERT:
            letters += "?"
        elif word.text.startswith("--"):
            if word.text not in _SHELL_LONG_FLAGS | _SHELL_LONG_VALUED:
                return None
            at += word.text in _SHELL_LONG_VALUED
        else:
            named = word.text[1:].replace("o", "").replace("O", "")
            if not _SHELL_FLAGS.issuperset(named):
                return None
            letters += named if word.text[0] == "-" else ""
            at += len(word.text) - 1 - len(named)  # each `o` names a setting in a word of its own
    return letters, words[at:]


def _is_stream(word: WordText) -> bool:
    return word.text in _STDIN or (word.expands and word.text.startswith("<("))


def _standard_input(streams: Streams, findings: Findings, *, streamed: bool) -> Iterator[str]:
    """Return the here-document or here-string on standard input; other input is only known at run time."""
    given = [each for each in streams.redirects if each.operator.startswith("<") and each.fd in ("", "0")]
    last = given[-1] if given and not streamed else None
    if last is None or last.operator not in ("<<", "<<-", "<<<"):
        findings.dynamic = True
    elif last.operator == "<<<":
        yield from _code([text_of(last.target, streams.source)], findings)
    elif last.body is not None:
        body = text_of(last.body, streams.source)
        if body.expands:
            findings.dynamic = True
        yield _TABS.sub("", body.opaque) if last.operator == "<<-" else body.opaque
