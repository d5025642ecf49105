"""What an event that functions answer does not load."""

import subprocess
import sys

from snell.handlers import HANDLERS

SCRIPT = """
import sys
from snell import Deny, judges
from snell.runtime.house import House

@judges("PreToolUse")
def no(event):
    return Deny("no")

house = House.embedded(no)
assert str(house.fire("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}).verdict) == "deny"
house.close()
print("\\n".join(sys.modules))
"""
PLAIN = "snell.handlers.python"
HEAVY = ("httpx2", "httpcore2", "h11", "mcp", "anyio", "pydantic", "hmac")
OURS = (
    *(module for module in HANDLERS.values() if module != PLAIN),
    "snell.machine.http",
    "snell.machine.addresses",
    "snell.machine.model_client",
    "snell.machine.reading_tools",
    "snell.machine.mcp_client",
    "snell.loop",
    "snell.adapters",
    "snell.runtime.embedding",
    "snell.runtime.tool_call",
    "snell.runtime.tool_driver",
)


def test_an_event_that_functions_answer_loads_no_other_handler():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=True)
    loaded = set(done.stdout.split())
    assert PLAIN in loaded
    assert len(HANDLERS) > 5
    assert [name for name in (*HEAVY, *OURS) if name in loaded] == []
