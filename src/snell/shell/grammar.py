"""
Read lists, pipelines and compound commands, and collect every simple command in them.

No tree is built: what a hook wants to know is which commands can run, in the order of the line.
"""

from collections.abc import Callable

from snell.shell.conditions import read_arithmetic_command, read_test
from snell.shell.cursor import Cursor, UnreadableError
from snell.shell.simple_command import read_redirects, read_simple
from snell.shell.words import PATTERN, read_word, skip_arithmetic, skip_lines
from snell.system.lazy_regex import lazy_regex

AT_END = frozenset(("",))

_BODY_KEYWORDS = r"if|for|while|until|case|select|\[\["
_RESERVED = lazy_regex(
    rf"(?:{_BODY_KEYWORDS}|then|elif|else|fi|do|done|esac|in|function|coproc|time|[{{}}!])(?=[ \t\n;&|()<>]|\Z)"
)
_CLOSING_WORDS = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}"))
_CASE_ENDS = frozenset((";;", ";&", ";;&", "esac"))
_CASE_BREAK = lazy_regex(";;&|;;|;&")
_JOINER = lazy_regex(r"&&|\|\||\|&|\|")
_SEPARATOR = lazy_regex(r";(?![;&])|&(?![&>])")
_GAP = r"(?:[ \t]|\\\n)+"
_COMPOUND = rf"\(|\{{[ \t\n]|(?:{_BODY_KEYWORDS})[ \t\n]"
# Before a plain command `time` is left to that command: there it may be the keyword or the program.
_TIME_KEYWORD = lazy_regex(
    rf"time(?:{_GAP}-p)?(?:{_GAP}--)?{_GAP}(?={_COMPOUND}|!|coproc[ \t]|[A-Za-z_][A-Za-z0-9_]*\+?=)"
)
_COPROC = lazy_regex(rf"coproc{_GAP}(?:(?!{_COMPOUND})[A-Za-z_][A-Za-z0-9_]*{_GAP}(?={_COMPOUND}))?")
_FUNCTION = lazy_regex(r"""[^ \t\n\r\0|&;<>()$`'"\\=]+[ \t]*\([ \t]*\)""")
_FUNCTION_KEYWORD = lazy_regex(r"""function[ \t]+[^ \t\n\r\0|&;<>()$`'"\\]+(?:[ \t]*\([ \t]*\))?""")


def read_commands(cursor: Cursor, closers: frozenset[str]) -> str:
    """Read a list of commands up to one of the closers, and step over that one."""
    while True:
        skip_lines(cursor)
        closer = _closer(cursor, closers)
        if closer is not None:
            return closer
        _read_chain(cursor)
        _read_separator(cursor)


def _closer(cursor: Cursor, closers: frozenset[str]) -> str | None:
    char = cursor.peek()
    if char == ";":
        found = _CASE_BREAK.match(cursor.text, cursor.position, cursor.end)
        word = found[0] if found else char
    elif char in ("", ")"):
        word = char
    else:
        word = _reserved_word(cursor)
        if word not in _CLOSING_WORDS:
            return None
    if word not in closers:
        raise UnreadableError(f"`{word}` is out of place")
    cursor.position += len(word)
    return word


def _reserved_word(cursor: Cursor) -> str:
    found = _RESERVED.match(cursor.text, cursor.position, cursor.end)
    return found[0] if found else ""


def _read_chain(cursor: Cursor) -> None:
    """Commands joined by pipes, `&&` and `||`."""
    while True:
        _read_command(cursor)
        cursor.skip_blanks()
        if not cursor.take(_JOINER):
            return
        skip_lines(cursor)


def _read_separator(cursor: Cursor) -> None:
    if cursor.take(_SEPARATOR) or cursor.peek() in ("", "\n", ")", "#") or cursor.sees(";"):
        return
    if _reserved_word(cursor) not in _CLOSING_WORDS:
        raise UnreadableError(f"`{cursor.peek()}` is out of place")


def _read_command(cursor: Cursor) -> None:
    negated = _read_prefixes(cursor)
    reader = _COMPOUNDS.get("(" if cursor.peek() == "(" else _reserved_word(cursor))
    if reader is None and cursor.take(_FUNCTION):
        reader = _read_function_body
    if reader is None:
        read_simple(cursor, negated=negated)
        return
    cursor.go_deeper()
    reader(cursor)
    cursor.depth -= 1
    read_redirects(cursor)


def _read_prefixes(cursor: Cursor) -> bool:
    """Step over `!`, `coproc` and, where it is a keyword, `time`; True when negated."""
    negated = False
    while True:
        cursor.skip_blanks()
        if _reserved_word(cursor) == "!":
            cursor.position += 1
            negated = not negated
        elif cursor.take(_COPROC):
            if cursor.depth:
                cursor.doubt()  # inside a substitution bash 5.2 takes its words for other ones
        elif not cursor.take(_TIME_KEYWORD):
            return negated


def _read_parenthesis(cursor: Cursor) -> None:
    if cursor.sees("(("):
        read_arithmetic_command(cursor)
    else:
        cursor.position += 1
        read_commands(cursor, frozenset(")"))


def _read_group(cursor: Cursor) -> None:
    cursor.expect("{")
    read_commands(cursor, frozenset("}"))


def _read_if(cursor: Cursor) -> None:
    cursor.expect("if")
    closer = "elif"
    while closer == "elif":
        read_commands(cursor, frozenset(("then",)))
        closer = read_commands(cursor, frozenset(("elif", "else", "fi")))
    if closer == "else":
        read_commands(cursor, frozenset(("fi",)))


def _read_loop(cursor: Cursor) -> None:
    cursor.position += len(_reserved_word(cursor))
    read_commands(cursor, frozenset(("do",)))
    read_commands(cursor, frozenset(("done",)))


def _read_for(cursor: Cursor) -> None:
    cursor.position += len(_reserved_word(cursor))
    cursor.skip_blanks()
    if cursor.sees("(("):
        cursor.position += 2
        skip_arithmetic(cursor, "))")
    else:
        read_word(cursor)
        skip_lines(cursor)
        if _reserved_word(cursor) == "in":
            cursor.position += 2
            _read_items(cursor)
    cursor.skip_blanks()
    if cursor.peek() == ";":
        cursor.position += 1
    skip_lines(cursor)
    _read_for_body(cursor)


def _read_items(cursor: Cursor) -> None:
    while True:
        cursor.skip_blanks()
        if cursor.peek() in ("", ";", "\n", "#"):
            return
        read_word(cursor)


def _read_for_body(cursor: Cursor) -> None:
    word = _reserved_word(cursor)
    if word not in ("do", "{"):
        raise UnreadableError("`do` is missing")
    cursor.position += len(word)
    read_commands(cursor, frozenset(("done" if word == "do" else "}",)))


def _read_case(cursor: Cursor) -> None:
    cursor.expect("case")
    cursor.skip_blanks()
    read_word(cursor)
    skip_lines(cursor)
    if _reserved_word(cursor) != "in":
        raise UnreadableError("`in` is missing")
    cursor.position += 2
    closer = ""
    while closer != "esac":
        skip_lines(cursor)
        if _reserved_word(cursor) == "esac":
            cursor.position += 4
            return
        _read_patterns(cursor)
        closer = read_commands(cursor, _CASE_ENDS)


def _read_patterns(cursor: Cursor) -> None:
    if cursor.peek() == "(":
        cursor.position += 1
    while True:
        cursor.skip_blanks()
        if cursor.peek() == "#":
            raise UnreadableError("a comment stands where a pattern should be")
        read_word(cursor, PATTERN)
        cursor.skip_blanks()
        if cursor.peek() != "|":
            break
        cursor.position += 1
    cursor.expect(")")


def _read_function(cursor: Cursor) -> None:
    if not cursor.take(_FUNCTION_KEYWORD):
        raise UnreadableError("a function without a plain name")
    _read_function_body(cursor)


def _read_function_body(cursor: Cursor) -> None:
    skip_lines(cursor)
    _read_command(cursor)


_COMPOUNDS: dict[str, Callable[[Cursor], None]] = {
    "(": _read_parenthesis,
    "{": _read_group,
    "if": _read_if,
    "while": _read_loop,
    "until": _read_loop,
    "for": _read_for,
    "select": _read_for,
    "case": _read_case,
    "[[": read_test,
    "function": _read_function,
}
