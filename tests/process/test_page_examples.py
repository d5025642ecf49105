"""No example of the documentation stands there unused: what no test of its own page runs is run here."""

import re
import shlex
from pathlib import Path

import pytest
from msgspec.structs import replace

from snell.model.events import event_from
from snell.runtime.app import Runtime
from snell.system.paths import Places
from tests.fork_server import run_snell

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/howto").glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
FENCED = re.compile(r"^```(\S+)(.*)\n((?:(?!```).*\n)*)```$", re.MULTILINE)
BLOCKS = [
    (page.name, *found) for page in PAGES for found in FENCED.findall(page.read_text(encoding="utf-8"))
]  # page, language, its name if it has one, code
# What other tests run, by page. The reference is generated from what the program itself has.
ELSEWHERE = {
    ("README.md", "python"): "test_docs.py",
    ("README.md", "text"): "the recording of a hole, live/test_coverage.py",
    ("README.md", "toml"): "test_docs.py",
    ("embed.md", "python"): "test_docs.py, adapters/test_examples.py",
    ("handlers.md", "python"): "test_handlers_page.py",
    ("recipes.md", "python"): "test_recipes.py",
    ("test-a-hook.md", "python"): "test_docs.py",
    ("test-a-hook.md", "toml"): "test_docs.py",
    ("long-work.md", "console"): "test_work_cli.py",
    ("operate.md", "sql"): "contracts/test_shared_server.py",
}
SETTINGS = [
    (page, code)
    for page, language, name, code in BLOCKS
    if language == "toml"
    and (page, language) not in ELSEWHERE
    and "recipe=" not in name
    and not code.startswith(("[[rule]]", "event ="))
]
BASH = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


def runtime(folder: Path, settings: str) -> Runtime:
    where = Places(folder / "config", folder / "state", folder / "run")
    where.config.mkdir()
    (where.config / "snell.toml").write_text(settings, encoding="utf-8")
    return Runtime.for_user({"PATH": "/usr/bin:/bin", "HOME": str(folder)}, where)


def test_every_block_with_a_language_is_run_by_a_test():
    found = {(page, language) for page, language, _, _ in BLOCKS}
    here = {(page, "toml") for page, _ in SETTINGS} | {("memory.md", "sh"), ("recipes.md", "toml")}
    assert found == here | ELSEWHERE.keys()
    assert len(SETTINGS) >= 12


@pytest.mark.parametrize(("page", "settings"), SETTINGS, ids=[f"{page}-{at}" for at, (page, _) in enumerate(SETTINGS)])
def test_settings_that_a_page_shows_are_taken_without_complaint(tmp_path, page, settings):
    with runtime(tmp_path, settings) as made:
        event = event_from({"session_id": "s", "cwd": str(tmp_path), **BASH}, "PreToolUse")
        assert made.context_for(replace(event, name="SessionStart")).problems == ()


def test_the_rules_of_the_ledger_that_its_page_shows_are_used(tmp_path):
    mode, rules = [code for page, _, _, code in BLOCKS if page == "ledger.md"]
    common = {"session_id": "s", "cwd": str(tmp_path), "tool_name": "mcp__search__find", "tool_input": {"query": "q"}}
    calls = [event_from({**common, "tool_use_id": number}, "PreToolUse") for number in ("t1", "t2")]
    with runtime(tmp_path, mode) as made:
        (tmp_path / "config/ledger.toml").write_text(rules, encoding="utf-8")
        assert str(made.decide(calls[0]).verdict) == "no_opinion"
        (tmp_path / "config/ledger.toml").write_text(rules.replace("read_only", "nonsense"), encoding="utf-8")
        assert "the ledger's rules cannot be used" in made.decide(calls[1]).reason


def test_the_commands_of_the_page_on_memory_work(tmp_path):
    blocks = [code for page, language, _, code in BLOCKS if (page, language) == ("memory.md", "sh")]
    (typed,) = [code for code in blocks if "pip install" not in code]  # what only installs a model needs the network
    printed = [snell(tmp_path, *shlex.split(line)[1:]) for line in typed.splitlines()]
    assert [("remembered" in printed[0]), *("We use uv" in each for each in printed[1:3])] == [True, True, True]
    snell(tmp_path, "daemon", "stop", codes=(0, 1))


def snell(folder: Path, *words: str, codes: tuple[int, ...] = (0,)) -> str:
    env = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "SNELL_HOME": str(folder / "home")}
    code, out, err = run_snell(*words, cwd=folder, env=env)
    assert code in codes, (words, out, err)
    return out
