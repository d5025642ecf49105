"""
The command line: one file per command, loaded only when it is called.

A command is a row of `commands.json` and a module with `run(args) -> exit code`, and with `arguments(parser)` if the
row does not say everything. A topic of operations has neither: its verbs are rendered from their declarations.
Exit codes: 0 success, 1 an error of the user or a failed check, 2 only where a client gives 2 a meaning, 3 a bug in
Snell.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from io import TextIOWrapper
from types import SimpleNamespace
from typing import Any, NoReturn

from snell.cli.command_table import ROWS, CommandRow, HelpText, add_arguments
from snell.cli.terminal import visible_lines
from snell.model.catalogue import did_you_mean
from snell.model.errors import SnellError, file_error
from snell.operations import TOPICS

# Each with one line of help.
COMMANDS: Mapping[str, str] = {each: row.help for rows in (ROWS, TOPICS) for each, row in rows.items() if row.help}
_ADVICE = "`snell --help` lists all commands"
GROUPS = ("start", "write hooks", "see", "work", "memory", "administration")  # in the order of use
_EPILOG = """\
`snell COMMAND --help` shows the options and an example.
`snell help` lists the documentation, `snell help TOPIC` shows a page of it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; every error becomes a message here."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # file names and payloads may contain any bytes
    try:
        return _run(words)
    except SnellError as error:
        with suppress(OSError):
            sys.stdout.flush()  # earlier output comes first, also where both streams go to one file
        from snell.redact import redact

        print(f"snell: {visible_lines(redact(str(error)))}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader is gone; a flush at exit would fail too
        return 0
    except KeyboardInterrupt:
        return 130
    except OSError as error:  # not a bug: a folder that was deleted, a disk that is full
        sys.stderr.write(f"snell: {file_error(error)}\n")
        return 1
    except Exception as error:  # noqa: BLE001 - a bug in Snell becomes a report, not a traceback
        return _report_bug(error, words)


def _run(words: list[str]) -> int:
    name = words[0] if words else ""
    if name and not name.startswith("-"):
        if name not in COMMANDS:
            raise SnellError(f"unknown command `{name}`", advice=did_you_mean(name, COMMANDS, _ADVICE))
        return _run_command(name, words[1:])
    parser = all_commands_parser()
    if words[:1] == ["--no-color"] and words[1:]:
        os.environ["NO_COLOR"] = "1"
        return _run(words[1:])
    parser.parse_args(words)
    parser.print_help()
    return 0


def all_commands_parser() -> argparse.ArgumentParser:
    """Make the parser for `snell` without a command: its options, and the commands by group."""
    text = "\n".join(["One hook runtime for every AI coding agent.", *_listed_commands()])
    usage, form = "snell COMMAND [options]", HelpText
    parser = _Parser(prog="snell", usage=usage, description=text, epilog=_EPILOG, formatter_class=form)
    parser.add_argument("--version", action=_Version)
    return parser


def _listed_commands() -> Iterator[str]:
    """Yield a heading for each group, and a line for each command; those that only programs call have no group."""
    for group in GROUPS:
        yield f"\n{group}:"
        own = [name for rows in (ROWS, TOPICS) for name, row in rows.items() if row.group == group and row.help]
        yield from (f"  {name:<11} {COMMANDS[name]}" for name in own)


def _run_command(name: str, words: list[str]) -> int:
    command, parser = command_of(name), parser_of(name)
    try:
        args = parser.parse_known_args(words)[0] if hasattr(command, "ACCEPTS_MORE") else _parse_args(parser, words)
    except SnellError:
        if not words:
            parser.print_help()  # the error names what is missing
        raise
    if args.no_color:
        os.environ["NO_COLOR"] = "1"
    return int(getattr(command, _function_of(name)[1])(args))


def _parse_args(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """Parse options in any position, unless the rest of the line belongs to another program."""
    verbs = next((each for each in parser._actions if isinstance(each, argparse._SubParsersAction)), None)
    if verbs and words and words[0] in verbs.choices:
        args = _parse_args(verbs.choices[words[0]], words[1:])
        setattr(args, verbs.dest, words[0])
        return args
    if verbs or any(action.nargs == argparse.REMAINDER for action in parser._actions):
        return parser.parse_args(words)
    return parser.parse_intermixed_args(words)


def parser_of(name: str) -> argparse.ArgumentParser:
    command, row = command_of(name), ROWS.get(name) or CommandRow()
    parser = _Parser(prog=f"snell {name}", description=row.description or COMMANDS[name])
    add_arguments(parser, row, vars(command))
    if hasattr(command, "arguments"):
        command.arguments(parser)
    return parser


def command_of(name: str) -> Any:
    """Return the module of a command; for a topic without one, its command as the operations declare it."""
    if name in ROWS:
        return import_module(_function_of(name)[0])
    from snell.cli.verbs import add_verbs, run_verb

    return SimpleNamespace(arguments=partial(add_verbs, topic=name), run=run_verb)


def _function_of(name: str) -> tuple[str, str]:
    """Return the module of a command, and the function in it that runs the command."""
    row = ROWS.get(name)
    module, _, function = (row.run if row and row.run else f"{name}.run").rpartition(".")
    return module if module.startswith("snell.") else f"snell.cli.commands.{module}", function


class _Parser(argparse.ArgumentParser):
    """
    A parser that raises SnellError: argparse itself would exit with 2, which clients take for a deny.

    Options cannot be abbreviated: after an upgrade an abbreviation may mean another option.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **given})
        shown = "print without colours; every command takes it, and `NO_COLOR` in the environment does the same"
        help_ = shown if self.prog == "snell" else argparse.SUPPRESS
        self.add_argument("--no-color", action="store_true", help=help_)

    def error(self, message: str) -> NoReturn:
        help_, unknown = f"`{self.prog} --help`", message.partition("unrecognized arguments: ")[2].partition(" ")[0]
        near = did_you_mean(unknown.partition("=")[0], self._option_string_actions) if unknown[:2] == "--" else ""
        raise SnellError(message, advice=f"{near} {help_} lists the options" if near else f"see {help_}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        known = list(filter(None, map(str, action.choices or ())))
        if known and value not in (action.choices or ()):
            near = did_you_mean(str(value), known, f"use one of {', '.join(known)};")
            where, advice = "/".join(action.option_strings), f"{near} `{self.prog} --help` lists them"
            raise SnellError(f"unknown choice `{value}`", where=where, advice=advice)


class _Version(argparse.Action):
    """Print the version; package metadata is slow to read, so only then."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        from importlib.metadata import version

        print(f"snell {version('snell')}")
        parser.exit()


def _report_bug(error: Exception, words: Sequence[str]) -> int:
    from snell.redact import redact
    from snell.system.crash_report import write_report

    path = write_report(error, words)
    what = f"{type(error).__name__}: {redact(str(error))}; report: {path}"
    print(f"snell: internal error (a bug in Snell): {what}", file=sys.stderr)
    return 3
