"""Looking at memories in a terminal: a long one comes a page at a time, and a map says what is not on it."""

import io

from snell.cli.commands.memory import PAGE, browse, show_map
from snell.cli.views import show

LINES = "\n".join(f"line {each} of what was said" for each in range(4_000))
MEMORY = {"id": "a", "content": LINES, "namespace": "n", "created_at": 0, "source": "x", "tags": []}


def said(*typed: str) -> str:
    out = io.StringIO()
    assert browse(lambda _query: {"memories": [MEMORY]}, io.StringIO("".join(f"{each}\n" for each in typed)), out) == 0
    return out.getvalue()


def test_a_long_memory_is_shown_a_page_at_a_time_for_as_long_as_the_user_wants_more():
    one, two = said("", "1", "q", "q"), said("", "1", "", "q", "q")
    assert len(one) < PAGE + 1_000 < len(two) < 2 * PAGE + 1_000
    assert [one.count("more characters"), two.count("more characters")] == [1, 2]
    assert one.count("memory> ") == two.count("memory> ") == 3
    assert "line 3999 of" in said("", "1", *[""] * 50, "q")


def test_a_map_says_what_is_not_on_it_beside_the_picture(capsys):
    show_map({"drawing": "<svg/>\n", "remark": "the newest 5 are looked at; 2 more are not"})
    assert capsys.readouterr() == ("<svg/>\n", "the newest 5 are looked at; 2 more are not\n")


def test_stats_of_a_daemon_of_an_earlier_version_are_shown_as_far_as_they_go(capsys) -> None:
    answer = {"memories": 3, "project": "p", "namespaces": {"a": 3}, "capturing": True}
    show("memory.stats", answer, as_json=False)
    assert capsys.readouterr().out == "3 memories of p\n       3  a\ncapturing is on in this folder\n"
