"""The documentation says what the program does: generated pages are fresh, and what the README shows works."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from snell.doors.cli import COMMANDS
from snell.handlers import HANDLERS as RUNNABLE
from snell.model.catalogue import CATALOGUE
from snell.settings.schema import HANDLERS
from snell.testing import run_path

ROOT = Path(__file__).resolve().parent.parent


def test_generated_pages_are_fresh():
    done = subprocess.run(
        [sys.executable, ROOT / "docs/generate.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_event_and_every_command_has_its_place_in_the_reference():
    events = (ROOT / "docs/reference/events.md").read_text(encoding="utf-8")
    commands = (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8")
    assert [name for name in CATALOGUE if f"| `{name}` |" not in events] == []
    assert [name for name in COMMANDS if f"## snell {name}\n" not in commands] == []


def test_every_file_that_the_tour_names_is_there():
    tour = (ROOT / "docs/tour.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:doors|runtime|engine|machine|clients|model|settings|tests)/[\w/.]+\.py)`", tour)
    assert len(named) > 10
    missing = [name for name in named if not (ROOT / "src/snell" / name).exists() and not (ROOT / name).exists()]
    assert missing == []


def test_everything_in_the_tables_of_the_reference_is_described():
    pages = sorted((ROOT / "docs/reference").glob("*.md"))
    assert [f"{page.name}: {line}" for page in pages for line in lines(page) if "|  |" in line] == []


def test_handlers_that_cannot_run_yet_are_marked_in_the_reference():
    rows = [line for line in lines(ROOT / "docs/reference/settings.md") if "**not yet**" in line]
    missing = [row.name for row in HANDLERS if row.name not in RUNNABLE]
    assert [row.split("`")[1] for row in rows] == missing


def test_every_link_leads_somewhere():
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)]+)\)", prose(page)) if "://" not in link]
    assert len(links) > 10
    assert [(page.name, link) for page, link in links if not leads(page, link)] == []


def leads(page: Path, link: str) -> bool:
    name, _, heading = link.partition("#")
    target = page.parent / name if name else page
    if not heading or not target.is_file():
        return target.exists()
    headings = [line.lstrip("#").strip().lower().replace(" ", "-") for line in lines(target) if line.startswith("#")]
    return heading in headings


def test_the_page_on_embedding_works_as_it_stands():
    namespace = {"__name__": "embed"}
    found = blocks(ROOT / "docs/howto/embed.md", "python")
    assert len(found) == 4
    for block in found:
        exec(compile(block, "embed.md", "exec"), namespace)


@pytest.mark.process
def test_the_page_on_testing_works_as_it_stands(tmp_path):
    page = ROOT / "docs/howto/test-a-hook.md"
    hook, suite = blocks(page, "python")
    (cases,) = blocks(page, "toml")
    (tmp_path / "make.py").write_text(hook, encoding="utf-8")
    (tmp_path / "make.cases.toml").write_text(cases, encoding="utf-8")
    results = run_path(tmp_path / "make.py")
    assert [(result.case.name, result.differences) for result in results if not result.passed] == []
    assert f"{len(results)} passed, 0 failed" in page.read_text(encoding="utf-8")
    namespace = {"__name__": "suite"}
    exec(compile(suite, "test-a-hook.md", "exec"), namespace)
    namespace["test_a_force_push_is_refused"]()


def test_the_settings_for_claude_code_in_the_readme_are_what_it_reads():
    (text,) = blocks(ROOT / "README.md", "json")
    handler = {"type": "command", "command": "/PATH/TO/snell-hook", "args": ["--client", "claude-code"]}
    events = ["PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop"]
    assert json.loads(text) == {"hooks": {event: [{"hooks": [handler]}] for event in events}}
    assert [event for event in events if event not in CATALOGUE] == []


@pytest.mark.process
def test_the_hook_of_the_readme_can_be_written_tested_approved_fired_and_explained(tmp_path):
    readme = ROOT / "README.md"
    (hook,), (cases,) = blocks(readme, "python"), blocks(readme, "toml")
    project = tmp_path / "project"
    project.mkdir()
    snell(project, "new", "hook", "no_force_push")
    (project / ".snell/hooks/no_force_push.py").write_text(hook, encoding="utf-8")
    (project / ".snell/hooks/no_force_push.cases.toml").write_text(cases, encoding="utf-8")

    assert snell(project, "fire", "--command", "git push --force").startswith("no opinion")  # nobody approved it yet
    digest = re.search(r"--hash (\w+)", snell(project, "trust", code=1))
    assert digest
    snell(project, "trust", "--hash", digest[1])
    shown = sessions(readme)
    assert [words for words, _ in shown] == [["test"], ["fire", "--command", "git push --force"]]
    assert [(words, snell(project, *words)) for words, _ in shown] == shown
    assert "no_force_push/no_force_push" in snell(project, "why")


def lines(page: Path) -> list[str]:
    return page.read_text(encoding="utf-8").splitlines()


def blocks(page: Path, language: str) -> list[str]:
    """The code of a page in one language."""
    fenced = re.findall(r"^```(.*)\n((?:(?!```).*\n)*)```$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [code for name, code in fenced if name == language]


def prose(page: Path) -> str:
    """A page without its code."""
    return re.sub(r"^```.*\n(?:(?!```).*\n)*```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)


def sessions(page: Path) -> list[tuple[list[str], str]]:
    """What a page shows of the command line: the words after `$ snell`, and what is printed."""
    found = [each for block in blocks(page, "") for each in re.findall(r"\$ snell (.*)\n((?:[^$].*\n)*)", block)]
    return [(shlex.split(words), printed) for words, printed in found]


def snell(project: Path, *words: str, code: int = 0) -> str:
    """Run the command as a person in this project would; returns what it printed."""
    env = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", "snell", *words],
        cwd=project,
        env={**env, "HOME": str(project.parent), "SNELL_HOME": str(project.parent / "home")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout
