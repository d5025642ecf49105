"""
Read `(( ))` and `[[ ]]`, in which only substitutions run commands.

That holds for bash and its kin. A plain POSIX shell takes the first for subshells and the second for a program, so
text that makes no sense as a test but would as a command is doubted.
"""

from snell.shell.cursor import Cursor
from snell.shell.words import PATTERN, REGEX, read_word, skip_arithmetic, skip_lines
from snell.system.lazy_regex import lazy_regex

_COMMAND_LIKE = lazy_regex(r"\A[ \t]*(?:[A-Za-z_][\w-]*[ \t]*\Z|[./~])|[\w)\]][ \t]+(?:[A-Za-z_$.\"'/~]|-\w)|;|\n")
_OPERATOR = lazy_regex(r"&&|\|\||[()]|[<>](?!\()|!(?=[ \t\n(])")
_BINARY = frozenset(("=", "==", "!=", "=~", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"))


def read_arithmetic_command(cursor: Cursor) -> None:
    cursor.position += 2
    start = cursor.position
    skip_arithmetic(cursor, "))")
    if _COMMAND_LIKE.search(cursor.text[start : cursor.position - 2]):
        cursor.doubt()


def read_test(cursor: Cursor) -> None:
    cursor.expect("[[")
    operands: list[str] = []
    while True:
        skip_lines(cursor)
        is_pattern = operands[-1:] == ["=~"]
        operator = None if is_pattern else cursor.take(_OPERATOR)
        if operator and operator[0] in ("<", ">"):
            operands.append(operator[0])
            continue
        word = None if operator else read_word(cursor, REGEX if is_pattern else PATTERN)
        if word is not None and (word.quoted or word.text != "]]"):
            operands.append("" if word.quoted else word.text)
            continue
        _check(cursor, operands)
        if word is not None:
            return
        operands = []


def _check(cursor: Cursor, operands: list[str]) -> None:
    """Between connectives stands one word, an operator and a word, or a word, an operator and a word."""
    makes_sense = (
        len(operands) < 2
        or (len(operands) == 2 and operands[0].startswith("-"))
        or (len(operands) == 3 and operands[1] in _BINARY)
    )
    if not makes_sense:
        cursor.doubt()
