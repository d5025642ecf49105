"""The table of programs: every section is readable, and phrases are compared with what is typed."""

import shlex
from collections import Counter

import pytest

from snell.shell import programs
from snell.shell.arguments import arguments_of, matches_any
from snell.shell.programs import TABLE, UNKNOWN_PROGRAM, program_row


def _headers() -> list[str]:
    found = programs._HEADER.finditer(TABLE.read_text())
    return [name for header in found for name in (header[1], *(header[2] or "").split())]


def test_every_section_is_readable_and_says_something():
    assert len(_headers()) > 500
    assert [name for name in _headers() if program_row(name) == UNKNOWN_PROGRAM] == []


def test_no_program_has_two_sections():
    assert [name for name, count in Counter(_headers()).items() if count > 1] == []


def test_a_program_without_a_section_has_no_row():
    assert program_row("frobnicate") == UNKNOWN_PROGRAM


def _given(line: str):
    program, *words = shlex.split(line)
    return arguments_of(program, words)


@pytest.mark.parametrize(
    ("line", "phrase"),
    [
        ("aws --profile p s3 rm s3://b --recursive", "s3 rm --recursive"),
        ("docker --context c system prune -af", "system prune -a"),
        ("gh -R o/r release delete v1", "release|secret delete"),
        ("gh api -XDELETE /repos/o/r", "api -X|--method=DELETE"),
        ("gh api --method=delete /repos/o/r", "api -X|--method=DELETE"),
        ("frob --zone z instances delete a", "instances delete"),  # `z` may be the value of `--zone`
        ("frob a b c destroy", "** destroy"),
        ("frob destroy", "** destroy"),
        ("frob --member=allUsers", "~*allusers*"),
        ("frob --recurs", "--recursive"),
        ("cargo +nightly publish", "publish"),
        ("pass mail/a", "* $"),
        ("tar xfC a.tar there", "-x -C=there"),
    ],
)
def test_arguments_match_a_phrase(line: str, phrase: str):
    assert matches_any(_given(line), (phrase,))


@pytest.mark.parametrize(
    ("line", "phrase"),
    [
        ("aws s3 ls", "s3 rm"),
        ("frob list destroy", "destroy"),
        ("parted /dev/sda print", "!-l|--list|print"),
        ("wipefs -an /dev/sda", "-a !-n|--no-act"),
        ("frob --replicas=3", "--replicas=0"),
        ("pass insert a", "* $"),
        ("frob -- --force", "--force"),
        ("frob", "delete"),
    ],
)
def test_other_arguments_do_not_match_it(line: str, phrase: str):
    assert not matches_any(_given(line), (phrase,))


def test_without_phrases_nothing_matches():
    assert not matches_any(_given("frob a"), ())


def test_the_options_of_a_sub_command_count_after_its_name():
    assert _given("docker compose -f x.yml down").operands == ("compose", "down")
    assert _given("docker run -f x").options == [("-f", "")]
