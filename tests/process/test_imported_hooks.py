"""Hooks that were written for one client, really run in the others: asked as there, and understood as there."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fork_server import run_snell
from tests.golden.reading import golden, golden_files
from tests.process.author import Author

# Notes what it was given, and answers with what stands beside it.
PROGRAM = f"""#!{sys.executable}
import os, sys
given = sys.stdin.read()
with open(os.path.join(os.environ["NOTES"], "given.jsonl"), "a") as notes:
    notes.write(given)
print(open(os.path.join(os.environ["NOTES"], "answer")).read())
"""
FILES = {
    "cursor": ".cursor/hooks.json",
    "gemini": ".gemini/settings.json",
    "copilot": ".copilot/hooks/team.json",
    "codex": ".codex/hooks.json",
}
SHELL = {
    "cursor": ("beforeShellExecution", {"permission": "deny", "agent_message": "not here"}),
    "gemini": ("BeforeTool", {"decision": "deny", "reason": "not here"}),
    "copilot": ("preToolUse", {"permissionDecision": "deny", "permissionDecisionReason": "not here"}),
    "codex": (
        "PreToolUse",
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "not here",
            }
        },
    ),
}
COMMAND = {
    "cursor": lambda given: given["command"],
    "gemini": lambda given: given["tool_input"]["command"],
    "copilot": lambda given: given["toolArgs"]["command"],
    "codex": lambda given: given["tool_input"]["command"],
}


class Team(Author):
    """People who have hooks for one client, and let them run in all."""

    def __init__(self, folder: Path, client: str) -> None:
        super().__init__(folder)
        self.user_home, self.client, self.notes = folder / "user", client, folder / "notes"
        self.file = self.user_home / FILES[client]
        (self.file.parent / "hooks").mkdir(parents=True)
        self.notes.mkdir()
        program = self.file.parent / "hooks" / "program"
        program.write_text(PROGRAM, encoding="utf-8")
        program.chmod(0o755)
        self.program = "./hooks/program" if client == "cursor" else str(program)  # Cursor starts it beside its file
        (self.home / "config").mkdir(parents=True)
        (self.home / "config" / "snell.toml").write_text(f'import_hooks = ["{client}"]\n', encoding="utf-8")

    @property
    def env(self) -> dict[str, str]:
        moved = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME")
        inherited = {name: value for name, value in super().env.items() if name not in moved}
        return {**inherited, "HOME": str(self.user_home), "NOTES": str(self.notes)}

    def has(self, native: str, answer: Any, matcher: str = "") -> None:
        entry = {"type": "command", "command": self.program, **({"matcher": matcher} if matcher else {})}
        self.file.write_text(json.dumps({"version": 1, "hooks": {native: [entry]}}), encoding="utf-8")
        (self.notes / "answer").write_text(json.dumps(answer), encoding="utf-8")

    def report(self, client: str, payload: dict[str, Any], folder: str = "") -> str:
        """What another client gets for an event of its own."""
        given = json.dumps({**payload, "cwd": str(self.project / folder)}).encode()
        _, out, err = run_snell("hook", "--client", client, given=given, cwd=self.project, env=self.env)
        return out + err

    @property
    def given(self) -> list[dict[str, Any]]:
        notes = self.notes / "given.jsonl"
        return [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []


def shell_call(client: str) -> dict[str, Any]:
    """A command that a client was seen to report."""
    files = map(golden, golden_files(client))
    return next(each for each in files if (each["event"]["name"], each["event"].get("kind")) == ("PreToolUse", "shell"))


@pytest.mark.parametrize("client", FILES)
def test_a_guard_of_one_client_refuses_a_command_in_the_others(client: str, tmp_path: Path) -> None:
    team = Team(tmp_path, client)
    native, answer = SHELL[client]
    team.has(native, answer)
    others = [name for name in ("claude_code", "codex", "gemini", "opencode") if name != client]
    for other in others:
        call = shell_call(other)
        assert "not here" in team.report(other, call["payload"]), other
        assert COMMAND[client](team.given[-1]) == call["event"]["tool_input"]["command"]
    assert len(team.given) == len(others)


def test_a_client_that_runs_the_file_itself_is_not_given_the_hook_twice(tmp_path: Path) -> None:
    team = Team(tmp_path, "gemini")
    team.has(*SHELL["gemini"])
    assert "not here" not in team.report("gemini", shell_call("gemini")["payload"])
    assert team.given == []


CLAUDE = {"session_id": "s", "transcript_path": "", "permission_mode": "default"}


@pytest.mark.parametrize(
    ("native", "answer", "payload", "shown", "asked"),
    [
        (
            "beforeSubmitPrompt",
            {"continue": False, "user_message": "no secrets"},
            {"hook_event_name": "UserPromptSubmit", "prompt": "my key"},
            "no secrets",
            {"prompt": "my key", "attachments": []},
        ),
        (
            "stop",
            {"followup_message": "run the tests"},
            {"hook_event_name": "Stop", "stop_hook_active": False},
            "run the tests",
            {"status": "completed", "loop_count": 0},
        ),
        (
            "beforeMCPExecution",
            {"permission": "deny", "user_message": "no memos"},
            {"hook_event_name": "PreToolUse", "tool_name": "mcp__memo__add", "tool_input": {"a": 1}},
            "no memos",
            {"tool_name": "add", "tool_input": '{"a":1}', "command": "memo"},
        ),
        (
            "beforeReadFile",
            {"permission": "deny", "user_message": "not that file"},
            {"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": "/nowhere/x"}},
            "not that file",
            {"file_path": "/nowhere/x", "content": "", "attachments": []},
        ),
        (
            "preToolUse",
            {"permission": "allow", "updated_input": {"command": "ls"}},
            {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm x"}},
            '"updatedInput":{"command":"ls"}',
            {"tool_name": "Shell", "tool_input": {"command": "rm x"}},
        ),
        (
            "afterFileEdit",
            {},
            {
                "hook_event_name": "PostToolUse",
                "tool_name": "Edit",
                "tool_input": {"file_path": "/x", "old_string": "a", "new_string": "b"},
                "tool_response": {},
            },
            "",
            {"file_path": "/x", "edits": [{"old_string": "a", "new_string": "b"}]},
        ),
    ],
)
def test_cursors_own_events_are_answered_in_claude_code(
    native: str, answer: Any, payload: dict[str, Any], shown: str, asked: dict[str, Any], tmp_path: Path
) -> None:
    team = Team(tmp_path, "cursor")
    team.has(native, answer)
    assert shown in team.report("claude-code", CLAUDE | payload)
    (given,) = team.given
    assert given["hook_event_name"] == native
    assert given["workspace_roots"] == [str(team.project)]
    assert {key: given[key] for key in asked} == asked


def test_a_matcher_on_the_command_starts_the_program_for_those_commands_only(tmp_path: Path) -> None:
    team = Team(tmp_path, "cursor")
    team.has("beforeShellExecution", {"permission": "deny", "agent_message": "not here"}, matcher="curl|wget")
    call = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    assert "not here" not in team.report("claude-code", CLAUDE | call)
    assert team.given == []
    assert "not here" in team.report("claude-code", CLAUDE | call | {"tool_input": {"command": "wget x"}})


def test_import_says_what_each_of_its_events_becomes(tmp_path: Path) -> None:
    team = Team(tmp_path, "cursor")
    team.has("beforeShellExecution", {}, matcher="curl")
    code, out, _ = team.snell("import", "cursor")
    assert code == 0
    assert "line 1: beforeShellExecution becomes PreToolUse of shell calls on curl, command, at most 60 s" in out
    assert "these hooks run in every other client; cursor runs them itself" in out
    (file,) = json.loads(team.snell("import", "cursor", "--json")[1])["files"]
    (hook,) = file["hooks"]
    assert (hook["event"], hook["written_for"], hook["kinds"]) == (
        "PreToolUse",
        "cursor:beforeShellExecution",
        ["shell"],
    )


def test_a_projects_hooks_start_in_its_root_once_a_user_trusts_them(tmp_path: Path) -> None:
    team = Team(tmp_path, "cursor")
    team.write(".snell/snell.toml", "")
    team.write(".cursor/hooks/program", PROGRAM).chmod(0o755)
    entry = {"command": ".cursor/hooks/program", "matcher": "deploy"}
    team.write(".cursor/hooks.json", json.dumps({"version": 1, "hooks": {"beforeShellExecution": [entry]}}))
    (team.notes / "answer").write_text('{"permission": "deny", "user_message": "not here"}', encoding="utf-8")
    (team.project / "src").mkdir()
    call = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "./deploy"}}
    assert "not here" not in team.report("codex", CLAUDE | call, "src")
    shown = team.on_terminal("trust", typed="y\n")
    assert "cursor:beforeShellExecution" in shown
    assert "deploy" in shown
    assert "not here" in team.report("codex", CLAUDE | call, "src")
    assert team.given[-1]["workspace_roots"] == [str(team.project)]
