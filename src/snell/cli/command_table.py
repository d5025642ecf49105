"""
The commands in `commands.json`: their help, examples, arguments and verbs.

An argument that is only a text is a flag, and the text its help. Else it has the fields of `add_argument`; `exclusive`
ones cannot be combined, and one without help is hidden. Where `choices` is a name, or a help contains one in braces,
the command's module defines it. It is JSON, because every command reads it and TOML takes much longer to parse.
"""

import argparse
from collections.abc import Mapping
from os.path import dirname, isdir, isfile
from typing import Any

import msgspec
from msgspec import Struct

from snell.cli.templates import template

FOLDER = dirname(dirname(__file__))  # with the packages of Snell
_TYPES = {"int": int, "float": float}


class HelpText(argparse.HelpFormatter):
    """Wrap each line of a description, and keep the lines of a list or an example as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = text.splitlines()
        return "\n".join(
            each if each[:1] in (" ", "") else super(HelpText, self)._fill_text(each, width, indent) for each in lines
        )


class CommandRow(Struct, frozen=True, forbid_unknown_fields=True):
    """One command, or one verb of a command."""

    help: str = ""
    group: str = ""  # under which `snell` lists it; empty for what only programs call
    example: str = ""
    description: str = ""  # if it is not the help
    run: str = ""  # its module and function, if not NAME.run; a path from `snell.` if it is not in `commands`
    row: str = ""  # of `snell check`: the fields of a row, and of its answer
    answer: str = ""
    arguments: dict[str, str | dict[str, Any]] = {}
    verb: str = ""  # the name of the argument that takes a verb
    verbs: dict[str, "CommandRow"] = {}


def _is_there(function: str) -> bool:
    module = "/".join([FOLDER, *function.split(".")[1:-1]])
    return isdir(module) or isfile(f"{module}.py")


_ALL = msgspec.json.decode(template("commands.json"), type=dict[str, CommandRow])
# A command of a folder that stands alone exists if the folder does.
ROWS = {name: row for name, row in _ALL.items() if not row.run.startswith("snell.") or _is_there(row.run)}


def add_arguments(parser: argparse.ArgumentParser, row: CommandRow, known: Mapping[str, Any]) -> None:
    """Add the arguments and the verbs of a row; `known` are the names that the command's module defines."""
    if row.example:
        parser.epilog = f"example:\n  {row.example}"
        parser.formatter_class = HelpText
    exclusive = None
    for names, given in row.arguments.items():
        fields = {"action": "store_true", "help": given} if isinstance(given, str) else dict(given)
        target: argparse._ActionsContainer = parser
        if fields.pop("exclusive", False):
            target = exclusive = exclusive or parser.add_mutually_exclusive_group()
        target.add_argument(*names.split(), **_complete(fields, known))
    if row.verb:
        verbs = parser.add_subparsers(dest=row.verb, required=True, metavar=row.verb.upper())
        add_verbs_of(row, verbs, known)


def add_verbs_of(row: CommandRow, verbs: "argparse._SubParsersAction[Any]", known: Mapping[str, Any]) -> None:
    """Add the verbs of a row; each sets `verb_parser` to its parser."""
    for name, verb in row.verbs.items():
        each = verbs.add_parser(name, help=verb.help, description=verb.description or None)
        each.set_defaults(verb_parser=each)
        add_arguments(each, verb, known)


def _complete(fields: dict[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    if "type" in fields:
        fields["type"] = _TYPES[fields["type"]]
    if fields.get("action") == "yes_or_no":
        fields["action"] = argparse.BooleanOptionalAction
    if isinstance(fields.get("choices"), str):
        fields["choices"] = list(known[fields["choices"]])
    if "{" in fields["help"]:
        listed = {name: ", ".join(filter(None, each)) for name, each in known.items() if _is_list_of_words(each)}
        fields["help"] = fields["help"].format_map({**known, **listed})
    return {**fields, "help": fields["help"] or argparse.SUPPRESS}


def _is_list_of_words(value: Any) -> bool:
    return isinstance(value, tuple | dict) and all(isinstance(each, str) for each in value)
