"""`log`, `watch` and `ledger list` show what a call was, without its secrets, by which client and in which project."""

import json
import re

import pytest

SECRET = "sk-live-4f9aQ2xZ7bT1mN8cV3kL6pR0"
CALLS = {
    "Bash": ({"command": f"curl -H 'Authorization: Bearer {SECRET}' https://api.example.com"}, "curl -H "),
    "Read": ({"file_path": "src/main.py", "limit": 5}, "src/main.py"),
    "WebFetch": ({"url": "https://example.com/page", "prompt": "read it"}, "https://example.com/page"),
    "Grep": ({"pattern": "TODO", "path": "src"}, "TODO"),
    "mcp__files__open": ({"name": "a", "mode": "b"}, "name: a, mode: b"),
}


@pytest.fixture
def used(snell):
    for number, (tool, (given, _)) in enumerate(CALLS.items()):
        about = {"session_id": "s1", "tool_name": tool, "tool_input": given, "tool_use_id": f"t{number}"}
        payload = {"cwd": str(snell.project), **about}
        snell("hook", "--client", "claude-code", given={"hook_event_name": "PreToolUse", **payload})
    after = {"hook_event_name": "PostToolUse", "tool_response": "the result", **payload}
    snell("hook", "--client", "claude-code", given=after)
    prompt = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "fix\nthe parser " * 40}
    snell("hook", "--client", "claude-code", given={"cwd": str(snell.project), **prompt})
    return snell


def test_log_shows_each_call_its_client_and_project_but_no_secret(used):
    _, out, _ = used("log")
    lines = out.splitlines()
    for (tool, (_, shown)), line in zip(CALLS.items(), lines, strict=False):
        assert f"  {tool}" in line
        assert f"  {shown}" in line
        assert "  claude-code  project  s1" in line.replace("  claude_code", "  claude-code")
    assert "name: a, mode: b" in lines[5]  # after the call, from the ledger
    assert "the result" not in lines[5]
    assert "fix the parser fix the parser" in lines[6]
    assert SECRET not in out
    found = [json.loads(line) for line in used("log", "--json")[1].splitlines()]
    pairs = zip(found, CALLS.values(), strict=False)
    assert [each["call"] for each, (_, shown) in pairs if not each["call"].startswith(shown)] == []
    assert {(each["project"], each["cwd"]) for each in found} == {("project", str(used.project))}
    assert all(each["id"] in out for each in found)


def test_ledger_list_shows_each_call_its_client_and_project_but_no_secret(used):
    _, out, _ = used("ledger", "list")
    for line, (tool, (_, shown)) in zip(out.splitlines(), CALLS.items(), strict=True):
        assert tool in line
        assert f" {shown}" in line
        assert re.search("  project +s1/t", line)
    assert SECRET not in out
    found = [json.loads(line) for line in used("ledger", "list", "--json")[1].splitlines()]
    assert {(each["project"], each["cwd"]) for each in found} == {("project", str(used.project))}
    assert all(shown in each["call"] for each, (_, shown) in zip(found, CALLS.values(), strict=True))


def test_the_columns_of_ledger_list_stay_in_line_across_clients_and_projects(snell):
    for client, folder in (("claude-code", "web-shop"), ("codex", "api"), ("gemini", "docs-site")):
        about = {"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": folder}
        payload = {"hook_event_name": "PreToolUse", "cwd": str(snell.project / folder), **about}
        snell("hook", "--client", client, given=payload)
    lines = snell("ledger", "list")[1].splitlines()
    assert (len(lines), len({line.index(" s1/") for line in lines})) == (3, 1)


def test_empty_lists_say_what_would_be_there(snell):
    assert snell("log")[1].startswith("no decisions yet; `snell fire")
    assert (
        snell("ledger", "list")[1]
        == "no calls yet; `snell setup` connects a client, whose tool calls are then listed here\n"
    )
