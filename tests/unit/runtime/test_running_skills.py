"""Which calls may start a skill."""

from typing import Any

import pytest

from snell.model.events import Event, event_from
from snell.runtime.running_skills import may_start_skill


class Unread(dict[str, Any]):
    """An input that must not be searched: it may have megabytes."""

    def __repr__(self) -> str:
        raise AssertionError("the input was searched")


def call(client: str, tool: str, given: dict[str, Any]) -> Event:
    return event_from({"tool_name": tool, "tool_input": given}, "PreToolUse", client)


@pytest.mark.parametrize("tool", ["Bash", "Read"])
def test_only_where_a_model_reads_a_skill_to_start_it_is_every_input_searched(tool: str) -> None:
    assert not may_start_skill(call("claude_code", tool, Unread(command="cat SKILL.md")))
    assert may_start_skill(call("cursor", tool, {"command": "cat deploy/SKILL.md"}))
    assert not may_start_skill(call("cursor", tool, {"command": "cat README.md"}))


def test_the_tool_for_skills_starts_one_in_every_client() -> None:
    assert may_start_skill(call("claude_code", "Skill", Unread(skill="deploy")))
