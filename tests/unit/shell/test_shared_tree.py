"""A line that several hooks read is made into a tree once, and whatever is doubtful about it is noted for each."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snell.shell.cursor import Budget
from snell.shell.grammar import make_tree as read
from snell.shell.reader import read as commands_of

PIECES = (
    *("a", "b/c.py", "-n", "--x=1", "5", "2>&1", "2>", ">", ">>log", "<in", ">&2", "&>x", "3<", "'", "''", "'a b'"),
    *('"', '""', '"a b"', "'$x'", '"$x"', "$x", "a'b'\"c\"", "'5'", "#", "a#b", "if", "then", "{", "}", "{a,b}", "!"),
    *("[", "]", "[[", "x[1", "A=1", "A=", "time", "~", "~/x", "*.py", "(", ")", "()", "=", "\\;", "\r", "\0", "\x85"),
    *("é", "in", "do"),
)
JOINERS = (" ", " ", " ", "  ", "\t", "", "\n", " | ", "|", " && ", "||", ";", " ; ", ";;", " & ", "&", "|&", " \n\n ")


def test_two_readers_of_a_line_share_its_tree_and_both_count_its_commands() -> None:
    first, second = Budget(), Budget()
    line = "git log --oneline | grep 'a b' > out.txt && echo $(date)"
    assert read(line, first) is read(line, second)
    assert first.commands == second.commands == 4


@pytest.mark.parametrize("line", ["echo 'open", "cat <<END\nnever closed", "a | ) b", "a \r b"])
def test_a_doubtful_line_is_doubtful_for_every_reader(line: str) -> None:
    first, second = Budget(), Budget()
    assert read(line, first) == read(line, second)
    assert (first.doubtful, second.doubtful) == (True, True)
    assert first.troubles == second.troubles


def test_a_reader_that_has_read_before_counts_on() -> None:
    budget = Budget(most_commands=3)
    read("a 'x'; b", budget)
    read("c 'y'; d", budget)
    assert budget.is_spent
    assert budget.troubles == ["it holds too many commands"]


@settings(deadline=None, max_examples=1_000)
@given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(JOINERS)), min_size=1, max_size=8))
def test_a_line_is_read_as_it_is_with_a_comment_behind_it(pieces: list[tuple[str, str]]) -> None:
    """Lines without a comment may be read by one regular expression, those with one never are."""
    line = "".join(piece + joiner for piece, joiner in pieces)
    first, second = Budget(), Budget()
    tree, same_tree = read(line, first), read(f"{line}\n#", second)
    if not (first.doubtful and second.doubtful):
        assert (tree, first.commands, first.troubles) == (same_tree, second.commands, second.troubles)
        assert commands_of(line).commands == commands_of(f"{line}\n#").commands
