"""What the page on embedding shows of other libraries is run where the library is."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs/howto/embed.md"
LIBRARIES = {
    "claude_agent_sdk": "claude_agent_sdk",
    "openai_agents": "agents",
    "langchain": "langchain.agents",
    "pydantic_ai": "pydantic_ai",
    "fastmcp": "fastmcp",
    "mcp_server": "mcp.server.mcpserver",
}


def test_every_adapter_has_its_example():
    adapters = Path(__file__).resolve().parents[2] / "src/snell/embed/adapters"
    there = {path.stem for path in adapters.glob("*.py")} - {"__init__"}
    assert set(examples()) == there == set(LIBRARIES)


@pytest.mark.parametrize("adapter", LIBRARIES)
def test_the_example_works_as_it_stands(adapter):
    pytest.importorskip(LIBRARIES[adapter], reason="it is not installed; `python3 dev.py adapters` brings it")
    exec(compile(examples()[adapter], "embed.md", "exec"), {"__name__": "embed"})


def examples():
    code = re.findall(r"^```python\n((?:(?!```).*\n)*)```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {found[1]: block for block in code if (found := re.search(r"snell\.embed\.adapters\.(\w+)", block))}
