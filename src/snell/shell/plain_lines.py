"""
Read lines of plain words, in which nothing is quoted, expanded, redirected or grouped.

Most lines are like that, and one regular expression can tell: reading them takes a fraction of the usual time.
"""

from typing import NamedTuple

from snell.shell.tree import Chain, Node, Pipe, Simple, Text, Word
from snell.system.lazy_regex import lazy_regex

LONGEST_PLAIN = 64 * 1024

# `~` stands for itself in the middle of a word only.
_CHAR = r"[A-Za-z0-9_./:@%+,^-]|(?<=[A-Za-z0-9_.\-])~"
_KEYWORD = "if|then|elif|else|fi|for|while|until|do|done|case|esac|in|select|function|coproc|time"
_COMMAND = rf"(?!(?:{_KEYWORD})(?![A-Za-z0-9_./:@%+,^=~-]))(?:{_CHAR})++(?!=)(?:[ \t]++(?:{_CHAR}|=(?!~))++)*+[ \t]*+"
_LINE = lazy_regex(rf"[ \t\n]*+{_COMMAND}(?:(?:&&|\|\|?|;(?!;)|\n)[ \t\n]*+{_COMMAND})*[;\n]?[ \t\n]*+")
_TOKEN = lazy_regex(r"[^ \t\n;&|]+|&&|\|\|?|;|\n")
_JOINERS = frozenset(("&&", "||", "|", ";", "\n"))


class PlainCommand(NamedTuple):
    words: list[str]
    spans: list[tuple[int, int]]
    joiner: str  # that stands after it


def plain_commands(line: str) -> list[PlainCommand] | None:
    """The commands of the line; None where it is not plain."""
    if len(line) > LONGEST_PLAIN or not _LINE.fullmatch(line):
        return None
    commands = list[PlainCommand]()
    words, spans = list[str](), list[tuple[int, int]]()
    for token in _TOKEN.finditer(line):
        text = token[0]
        if text not in _JOINERS:
            words.append(text)
            spans.append(token.span())
        elif words:
            commands.append(PlainCommand(words, spans, text))
            words, spans = [], []
    if words:
        commands.append(PlainCommand(words, spans, ";"))
    return commands


def plain_tree(commands: list[PlainCommand]) -> Node:
    """The tree of a plain line."""
    nodes, joiners, stages = list[Node](), list[str](), list[Node]()
    for words, spans, joiner in commands:
        parts = tuple([Word((Text(word),), start, end) for word, (start, end) in zip(words, spans, strict=True)])
        stages.append(Simple(parts, (), (), spans[0][0], spans[-1][1]))
        if joiner != "|":
            nodes.append(stages[0] if len(stages) == 1 else Pipe(tuple(stages)))
            joiners.append(";" if joiner == "\n" else joiner)
            stages = []
    return nodes[0] if len(nodes) == 1 else Chain(tuple(nodes), tuple(joiners))
