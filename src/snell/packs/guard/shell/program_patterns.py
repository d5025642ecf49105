"""The patterns by which short programs in other languages are read; those in `program_patterns.toml`, by name."""

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from snell.system.lazy_regex import lazy_regex

TOKENS = (
    r'''(?P<triple>[rbfRBF]{0,2}(?:"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\'))'''
    r"""|(?P<plain>[rbfuRBFU]{0,2}(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))|(?P<tick>`(?:[^`\\]|\\.)*`)"""
    r"""|(?P<word>%[xwW]\(([^)]*)\)|q[xw](?:\{[^}]*\}|\([^)]*\)|/[^/]*/))"""
)
FLAGS = re.DOTALL | re.MULTILINE
HASH = lazy_regex(TOKENS + r"|(?P<comment>(?:(?<=\s)|^)\#[^\n]*)", FLAGS)
SLASHES = lazy_regex(TOKENS + r"|(?P<comment>(?<!:)//[^\n]*)", FLAGS)
DASHES = lazy_regex(r"(?P<comment>--\[\[.{0,500}?\]\]|--[^\n]*)|(?P<long>\[\[.{0,500}?\]\])|" + TOKENS, FLAGS)
SLASHED = frozenset(("node", "nodejs", "deno", "bun", "go", "c", "rust", "java", "groovy", "swift", "kotlin", "php"))
S = r"«(\d+)»"  # a string, by its number
TABLE = Path(__file__).with_name("program_patterns.toml")


class WordPattern(Struct, frozen=True, forbid_unknown_fields=True):
    """A pattern, and words of which one is in every text that it matches: to search for words takes far less time."""

    pattern: str
    words: str = ""

    @property
    def expression(self) -> str:
        return "".join([line.strip() for line in self.pattern.splitlines()]).replace("{S}", S)


class Searcher:
    def __init__(self, row: WordPattern) -> None:
        self._words, self._regex = tuple(row.words.split()), lazy_regex(row.expression)

    def match(self, text: str) -> re.Match[str] | None:
        return self._regex.match(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self._regex.fullmatch(text)

    def findall(self, text: str) -> list[tuple[str, str]]:
        return self._regex.findall(text)

    def finditer(self, text: str) -> Iterable[re.Match[str]]:
        return self._regex.finditer(text) if self._may_match(text) else ()

    def search(self, text: str) -> re.Match[str] | None:
        return self._regex.search(text) if self._may_match(text) else None

    def sub(self, replacement: Callable[[re.Match[str]], str], text: str) -> str:
        return self._regex.sub(replacement, text) if self._may_match(text) else text

    def _may_match(self, text: str) -> bool:
        for word in self._words:
            if word in text:
                return True
        return not self._words


@cache
def pattern(name: str) -> Searcher:
    return Searcher(read_patterns()[name])


@cache
def read_patterns() -> dict[str, WordPattern]:
    """Return the table; it is read when the first program in another language is met."""
    return msgspec.toml.decode(TABLE.read_bytes(), type=dict[str, WordPattern])
