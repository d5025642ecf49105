"""Show a page of the documentation that comes with Snell, or the help of a command."""

import argparse
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from snell.cli.main import COMMANDS, all_commands_parser, parser_of
from snell.cli.terminal import align
from snell.model.catalogue import did_you_mean
from snell.model.errors import SnellError

# In a wheel the pages are beside this file; in a checkout they are in its `docs`.
_PLACES = (Path(__file__).parent / "pages", Path(__file__).parents[4] / "docs")


def run(args: argparse.Namespace) -> int:
    found = pages()
    if not args.topic:
        print(_list(found))
    elif args.topic in found:
        _print_page(found[args.topic].read_text(encoding="utf-8"))
        if args.topic in COMMANDS:
            print(f"\n`snell {args.topic} --help` shows the options of the command")
    elif args.topic in COMMANDS:
        parser_of(args.topic).print_help()
    elif args.topic == "snell":
        all_commands_parser().print_help(sys.stdout)
    else:
        near = did_you_mean(args.topic, [*found, *COMMANDS], "`snell help` lists the topics")
        raise SnellError(f"no help on `{args.topic}`", advice=near)
    return 0


def pages() -> Mapping[str, Path]:
    """Return the pages by topic, how-tos first."""
    root = next((each for each in _PLACES if each.is_dir()), None)
    return {page.stem: page for name in ("howto", "reference") if root for page in sorted((root / name).glob("*.md"))}


def _list(found: Mapping[str, Path]) -> str:
    if not found:
        return "this installation has no pages; `snell COMMAND --help` shows the options of a command"
    lines = align([[f"  {topic}", _title(page)] for topic, page in found.items()])
    howtos = sum(page.parent.name == "howto" for page in found.values())
    first = "`snell help TOPIC` shows a page, `snell help COMMAND` the options of a command."
    return "\n".join([first, "\nhow to:", *lines[:howtos], "\nreference:", *lines[howtos:]])


def _title(page: Path) -> str:
    with page.open(encoding="utf-8") as lines:
        return next((line.lstrip("# ").strip() for line in lines if line.startswith("# ")), page.stem)


def _print_page(text: str) -> None:
    """Print a page without comments for editors: at a terminal as it is meant, else as it stands."""
    text = re.sub(r"<!--.*?-->\n\n?", "", text, flags=re.DOTALL).rstrip("\n")
    if sys.stdout.isatty():
        with suppress(ImportError):  # an extra; a page can be read without it, too
            from rich.console import Console
            from rich.markdown import Markdown

            Console(color_system=None if "NO_COLOR" in os.environ else "auto").print(Markdown(text, hyperlinks=False))
            return
    print(text)
