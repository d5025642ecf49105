"""
Read lines that one regular expression can tell apart, in a fraction of the usual time: most lines are like that.

In plain lines nothing is quoted, expanded, redirected or grouped; in simple ones nothing is expanded or grouped.
"""

from functools import lru_cache
from typing import NamedTuple

from snell.model.tool_names import name_set
from snell.shell.tree import Chain, Node, Pipe, Redirect, Simple, Text, Word
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


# A simple line is a row of words, redirections to plain words, and what stands between commands.
_BARE = r"[^ \t\n\r\0\\'\"$`|&;<>()]"
_SINGLE, _DOUBLE = r"'[^'\r\0]*+'", r'"[^"\\$`\r\0]*+"'
_PART = lazy_regex("""([^'"]++)|'([^']*+)'|"([^"]*+)["]""")
_MIXED = rf"(?:(?!#){_BARE}++|{_SINGLE}|{_DOUBLE})(?:{_BARE}++|{_SINGLE}|{_DOUBLE})*+"
_SIMPLE = lazy_regex(
    rf"[ \t]*+(?:((?!#){_BARE}++)(?=[ \t\n;&|])|(&&|\|\|(?!\|)|\|(?![|&])|;(?![;&])|&(?![&>])|\n)"
    rf"|([0-9]*+)(>>|>&|<&|>(?![|(])|<(?![<>(]))[ \t]*+((?!#){_BARE}++)(?=[ \t\n;&|])"
    rf"|({_MIXED})(?=[ \t\n;&|]))"
)
_PLAIN, _JOINER, _REDIRECTED = 1, 2, 5  # groups
# As the first word of a command these mean something else, and so do an assignment and an open bracket.
_NO_PROGRAM = name_set(f"{_KEYWORD.replace('|', ' ')} [[ ]] {{ }} !")


@lru_cache(maxsize=256)  # more than the events whose ledger rows may wait
def simple_tree(line: str) -> tuple[Node, int] | None:
    """Return the tree of a simple line, and how many commands it has; None for any other line."""
    nodes, joiners, stages = list[Node](), list[str](), list[Node]()
    words, redirects, at, count, joiner = list[Word](), list[Redirect](), 0, 0, ""
    for token in _SIMPLE.finditer(line + "\n"):
        kind = token.lastindex or 0
        text, end = token[kind], at
        if token.start() != at or not (words or _may_begin(kind, text)):
            return None
        at = token.end()
        if kind == _PLAIN:
            words.append(Word((Text(text),), at - len(text), at))
        elif kind == _REDIRECTED:
            target = Word((Text(text),), at - len(text), at)
            redirects.append(Redirect(token[4], target, token[3], None, token.start(3), at))
        elif kind != _JOINER:
            parts = tuple([Text(each[each.lastindex or 0], each.lastindex != 1) for each in _PART.finditer(text)])
            words.append(Word(parts, at - len(text), at))
        elif words:
            stages.append(Simple(tuple(words), (), tuple(redirects), words[0].start, end))
            words, redirects, joiner, count = [], [], text, count + 1
            if joiner != "|":
                nodes.append(stages[0] if len(stages) == 1 else Pipe(tuple(stages)))
                joiners.append(";" if joiner == "\n" else joiner)
                stages = []
    if at <= len(line) or joiner in ("", "|", "&&", "||"):
        return None
    return (nodes[0] if len(nodes) == 1 and joiner != "&" else Chain(tuple(nodes), tuple(joiners))), count


def _may_begin(kind: int, text: str) -> bool:
    """Tell whether the first token of a command is a program, or a line break before one."""
    if kind == _PLAIN:
        return not (text in _NO_PROGRAM or "=" in text or "[" in text[1:])
    return text == "\n" and kind == _JOINER
