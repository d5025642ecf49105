"""What an event that functions answer does not load."""

import subprocess
import sys
from pathlib import Path

from snell.handlers import HANDLERS

SCRIPT = """
import sys
from snell import Deny, judges
from snell.runtime.app import Runtime

@judges("PreToolUse")
def no(event):
    return Deny("no")

runtime = Runtime.embed(no)
assert str(runtime.fire("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}).verdict) == "deny"
runtime.close()
print("\\n".join(sys.modules))
"""
PLAIN = "snell.handlers.python"
HEAVY = ("httpx2", "httpcore2", "h11", "mcp", "anyio", "pydantic", "hmac")
OURS = (
    *(module for module in HANDLERS.values() if module != PLAIN),
    "snell.system.http_client",
    "snell.system.address_policy",
    "snell.llm.client",
    "snell.llm.read_only_tools",
    "snell.system.mcp_client",
    "snell.embed",
    "snell.embed.adapters",
    "snell.embed.embedded_agent",
    "snell.embed.tool_call",
    "snell.embed.twins",
)


def test_an_event_that_functions_answer_loads_no_other_handler():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=True)
    loaded = set(done.stdout.split())
    assert PLAIN in loaded
    assert len(HANDLERS) > 5
    assert [name for name in (*HEAVY, *OURS) if name in loaded] == []


FIRST_EVENT = """
import asyncio, json, sys
from pathlib import Path
from snell.system.paths import Places
from snell.daemon.wire import Request
from snell.runtime.app import Runtime
from snell.daemon.request_handler import RequestHandler

folder = Path(sys.argv[1])
where = Places(folder / "config", folder / "state", folder / "run")
event = {"hook_event_name": "SessionStart", "session_id": "s", "source": "startup", "cwd": str(folder)}
request = Request("1 0.1.0", "a" * 32, "/", ("--client", "claude-code"), b"", json.dumps(event).encode())
loaded = []

async def main():
    with Runtime.for_user({"HOME": sys.argv[1]}, where, keep_open=True) as runtime:
        service = RequestHandler(runtime)
        service.start(asyncio.get_running_loop())
        await service.serve(request, lambda reply: loaded.extend(sys.modules))
        assert runtime.store.get("session:s", "harness/began")

asyncio.run(main())
print("\\n".join(loaded))
"""


def test_the_first_answer_to_a_new_session_does_not_wait_for_the_redactor(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FIRST_EVENT, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    loaded = done.stdout.split()
    assert "snell.packs.harness.expectations" in loaded
    assert [name for name in loaded if name.startswith("snell.redact.")] == []
