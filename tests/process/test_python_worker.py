"""Other people's Python hooks in their warm child process: whatever they do costs only themselves."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from snell.handlers.worker.client import Worker
from snell.model.context import Context
from snell.model.decision import Failure, Outcome
from snell.model.effects import Allow, Ask, Defer, Deny, Env, Extra, Note, Rewrite, Stop, Tell
from snell.model.errors import HookError
from snell.model.hooks import Hook, PythonFile, Source
from snell.runtime.executor import Executor
from tests.helpers import call, hook, without_times
from tests.process.hook_worker import IMPORTS, HookWorker, open_hook_worker
from tests.process.sandbox import is_alive
from tests.waiting import wait_until

NULL_BYTE_ERROR = "SyntaxError" if sys.version_info >= (3, 11, 4) else "ValueError"


@pytest.fixture
def hook_worker(tmp_path: Path) -> Iterator[HookWorker]:
    with open_hook_worker(tmp_path) as hook_worker:
        yield hook_worker


def crashed(message: str) -> Outcome:
    return Outcome(failure=Failure("crash", message))


@pytest.mark.proves("S1-48")
def test_plain_and_async_functions_answer_with_every_effect(hook_worker: HookWorker) -> None:
    answers = hook_worker.answers("""
        import asyncio

        @judges("PreToolUse")
        def plain(call): return Deny(call.command, instead="rest")

        @judges("PreToolUse")
        async def waits(event):
            await asyncio.sleep(0)
            return [Allow("a"), Ask("b"), Defer("c"), Note("n"), Tell("t"), Stop("s")]

        @informs("PreToolUse")
        def others(): return (Env({"A": "1"}), Extra("sessionTitle", {"deep": [1]}))

        @rewrites("PreToolUse")
        def whole(): return Rewrite({"command": "make"}, because="why")

        @rewrites("PreToolUse")
        def fields(): return Rewrite(command="make", because="why")

        @judges("PreToolUse")
        def silent(): return None
    """)
    assert answers == [
        Outcome(effects=(Deny("ls", instead="rest"),)),
        Outcome(effects=(Allow("a"), Ask("b"), Defer("c"), Note("n"), Tell("t"), Stop("s"))),
        Outcome(effects=(Env({"A": "1"}), Extra("sessionTitle", {"deep": [1]}))),
        Outcome(effects=(Rewrite({"command": "make"}, because="why"),)),
        Outcome(effects=(Rewrite(command="make", because="why"),)),
        Outcome(),
    ]


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("\n\nx = 1 +", "mine.py:5: SyntaxError: invalid syntax (mine.py, line 5)"),
        ("\nimport nowhere_to_be_found", "mine.py:4: ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
        ("\n\n1 / 0", "mine.py:5: ZeroDivisionError: division by zero"),
        ("\nimport sys; sys.exit(3)", "mine.py:4: SystemExit: 3"),
        ("\nraise KeyboardInterrupt", "mine.py:4: KeyboardInterrupt"),
        (
            '\n@judges("PreToolUes")\ndef f(): ...',
            "mine.py:4: hook `f`: there is no event `PreToolUes`; did you mean `PreToolUse`?",
        ),
        (
            '\n@judges("Stop")\ndef f(cal): ...',
            "mine.py:4: hook `f`: unknown argument `cal`; did you mean `call`?",
        ),
        (
            '\n@judges("Stop", timeout="5")\ndef f(): ...',
            "mine.py:4: hook `f`: @judges: Expected `float`, got `str` - at `$.timeout`",
        ),
        (
            '\n@judges("Stop", on_failure="blok")\ndef f(): ...',
            "mine.py:4: hook `f`: @judges: Invalid enum value 'blok' - at `$.on_failure`",
        ),
        ("x = '\0'", f"mine.py: {NULL_BYTE_ERROR}: source code string cannot contain null bytes"),
    ],
    ids=["syntax", "import", "raises", "exits", "interrupts", "event", "parameter", "type", "word", "null"],
)
def test_a_file_that_does_not_load_says_why_and_where(hook_worker: HookWorker, source: str, complaint: str) -> None:
    problem = hook_worker.load(source).problem
    assert problem.replace(f"{hook_worker.folder}{os.sep}", "").splitlines()[0].removesuffix(" (mine.py)") == complaint


def test_a_file_that_takes_the_process_down_while_loading_is_an_error_too(hook_worker: HookWorker) -> None:
    assert (
        hook_worker.load("import os; os._exit(0)").problem
        == f"{hook_worker.folder}/mine.py: loading it failed: the hook ended the worker process"
    )
    assert hook_worker.answers('@judges("Stop")\ndef f(): return Deny("still here")') == [
        Outcome(effects=(Deny("still here"),))
    ]


def test_modern_modules_load_like_any_other(hook_worker: HookWorker) -> None:
    source = """
        from __future__ import annotations
        import enum, typing
        from dataclasses import dataclass
        from snell.sdk.decorators import judges
        from snell.model.effects import Deny

        class Colour(enum.Enum):
            RED = 1

        @dataclass
        class Rule:
            name: str
            colour: typing.ClassVar[Colour] = Colour.RED

        @judges("PreToolUse")
        def f(event) -> Deny | None:
            return Deny(f"{Rule('x')} {__file__}")
    """
    loaded = hook_worker.load(source, imports="")
    assert loaded.problem == ""
    assert without_times(hook_worker.worker.run(loaded.hooks, call())) == [
        Outcome(effects=(Deny(f"Rule(name='x') {hook_worker.folder}/mine.py"),))
    ]


def test_what_a_hook_prints_is_not_taken_for_its_answer(hook_worker: HookWorker) -> None:
    answers = hook_worker.answers("""
        import os, subprocess, sys
        print('{"effects": [["Allow", {"because": "printed while loading"}]]}')

        @judges("PreToolUse")
        def chatty():
            print('{"effects": [["Allow", {"because": "printed"}]]}', flush=True)
            os.write(1, b'{"effects": [["Allow", {"because": "written"}]]}\\n')
            subprocess.run(["echo", '{"effects": []}'])
            sys.stderr.write("and this")
            return Deny(f"read {sys.stdin.read()!r}")
    """)
    printed = """printed: {"effects": [["Allow", {"because": "printed"}]]}"""
    assert answers == [Outcome(effects=(Deny("read ''"),), remarks=(printed,))]


def test_a_hook_that_raises_or_exits_costs_only_itself_and_keeps_the_child(hook_worker: HookWorker) -> None:
    hooks = hook_worker.hooks("""
        import sys

        @judges("PreToolUse")
        def raises(): raise ValueError("bad luck")

        @judges("PreToolUse")
        def leaves(): sys.exit(2)

        @judges("PreToolUse")
        async def fails(): return {}["missing"]

        @judges("PreToolUse")
        def wrong(): return "deny"

        @rewrites("PreToolUse")
        def unwritable():
            endless = []
            endless.append(endless)
            return Rewrite(endless)

        @rewrites("PreToolUse")
        def a_path(): return Rewrite({"path": __import__("pathlib").Path("/a")})

        @judges("PreToolUse")
        def fine(): return Deny("no")
    """)
    pid = hook_worker.pid
    path = hook_worker.folder / "mine.py"
    assert without_times(hook_worker.worker.run(hooks, call())) == [
        crashed(f"{path}:7: ValueError: bad luck"),
        crashed(f"{path}:10: SystemExit: 2"),
        crashed(f"{path}:13: KeyError: 'missing'"),
        crashed(f"{path}: TypeError: returned str, which is not an effect; return Deny(...), Note(...) or None"),
        crashed(f"{path}: a value is nested too deeply, or contains itself, and cannot be written as JSON"),
        Outcome(effects=(Rewrite({"path": "/a"}),)),
        Outcome(effects=(Deny("no"),)),
    ]
    assert hook_worker.pid == pid


@pytest.mark.parametrize(
    "body",
    [
        "import os; os._exit(0)",
        "import ctypes; ctypes.string_at(0)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    ],
    ids=["exits", "segmentation fault", "kill"],
)
def test_a_hook_that_takes_the_process_down_costs_only_itself(hook_worker: HookWorker, body: str) -> None:
    answers = hook_worker.answers(f"""
        @judges("PreToolUse")
        def before(): return Note("before")

        @judges("PreToolUse")
        def killer(): {body}

        @judges("PreToolUse")
        def after(): return Deny("after")
    """)
    assert answers == [
        Outcome(effects=(Note("before"),)),
        crashed("the hook ended the worker process"),
        Outcome(effects=(Deny("after"),)),
    ]


@pytest.mark.proves("S1-95")
@pytest.mark.parametrize("body", ["while True: pass", "import time; time.sleep(60)", "open('pipe').read()"])
def test_a_hook_that_hangs_is_ended_at_its_limit_and_the_next_ones_run(hook_worker: HookWorker, body: str) -> None:
    os.mkfifo(hook_worker.folder / "pipe")
    hooks = hook_worker.hooks(f"""
        import os; os.chdir({str(hook_worker.folder)!r})

        @judges("PreToolUse")
        def before(): return Note("before")

        @judges("PreToolUse", timeout=0.3)
        def endless():
            {body}

        @judges("PreToolUse")
        def after(): return Deny("after")
    """)
    pid = hook_worker.pid
    assert without_times(hook_worker.worker.run(hooks, call())) == [
        Outcome(effects=(Note("before"),)),
        Outcome(failure=Failure("timeout", "did not finish within 0.3 s")),
        Outcome(effects=(Deny("after"),)),
    ]
    assert wait_until(lambda: not is_alive(pid))
    assert without_times(hook_worker.worker.run(hooks[2:], call())) == [Outcome(effects=(Deny("after"),))]


def test_a_child_that_died_between_two_events_is_replaced_and_knows_all_files(hook_worker: HookWorker) -> None:
    first = hook_worker.hooks('@judges("Stop")\ndef f(): return Deny("one")', "one.py")
    second = hook_worker.hooks('@judges("Stop")\ndef f(): return Deny("two")', "two.py")
    hook_worker.worker._child._process.kill()  # type: ignore[union-attr]  # it was just used
    hook_worker.worker._child._process.wait()  # type: ignore[union-attr]  # likewise
    assert without_times(hook_worker.worker.run([*first, *second], call())) == [
        Outcome(effects=(Deny("one"),)),
        Outcome(effects=(Deny("two"),)),
    ]


def test_the_event_arrives_whole_with_large_payloads_and_large_numbers(hook_worker: HookWorker) -> None:
    on = call(content="é" * 5_000_000, number=2**70, deep=[{"a": [None, True, 0.5]}])
    answers = hook_worker.answers(
        """
        @judges("PreToolUse")
        def f(event, payload):
            seen = [len(payload["content"]), payload["number"], payload["deep"], event.tool, event.kind]
            return Extra("terminalSequence", seen)

        @judges("PreToolUse")
        def back(payload): return Note(payload["content"])
        """,
        on,
    )
    assert answers == [
        Outcome(effects=(Extra("terminalSequence", [5_000_000, 2**70, [{"a": [None, True, 0.5]}], "Bash", "shell"]),)),
        Outcome(effects=(Note("é" * 5_000_000),)),
    ]


def test_text_that_is_no_valid_unicode_reaches_the_hook_all_the_same(hook_worker: HookWorker) -> None:
    answers = hook_worker.answers('@judges("PreToolUse")\ndef f(call): return Deny(call.command)', call("rm \ud800"))
    assert answers == [Outcome(effects=(Deny("rm \ud800"),))]


def test_a_hook_that_was_never_loaded_is_a_failure(hook_worker: HookWorker) -> None:
    stray = Hook(id="a", event="Stop", handler=PythonFile("/nowhere.py", "f", "1"), source=Source("user"))
    assert without_times(hook_worker.worker.run([stray], call())) == [crashed("/nowhere.py has not been loaded")]


def test_a_worker_that_cannot_start_is_a_failure_and_a_load_error(
    hook_worker: HookWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    stray = Hook(id="a", event="Stop", handler=PythonFile("/nowhere.py", "f", "1"))
    (outcome,) = hook_worker.worker.run([stray], call())
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.message[:24]) == ("launch", "the worker did not start")
    with pytest.raises(HookError, match=r"^/a\.py: loading it failed: the worker did not start"):
        hook_worker.worker.load("/a.py", "1", b"")


def test_loader_variables_of_the_caller_do_not_reach_the_child(tmp_path: Path) -> None:
    worker = Worker({**os.environ, "PYTHONPATH": str(tmp_path), "LD_PRELOAD": "/nowhere.so", "KEPT": "yes"})
    source = """
import os
@judges("Stop")
def f(): return Note(str([os.environ.get(name) for name in ("PYTHONPATH", "LD_PRELOAD", "KEPT")]))
"""
    try:
        worker.load("/a.py", "1", (IMPORTS + source).encode("utf-8"))
        (outcome,) = worker.run([Hook(id="a", event="Stop", handler=PythonFile("/a.py", "f", "1"))], call())
    finally:
        worker.close()
    assert outcome.effects == (Note("[None, None, 'yes']"),)


def test_the_executor_puts_answers_of_both_kinds_of_python_in_the_order_of_the_hooks(hook_worker: HookWorker) -> None:
    (first, second) = hook_worker.hooks(
        '@judges("PreToolUse")\ndef f(): return Note("1")\n@judges("PreToolUse")\ndef g(): return Note("3")'
    )
    executor = Executor(hook_worker.worker)
    hooks = [first, hook("inline", Note("2")), second]
    assert [outcome.effects for outcome in executor.run(hooks, call(), Context())] == [
        (Note("1"),),
        (Note("2"),),
        (Note("3"),),
    ]


def test_a_hook_that_changes_the_event_is_a_failure_and_the_next_one_sees_what_came(hook_worker: HookWorker) -> None:
    hooks = hook_worker.hooks(
        """
        @judges("PreToolUse")
        def tampers(event):
            event.payload["tool_input"]["command"] = "echo safe"

        @judges("PreToolUse", kind="shell")
        def guards(call):
            return Deny(call.command)
        """
    )
    tampered, guarded = hook_worker.worker.run(hooks, call("rm -rf /"))
    assert tampered.failure is not None
    assert "it changed the event" in tampered.failure.message
    assert guarded.effects == (Deny("rm -rf /"),)


def test_what_a_hook_started_and_sent_away_ends_with_it(hook_worker: HookWorker, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    hooks = hook_worker.hooks(
        f"""
        import subprocess, time

        @judges("PreToolUse", timeout=0.5)
        def leaves(event):
            subprocess.Popen(["setsid", "sh", "-c", "echo $$ > {pid_file}; exec sleep 600"])
            time.sleep(600)
        """
    )
    (outcome,) = hook_worker.worker.run(hooks, call("ls"))
    assert outcome.status == "cancelled"
    pid = int(pid_file.read_text(encoding="utf-8"))
    wait_until(lambda: not Path(f"/proc/{pid}").exists())


def test_a_hook_that_forks_mixes_no_answers_up(hook_worker: HookWorker) -> None:
    hooks = hook_worker.hooks(
        """
        import os

        @judges("PreToolUse", kind="shell")
        def forks(call):
            if "fork" in call.command:
                os.fork()
            return Deny(call.command) if "bad" in call.command else None
        """
    )
    said = [
        hook_worker.worker.run(hooks, call(word))[0].effects
        for word in ("bad 1", "fork", "bad 2", "ls", "fork bad", "ls", "bad 3")
    ]
    assert said == [(Deny("bad 1"),), (), (Deny("bad 2"),), (), (Deny("fork bad"),), (), (Deny("bad 3"),)]
