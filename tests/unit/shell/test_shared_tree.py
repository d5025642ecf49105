"""A line that several hooks read is made into a tree once, and whatever is doubtful about it is noted for each."""

import pytest

from snell.shell.cursor import Budget
from snell.shell.grammar import make_tree


def read(line: str, budget: Budget) -> object:
    return make_tree(line, budget)


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
