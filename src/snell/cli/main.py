"""
The command line: one file per command, loaded only when it is called.

A command module has EXAMPLE, `arguments(parser)` and `run(args) -> exit code`.
Exit codes: 0 success, 1 an error of the user or a failed check, 2 only where a client gives 2 a meaning, 3 a bug in
Snell.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NoReturn

from snell.cli.colours import visible_lines
from snell.model.catalogue import nearest
from snell.model.errors import SnellError

COMMANDS: Mapping[str, str] = {
    "demo": "watch a short coding session go through Snell",
    "fire": "send one event and show the decision",
    "why": "explain a decision: the hooks that ran, their results, times and how they were merged",
    "log": "list recent decisions, by session, hook or verdict",
    "hook": "handle one event for a client: payload on stdin, reply on stdout",
    "check": "test one component directly, such as the guard or a matcher",
    "test": "run the case files of your hooks",
    "new": "create a hook, a pack or a client from a template",
    "settings": "show all settings and active hooks, and where each comes from",
    "trust": "review and approve a project's hooks",
    "ledger": "list, show, count and export tool calls",
    "runs": "manage runs: work with a budget of time, prompts and tool calls",
    "audit": "verify the integrity of the audit log",
    "tools": "learn the input schemas of your MCP servers' tools",
    "loop": "send an agent back to work until it reports completion",
    "allow": "allow the command that the guard denied last, once",
    "memory": "store, search and maintain what agents remember",
    "pause": "disable all hooks except policy hooks for some minutes",
    "watch": "show decisions as they are made",
    "doctor": "check that this installation works",
    "setup": "connect Snell to your coding clients, or disconnect it",
    "clients": "list the supported clients and their state on this machine",
    "import": "show the hooks of a client as Snell would run them",
    "statusline": "print the status line (Claude Code runs this)",
    "suggest-files": "suggest files for a query (Claude Code runs this)",
    "task": "manage tasks: directories that group efforts",
    "effort": "start, log into, resume and finish efforts",
    "session": "manage sessions: the context windows of an effort",
    "phase": "show or change the phase of an effort",
    "agent": "list and register agents, and set their status",
    "fleet": "show all agents, most urgent first",
    "run": "run an agent, and restart it when its context is full",
    "mcp": "serve memories and decisions as MCP tools on stdin and stdout",
    "completion": "print a shell completion script",
    "daemon": "start, stop and inspect the background process that runs the hooks",
}


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
        print(f"snell: {visible_lines(error)}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader is gone; a flush at exit would fail too
        return 0
    except KeyboardInterrupt:
        return 130
    except OSError as error:  # not a bug: a folder that was deleted, a disk that is full
        what = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"snell: {what}{error.strerror or error}; check that it exists and is writable\n")
        return 1
    except Exception as error:  # noqa: BLE001 - a bug in Snell becomes a report, not a traceback
        return _report_bug(error, words)


def _run(words: list[str]) -> int:
    name = words[0] if words else ""
    if name and not name.startswith("-"):
        if name not in COMMANDS:
            near = nearest(name, COMMANDS)
            raise SnellError(f"unknown command `{name}`", advice=f"did you mean `{near}`?" if near else _ADVICE)
        return _run_command(name, words[1:])
    parser = all_commands_parser()
    parser.parse_args(words)
    parser.print_help()
    return 0


def all_commands_parser() -> argparse.ArgumentParser:
    """Make the parser for `snell` without a command: its options, and the list of commands."""
    parser = _Parser(prog="snell", description="One hook runtime for every AI coding agent.", epilog=_EPILOG)
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")
    for each, text in COMMANDS.items():
        commands.add_parser(each, help=text)
    return parser


def _run_command(name: str, words: list[str]) -> int:
    command, parser = import_module(f"snell.cli.commands.{module_of(name)}"), parser_of(name)
    accepts_more = getattr(command, "ACCEPTS_MORE", False)
    args = parser.parse_known_args(words)[0] if accepts_more else _parse_args(parser, words)
    return int(command.run(args))


def _parse_args(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """Parse options in any position, unless the rest of the line belongs to another program."""
    open_ended = (argparse.REMAINDER, argparse.PARSER)
    if any(action.nargs in open_ended for action in parser._actions):
        return parser.parse_args(words)
    return parser.parse_intermixed_args(words)


def parser_of(name: str) -> argparse.ArgumentParser:
    """Return the argument parser of a command."""
    command = import_module(f"snell.cli.commands.{module_of(name)}")
    parser = _Parser(
        prog=f"snell {name}",
        description=COMMANDS[name],
        epilog=f"example:\n  {command.EXAMPLE}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.arguments(parser)
    return parser


def module_of(name: str) -> str:
    """Return the module name of a command; a Python keyword gets an underscore."""
    return f"{name}_" if name == "import" else name.replace("-", "_")


_ADVICE = "`snell --help` lists all commands"
_EPILOG = "`snell COMMAND --help` shows the options and an example."


class _Parser(argparse.ArgumentParser):
    """
    A parser that raises SnellError: argparse itself would exit with 2, which clients take for a deny.

    Options cannot be abbreviated: after an upgrade an abbreviation may mean another option.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **given})

    def error(self, message: str) -> NoReturn:
        raise SnellError(message, advice=f"see `{self.prog} --help`")


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
    print(
        f"snell: internal error (a bug in Snell): {type(error).__name__}: {redact(str(error))}; report: {path}",
        file=sys.stderr,
    )
    return 3
