"""Asynchronous hooks in Python files, beside hooks of files that only watch."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from snell.runtime.app import Runtime
from tests.helpers import call
from tests.process.hook_worker import HookWorker, open_hook_worker
from tests.waiting import wait_until


@pytest.fixture
def hook_worker(tmp_path: Path) -> Iterator[HookWorker]:
    with open_hook_worker(tmp_path) as hook_worker:
        yield hook_worker


def test_an_asynchronous_hook_of_a_file_holds_up_no_watcher_of_a_file(hook_worker: HookWorker, tmp_path: Path) -> None:
    gate, seen = tmp_path / "gate", tmp_path / "seen"
    os.mkfifo(gate)
    loaded = hook_worker.load(f"""
        from snell import watches

        @judges("PreToolUse", matcher="Bash")
        def slow(): open({str(gate)!r}).read()

        @watches("PreToolUse", matcher="Read")
        def watcher(): open({str(seen)!r}, "w").close()
    """)
    slow, watcher = loaded.hooks
    runtime = Runtime.embed(replace(slow, is_async=True, async_timeout=60.0), watcher, worker=hook_worker.worker)
    runtime.decide(call())
    with gate.open("w", encoding="utf-8"):  # from now on the hook is inside its function, and waits for us
        runtime.decide(call(tool="Read"))
        assert wait_until(seen.exists, 30.0)
        assert len(runtime.background.pending()) == 1
    runtime.executor.close()
    assert [each.state for each in runtime.background.all()] == ["completed"]
