"""Read here-documents: the lines between the line that announces them and their delimiter."""

from snell.shell.cursor import Cursor
from snell.shell.tree import Redirect, Text, Word
from snell.shell.words import read_text


def read_heredocs(cursor: Cursor) -> None:
    """Read the bodies of the here-documents that the line before has announced."""
    waiting, cursor.heredocs = cursor.heredocs, []
    for redirect in waiting:
        start = cursor.at
        end, after = _extent(cursor, redirect)
        if redirect.target.is_quoted:
            redirect.body = Word((Text(cursor.text[start:end], quoted=True),), start, end)
        else:
            redirect.body = read_text(cursor, end)
        cursor.at = after


def _extent(cursor: Cursor, redirect: Redirect) -> tuple[int, int]:
    """Return where the body ends, and where the line below its delimiter starts."""
    target = redirect.target
    delimiter = target.plain if target.plain is not None else cursor.text[target.start : target.end]
    # A backslash at the end of a line joins it with the next one, so that one is no delimiter.
    joins = not target.is_quoted
    at = line_start = cursor.at
    joined = ""
    while at < cursor.end:
        newline = cursor.text.find("\n", at, cursor.end)
        line_end = cursor.end if newline < 0 else newline
        line = cursor.text[at:line_end]
        at = min(line_end + 1, cursor.end)
        if redirect.operator == "<<-":
            line = line.lstrip("\t")
        if joins and (len(line) - len(line.rstrip("\\"))) % 2:
            joined += line[:-1]
            continue
        if (joined + line).rstrip("\r") == delimiter:
            if line.endswith("\r"):
                cursor.doubt()
            return line_start, at
        joined, line_start = "", at
    cursor.budget.trouble("a here-document is never closed")
    return cursor.end, cursor.end
