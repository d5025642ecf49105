"""
The command line: one file per command, loaded only when it is called.

A command module has HELP (one line), EXAMPLE, `arguments(parser)` and `run(args) -> exit code`.
Exit codes: 0 fine, 1 the user's mistake or a failed check, 2 only where a client gives 2 a meaning, 3 our bug.
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
    "why": "explain a decision: every hook, match, millisecond and merge step",
    "log": "the last decisions, by session, hook or verdict",
    "hook": "what clients run: payload on stdin, reply on stdout",
    "check": "ask one component directly",
    "test": "run case files",
    "new": "write the skeleton of a hook, a pack or a client",
    "settings": "show every setting and where it came from",
    "trust": "approve a project's hooks",
    "ledger": "the tool calls: list, show, stats, export",
    "runs": "work with a budget: start, cancel, approve",
    "audit": "was anything changed or taken away since it was written?",
    "tools": "ask your MCP servers what their tools take",
    "loop": "send an agent back until its promise is kept",
    "allow": "let the command that the guard denied last pass once",
    "memory": "remember, recall, and look after what agents remember",
    "pause": "let all hooks but the policy's be silent for some minutes",
    "watch": "what happens, as it happens",
    "doctor": "prove that this installation works",
    "setup": "connect your coding clients: show the changes, ask, write; or take them back",
    "clients": "the clients that Snell knows, and how each stands on this machine",
    "import": "the hooks that you have in a client, and what they would be here",
    "statusline": "what Claude Code runs for its status line",
    "suggest-files": "what Claude Code runs to suggest files",
    "task": "directories that collect efforts",
    "effort": "begin an effort, log into it, finish it",
    "session": "context windows, and what one leaves for the next",
    "phase": "where the effort stands, and how it goes on",
    "agent": "who works, on what, and how it goes",
    "fleet": "every agent at a glance",
    "run": "run an agent, and start it anew when its context is full",
    "mcp": "what MCP clients run: memories and decisions as tools, on stdin and stdout",
    "completion": "let your shell complete commands, options, tasks, efforts, sessions and agents",
    "daemon": "start, stop and ask the warm process behind the hooks",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the last net of the house."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # file names and payloads may hold anything
    try:
        return _run(words)
    except SnellError as error:
        with suppress(OSError):
            sys.stdout.flush()  # what was said before comes first, also where both go to one place
        print(f"snell: {visible_lines(error)}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nobody reads any more, also not at exit
        return 0
    except KeyboardInterrupt:
        return 130
    except OSError as error:  # the world, not us: a folder that was deleted, a disk that is full
        what = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"snell: {what}{error.strerror or error}; check that it is there and can be written\n")
        return 1
    except Exception as error:  # noqa: BLE001 - the second net: a bug of ours is a report, not a traceback
        return _report_bug(error, words)


def _run(words: list[str]) -> int:
    name = words[0] if words else ""
    if name and not name.startswith("-"):
        if name not in COMMANDS:
            near = nearest(name, COMMANDS)
            raise SnellError(f"there is no command `{name}`", advice=f"did you mean `{near}`?" if near else _ADVICE)
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
    args = parser.parse_known_args(words)[0] if accepts_more else _parsed(parser, words)
    return int(command.run(args))


def _parsed(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """Options may stand before, between and after the other words, unless what follows those is not ours to read."""
    whole = (argparse.REMAINDER, argparse.PARSER)
    if any(action.nargs in whole for action in parser._actions):
        return parser.parse_args(words)
    return parser.parse_intermixed_args(words)


def parser_of(name: str) -> argparse.ArgumentParser:
    """What a command takes."""
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
    """The module of a command; a word that Python keeps for itself gets a line behind it."""
    return f"{name}_" if name == "import" else name.replace("-", "_")


_ADVICE = "`snell` alone lists them all"
_EPILOG = "`snell COMMAND --help` shows an example of each."


class _Parser(argparse.ArgumentParser):
    """
    Mistakes are errors like all others: argparse itself would exit with 2, which clients take for a refusal.

    An option is known by its whole name only: an abbreviation may mean another option after an upgrade.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **given})

    def error(self, message: str) -> NoReturn:
        raise SnellError(message, advice=f"`{self.prog} --help` shows how it is meant")


class _Version(argparse.Action):
    """Looks the version up only when it is asked for; package metadata is slow to read."""

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
        f"snell: this is a bug of Snell's: {type(error).__name__}: {redact(str(error))}; the report is {path}",
        file=sys.stderr,
    )
    return 3
