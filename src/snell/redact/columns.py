"""Find the secrets in columns: of CSV, of aligned text, of what databases print, and of `INSERT INTO`."""

import re

from snell.redact.format_rules import Span
from snell.redact.named_values import is_cell_secret, is_quoted_secret
from snell.redact.pattern_file import PATTERNS
from snell.redact.secret_names import kind_of_name, strength_of

_SIGNS = ("\t", "|", ";", ",", "  ")  # between cells; the first that a head has
_CELLS = {sign: re.compile(rf'("(?:[^"\n]|"")*"|[^{sign}\n]*)(?:[{sign}]|\Z)') for sign in _SIGNS[:-1]}
_CELLS["  "] = re.compile(r"((?:[^ \n]| (?! ))+)(?: +|\Z)")
_AROUND, _LONGEST = " \t\r\"'`*", 2_000  # characters around a cell, and of a line


def values_below(text: str, at: int) -> list[Span]:
    """Return the secrets below a name at the head of a column; few heads read a line, so that the time stays linear."""
    if not PATTERNS.column.match(text, at):
        return []
    head = _line_at(text, at)
    sign = next((each for each in _SIGNS if each in text[slice(*head)].strip()), "")
    cells = _cells(text, head, sign) if sign else []
    names = [text[slice(*cell)] for cell in cells]
    columns = [(index, name, strength) for index, name in enumerate(names) if (strength := strength_of(name))]
    is_first = columns and cells[columns[0][0]][0] <= at < cells[columns[0][0]][1]
    if not is_first or not all(not name or PATTERNS.head.match(name) for name in names):
        return []
    before = _line_at(text, max(0, head[0] - 1))
    if head[0] and not PATTERNS.rule.fullmatch(text, *before) and len(_cells(text, before, sign)) == len(cells):
        return []
    found: list[Span] = []
    line = head
    while line[1] < len(text) and (line := _line_at(text, line[1] + 1))[0] < line[1]:
        row = _cells(text, line, sign)
        if len(row) == len(cells):
            judged = ((*row[index], name, strength) for index, name, strength in columns)
            found += [(a, b, kind_of_name(name)) for a, b, name, s in judged if is_cell_secret(text[a:b], name, s)]
        elif not PATTERNS.rule.fullmatch(text, *line):
            break
    return found


def _line_at(text: str, at: int) -> tuple[int, int]:
    """Return the line of this position; none of it if it is too long for a table."""
    start, end = text.rfind("\n", max(0, at - _LONGEST), at) + 1, text.find("\n", at, at + _LONGEST)
    end = end if end >= 0 else len(text)
    return (start, end) if end - start <= _LONGEST else (at, at)


def _cells(text: str, line: tuple[int, int], sign: str) -> list[tuple[int, int]]:
    """Return where the cells of a line are, without what is around them."""
    cells = []
    start = line[1] - len(text[slice(*line)].lstrip(" "))
    for found in _CELLS[sign].finditer(text, start, line[1]):
        inside = found[1].strip(_AROUND)
        begins = found.start(1) + found[1].find(inside)
        cells.append((begins, begins + len(inside)))
    return cells


def inserted_values(text: str, at: int) -> list[Span]:
    """Return the secrets of `INSERT INTO users (name, password) VALUES ('bob', 'x'), ...`."""
    head = PATTERNS.insert.match(text, at)
    names = [each.strip(' \t\r\n"`[]') for each in head[1].split(",")] if head else []
    found: list[Span] = []
    end = head.end() if head and any(map(strength_of, names)) else len(text)
    while row := PATTERNS.row.match(text, end):
        end = row.end()
        for name in names:
            field = PATTERNS.field.match(text, end)
            if not field:
                return found
            group, end, strength = 1 if field[1] else 2, field.end(), strength_of(name)
            if strength and field[group] and is_quoted_secret(field[group], name, strength):
                found.append((*field.span(group), kind_of_name(name)))
            if field[3] == ")":
                break
    return found
