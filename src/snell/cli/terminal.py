"""Text for the terminal: tables, JSON, colours (only on a terminal, and not if `NO_COLOR` is set), and safe text."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TextIO

import msgspec

LONGEST = 60  # characters of a cell

Colour = Callable[[str], str]

COLOURS_OF_VERDICTS = {"deny": "red", "ask": "yellow", "defer": "yellow", "allow": "green"}


class Colours:
    def __init__(self, on: bool) -> None:
        self.bold, self.dim, self.red, self.green, self.yellow = map(self._with(on), (1, 2, 31, 32, 33))

    @classmethod
    def for_stdout(cls) -> "Colours":
        return cls(sys.stdout.isatty() and "NO_COLOR" not in os.environ)

    def of(self, record: Mapping[str, Any]) -> Colour:
        """Return the colour of a decision: red for deny, yellow for a rewrite or ask, green for allow."""
        name = COLOURS_OF_VERDICTS.get(record["verdict"], "")
        colour: Colour = getattr(self, "yellow" if record.get("changes") and name in ("", "green") else name, str)
        return colour

    def _with(self, on: bool) -> Callable[[int], Colour]:
        return lambda code: lambda text: f"\x1b[{code}m{text}\x1b[0m" if on else text


def has_unicode(stream: TextIO) -> bool:
    """Return whether a stream can show block characters, as its encoding and the language settings say."""
    language = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "")
    return all("utf" in each.lower() for each in (stream.encoding or "", language))


def visible_lines(text: object) -> str:
    """Replace control characters except newline and tab; surrogates stay, since the stream escapes them."""
    return "".join(
        char if char.isprintable() or char in "\n\t" or "\ud800" <= char <= "\udfff" else "\ufffd" for char in str(text)
    )


def visible(text: object, instead: str = "\ufffd") -> str:
    """Replace control characters, so that text from other sources cannot steer the terminal."""
    return "".join(char if char.isprintable() else instead for char in str(text))


def escape(text: str) -> str:
    """Escape characters that could move the cursor or hide text, so that a reader sees exactly what is there."""
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)


def columns() -> int:
    """Return the width of the terminal; where there is none, more than any line has."""
    if not sys.stdout.isatty():
        return sys.maxsize
    from shutil import get_terminal_size  # not at the start of every command

    return max(get_terminal_size().columns, LONGEST)


def fit(text: str, indent: int = 2) -> str:
    """Return a text, at a terminal broken between words to its width, with all lines but the first indented."""
    if (width := columns()) == sys.maxsize:
        return text
    from textwrap import fill

    return fill(text, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)


def near_home(path: object) -> str:
    """Return a path with `~` for the user's home folder."""
    home = os.environ.get("HOME", "").rstrip("/")
    return f"~{str(path).removeprefix(home)}" if home and f"{path}/".startswith(f"{home}/") else str(path)


def print_json(value: Any, *, indent: int = 0) -> None:
    data = msgspec.json.encode(value)
    print((msgspec.json.format(data, indent=indent) if indent else data).decode())


def lines_of(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> list[str]:
    return align([list(columns.values()), *([_cell(row.get(field)) for field in columns] for row in rows)])


def align(lines: Sequence[Sequence[str]]) -> list[str]:
    """Return lines whose cells have the same width in each column."""
    widths = [max(len(line[number]) for line in lines) for number in range(len(lines[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def stack(rows: Sequence[Sequence[Sequence[str]]], indent: int = 16) -> Iterator[list[str]]:
    """Yield the lines of each row: one with its parts in columns, and those that the terminal has no room for below."""
    width, lines = columns(), list[str]()
    for beside in range(len(rows[0]) if rows else 0, 0, -1):
        lines = align([[cell for part in row[:beside] for cell in part] for row in rows])
        if beside == 1 or max(map(len, lines)) <= width:
            break
    for line, row in zip(lines, rows, strict=True):
        below = filter(None, ("  ".join(filter(None, part)) for part in row[beside:]))
        first = line if len(line) <= width else f"{line[: width - 1]}…"
        yield [first, *(fit(f"{' ' * indent}{text}", indent) for text in below)]


def fields_of(answer: Any) -> str:
    """Return any answer as lines: a mapping with one line for each value, a list with one for each row."""
    if isinstance(answer, list):
        return "\n".join(map(_plain, answer)) or "nothing"
    lines: list[str] = []
    for name, value in answer.items():
        if isinstance(value, dict):
            lines += [_field(each, its) for each, its in value.items()] or [f"no {name}"]
        elif isinstance(value, list):
            lines += [f"{name}: {_plain(each)}" for each in value[:20]]
        elif name == "content":
            lines += [f"  {visible(line)}" for line in str(value).splitlines()]
        else:
            lines.append(f"{name}: {_plain(value)}")
    return "\n".join(lines)


def plural(number: int, one: str, many: str = "") -> str:
    """Return the number with its noun, such as `1 day` or `3 days`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def time_ago(at: int) -> str:
    """Return a time in milliseconds since 1970 as `3 minutes ago`."""
    seconds = max(0, time.time() - at / 1000)
    for length, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= length:
            return f"{plural(int(seconds // length), name)} ago"
    return "just now"


def _cell(value: Any) -> str:
    if value is None or value == "":
        return "-"
    text = f"{value:.0%}" if isinstance(value, float) else visible(" ".join(str(value).split()))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _field(name: str, value: Any) -> str:
    """Return a line: a count in a column before its name, any other value after its name."""
    is_count = isinstance(value, int | float) and not isinstance(value, bool)
    return f"  {value:6}  {visible(name)}" if is_count else f"  {visible(name)}: {_plain(value)}"


def _plain(value: Any) -> str:
    return visible(" ".join((value if isinstance(value, str) else msgspec.json.encode(value).decode()).split()))
