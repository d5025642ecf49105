"""Every parser of this project takes an option by its whole name, or says that it does not know it."""

import argparse
import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import dev
from snell.cli.main import COMMANDS, all_commands_parser, main, parser_of

ROOT = Path(__file__).parents[3]
FOLDERS = ("src", "scripts", "docs", "bench")
PROGRAMS = [ROOT / "dev.py", *(path for name in FOLDERS for path in sorted((ROOT / name).rglob("*.py")))]
LENIENT = {"hook"}  # a newer `snell-hook` may pass options that this version does not know


def parser_tree(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from parser_tree(below)


@pytest.mark.parametrize(
    "parser",
    [all_commands_parser(), *map(parser_of, COMMANDS), dev.argument_parser()],
    ids=["snell", *COMMANDS, "dev.py"],
)
def test_no_parser_takes_the_beginning_of_an_option_for_the_option(parser):
    parsers = list(parser_tree(parser))
    assert [each.prog for each in parsers if each.allow_abbrev] == []


def command_lines() -> Iterator[list[str]]:
    """Each command, and each command below one, as the words that lead to it."""
    yield []
    for name in sorted(set(COMMANDS) - LENIENT):
        yield from (each.prog.split()[1:] for each in parser_tree(parser_of(name)))


@pytest.mark.parametrize("words", [*command_lines()], ids=" ".join)
def test_an_option_that_does_not_exist_is_an_error(words, capsys):
    assert main([*words, "--no-such-option"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "--no-such-option" in told.err or "are required" in told.err
    assert "--help`" in told.err


def test_a_misspelt_option_verb_or_choice_gets_a_suggestion(capsys):
    for words, near in (
        ("fire --comand ls", "did you mean `--command`? `snell fire --help` lists the options\n"),
        ("memory recal x", "did you mean `recall`? `snell memory --help` lists them\n"),
        ("log --verdict denyy", "did you mean `deny`? `snell log --help` lists them\n"),
    ):
        assert main(words.split()) == 1
        assert capsys.readouterr().err.endswith(near)


def test_no_program_makes_a_parser_that_takes_abbreviations():
    assert {path: lines for path in PROGRAMS if (lines := careless_parsers(path))} == {}


def careless_parsers(path: Path) -> list[int]:
    calls = [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.Call)]
    made = [call for call in calls if ast.unparse(call.func).endswith("ArgumentParser")]
    return [call.lineno for call in made if "allow_abbrev=False" not in map(ast.unparse, call.keywords)]
