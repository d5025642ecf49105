"""
Write the pages of docs/reference and the tables of packages from the code; with --check only compare.

Everything that can be enumerated (events, settings, commands, effects, errors) is described where it is defined.
"""

import argparse
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH and -I leave it out

from clients_page import clients
from guard_page import guard
from hook_page import hooks
from introspection import first_line, page, table
from layers_table import pages_with_table
from man_page import man_page
from mcp_page import mcp_server
from operations_page import operations
from pack_index import PACK_INDEX, pack_index
from packs_page import packs
from settings_page import settings
from shim_forms import shim_forms

from snell.cli.main import COMMANDS, parser_of
from snell.model import errors
from snell.model.catalogue import CATALOGUE
from snell.model.tools import ALL_KINDS, KINDS

FOLDER = Path(__file__).resolve().parent / "reference"
MAN_PAGE = FOLDER.parent / "man/snell.1"
SHIM_FORMS = FOLDER.parent.parent / "src/snell/daemon/shim_forms.txt"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 when a page is out of date")
    only_checks = parser.parse_args().check
    wanted = {FOLDER / f"{name}.md": page() for name, page in PAGES.items()} | {SHIM_FORMS: shim_forms()}
    wanted |= pages_with_table() | {MAN_PAGE: man_page(), PACK_INDEX: pack_index()}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if only_checks:
        for path in stale:
            print(f"{path.name} is out of date; run `python3 dev.py docs`")
        return 1 if stale else 0
    FOLDER.mkdir(exist_ok=True)
    MAN_PAGE.parent.mkdir(exist_ok=True)
    for path in stale:
        path.write_text(wanted[path], encoding="utf-8")
        print(f"wrote {path.relative_to(FOLDER.parent.parent)}")
    return 0


def events() -> str:
    rows = (
        (
            f"`{row.name}`",
            f"`{row.matches}`" if row.matches else "-",
            ", ".join(sorted(row.can)) or "-",
            f"`{row.rewrites}`" if row.rewrites else "-",
            ", ".join(f"`{name}`" for name in sorted(row.extras)) or "-",
        )
        for row in CATALOGUE.values()
    )
    kinds = ((kind, ", ".join(f"`{tool}`" for tool, of in KINDS.items() if of == kind) or "-") for kind in ALL_KINDS)
    return page(
        "Events",
        "Names are accepted in PascalCase, camelCase and snake_case; `AgentStop` is `Stop`, `userPrompt` is "
        "`UserPromptSubmit`. An event that is not listed passes through.",
        table(("event", "a matcher reads", "effects that mean something", "a rewrite replaces", "extras"), rows),
        "## Tool kinds\n\nA hook with `kind=` works in every client; the names of its tools do not matter.",
        table(("kind", "Claude Code's tools"), kinds),
    )


def commands() -> str:
    parts = []
    for name, text in COMMANDS.items():
        parser = parser_of(name)
        example = (parser.epilog or "").partition("example:\n  ")[2]
        parser.epilog = None
        helps = "\n\n".join(f"```\n{each}```" for each in help_texts(parser))
        parts.append(f"## snell {name}\n\n{text}\n\n```\n$ {example}\n```\n\n{helps}")
    introduction = (
        "Exit codes: 0 fine, 1 a mistake or a failed check, 3 a bug of Snell's. Commands with verbs call"
        " [operations](operations.md), as programs can do, too."
    )
    return page("Commands", introduction, *parts)


def help_texts(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The help of a command and of the commands below it."""
    parser.formatter_class = lambda prog: argparse.HelpFormatter(prog, width=100)
    yield parser.format_help()
    for action in parser._actions:  # argparse has no other way to ask
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from help_texts(below)


def error_ids() -> str:
    classes = [each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, errors.SnellError)]
    rows = ((f"`{each.id}`", f"`{each.__name__}`", first_line(each)) for each in classes)
    return page(
        "Errors",
        "Errors that a user, a hook author or an operator can repair.",
        table(("id", "class", "meaning"), rows),
    )


PAGES: dict[str, Callable[[], str]] = {
    "guard": guard,
    "events": events,
    "hooks": hooks,
    "settings": settings,
    "commands": commands,
    "errors": error_ids,
    "clients": clients,
    "packs": packs,
    "mcp": mcp_server,
    "operations": operations,
}


if __name__ == "__main__":
    sys.exit(main())
