"""Taking back changes with git, in a repository: a session's own changes, a user's, and those of both."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from snell.runtime.app import Runtime
from snell.settings.packs import pack_hooks
from snell.store.in_memory import InMemoryStore

OWN = "sed -i s/one/two/ a.py"
OTHER = "git checkout -qb other; echo x > new.py; git add -A; git commit -qm x; git checkout -q main"
SECOND = "git worktree add -q ../second"
PYTHON = "python3 - <<'E'\nopen('a.py', 'w').write('three')\nE"


class Session:
    """A session in a repository: what it runs is judged, run, and reported as done."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.store, self.number = folder, InMemoryStore(), 0

    def judge(self, tool: str, given: dict[str, Any], event: str = "PreToolUse") -> str:
        said = {"tool_response": "ok"} if event == "PostToolUse" else {}
        with Runtime.embed(*pack_hooks("guard"), marks=self.store) as runtime:
            decision = runtime.fire(
                event,
                session_id="s",
                cwd=str(self.folder),
                tool_name=tool,
                tool_input=given,
                tool_use_id=f"t{self.number}",
                **said,
            )
        return decision.verdict.name.lower()

    def run(self, command: str) -> str:
        self.number += 1
        verdict = self.judge("Bash", {"command": command})
        failed = shell(self.folder, command)
        self.judge("Bash", {"command": command}, "PostToolUseFailure" if failed else "PostToolUse")
        return verdict

    def write(self, name: str, text: str) -> None:
        self.number += 1
        given = {"file_path": str(self.folder / name), "content": text}
        self.judge("Write", given)
        (self.folder / name).write_text(text, encoding="utf-8")
        self.judge("Write", given, "PostToolUse")


def shell(folder: Path, command: str) -> int:
    return subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, check=False).returncode


@pytest.fixture
def session(tmp_path: Path) -> Session:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_text("one\n", encoding="utf-8")
    (folder / "b.py").write_text("one\n", encoding="utf-8")
    own = "git config user.email a@b.example; git config user.name a"
    shell(folder, f"git init -q -b main . && {own}; echo '*.key' > .gitignore; git add -A; git commit -qm first")
    return Session(folder)


@pytest.mark.parametrize("change", [OWN, PYTHON, f"{OWN}; exit 1", "echo more >> a.py", f"{OWN} && git add a.py"])
@pytest.mark.parametrize(
    "back",
    ["git checkout a.py", "git checkout -- .", "git restore a.py", "git reset --hard", "git -C . checkout HEAD a.py"],
)
def test_a_session_may_take_back_its_own_changes(session: Session, change: str, back: str):
    assert session.run(change) == "no_opinion"
    assert session.run(back) == "no_opinion"


def test_a_session_may_take_back_what_its_tools_wrote(session: Session):
    session.write("a.py", "three\n")
    session.write("new.py", "four\n")
    assert session.run("git checkout a.py && git clean -fd") == "no_opinion"
    assert (session.folder / "a.py").read_text(encoding="utf-8") == "one\n"
    assert not (session.folder / "new.py").exists()


@pytest.mark.parametrize(
    "line",
    [f"{OWN}; false; git checkout -q a.py", "git checkout .", "git reset --hard HEAD", "git checkout -f --detach main"],
)
def test_a_line_may_take_back_what_it_changed_itself_where_nothing_was_changed_before(session: Session, line: str):
    assert session.run(line) == "no_opinion"


@pytest.mark.parametrize(
    ("before", "back", "expected"),
    [
        ("echo mine >> a.py", "git checkout a.py", "deny"),
        ("echo mine >> a.py", "git reset --hard", "deny"),
        ("echo mine >> b.py", "git checkout -- .", "deny"),
        ("echo mine >> b.py", "git restore 'b.py'", "deny"),
        ("echo mine >> a.py; git add a.py", "git checkout HEAD -- a.py", "deny"),
        ("echo mine > new.py; git add new.py; echo more >> new.py", "git checkout new.py", "deny"),
        ("echo mine > new.py", "git clean -fd", "deny"),
        ("echo mine > x.key", "git clean -fdx", "deny"),
        ("echo mine >> a.py; git stash -q", "git stash pop; git checkout .", "deny"),
        ("echo mine >> a.py; git stash -q", "git stash drop", "deny"),
        ("echo mine > notes.txt", "mv notes.txt a.py; git checkout a.py", "deny"),
        (f"{OTHER}; echo mine > new.py", "git checkout other -- new.py", "deny"),
        ("git commit -qam more --allow-empty", "git reset --hard HEAD~1", "deny"),
        ("echo mine >> a.py", "GIT_WORK_TREE=$PWD GIT_DIR=$PWD/.git git checkout a.py", "deny"),
        (f"{SECOND}; echo mine >> ../second/a.py", "git worktree remove --force ../second", "no_opinion"),  # in /tmp
        (f"{SECOND}; echo mine >> ../second/a.py", "git -C ../second checkout .", "no_opinion"),
    ],
)
def test_what_a_user_changed_stays(session: Session, before: str, back: str, expected: str):
    shell(session.folder, before)
    assert session.judge("Bash", {"command": back}) == expected


@pytest.mark.parametrize("is_before", [True, False])
def test_a_file_that_the_user_changed_as_well_is_asked_about(session: Session, is_before: bool):
    steps = [lambda: shell(session.folder, "echo mine >> a.py"), lambda: session.run(OWN)]
    for step in steps if is_before else reversed(steps):
        step()
    assert session.judge("Bash", {"command": "git checkout a.py"}) == "ask"
    assert session.judge("Bash", {"command": "git checkout ."}) == "deny"


def test_what_the_session_committed_is_the_beginning_of_later_changes(session: Session):
    session.run(OWN)
    session.run("git commit -qam second")
    session.run("sed -i s/two/three/ a.py")
    assert session.run("git checkout a.py") == "no_opinion"
    assert (session.folder / "a.py").read_text(encoding="utf-8") == "two\n"


@pytest.mark.parametrize(("settles", "expected"), [("", "no_opinion"), ("echo settled > a.py", "deny")])
def test_a_side_of_a_merge_may_be_chosen_while_it_is_not_settled(session: Session, settles: str, expected: str):
    other = "git checkout -qb other; echo other > a.py; git commit -qam x; git checkout -q main"
    shell(session.folder, f"{other}; echo main > a.py; git commit -qam y; git merge other; {settles}")
    assert session.judge("Bash", {"command": "git checkout --theirs a.py"}) == expected


def test_a_folder_that_is_no_repository_is_not_taken_for_unchanged(tmp_path: Path):
    assert Session(tmp_path).judge("Bash", {"command": "git checkout a.py"}) == "deny"
