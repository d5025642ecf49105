"""The real `snell-hook`: a command is judged whatever the client calls its tool, and in whatever field it stands."""

import json
from typing import Any

from tests.process.machine import Machine

pytest_plugins = ("tests.process.machine_fixtures",)

WIPES = "rm -rf /"
TOOLS: list[tuple[str, str, Any]] = [
    ("claude-code", "Monitor", {"command": WIPES, "description": "watch", "timeout_ms": 1000, "persistent": False}),
    ("claude-code", "PowerShell", {"command": WIPES}),
    ("claude-code", "mcp__box__run_shell", {"commands": json.dumps([WIPES])}),
    ("claude-code", "mcp__tmux__send-keys", {"pane": "%1", "keys": ["rm -rf", "Space", "/", "Enter"]}),
    ("generic", "execute_bash_command", {"command": WIPES}),
    ("generic", "bash", {"command": WIPES}),
    ("generic", "shell", {"cmd": WIPES}),
    ("generic", "run_shell_command", {"command": WIPES}),
    ("generic", "terminal", {"input": f"{WIPES}\n"}),
    ("generic", "terminal", {"keys": WIPES}),
    ("generic", "helper", {"cmdString": WIPES}),
    ("generic", "helper", {"argv": ["bash", "-lc", WIPES]}),
    ("generic", "helper", {"script": WIPES}),
    ("cline", "execute_command", {"command": WIPES, "requires_approval": "false"}),
    ("cline", "run_commands", {"commands": [WIPES]}),
    ("cline", "run_commands", {"commands": json.dumps(["ls", WIPES])}),
    ("cline", "run_commands", {"commands": [{"command": "rm", "args": ["-rf", "/"]}]}),
    ("vscode", "runTerminalCommand", {"command": WIPES}),
    ("vscode", "send_to_terminal", {"text": WIPES}),
    ("codex", "local_shell", {"command": ["bash", "-lc", WIPES]}),
    ("codex", "local_shell", {"action": {"type": "exec", "command": ["rm", "-rf", "/"]}}),
    ("codex", "shell_command", {"command": WIPES}),
    ("codex", "shell", {"command": json.dumps(["bash", "-lc", WIPES])}),
    ("codex", "write_stdin", {"session_id": 7, "chars": f"{WIPES}\n"}),
    ("gemini", "terminal_execute", {"cmd": WIPES}),
    ("kiro", "run_in_background", {"command": WIPES}),
    ("copilot", "write_bash", {"shellId": "1", "input": f"ls{{enter}}{WIPES}{{enter}}"}),
    ("cline", "run_commands", {"commands": f"['{WIPES}']"}),
    ("cline", "run_commands", {"commands": f'["ls", "{WIPES}'}),
    ("claude-code", "mcp__term__run", {"command": f"\x03{WIPES}"}),
    ("generic", "helper", {"languageId": "bash", "content": WIPES}),
    ("generic", "helper", {"command": "bash", "stdin": WIPES}),
    ("generic", "process", {"action": "send-keys", "keys": f"{WIPES}\n"}),
    ("codex", "shell_command", {"command": "rm -rf etc", "workdir": "/"}),
    ("codex", "exec_command", {"cmd": "rm -rf etc", "workdir": "/"}),
    ("gemini", "run_shell_command", {"command": "rm -rf etc", "dir_path": "/"}),
    ("cursor", "Shell", {"command": "rm -rf etc", "working_directory": "/"}),
    ("generic", "run_command", {"CommandLine": "rm -rf etc", "Cwd": "/"}),
    ("generic", "shell_exec", {"command": "rm -rf etc", "exec_dir": "/"}),
    ("claude-code", "mcp__box__run", {"command": "rm -rf etc", "workingDirectory": "/"}),
]
HARMLESS: list[tuple[str, str, Any]] = [
    ("claude-code", "Monitor", {"command": "tail -f app.log"}),
    ("claude-code", "SlashCommand", {"command": "/review the rm -rf / commit"}),
    ("claude-code", "KillShell", {"shell_id": "b1"}),
    ("generic", "str_replace_based_edit_tool", {"command": "view", "path": "README.md"}),
    ("cline", "run_commands", {"commands": json.dumps(["ls", "npm test"])}),
    ("codex", "write_stdin", {"session_id": 7, "chars": ""}),
    ("generic", "query_ai", {"script": "A play in three acts. Act 1: the king (alone)"}),
    ("claude-code", "mcp__calc__eval", {"command": "(1+2)*3"}),
    ("claude-code", "mcp__shell-history__search", {"text": WIPES}),
    ("codex", "shell_command", {"command": "rm -rf *", "workdir": "/tmp/scratch"}),
]


def _payload(client: str, tool: str, given: Any, folder: str) -> dict[str, Any]:
    if client == "cline":
        event = {"hookName": "tool_call", "taskId": "t", "workspaceRoots": [folder]}
        return {**event, "tool_call": {"id": "c", "name": tool, "input": given}}
    name = "preToolUse" if client in ("kiro", "cursor") else "BeforeTool" if client == "gemini" else "PreToolUse"
    return {"hook_event_name": name, "session_id": "s", "cwd": folder, "tool_name": tool, "tool_input": given}


def _answer(machine: Machine, row: tuple[str, str, Any]) -> str:
    """The form in which the client is told of a refusal; empty when there is no opinion."""
    client, tool, given = row
    data = json.dumps(_payload(client, tool, given, str(machine.project))).encode()
    code, out, err = machine.hook(None, "--client", client, raw=data)
    said = json.loads(out) if out.strip() else {}
    verdict = (
        said.get("hookSpecificOutput", {}).get("permissionDecision")
        or said.get("verdict")
        or said.get("decision")
        or said.get("permission")
    )
    form = "cancel" if said.get("cancel") else "exit 2" if code == 2 else verdict
    refuses = form in ("cancel", "exit 2", "deny", "ask")
    return f"{form}: {REASON}" if refuses and REASON in out + err else str(form) if refuses else ""


REASON = "delete-tree"
REFUSALS = {"cline": "cancel", "kiro": "exit 2"}


def test_a_command_is_refused_under_every_name_of_a_tool(machine: Machine) -> None:
    told = {f"{row}": _answer(machine, row) for row in TOOLS}
    assert told == {f"{row}": f"{REFUSALS.get(row[0], 'deny')}: {REASON}" for row in TOOLS}


def test_what_is_harmless_gets_no_opinion_under_every_name_of_a_tool(machine: Machine) -> None:
    assert {f"{row}": _answer(machine, row) for row in HARMLESS} == dict.fromkeys(map(str, HARMLESS), "")
