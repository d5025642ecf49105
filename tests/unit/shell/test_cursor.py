"""What holds of the reader for every text: it never breaks, it keeps its limits, and its work grows with the text."""

import sys
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from snell.shell.reader import read

PIECES = [
    *(
        "a",
        "b",
        "git",
        "rm",
        "-rf",
        "$x",
        "${x:-",
        "}",
        "$(",
        ")",
        "`",
        "'",
        '"',
        "\\",
        "|",
        "||",
        "&",
        "&&",
        ";",
        ";;",
    ),
    *("(", "{", "((", "))", "$((", "[[", "]]", "<(", ">(", "<", ">", "<<", "<<-", "<<<", "E", "'E'", "2>&1", "if"),
    *("then", "fi", "for", "in", "do", "done", "while", "case", "esac", "function", "time", "coproc", "!", "#", "="),
    *("a=", "a=(", "~", "*", "?", "[", "]", "{a,b}", "$'", "\\x41", "eval", "sh", "-c", "sudo", "xargs", "find"),
    *("-exec", "\\;", "{}", "\0", "\r", "\ud800", "é", " ", " ", " ", "\n", "\t", "\\\n"),
]
SOUP = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
ANY_TEXT = st.text(st.characters(codec=None), max_size=200)


@pytest.mark.parametrize(
    "line",
    [
        "a" * 65_537,
        "( " * 65 + "a" + " )" * 65,
        "echo " + "$(" * 65 + "a" + ")" * 65,
        'echo "' + '${x:-"' * 65 + '"}' * 65 + '"',
        "a;" * 2_001,
        "eval " * 13_000 + "a",
        "sudo " * 100 + "a",
        "find . -exec " * 100 + "a",
    ],
)
def test_over_a_limit_nothing_is_claimed(line):
    assert not read(line).understood


def test_up_to_the_limits_everything_is_read():
    deep = read("( " * 64 + "a" + " )" * 64)
    long = read("a;" * 2_000)
    assert [(len(line.commands), line.understood) for line in (deep, long)] == [(1, True), (2_000, True)]


@settings(deadline=None)
@given(st.one_of(ANY_TEXT, SOUP))
@example("\ud800 `\\` $'\\udc80'")
def test_no_text_breaks_the_reader_and_offsets_slice_back(line):
    reading = read(line)
    assert reading.runs("git", "push", "--force") in (True, False)
    for command in reading.commands:
        if not command.embedded:
            assert line[command.start : command.end] == command.text
        assert len(command.words) == len(command.literal) == len(command.spans)
        assert command.inner_command.end == command.end


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="'\0")), min_size=1, max_size=5))
def test_single_quoted_text_is_data_whatever_it_says(words):
    line = "echo " + " ".join(f"'{word}'" for word in words)
    assert [command.words for command in read(line).commands] == [("echo", *words)]


@pytest.mark.parametrize(
    "unit", ["a ", "a;", "$x", '"$(a)" ', "`a` ", "''", "{a,", "[", "\\\n", "<<E\n", "sudo ", "a=("]
)
def test_the_work_grows_with_the_text_and_no_faster(unit):
    small, large = (calls_of(lambda size=size: read(unit * size)) for size in (300, 1_200))
    assert large < 6 * small


def calls_of(action: Callable[[], object]) -> int:
    """How many function calls an action takes: a measure of work that no other load disturbs."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(before)
    return calls
