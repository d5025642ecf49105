"""Nothing of a repository runs before a person asks for it: `snell test` without a path, and looks with git."""

import ast
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.hostile_repository import git, hostile
from tests.process.author import Author
from tests.process.machine import Machine

SOURCE = Path(__file__).parents[2] / "src/snell"
CASE = '[[case]]\nname = "{}"\nevent = {{ on = "Stop" }}\nexpect = "no_opinion"\n'


@pytest.fixture
def author(tmp_path):
    return Author(tmp_path)


@pytest.fixture
def ran(tmp_path):
    """Which hooks ran, by the names that they wrote."""

    def names() -> list[str]:
        return sorted(path.name for path in (tmp_path / "ran").iterdir())

    (tmp_path / "ran").mkdir()
    names.folder = tmp_path / "ran"
    return names


def plant(author: Author, ran, name: str, at: str = ".") -> None:
    """A Python hook and its case; loading the hook leaves a file."""
    text = f"from snell import watches\nopen({str(ran.folder / name)!r}, 'w').close()\n"
    author.write(f"{at}/{name}.py", f'{text}@watches("Stop")\ndef {name}() -> None: ...\n')
    author.write(f"{at}/{name}.cases.toml", CASE.format(name))


@pytest.mark.parametrize("place", [".", "src", "vendor/lib/.snell/hooks", "node_modules/a/.snell/hooks", ".claude"])
def test_outside_a_project_nothing_runs_and_that_is_said(author, ran, place):
    plant(author, ran, "planted", place)
    code, out, err = author.snell("test")
    told = "no project was found (no `.snell` in this folder or above it), so no case was run"
    advice = "name a file or folder, as in `snell test FOLDER`, or create a hook with `snell new hook NAME`"
    assert (code, out, err) == (1, "", f"snell: {told}; {advice}\n")
    assert ran() == []


def test_what_is_named_runs_wherever_it_is(author, ran):
    plant(author, ran, "named", "some/where")
    assert author.snell("test", "some/where/named.py") == (0, "1 passed, 0 failed\n", "")
    assert author.snell("test", ".") == (0, "1 passed, 0 failed\n", "")
    assert ran() == ["named"]


def test_a_project_without_cases_does_not_run_those_that_lie_around_it(author, ran):
    author.write(".snell/snell.toml", "")
    plant(author, ran, "beside", "src")
    plant(author, ran, "nested", "vendor/lib/.snell/hooks")
    code, out, err = author.snell("test")
    assert (code, out) == (1, "")
    assert "no cases were found in `.snell`" in err
    assert ran() == []


def test_a_projects_own_hooks_run_and_those_of_repositories_below_it_do_not(author, ran):
    plant(author, ran, "own", ".snell/hooks")
    plant(author, ran, "below", "vendor/lib/.snell/hooks")
    author.write(".snell/shared/.git", "gitdir: ../../.git/modules/shared\n")  # a submodule
    plant(author, ran, "submodule", ".snell/shared/hooks")
    plant(author, ran, "taken", ".snell/taken/.snell/hooks")
    plant(author, ran, "package", ".snell/node_modules/a")
    code, out, err = author.snell("test")
    assert (code, out) == (0, "1 passed, 0 failed\n")
    assert ran() == ["own"]
    assert err.splitlines() == [
        "snell: not run: `.snell/shared/hooks/submodule.cases.toml` belongs to `.snell/shared`; name it to run it",
        "snell: not run: `.snell/taken/.snell/hooks/taken.cases.toml` belongs to `.snell/taken`; name it to run it",
    ]
    assert author.snell("test", ".snell/shared") == (0, "1 passed, 0 failed\n", "")


def test_hooks_that_another_repository_keeps_as_the_snell_folder_do_not_run(author, ran):
    plant(author, ran, "own", ".snell/hooks")
    author.write(".snell/.git", "gitdir: ../.git/modules/snell\n")
    code, out, err = author.snell("test")
    assert (code, out, ran()) == (1, "", [])
    assert "`.snell/hooks/own.cases.toml` belongs to `.snell`; name it to run it" in err


@pytest.mark.parametrize("what", ["case file", "hook", "file of a pack", "folder", "folder of hooks"])
def test_links_that_lead_out_of_the_project_are_not_followed(author, ran, tmp_path, what):
    plant(author, ran, "own", ".snell/hooks")
    outside = tmp_path / "elsewhere"
    plant(author, ran, "linked", str(outside))
    inside = author.project / ".snell/hooks"
    if what == "case file":
        os.symlink(outside / "linked.cases.toml", inside / "linked.cases.toml")
        os.symlink(outside / "linked.py", inside / "linked.py")
    elif what == "hook":
        author.write(".snell/hooks/linked.cases.toml", CASE.format("linked"))
        os.symlink(outside / "linked.py", inside / "linked.py")
    elif what == "file of a pack":
        author.write(".snell/pack/pack.toml", 'name = "pack"\n')
        author.write(".snell/pack/all.cases.toml", CASE.format("all"))
        os.symlink(outside / "linked.py", author.project / ".snell/pack/linked.py")
    elif what == "folder":
        os.symlink(outside, inside / "more")
    else:
        inside.rename(author.project / ".snell/kept")
        os.symlink(outside, inside)
    code, out, _ = author.snell("test")
    assert (code, out) == (0, "1 passed, 0 failed\n")
    assert ran() == ["own"]


def test_a_snell_folder_that_is_a_link_to_another_place_runs_nothing(author, ran, tmp_path):
    plant(author, ran, "linked", str(tmp_path / "elsewhere/hooks"))
    os.symlink(tmp_path / "elsewhere", author.project / ".snell")
    code, out, err = author.snell("test")
    assert (code, out, ran()) == (1, "", [])
    assert "is outside the project" in err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_project_of_another_user_runs_nothing_unless_it_is_named(author, ran):
    """A `.snell` in a folder that all users can write to, such as /tmp, is found from every folder below it."""
    plant(author, ran, "theirs", ".snell/hooks")
    os.chown(author.project / ".snell", 12345, 12345)
    code, out, err = author.snell("test")
    assert (code, out, ran()) == (1, "", [])
    assert "belongs to another user" in err
    assert author.snell("test", ".snell") == (0, "1 passed, 0 failed\n", "")


@pytest.fixture
def trapped(tmp_path):
    """A repository that has a trap for every look with git, and the file that the traps write to."""
    repository, log = tmp_path / "repository", tmp_path / "log"
    repository.mkdir()
    git(repository, "init", "-q")
    (repository / "a.txt").write_text("one\n", encoding="utf-8")
    git(repository, "add", "a.txt")
    git(repository, "commit", "-qm", "first")
    hostile(repository, log)
    included = repository / "more.config"
    included.write_text(f"[core]\n\tfsmonitor = {repository}/trap.sh included\n", encoding="utf-8")
    git(repository, "config", "include.path", str(included))
    subprocess.run(["git", "ls-files", "--others"], cwd=repository, check=False, capture_output=True)
    assert "included" in log.read_text(encoding="utf-8")  # the traps are set
    log.unlink()
    return repository, log


def test_suggested_files_come_from_git_and_run_nothing_of_the_repository(snell, trapped):
    repository, log = trapped
    (repository / ".gitignore").write_text("d.txt\nbuilt/\n", encoding="utf-8")
    (repository / "built").mkdir()
    (repository / "built/made.txt").write_text("", encoding="utf-8")
    (repository / "new ü.txt").write_text("", encoding="utf-8")
    (repository / "git").write_text(f"#!/bin/sh\necho path >> {log}\n", encoding="utf-8")
    (repository / "git").chmod(0o755)
    snell.project = repository
    hostile_variables = {
        "PATH": f".:{os.environ['PATH']}",
        "GIT_DIR": str(repository / "nowhere"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(repository / "trap.sh"),
    }
    code, out, err = snell("suggest-files", given={"cwd": str(repository), "query": ".txt"}, **hostile_variables)
    assert (code, sorted(out.splitlines()), err) == (0, ["a.txt", "b.txt", "c.txt", "d.txt", "new ü.txt"], "")
    assert not log.exists()


def test_suggested_files_of_a_subfolder_are_named_from_there(snell, trapped):
    repository, _ = trapped
    (repository / "deep").mkdir()
    (repository / "deep/x.md").write_text("", encoding="utf-8")
    assert snell("suggest-files", given={"cwd": str(repository / "deep"), "query": ""})[1] == "x.md\n"


EVENTS = {
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"prompt": "improve the code, remember that we use tabs"},
    "PreToolUse": {"tool_name": "Bash", "tool_input": {"command": "git diff && git status"}},
    "PostToolUse": {"tool_name": "Edit", "tool_input": {"file_path": "a.txt"}, "tool_response": "done"},
    "Stop": {"last_assistant_message": "all is done"},
    "SubagentStop": {},
    "PreCompact": {"trigger": "auto"},
    "SessionEnd": {"reason": "clear"},
}


def test_no_event_runs_anything_of_the_repository_it_happens_in(tmp_path, trapped):
    repository, log = trapped
    machine = Machine(tmp_path, forks_daemon=True)
    machine.project = repository
    machine.write(
        "snell.toml", '[pack.nudges]\nenabled = true\ncommit_point = "script"\n[pack.remember]\nenabled = true\n'
    )
    try:
        for name, fields in EVENTS.items():
            code, out, _ = machine.hook({"hook_event_name": name, "cwd": str(repository), **fields})
            assert code == 0
            if name == "Stop":
                assert "d.txt | 2 +-" in json.loads(out)["reason"]  # git was asked
    finally:
        machine.stop()
    assert not log.exists()


@pytest.mark.parametrize(
    "words", ["statusline", "doctor", "settings", "clients", "fleet", "session list", "memory list", "effort list"]
)
def test_no_command_runs_anything_of_the_repository_it_is_called_in(snell, trapped, words):
    repository, log = trapped
    snell.project = repository
    snell(*words.split(), given={"cwd": str(repository)})
    assert not log.exists()


def test_only_one_module_starts_git():
    assert [path.name for path in sorted(SOURCE.rglob("*.py")) if starts_git(path)] == ["git_readonly.py"]


def starts_git(path: Path) -> bool:
    lists = (node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.List))
    words = (each.elts[0].value for each in lists if each.elts and isinstance(each.elts[0], ast.Constant))
    return any(isinstance(word, str) and re.search(r"(^|/)git$|^git ", word) for word in words)
