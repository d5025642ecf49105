"""How often a client gets the right memory, with what a plain install has: over MCP, and with a prompt."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.process.machine import HOOK
from tests.process.mcp_agent import McpAgent, content_of

pytest_plugins = ("tests.process.mcp_fixtures",)

SETS = tomllib.loads((Path(__file__).parents[2] / "bench/memory/projects.toml").read_text(encoding="utf-8"))
ASIDE = {row["text"]: row["aside"] for row in SETS["memory"] if "aside" in row}  # never looked at while tuning


@pytest.mark.skipif(not HOOK.exists(), reason="snell-hook is not beside this Python")
def test_questions_in_other_words_find_their_memory_and_unrelated_prompts_get_none(agent: McpAgent) -> None:
    agent.machine.write("snell.toml", "[pack.remember]\nenabled = true\nembedding = 'static'\n")

    async def work(session: Any) -> list[list[str]]:
        given = {"memories": [{"content": text} for text in ASIDE]}
        kept = content_of(await session.call_tool("remember_batch", given))
        assert kept["stored"] == len(ASIDE), kept
        answers = [content_of(await session.call_tool("recall", {"query": each})) for each in ASIDE.values()]
        return [[memory["content"] for memory in answer["memories"]] for answer in answers]

    found = agent.run(work)
    first = sum(each[:1] == [text] for each, text in zip(found, ASIDE, strict=True))
    among_five = sum(text in each for each, text in zip(found, ASIDE, strict=True))
    assert (first >= 0.7 * len(ASIDE), among_five >= 0.9 * len(ASIDE)) == (True, True), (first, among_five)

    def added(prompt: str, session: int) -> str:
        event = {"hook_event_name": "UserPromptSubmit", "session_id": f"s{session}", "cwd": str(agent.project)}
        code, out, err = agent.machine.hook({**event, "prompt": prompt})
        assert (code, err) == (0, "")
        return json.loads(out)["hookSpecificOutput"]["additionalContext"] if out else ""

    prompts = SETS["unrelated"]["aside"]
    with_memory = {prompt for number, prompt in enumerate(prompts) if added(prompt, number)}
    assert with_memory == set()
    right = sum(text in added(asked, 100 + at) for at, (text, asked) in enumerate(ASIDE.items()))
    assert right >= 0.4 * len(ASIDE), right
