"""Python files that bring hooks: loaded, loaded anew, and kept in their last good version."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from snell.model.decision import Outcome
from snell.model.effects import Deny
from snell.model.hooks import PythonFile, Scope
from snell.runtime.hook_loader import LoadedFile
from tests.helpers import call, without_times
from tests.process.hook_worker import HookWorker, open_hook_worker


@pytest.fixture
def hook_worker(tmp_path: Path) -> Iterator[HookWorker]:
    with open_hook_worker(tmp_path) as hook_worker:
        yield hook_worker


def test_a_file_becomes_hooks_that_name_their_place(hook_worker: HookWorker) -> None:
    loaded = hook_worker.load('''
        @judges("PreToolUse", kind="shell", timeout=2, on_failure="block")
        def no_rm(call):
            """Refuse rm."""
            return Deny("no rm") if call.runs("rm") else None

        def helper(): ...

        @informs("SessionStart", "UserPromptSubmit")
        async def hello(): ...
    ''')
    path = str(hook_worker.folder / "mine.py")
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    found = [(hook.id, hook.event, hook.role, hook.handler, str(hook.source)) for hook in loaded.hooks]
    no_rm, hello = PythonFile(path, "no_rm", digest), PythonFile(path, "hello", digest)
    assert found == [
        ("mine/no_rm", "PreToolUse", "judges", no_rm, f"{path}:4"),
        ("mine/hello:SessionStart", "SessionStart", "informs", hello, f"{path}:11"),
        ("mine/hello:UserPromptSubmit", "UserPromptSubmit", "informs", hello, f"{path}:11"),
    ]
    assert (loaded.hooks[0].timeout, loaded.hooks[0].kinds, loaded.hooks[0].source.layer) == (2, ("shell",), "user")


def test_a_saved_file_is_loaded_anew_and_an_unchanged_one_is_not(hook_worker: HookWorker) -> None:
    one = hook_worker.load('@judges("Stop")\ndef f(): return Deny("one")')
    assert hook_worker.files.load(hook_worker.folder / "mine.py", scope=Scope.SESSION, layer="user", pack="mine") is one
    two = hook_worker.load('@judges("Stop")\ndef f(): return Deny("two")')
    assert without_times(hook_worker.worker.run([*one.hooks, *two.hooks], call())) == [
        Outcome(effects=(Deny("one"),)),
        Outcome(effects=(Deny("two"),)),
    ]


def test_a_file_that_no_longer_loads_keeps_its_last_good_version(hook_worker: HookWorker) -> None:
    good = hook_worker.load('@judges("Stop")\ndef f(): return Deny("good")')
    broken = hook_worker.load('@judges("Stop")\ndef f(: return Deny("broken")')
    assert broken.hooks == good.hooks
    assert broken.problem.startswith(f"{hook_worker.folder}/mine.py:4: SyntaxError: ")
    assert broken.problem.endswith("; the last version that loaded stays in force")
    (hook_worker.folder / "mine.py").unlink()
    gone = hook_worker.files.load(hook_worker.folder / "mine.py", scope=Scope.SESSION, layer="user", pack="mine")
    assert (gone.hooks, gone.problem.endswith("stays in force")) == (good.hooks, True)
    assert without_times(hook_worker.worker.run(gone.hooks, call())) == [Outcome(effects=(Deny("good"),))]


def test_a_file_that_declares_no_hook_is_a_problem_each_time_it_is_asked_for(hook_worker: HookWorker) -> None:
    loaded = hook_worker.load("def helper(): ...")
    assert loaded.hooks == ()
    assert loaded.problem.startswith(f"{hook_worker.folder}/mine.py:1: the file declares no hook; ")
    assert hook_worker.load("def helper(): ...") is loaded
    assert hook_worker.load('@judges("Stop")\ndef f(): ...').problem == ""


def test_a_pinned_file_that_changed_is_not_run(hook_worker: HookWorker) -> None:
    path = hook_worker.write('raise SystemExit("must not run")')
    loaded = hook_worker.files.load(path, scope=Scope.SESSION, layer="project", pack="mine", pinned="0" * 64)
    assert loaded == LoadedFile(problem=f"{path} changed while it was read; run `snell trust`")
