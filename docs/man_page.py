"""The manual page `snell(1)`, from the table of commands."""

import argparse
from collections.abc import Iterator

from snell.cli.command_table import ROWS
from snell.cli.main import COMMANDS, GROUPS, all_commands_parser, parser_of
from snell.operations import TOPICS

_DESCRIPTION = """\
Snell runs hooks for AI coding agents: small functions or programs that run before or after an agent does something.
A hook can refuse a tool call, ask the user first, change the call, add context for the model, or record what happened.
`snell setup` connects your coding agents, `snell status` says how they are doing, `snell ui` shows every decision."""
_FILES = {
    "~/.config/snell/snell.toml": "your settings; `snell settings` shows what is in force, and from where",
    "~/.config/snell/hooks/*.py": "your own hooks, active in all projects",
    ".snell/": "the hooks and settings of a project, active after `snell trust`",
    "~/.local/state/snell/": "decisions, tool calls and memories, without secrets",
}
_ENVIRONMENT = {
    "SNELL_HOME": "one folder for settings and records, instead of those above",
    "NO_COLOR": "print without colours",
}
_EXIT = {"0": "success", "1": "an error of the user, or a failed check", "3": "a bug in Snell"}


def man_page() -> str:
    """Return the page in the language of man."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield from ('.TH SNELL 1 "" "Snell" "Snell"', ".SH NAME", "snell \\- run hooks for AI coding agents")
    yield from (".SH SYNOPSIS", ".B snell", ".I COMMAND", "[options]", ".SH DESCRIPTION", _text(_DESCRIPTION))
    yield ".SH COMMANDS"
    for group in GROUPS:
        yield f".SS {_text(group.capitalize())}"
        for name in (name for rows in (ROWS, TOPICS) for name, row in rows.items() if row.group == group and row.help):
            yield from _command(name)
    yield ".SH OPTIONS OF ALL COMMANDS"
    yield from _options(all_commands_parser())
    for title, rows in {"FILES": _FILES, "ENVIRONMENT": _ENVIRONMENT, "EXIT STATUS": _EXIT}.items():
        yield f".SH {title}"
        for name, text in rows.items():
            yield from (".TP", f".B {_text(name)}", _text(text))
    yield from (
        ".SH SEE ALSO",
        _text("`snell help` lists the pages of the documentation, `snell help TOPIC` shows one."),
    )


def _command(name: str) -> Iterator[str]:
    parser = parser_of(name)
    words = " ".join(_metavar(each) for each in parser._actions if not each.option_strings)
    yield from (".TP", f"\\fBsnell {_text(name)}\\fR {_text(words)}".rstrip(), f"{_text(COMMANDS[name])}.")
    yield ".RS"
    yield from _options(parser)
    if example := (parser.epilog or "").partition("example:\n  ")[2]:
        yield from (".PP", "Example:", ".PP", ".nf", f"    {_text(example)}", ".fi")
    yield ".RE"


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                yield from (".TP", f".B {_text(choice.dest)}", _text(choice.help or ""))
        elif action.help != argparse.SUPPRESS and not isinstance(action, argparse._HelpAction):
            names = ", ".join(action.option_strings) or _metavar(action)
            given = f" {_metavar(action)}" if action.option_strings and action.nargs != 0 else ""
            yield from (".TP", f"\\fB{_text(names)}\\fR{_text(given)}", _text((action.help or "").replace("%%", "%")))


def _metavar(action: argparse.Action) -> str:
    shown = action.metavar or (action.dest if not action.option_strings else action.dest.upper())
    return str(shown) if isinstance(shown, str) else " ".join(shown)


def _text(text: str) -> str:
    """Return a text in which nothing is taken for a request; a name in backticks is bold."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    parts = plain.split("`")
    marked = "".join(f"\\fB{part}\\fR" if place % 2 else part for place, part in enumerate(parts))
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in marked.split("\n"))
