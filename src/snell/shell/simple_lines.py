"""
Read simple lines: rows of words, redirections to plain words, and what stands between commands; nothing is expanded.

Most lines are like that, and one regular expression can tell: reading them takes a fraction of the usual time.
"""

from functools import lru_cache

from snell.model.tool_names import name_set
from snell.shell.tree import Chain, Node, Pipe, Redirect, Simple, Text, Word
from snell.system.lazy_regex import lazy_regex

LONGEST_SHARED = 2_000  # characters: several hooks read a line, before the call and after it

_BARE = r"[^ \t\n\r\0\\'\"$`|&;<>()]"
_SINGLE, _DOUBLE = r"'[^'\r\0]*+'", r'"[^"\\$`\r\0]*+"'
_PART = lazy_regex("""([^'"]++)|'([^']*+)'|"([^"]*+)["]""")
_MIXED = rf"(?:(?!#){_BARE}++|{_SINGLE}|{_DOUBLE})(?:{_BARE}++|{_SINGLE}|{_DOUBLE})*+"
_SIMPLE = lazy_regex(
    rf"[ \t]*+(?:((?!#){_BARE}++)(?=[ \t\n;&|])|(&&|\|\|(?!\|)|\|(?![|&])|;(?![;&])|&(?![&>])|\n)"
    rf"|([0-9]*+)(>>|>&|<&|>(?![|(])|<(?![<>(]))[ \t]*+((?!#){_BARE}++)(?=[ \t\n;&|])"
    rf"|({_MIXED})(?=[ \t\n;&|])|)"  # or nothing: a search would try a long word again at each of its letters
)
_PLAIN, _JOINER, _REDIRECTED = 1, 2, 5  # groups
KEYWORDS = name_set("if then elif else fi for while until do done case esac in function select coproc { } ! [[ ]]")


def simple_tree(line: str) -> tuple[Node, list[Simple]] | None:
    """Return the tree of a simple line, and the commands in it; None for any other line."""
    return _shared_tree(line) if len(line) <= LONGEST_SHARED else _tree(line)


def _tree(line: str) -> tuple[Node, list[Simple]] | None:
    nodes, joiners, stages, commands = list[Node](), list[str](), list[Simple](), list[Simple]()
    words, redirects, at, joiner = list[Word](), list[Redirect](), 0, ""
    for token in _SIMPLE.finditer(line + "\n"):
        kind = token.lastindex or 0
        text, end = token[kind], at
        if not (kind and (words or _may_begin(kind, text))):
            break
        at = token.end()
        if kind == _PLAIN:
            words.append(Word((Text(text),), at - len(text), at))
        elif kind == _REDIRECTED:
            target = Word((Text(text),), at - len(text), at)
            redirects.append(Redirect(token[4], target, token[3], None, token.start(3), at))
        elif kind != _JOINER:
            words.append(Word(_parts(text), at - len(text), at))
        elif words:
            commands.append(Simple(tuple(words), (), tuple(redirects), words[0].start, end))
            stages.append(commands[-1])
            words, redirects, joiner = [], [], text
            if joiner != "|":
                nodes.append(stages[0] if len(stages) == 1 else Pipe(tuple(stages)))
                joiners.append(";" if joiner == "\n" else joiner)
                stages = []
    is_complete = at > len(line) and joiner not in ("", "|", "&&", "||")
    tree = nodes[0] if len(nodes) == 1 and joiner != "&" else Chain(tuple(nodes), tuple(joiners))
    return (tree, commands) if is_complete else None


_shared_tree = lru_cache(maxsize=256)(_tree)  # more than the events whose ledger rows may wait


def _may_begin(kind: int, text: str) -> bool:
    """Tell whether the first token of a command is a program, or a line break before one."""
    if kind == _PLAIN:
        return not (text in KEYWORDS or text == "time" or "=" in text or "[" in text[1:])
    return text == "\n" and kind == _JOINER


def _parts(text: str) -> tuple[Text, ...]:
    return tuple([Text(part[part.lastindex or 0], part.lastindex != 1) for part in _PART.finditer(text)])
