"""What a person sees of a change before saying yes."""

import json
from typing import Any

import pytest

from snell.cli.setup.diff_view import WIDTH, render_change
from snell.cli.terminal import Colours
from snell.model.installs import FileEdit
from snell.setup.file_changes import Change

LONG = "(long lines are wrapped and indented)"
ENTRIES = {f"Event{number}": [{"hooks": [{"command": f"/opt/snell-hook {number}"}]}] for number in range(30)}


def shown(before: str | None, after: str | None) -> list[str]:
    file = FileEdit("/home/me/settings.json", "json", (), "hooks")
    change = Change(file, *(None if text is None else text.encode() for text in (before, after)))
    return [line.removeprefix("  ") for line in render_change(change, Colours(False))]


def test_a_change_is_its_file_and_the_lines_that_go_and_come_with_tabs_as_they_are() -> None:
    assert shown('{\n\t"a": 1\n}\n', '{\n\t"a": "\x1b"\n}\n') == [
        "/home/me/settings.json  (hooks)",
        " {",
        '-\t"a": 1',
        '+\t"a": "\\u001b"',
        " }",
    ]


@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")])
def test_of_a_file_in_one_line_everything_new_is_shown_and_little_else(separators: Any) -> None:
    mine = {f"project{number}": {"allowed": [number]} for number in range(300)}
    before, after = (json.dumps(value, separators=separators) for value in (mine, {**mine, "hooks": ENTRIES}))
    lines = shown(before, after)
    added = [line[1:] for line in lines if line.startswith("+")]
    assert [name for name in ENTRIES if not any(f'"{name}"' in line for line in added)] == []
    assert sum(line.count("/opt/snell-hook") for line in added) == len(ENTRIES)
    assert len(lines) < len(ENTRIES) + 10
    assert max(map(len, lines)) <= WIDTH + 5
    assert lines[-1] == LONG


def test_a_long_file_is_shown_to_its_end() -> None:
    lines = [f"line {number}" for number in range(500)]
    assert shown(None, "\n".join(lines)) == [
        "/home/me/settings.json  (hooks, new file)",
        *(f"+{line}" for line in lines),
    ]


def test_what_has_no_place_to_break_is_broken_all_the_same() -> None:
    text = "x" * (2 * WIDTH + 50)
    assert shown(None, f"  {text}")[1:] == [
        f"+  {text[: WIDTH - 2]}",
        f"+      {text[:WIDTH]}",
        f"+      {text[:52]}",
        LONG,
    ]


def test_what_does_not_change_is_not_shown() -> None:
    assert shown("a", "a") == []
