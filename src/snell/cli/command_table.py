"""
The commands in `commands.json`: their help, examples, arguments and verbs.

An argument that is only a text is a flag, and the text its help. Else it has the fields of `add_argument`; `exclusive`
ones cannot be combined, and one without help is hidden. Where `choices` is a name, or a help contains one in braces,
the command's module defines it. It is JSON, because every command reads it and TOML takes much longer to parse.
"""

import argparse
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import msgspec
from msgspec import Struct

from snell.cli.templates import template

_TYPES = {"int": int, "float": float}


class CommandRow(Struct, frozen=True, forbid_unknown_fields=True):
    """One command, or one verb of a command."""

    help: str = ""
    example: str = ""
    description: str = ""  # if it is not the help
    run: str = ""  # its module and function, if they are not named like it and `run`
    folder: str = ""  # the package of its module, if that stands alone and may be missing
    row: str = ""  # of `snell check`: the fields of a row, and of its answer
    answer: str = ""
    arguments: dict[str, str | dict[str, Any]] = {}
    verb: str = ""  # the name of the argument that takes a verb
    verbs: dict[str, "CommandRow"] = {}


_ALL = msgspec.json.decode(template("commands.json"), type=dict[str, CommandRow])
ROWS: Mapping[str, CommandRow] = {name: row for name, row in _ALL.items() if find_spec(row.folder or "snell")}


def add_arguments(parser: argparse.ArgumentParser, row: CommandRow, known: Mapping[str, Any]) -> None:
    """Add the arguments and the verbs of a row; `known` are the names that the command's module defines."""
    if row.example:
        parser.epilog = f"example:\n  {row.example}"
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
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
