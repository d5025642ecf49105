"""The table of packages, from `.importlinter` and the first line of each package, for docs/tour.md and AGENTS.md."""

import ast
import configparser
from pathlib import Path

from introspection import table

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- packages: written by `python3 dev.py docs` -->", "<!-- end of packages -->"


def pages_with_table() -> dict[Path, str]:
    """Return the pages that contain the table, with the table brought up to date."""
    pages = {}
    for path in (ROOT / "docs/tour.md", ROOT / "AGENTS.md"):
        before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
        _, end, after = rest.partition(END)
        if not begin or not end:
            raise SystemExit(f"{path.name} lacks the lines `{BEGIN}` and `{END}`")
        pages[path] = f"{before}{BEGIN}\n\n{layers_table()}\n\n{END}{after}"
    return pages


def layers_table() -> str:
    """Return the table: one row for each package, the lowest layer is number 1."""
    found = layers()
    rows = [
        (str(len(found) - number) if name == names[0] else "", f"`{name}/`", says(name))
        for number, names in enumerate(found)
        for name in names
    ]
    return table(("layer", "package", "what is in it"), rows)


def layers() -> list[list[str]]:
    """Return the packages of each layer, from the highest to the lowest."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter", encoding="utf-8")
    lines = contracts["importlinter:contract:layers"]["layers"].split("\n")
    return [[name.strip(" ()") for name in line.split("|")] for line in lines if line.strip()]


def says(package: str) -> str:
    """Return the first line of a package's docstring, without its full stop."""
    text = (ROOT / "src/snell" / package / "__init__.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").split("\n")[0].removesuffix(".")
