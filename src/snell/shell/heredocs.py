"""Find where a here-document ends."""

from typing import NamedTuple

from snell.shell.cursor import Cursor


class Extent(NamedTuple):
    end: int  # of the body
    after: int  # the line below the delimiter


def heredoc_extent(cursor: Cursor, delimiter: str, *, tabs: bool, joins: bool) -> Extent:
    """
    The extent of the body that starts here.

    Args:
        tabs: leading tabs do not count, as `<<-` has it.
        joins: a backslash at the end of a line joins it with the next one, so that one is no delimiter.
    """
    at = line_start = cursor.position
    joined = ""
    while at < cursor.end:
        newline = cursor.text.find("\n", at, cursor.end)
        line_end = cursor.end if newline < 0 else newline
        line = cursor.text[at:line_end]
        at = min(line_end + 1, cursor.end)
        if tabs:
            line = line.lstrip("\t")
        if joins and _ends_in_backslash(line):
            joined += line[:-1]
            continue
        if joined + line == delimiter:
            return Extent(line_start, at)
        joined, line_start = "", at
    cursor.doubt()
    return Extent(cursor.end, cursor.end)


def _ends_in_backslash(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1
