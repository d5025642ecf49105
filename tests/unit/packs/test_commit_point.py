"""The point at which to commit: when it is spoken of, and that a look at a repository runs nothing of it."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from snell.model.context import HandlerSettings, ModelSettings
from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.runtime.app import Runtime
from snell.settings.packs import pack_hooks
from snell.system.git_readonly import changed_files
from tests.hostile_repository import git, hostile
from tests.model_server import Line, model


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.txt").write_text("one\n", encoding="utf-8")
    git(tmp_path, "add", "a.txt")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def stopped(runtime: Runtime, folder: Path, **fields: Any) -> Decision:
    return runtime.fire("Stop", session_id="s", cwd=str(folder), **fields)


@pytest.mark.proves("S0-03", "S0-68")
def test_the_end_of_a_turn_asks_for_a_commit_when_tracked_files_changed(repository: Path, tmp_path_factory: Any):
    with Runtime.embed(*pack_hooks("nudges", {"commit_point": "script"})) as runtime:
        (repository / "new.txt").write_text("untracked\n", encoding="utf-8")
        assert stopped(runtime, repository).verdict is Verdict.NO_OPINION
        (repository / "a.txt").write_text("two\n", encoding="utf-8")
        assert stopped(runtime, repository, stop_hook_active=True).verdict is Verdict.NO_OPINION
        assert stopped(runtime, tmp_path_factory.mktemp("no-repository")).verdict is Verdict.NO_OPINION
        asked = stopped(runtime, repository)
        again = stopped(runtime, repository)
    assert asked.verdict is Verdict.DENY
    assert "a.txt | 2 +-" in asked.reason
    assert again.verdict is Verdict.NO_OPINION  # not twice within its pause


def test_the_same_changes_are_spoken_of_once_so_that_no_client_goes_round_in_circles(repository: Path):
    (repository / "a.txt").write_text("two\n", encoding="utf-8")
    with Runtime.embed(*pack_hooks("nudges", {"commit_point": "script", "commit_point_every": 0})) as runtime:
        first = [stopped(runtime, repository, turn=number).verdict for number in range(3)]
        (repository / "a.txt").write_text("two\nthree\n", encoding="utf-8")
        more = stopped(runtime, repository, turn=3).verdict
    assert (first, more) == ([Verdict.DENY, Verdict.NO_OPINION, Verdict.NO_OPINION], Verdict.DENY)


def test_a_commit_is_not_asked_for_unless_the_user_wants_that(repository: Path):
    (repository / "a.txt").write_text("two\n", encoding="utf-8")
    with Runtime.embed(*pack_hooks("nudges")) as runtime:
        assert stopped(runtime, repository).verdict is Verdict.NO_OPINION


def test_a_look_at_a_hostile_repository_runs_nothing_of_it(
    repository: Path, tmp_path_factory: Any, monkeypatch: pytest.MonkeyPatch
):
    ran = tmp_path_factory.mktemp("ran") / "log"
    hostile(repository, ran)
    subprocess.run(["git", "diff", "--stat", "HEAD"], cwd=repository, check=False, capture_output=True)
    assert {"monitor", "clean", "process"} <= set(ran.read_text(encoding="utf-8").split())  # the traps are set
    ran.unlink()
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(repository / "trap.sh"))
    monkeypatch.setenv("GIT_DIR", str(repository / "nowhere"))
    with Runtime.embed(*pack_hooks("nudges", {"commit_point": "script"})) as runtime:
        asked = stopped(runtime, repository)
    assert "d.txt | 2 +-" in asked.reason
    assert "inner" not in asked.reason
    assert not ran.exists()


def test_a_filter_that_cannot_be_switched_off_keeps_us_from_looking(repository: Path, tmp_path_factory: Any):
    ran = tmp_path_factory.mktemp("ran") / "log"
    hostile(repository, ran)
    with (repository / ".git/config").open("a", encoding="utf-8") as config:
        config.write(f'[filter "odd=x"]\n\tclean = touch {ran}\n')
    assert changed_files(str(repository)) == ""
    assert not ran.exists()


def test_missing_objects_are_not_fetched_for_a_look(repository: Path, tmp_path_factory: Any):
    ran = tmp_path_factory.mktemp("ran") / "log"
    (repository / "a.txt").write_text("two\n", encoding="utf-8")
    blob = subprocess.run(
        ["git", "rev-parse", "HEAD:a.txt"], cwd=repository, check=True, capture_output=True, text=True
    ).stdout.strip()
    (repository / ".git/objects" / blob[:2] / blob[2:]).unlink()
    remote = {"url": f"ext::touch {ran}", "promisor": "true", "partialclonefilter": "blob:none"}
    for name, value in remote.items():
        git(repository, "config", f"remote.far.{name}", value)
    git(repository, "config", "extensions.partialClone", "far")
    git(repository, "config", "core.repositoryFormatVersion", "1")
    git(repository, "config", "protocol.ext.allow", "always")
    subprocess.run(["git", "diff", "--stat", "HEAD"], cwd=repository, check=False, capture_output=True)
    assert ran.exists()  # the trap is set
    ran.unlink()
    changed_files(str(repository))
    assert not ran.exists()


@pytest.mark.proves("S0-68")
def test_a_repository_before_its_first_commit_counts_too(tmp_path: Path):
    git(tmp_path, "init", "-q")
    assert changed_files(str(tmp_path)) == ""
    (tmp_path / "a.txt").write_text("one\n", encoding="utf-8")
    git(tmp_path, "add", "a.txt")
    assert "a.txt | 1 +" in changed_files(str(tmp_path))


def test_without_git_nothing_is_held_up_and_the_record_says_why(repository: Path, monkeypatch: pytest.MonkeyPatch):
    (repository / "a.txt").write_text("two\n", encoding="utf-8")
    monkeypatch.setenv("PATH", str(repository))
    with Runtime.embed(*pack_hooks("nudges", {"commit_point": "script"})) as runtime:
        came = stopped(runtime, repository)
    assert came.verdict is Verdict.NO_OPINION
    for told in (came.failures, came.tells):  # on record, and as a warning
        assert ["git cannot list the changes" in each.text for each in told] == [True]


@pytest.mark.proves("S0-67")
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('{"nudge": "commit a.txt now"}', ["commit a.txt now"]),
        ('{"pass": true}', []),
        ("I would rather not say", []),
        ('{"ok": false, "reason": "never stop"}', []),
    ],
)
def test_a_model_may_say_whether_it_is_time_for_a_commit(repository: Path, answer: str, said: list[str]):
    (repository / "a.txt").write_text("two\n", encoding="utf-8")
    with model([Line(answer)]) as server:
        handlers = HandlerSettings(model=ModelSettings(api="anthropic", url=server.url))
        hooks = pack_hooks("nudges", {"commit_point": "model"})
        with Runtime.embed(*hooks, settings=handlers, env={"ANTHROPIC_API_KEY": "k"}) as runtime:
            assert stopped(runtime, repository, stop_hook_active=True).tells == ()
            asked, again = stopped(runtime, repository), stopped(runtime, repository)
    assert (asked.verdict, asked.failures, again.tells) == (Verdict.NO_OPINION, (), ())
    assert [each.text for each in asked.tells] == said
    (question,) = server.asked  # once, since it is throttled
    assert "a.txt | 2 +-" in str(question["messages"])


def test_a_model_that_cannot_be_asked_holds_up_no_stop(repository: Path):
    (repository / "a.txt").write_text("two\n", encoding="utf-8")
    with Runtime.embed(*pack_hooks("nudges", {"commit_point": "model"}), env={}) as runtime:
        came = stopped(runtime, repository)
    assert (came.verdict, len(came.failures)) == (Verdict.NO_OPINION, 1)
    assert ["failed and was ignored" in each.text for each in came.tells] == [True]
