"""Commands that are rendered from operations: `snell TOPIC VERB`, with the arguments and help of the declaration."""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, get_origin

from snell.cli.call_operation import call_operation
from snell.cli.command_table import HelpText
from snell.cli.confirmation import CODE_HELP, require_person
from snell.cli.progress import Progress
from snell.cli.templates import template
from snell.cli.views import show
from snell.model.errors import SnellError
from snell.operations import TOPICS, operations_of

if TYPE_CHECKING:
    from snell.operations.declaration import Operation, Parameter

MOST_INPUT = 1_000_000
_FILLED_IN = ("cwd", "agent_id", "client_session_id", "confirm")  # by the environment of the command, and by --yes


def add_verbs(parser: argparse.ArgumentParser, topic: str) -> "argparse._SubParsersAction[Any]":
    """Add one verb for each operation of a topic that names one."""
    parser.epilog, parser.formatter_class = f"example:\n  {TOPICS[topic].example}", HelpText
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB", title="verbs")
    examples = json.loads(template("verb_examples.json"))  # by verb: the words after it, if any
    for operation in operations_of(topic):
        first, _, verb = operation.verb.partition(" ")
        if first == topic:
            brief = operation.summary.partition(". ")[0].rstrip(".")
            each = verbs.add_parser(verb, help=brief[0].lower() + brief[1:], description=operation.summary)
            each.epilog = f"example:\n  {_example(operation.verb, TOPICS[topic].example, examples)}"
            each.formatter_class = HelpText
            for parameter in shown_parameters(operation):
                _add_argument(each, parameter)
            each.add_argument("--json", action="store_true", help="print JSON")
            if operation.needs_person or any(parameter.name == "dry_run" for parameter in operation.parameters):
                each.add_argument("--code", default="", help=CODE_HELP)
            each.set_defaults(operation=operation)
    return verbs


def _example(verb: str, of_topic: str, words: Mapping[str, str]) -> str:
    """Return the example of a verb: that of its topic if it shows this verb."""
    return of_topic if of_topic.startswith(f"snell {verb} ") else f"snell {verb} {words.get(verb, '')}".rstrip()


def run_verb(args: argparse.Namespace) -> int:
    """Call the operation of the parsed verb and print its answer."""
    show(args.operation.name, answer_of(args), as_json=args.json)
    return 0


def answer_of(args: argparse.Namespace) -> Any:
    """Call the operation of the parsed verb; one for a person is refused to an agent."""
    operation = args.operation
    is_applied = getattr(args, "yes", False)
    if operation.needs_person or is_applied:
        require_person(os.environ, f"`snell {operation.verb}{' --yes' if is_applied else ''}`", args.code)
    given = {operation.spell(each.name): _value(args, each) for each in shown_parameters(operation)}
    given |= {each.name: is_applied for each in operation.parameters if each.name == "confirm"}
    with Progress(f"snell {operation.verb}"):
        return call_operation(operation.name, given)


def shown_parameters(operation: "Operation") -> "Iterator[Parameter]":
    """Yield the arguments of an operation that the command line takes."""
    return (each for each in operation.parameters if each.name not in _FILLED_IN)


def read_stdin(what: str) -> str:
    """Return standard input, up to a limit. Raises SnellError if it is a terminal or too long."""
    if sys.stdin.isatty():
        raise SnellError(f"{what} is read from standard input", advice="pipe it in")
    data = sys.stdin.buffer.read(MOST_INPUT + 1)
    if len(data) > MOST_INPUT:
        raise SnellError(f"{what} is longer than {MOST_INPUT:,} bytes", advice="shorten it")
    return data.decode("utf-8", "replace")


def read_json(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        advice = "nothing was stored; correct it and try again"
        wrong = f"is not JSON: {error}" if text.strip() else "is missing"
        raise SnellError(f"{what} {wrong}", advice=advice) from None


def _add_argument(parser: argparse.ArgumentParser, each: "Parameter") -> None:
    option = (each.cli.get("option") or each.name.rstrip("_")).replace("_", "-")
    shown = each.default not in (None, "", (), False, True) and "default" not in each.help
    text = f"{each.help or each.name.replace('_', ' ')}{f' (default: {each.default})' if shown else ''}"
    source = "; `-`, or nothing: standard input" if each.cli.get("stdin") else ""
    help_ = f"{text}{source}".replace("%", "%%")
    if each.name == "dry_run":
        parser.add_argument("--yes", action="store_true", help="apply the change; without it this is a dry run")
    elif each.cli.get("word"):
        parser.add_argument(each.name, nargs=_nargs(each), metavar=option, help=help_, **_type_of(each))
    elif each.type is bool:
        action = argparse.BooleanOptionalAction if each.default else "store_true"
        parser.add_argument(f"--{option}", dest=each.name, action=action, default=each.default, help=help_)
    elif _is_many(each):
        parser.add_argument(f"--{option}", dest=each.name, action="append", metavar=option.upper(), help=help_)
    else:
        more = {"metavar": option.upper()} if not each.choices else {}
        required = each.is_required
        parser.add_argument(f"--{option}", dest=each.name, required=required, help=help_, **more, **_type_of(each))


def _nargs(each: "Parameter") -> str | None:
    if _is_many(each) or each.cli.get("rest"):
        return "*" if each.cli.get("stdin") or not each.is_required else "+"
    return "?" if each.cli.get("stdin") or not each.is_required else None


def _type_of(each: "Parameter") -> dict[str, Any]:
    if each.choices:
        return {"choices": list(each.choices), "type": type(each.choices[0])}
    return {"type": each.type} if each.type in (int, float) else {}


def _is_many(each: "Parameter") -> bool:
    return get_origin(each.type) in (list, tuple)


def _value(args: argparse.Namespace, each: "Parameter") -> Any:
    """Return the argument that was given, as the operation takes it; None if it was left out."""
    if each.name == "dry_run":
        return not args.yes
    value = getattr(args, each.name)
    if each.cli.get("rest") and isinstance(value, Iterable):
        value = " ".join(value) if value else None
    if (what := each.cli.get("stdin")) and value in (None, "-"):
        value = read_stdin(what)
    if isinstance(value, str) and (each.type is Any or get_origin(each.type) is dict):
        return read_json(value, what or f"`--{each.name}`")
    return value
