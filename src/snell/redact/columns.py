"""Find the secrets in columns: of CSV, of aligned text, of what databases print, and of `INSERT INTO`."""

import re

from snell.redact.format_rules import Span
from snell.redact.named_values import is_cell_secret, is_quoted_secret
from snell.redact.pattern_file import PATTERNS
from snell.redact.secret_names import kind_of_name, strength_of

_SIGNS = ("\t", "|", ";", ",", "  ")  # between cells; the first that a head has
_CELLS = {sign: re.compile(rf'("(?:[^"\n]|"")*"|[^{sign}\n]*)(?:[{sign}]|\Z)') for sign in _SIGNS[:-1]}
_CELLS["  "] = re.compile(r"((?:[^ \n]| (?! ))+)(?: +|\Z)")
_AROUND_CELL = " \t\r\"'`*"
_LONGEST_LINE = 2_000

Line = tuple[int, int]


def values_below(text: str, at: int) -> list[Span]:
    """
    Return the secrets below a name at the head of a column.

    Each line is read for few heads only, so that the time stays linear: the head is the first line with its number of
    cells, all its columns are read at once, and the rows end with the first line that has another number.
    """
    if not PATTERNS.column.match(text, at):
        return []
    head = _line_at(text, text.rfind("\n", max(0, at - _LONGEST_LINE), at) + 1)
    sign = next((each for each in _SIGNS if each in text[head[0] : head[1]].strip()), "")
    if not sign or not head[0] <= at < head[1]:
        return []
    cells = _cells(text, head, sign)
    named = [(text[start:end], start, end) for start, end in cells]
    columns = [index for index, (name, _, _) in enumerate(named) if strength_of(name)]
    is_first = columns and cells[columns[0]][0] <= at < cells[columns[0]][1]
    if not is_first or not all(not name or PATTERNS.head.match(name) for name, _, _ in named):
        return []
    before = _line_at(text, text.rfind("\n", max(0, head[0] - _LONGEST_LINE), max(0, head[0] - 1)) + 1)
    if head[0] and not _is_rule(text, before) and len(_cells(text, before, sign)) == len(cells):
        return []
    found: list[Span] = []
    line = _line_at(text, head[1] + 1)
    while line[0] < line[1]:
        row = _cells(text, line, sign)
        if len(row) == len(cells):
            found += _secrets_of(text, [(named[index][0], *row[index]) for index in columns])
        elif not _is_rule(text, line):
            break
        line = _line_at(text, line[1] + 1)
    return found


def _secrets_of(text: str, cells: list[tuple[str, int, int]]) -> list[Span]:
    kinds = ((name, strength_of(name), start, end) for name, start, end in cells)
    return [
        (start, end, kind_of_name(name))
        for name, strength, start, end in kinds
        if strength and is_cell_secret(text[start:end], name, strength)
    ]


def _line_at(text: str, start: int) -> Line:
    """Return the line that begins at this position; none of it if it is too long for a table."""
    end = text.find("\n", start, start + _LONGEST_LINE)
    return start, end if end >= 0 else len(text) if len(text) - start < _LONGEST_LINE else start


def _is_rule(text: str, line: Line) -> bool:
    return PATTERNS.rule.fullmatch(text, *line) is not None


def _cells(text: str, line: Line, sign: str) -> list[Line]:
    """Return where the cells of a line are, without what is around them."""
    start, end = line
    start += len(text[start:end]) - len(text[start:end].lstrip(" "))
    cells = []
    for found in _CELLS[sign].finditer(text, start, end):
        inside = found[1].strip(_AROUND_CELL)
        begins = found.start(1) + (found[1].find(inside) if inside else 0)
        cells.append((begins, begins + len(inside)))
    return cells


def inserted_values(text: str, at: int) -> list[Span]:
    """Return the secrets of `INSERT INTO users (name, password) VALUES ('bob', 'x'), ...`."""
    head = PATTERNS.insert.match(text, at)
    names = [each.strip(" \t\r\n\"`[]") for each in head[1].split(",")] if head else []
    found: list[Span] = []
    if not head or not any(map(strength_of, names)):
        return found
    end = head.end()
    while row := PATTERNS.row.match(text, end):
        end = row.end()
        for name in names:
            field = PATTERNS.field.match(text, end)
            if not field:
                return found
            end, strength = field.end(), strength_of(name)
            group = 1 if field[1] else 2
            if strength and field[group] and is_quoted_secret(field[group], name, strength):
                found.append((*field.span(group), kind_of_name(name)))
            if field[3] == ")":
                break
    return found
