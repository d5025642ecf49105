"""The documentation says what the program does: generated pages are fresh, and what the README shows works."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from snell.cli.main import COMMANDS
from snell.clients import client_named
from snell.model.catalogue import CATALOGUE
from snell.testing import run_path
from tests.live.conversation import COLUMNS
from tests.live.drivers import DRIVERS, Driver
from tests.live.stories import INSTEAD, STORIES
from tests.person import as_person

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.proves("S0-38", "S0-40", "S0-49", "S0-53", "S1-166")
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
    named = re.findall(r"`([a-z]+/[\w/.]+\.py)`", tour)
    assert len(named) > 10
    missing = [name for name in named if not (ROOT / "src/snell" / name).exists() and not (ROOT / name).exists()]
    assert missing == []


def test_every_place_that_the_page_on_tests_names_is_there():
    text = (ROOT / "tests/README.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w./*<>]+(?:/|\.py|\.toml))`", text)
    assert len(named) > 15
    patterns = {name: re.sub(r"<\w+>", "*", name) for name in named}
    folders = (ROOT, ROOT / "tests", ROOT / "src/snell/packs")
    missing = [name for name, each in patterns.items() if not any(next(base.rglob(each), None) for base in folders)]
    assert missing == []


@pytest.mark.proves("S4-126")
def test_there_is_a_guide_to_set_up_the_design_and_a_page_with_measured_figures():
    guide, design, memory = (
        (ROOT / "docs" / name).read_text(encoding="utf-8")
        for name in ("howto/set-up-clients.md", "design.md", "howto/memory.md")
    )
    named = ("snell setup", "--check", "--uninstall", "claude-code", "cursor")
    assert [text for text in named if text not in guide] == []
    assert design.count("\n## ") >= 5
    assert len(re.findall(r"^\|.*\| \d\.\d\d \| \d\.\d\d \|$", memory, re.MULTILINE)) >= 20


@pytest.mark.proves("S3-91")
def test_every_file_that_the_page_on_embedding_names_is_there():
    page = (ROOT / "docs/howto/embed.md").read_text(encoding="utf-8").partition("## Where things are")[2]
    named = re.findall(r"`([\w/]+\.(?:py|toml))`", page)
    expected = {"model/catalogue.py", "engine/match.py", "runtime/callback_hooks.py", "engine/json_schema.py"}
    assert expected | {"packs/tool_inputs/pack.toml", "packs/skills/pack.toml"} <= set(named)
    assert [name for name in named if not (ROOT / "src/snell" / name).exists()] == []


@pytest.mark.proves("S1-166")
def test_the_reference_says_which_claude_code_we_follow_and_field_by_field_what_it_takes():
    clients = (ROOT / "docs/reference/clients.md").read_text(encoding="utf-8")
    events = (ROOT / "docs/reference/events.md").read_text(encoding="utf-8")
    own = clients.partition("\n## Claude Code\n")[2].partition("\n## ")[0]
    assert re.search(r"Claude Code \d+\.\d+\.\d+\.", own)
    for name, row in CATALOGUE.items():
        answers = ", ".join(sorted(row.can)) or "-"
        assert f"| `{name}` | {answers} |" in own
        (line,) = [line for line in events.splitlines() if line.startswith(f"| `{name}` |")]
        fields = {field for field in (row.matches, row.rewrites, *row.extras) if field}
        assert [field for field in fields if f"`{field}`" not in line] == []


def test_everything_in_the_tables_of_the_reference_is_described():
    pages = sorted((ROOT / "docs/reference").glob("*.md"))
    assert [f"{page.name}: {line}" for page in pages for line in lines(page) if "|  |" in line] == []


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


@pytest.mark.proves("S1-135")
def test_the_page_on_embedding_works_as_it_stands():
    namespace = {"__name__": "embed"}
    # What needs another library is run by tests/adapters, where that library is.
    found = [block for block in blocks(ROOT / "docs/howto/embed.md", "python") if "snell.embed.adapters" not in block]
    assert len(found) == 7
    assert [block.split("(")[0] for block in found if "raise PermissionError" in block] == ["def pay"]
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


@pytest.mark.process
def test_what_the_readme_says_connects_claude_code(tmp_path):
    fenced = [block for block in blocks(ROOT / "README.md", "") if "snell setup claude-code" in block]
    typed = [line.partition("#")[0].split() for line in fenced[0].splitlines()]
    assert typed == [["snell", "setup", "claude-code"], ["claude"]]
    project = tmp_path / "project"
    project.mkdir()
    snell(project, *typed[0][1:], "--yes")
    settings = json.loads((tmp_path / ".claude/settings.json").read_bytes())
    (handler,) = settings["hooks"]["PreToolUse"][0]["hooks"]
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    done = subprocess.run(
        [handler["command"], *handler["args"]],
        input=json.dumps({**payload, "cwd": str(project)}),
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SNELL_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    snell(project, "daemon", "stop")
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.process
def test_the_hook_of_the_readme_can_be_written_tested_approved_fired_and_explained(tmp_path):
    readme = ROOT / "README.md"
    (hook,), (cases,) = blocks(readme, "python"), blocks(readme, "toml")
    project = tmp_path / "project"
    project.mkdir()
    snell(project, "new", "hook", "no_skipped_checks")
    (project / ".snell/hooks/no_skipped_checks.py").write_text(hook, encoding="utf-8")
    (project / ".snell/hooks/no_skipped_checks.cases.toml").write_text(cases, encoding="utf-8")

    # no user approved it yet
    assert snell(project, "fire", "--command", "git commit --no-verify").startswith("no opinion")
    snell(project, "trust", "--hash", json.loads(snell(project, "trust", "--json"))["digest"])
    shown = sessions(readme)
    assert [words for words, _ in shown] == [["test"], ["fire", "--command", "git commit --no-verify"]]
    assert [(words, snell(project, *words)) for words, _ in shown] == shown
    assert "no_skipped_checks/no_skipped_checks" in snell(project, "why")


def test_the_hole_in_the_readme_was_recorded():
    (shown,) = blocks(ROOT / "README.md", "text")
    assert shown in (ROOT / "docs/recordings/hole.md").read_text(encoding="utf-8")


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
    env |= {"HOME": str(project.parent), "SNELL_HOME": str(project.parent / "home")}
    done = subprocess.run(
        [sys.executable, "-m", "snell", *as_person(words, env)],
        cwd=project,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout


def test_the_table_of_real_clients_is_what_their_drivers_say() -> None:
    shown = {
        row[0].partition(",")[0]: (row[1], [cell.startswith("yes") for cell in row[2:]])
        for row in _table_with(("client", "version", *COLUMNS))
    }
    assert shown == {
        _title(driver): (driver.package.version, [column not in driver.cannot for column in COLUMNS])
        for driver in DRIVERS
    }


def test_the_table_of_stories_is_what_the_live_tests_expect_of_each_client() -> None:
    wanted = {_title(driver): [INSTEAD[driver.client].get(story, "yes") for story in STORIES] for driver in DRIVERS}
    assert {row[0]: row[1:] for row in _table_with(("client", *STORIES))} == wanted


def _table_with(columns: tuple[str, ...]) -> list[list[str]]:
    """The rows of the table with these columns."""
    text = (ROOT / "docs/howto/set-up-clients.md").read_text(encoding="utf-8")
    table = text.partition(f"| {' | '.join(columns)} |\n")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[1:]]


def _title(driver: Driver) -> str:
    return client_named(driver.client.replace("-", "_")).install.title


def test_every_test_that_the_page_about_security_names_is_there() -> None:
    named = re.findall(r"`(tests/[^`]+)`", (ROOT / "docs/howto/security.md").read_text(encoding="utf-8"))
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).exists()] == []
