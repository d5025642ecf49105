"""
Read `(( ))` and `[[ ]]`, in which only substitutions run commands.

That holds for bash and its kin. A plain POSIX shell takes the first for subshells and the second for a program, so
text that makes no sense as a test but would as a command is doubted.
"""

from snell.shell.cursor import Cursor
from snell.shell.simple_command import skip_lines
from snell.shell.tree import Arithmetic, Condition, Word, literal
from snell.shell.words import PATTERN, REGEX, read_arithmetic, read_word
from snell.system.lazy_regex import lazy_regex

_COMMAND_LIKE = lazy_regex(r"\A[ \t]*(?:[A-Za-z_][\w-]*[ \t]*\Z|[./~])|[\w)\]][ \t]+(?:[A-Za-z_$.\"'/~]|-\w)|;|\n")
_TEST_END = lazy_regex(r"\]\](?=[ \t\n\r;&|)]|\Z)")
_OPERATOR = lazy_regex(r"&&|\|\||[()]|[<>](?!\()|!(?=[ \t\n(])")
_BINARY = frozenset(("=", "==", "!=", "=~", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"))


def read_arithmetic_command(cursor: Cursor) -> Condition | None:
    """Read `(( ))`; returns None if it is two subshells after all."""
    start = cursor.at
    cursor.at += 2
    inside = read_arithmetic(cursor, "))")
    if inside is None:
        cursor.at = start
        return None
    if _COMMAND_LIKE.search(cursor.text[start + 2 : cursor.at - 2]):
        cursor.doubt()
    return Condition((literal("true"), Word((Arithmetic(inside),))))


def read_test(cursor: Cursor) -> Condition:
    cursor.at += 2
    words, operands = [literal("[[")], list[str]()
    while not cursor.ended:
        skip_lines(cursor)
        if cursor.take(_TEST_END):
            _check(cursor, operands)
            return Condition(tuple(words))
        is_pattern = operands[-1:] == ["=~"]
        operator = None if is_pattern else cursor.take(_OPERATOR)
        if operator is None:
            word = read_word(cursor, REGEX if is_pattern else PATTERN)
            if word.parts:
                words.append(word)
            else:
                cursor.doubt()
                cursor.at += 1
            operands.append("" if word.is_quoted else word.plain or "")
        elif operator[0] in "<>":
            operands.append(operator[0])
        else:
            _check(cursor, operands)
            operands = []
    cursor.doubt()
    return Condition(tuple(words))


def _check(cursor: Cursor, operands: list[str]) -> None:
    """Note doubt unless there is one word, an operator and a word, or a word, an operator and a word."""
    makes_sense = (
        len(operands) < 2
        or (len(operands) == 2 and operands[0].startswith("-"))
        or (len(operands) == 3 and operands[1] in _BINARY)
    )
    if not makes_sense:
        cursor.doubt()
