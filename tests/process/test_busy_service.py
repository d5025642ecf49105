"""The daemon's service when every caller waits for the process of the Python hooks."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from snell.clients import client_named
from snell.daemon.request_handler import RequestHandler
from snell.daemon.wire import Request
from snell.model.protocols import Reply
from snell.runtime.app import Runtime

SLOW = """
import time
from snell import Deny, judges

@judges("PreToolUse")
def slowly(call):
    time.sleep(0.05)
    return Deny("slowly")
"""
PAYLOAD = json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}).encode()


def test_threads_that_wait_for_the_hooks_process_cannot_keep_a_run_in_it_from_finishing(tmp_path: Path) -> None:
    pack = tmp_path / "config" / "pack"
    pack.mkdir(parents=True)
    (pack / "pack.toml").write_text('name = "p"\n', encoding="utf-8")
    (pack / "hooks.py").write_text(SLOW, encoding="utf-8")
    (pack.parent / "snell.toml").write_text('packs = ["pack"]\n', encoding="utf-8")
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "SNELL_HOME": str(tmp_path)}
    replies: list[Reply] = []
    answered = threading.Event()

    def send(reply: Reply) -> None:
        replies.append(reply)
        answered.set()

    async def serve(runtime: Runtime) -> bool:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))
        all_waiting = loop.run_in_executor(None, answered.wait, 20)  # the only common thread
        service = RequestHandler(runtime)
        service.start(loop)
        waiting = service.serve(Request("1 0.1.0", "0" * 32, str(tmp_path), (), b"", PAYLOAD), send)
        assert waiting
        await waiting
        return await all_waiting

    with Runtime.for_user(env) as runtime:
        runtime.handle(client_named("generic"), PAYLOAD)  # the process is there and knows its hooks
        assert asyncio.run(serve(runtime)), "the run waited for a thread that waited for the run"
    assert b"slowly" in replies[0].stdout
