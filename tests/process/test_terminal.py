"""What a person sees at a terminal, and what they type there."""

import pytest

from tests.process.author import README_CASES, README_HOOK, Author


@pytest.fixture
def author(tmp_path):
    return Author(tmp_path)


def test_a_terminal_gets_colours(author):
    author.write("no_force_push.py", README_HOOK)
    author.write("no_force_push.cases.toml", README_CASES)
    assert author.on_terminal("test", ".") == "\x1b[32m2 passed, 0 failed\x1b[0m\r\n"


def test_the_verdict_has_a_colour_on_a_terminal_unless_the_user_wants_none(author):
    user = author.home / "config" / "snell.toml"
    user.parent.mkdir(parents=True)
    user.write_text('[[hooks]]\nevent = "PreToolUse"\ncommand = "echo no >&2; exit 2"\n', encoding="utf-8")
    assert author.on_terminal("fire", "--command", "ls").startswith("\x1b[31mdeny\x1b[0m: no\r\n")
    assert "  answer: \x1b[31mdeny\x1b[0m: no\r\n" in author.on_terminal("why")
    assert "  answer: deny: no\r\n" in author.on_terminal("why", NO_COLOR="1")


def test_fire_with_nothing_to_send_says_what_to_type(author):
    told = "snell: no event was given; try `snell fire --command 'git push --force'`, or pipe in a payload\r\n"
    assert author.on_terminal("fire") == told


def test_trust_shows_the_code_and_what_a_person_answers_counts(author):
    author.write(".snell/hooks/x.py", "from snell import judges\n\n\n@judges('Stop')\ndef x():\n    return None\n")
    shown = [
        f"{author.project} contains 1 item to approve",
        "",
        "  x  [new]  .snell/hooks/x.py:1",
        "      hook x judges Stop",
        "      | from snell import judges",
        "      |",
        "      |",
        "      | @judges('Stop')",
        "      | def x():",
        "      |     return None",
        "",
    ]
    assert author.on_terminal("trust", typed="n\n").splitlines()[1:] == [
        *shown,
        "Approve these, exactly as they are now? [y/N] nothing was approved",
    ]
    assert author.on_terminal("trust", typed="y\n").splitlines()[1:] == [
        *shown,
        "Approve these, exactly as they are now? [y/N] approved 1 of 1; a hook that changes must be approved again",
    ]


def test_memories_are_readable_on_a_terminal(author):
    author.snell("memory", "remember", "We use Valkey because of its license")
    shown = author.on_terminal("memory", "list")
    assert ("Valkey" in shown, "\ufffd" in shown) == (True, False)


def test_lines_are_broken_between_words_at_the_width_of_the_terminal(author):
    lines = author.on_terminal("clients", COLUMNS="80", NO_COLOR="1").splitlines()
    assert len(lines) > 20
    assert [line for line in lines if len(line) > 80] == []
