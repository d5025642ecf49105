"""A look at a user's Python file, without running it."""

import sys
from pathlib import Path

import pytest

from snell.cli.commands.trust import MOST_LINES, SourceReview, review_source
from snell.cli.terminal import escape


def look(folder: Path, source: bytes | str) -> SourceReview:
    path = folder / "hook.py"
    path.write_bytes(source if isinstance(source, bytes) else source.encode("utf-8"))
    return review_source(path)


def test_a_file_is_shown_with_the_hooks_it_declares(tmp_path):
    source = (
        "import snell\nfrom snell import *\n\n@judges('Stop')\n@snell.informs('SessionStart', 'Setup', once=True)\n"
        "async def both(): ...\n\n@other\ndef none(): ...\n\n\n"
    )
    assert look(tmp_path, source) == SourceReview(
        lines=tuple(source.rstrip().split("\n")),
        hooks=("both judges Stop", "both informs SessionStart, Setup"),
    )


def test_nothing_of_it_is_run(tmp_path):
    look(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit\n")
    assert not (tmp_path / "ran").exists()


def test_a_long_file_is_cut_and_says_by_how_much(tmp_path):
    found = look(tmp_path, "x = 1\r\n" * (MOST_LINES + 3))
    assert (found.lines, found.further) == (("x = 1",) * MOST_LINES, 3)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("def x(:\n", ":1: SyntaxError: invalid syntax"),
        ("\nreturn 1\n", ":2: SyntaxError: 'return' outside function"),
        (b"x = '\xff'\n", ":1: SyntaxError: "),
        (b"x = 1\0\n", "SyntaxError: " if sys.version_info >= (3, 11, 4) else "it cannot be parsed: "),
        ("(" * 100_000, ":1: SyntaxError: "),
        ("x" + ".y" * 100_000, "it cannot be parsed: "),
    ],
    ids=["syntax", "return", "encoding", "null", "nested", "deep"],
)
def test_a_file_that_cannot_run_says_so(tmp_path, source, problem):
    (found,) = look(tmp_path, source).problems
    assert problem in found


def test_a_file_that_is_not_there_says_so(tmp_path):
    (found,) = review_source(tmp_path / "gone.py").problems
    assert found.startswith("cannot be shown: ")


def test_what_moves_the_cursor_or_turns_the_text_round_is_made_visible():
    assert escape("a\x1b[2J\u202eb\x00\u200b é") == "a\\u001b[2J\\u202eb\\u0000\\u200b é"
