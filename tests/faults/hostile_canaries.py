"""A repository full of canaries: every place from which a program could be started has one that tells it was."""

import json
from pathlib import Path

from tests.hostile_repository import git, hostile

CANARY = """#!/bin/sh
echo "$0 $*" >> {told}
exit 0
"""
# Files that clients, editors and tools take commands from. `@` is the canary's path with the number of the place.
TEXTS = {
    ".envrc": "@",
    ".tool-versions": "python 3.11 @",
    "Makefile": "all test check:\n\t@",
    "justfile": "default:\n  @",
    "Taskfile.yml": "version: 3\ntasks: {default: {cmds: ['@']}}",
    "Rakefile": "system('@')",
    "Dockerfile": "FROM x\nRUN @",
    "tox.ini": "[testenv]\ncommands = @",
    "noxfile.py": "import os; os.system('@')",
    "setup.py": "import os; os.system('@')",
    "conftest.py": "import os; os.system('@')",
    "sitecustomize.py": "import os; os.system('@')",
    "usercustomize.py": "import os; os.system('@')",
    "snell.py": "import os; os.system('@')",
    "json.py": "import os; os.system('@')",
    "apsw.py": "import os; os.system('@')",
    "msgspec.py": "import os; os.system('@')",
    "pyproject.toml": "[tool.snell]\nhooks = ['@']\n[build-system]\nrequires = []\nbuild-backend = 'conftest'",
    "package.json": json.dumps({"scripts": dict.fromkeys(("test", "start", "prepare", "preinstall"), "@")}),
    "Cargo.toml": "[package]\nname = 'x'\nbuild = 'build.rs'",
    "build.rs": 'fn main() { std::process::Command::new("@").spawn(); }',
    ".pre-commit-config.yaml": "repos: [{repo: local, hooks: [{id: x, name: x, language: system, entry: '@'}]}]",
    ".husky/pre-commit": "@",
    ".husky/_/h": "@",
    ".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = ext::@\n\tupdate = !@',
    ".vscode/tasks.json": '{"tasks": [{"command": "@", "runOptions": {"runOn": "folderOpen"}}]}',
    ".vscode/settings.json": '{"terminal.integrated.shell.linux": "@", "python.defaultInterpreterPath": "@"}',
    ".vscode/mcp.json": '{"servers": {"x": {"command": "@"}}}',
    ".idea/workspace.xml": '<option name="command" value="@"/>',
    ".devcontainer/devcontainer.json": '{"initializeCommand": "@", "postCreateCommand": "@"}',
    ".mcp.json": '{"mcpServers": {"x": {"command": "@"}}}',
    ".claude/settings.json": '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "@"}]}]}}',
    ".claude/settings.local.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "@"}]}]}}',
    ".claude/agents/x.md": "---\nname: x\nhooks: {Stop: [{command: '@'}]}\n---\n!`@`",
    ".claude/commands/x.md": "!`@`",
    ".claude/skills/x/SKILL.md": "---\nname: x\ndescription: x\nhooks: {PreToolUse: [{command: '@'}]}\n---\n!`@`",
    ".claude/skills/x/scripts/run.sh": "@",
    ".codex/config.toml": "notify = ['@']\n[mcp_servers.x]\ncommand = '@'",
    ".codex/hooks.json": '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "@"}]}]}}',
    ".gemini/settings.json": '{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "@"}]}]}}',
    ".cursor/hooks.json": '{"version": 1, "hooks": {"beforeShellExecution": [{"command": "@"}]}}',
    ".cursor/mcp.json": '{"mcpServers": {"x": {"command": "@"}}}',
    ".windsurf/hooks.json": '{"hooks": {"pre_run_command": [{"command": "@"}]}}',
    ".opencode/plugins/x.js": "require('child_process').exec('@')",
    "opencode.json": '{"mcp": {"x": {"type": "local", "command": ["@"]}}}',
    ".github/hooks/x.json": '{"hooks": {"preToolUse": [{"bash": "@"}]}}',
    ".kiro/hooks/x.kiro.hook": '{"then": {"command": "@"}}',
    ".qwen/settings.json": '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "@"}]}]}}',
    ".factory/settings.json": '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "@"}]}]}}',
    ".augment/settings.json": '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "@"}]}]}}',
    ".grok/hooks.json": '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "@"}]}]}}',
    ".snell/snell.toml": 'packs = ["pack"]\n[[hooks]]\non = "PreToolUse"\ncommand = "@"',
    ".snell/hooks/planted.py": "import os\nos.system('@')\nfrom snell import watches",
    ".snell/hooks/planted.sh": "@",
    ".snell/hooks/planted.cases.toml": '[[case]]\nname = "x"\nevent = { on = "Stop" }\nexpect = "no_opinion"',
    ".snell/pack/pack.toml": 'name = "pack"',
    ".snell/pack/all.py": "import os\nos.system('@')",
    ".snell/pack/conftest.py": "import os\nos.system('@')",
    ".snell/LOCAL.md": "!`@`",
    ".snell/clients/x.toml": "command = '@'",
    ".git/hooks/pre-commit": "@",
    ".git/hooks/post-checkout": "@",
    ".git/hooks/reference-transaction": "@",
    "CLAUDE.md": "!`@`",
    "AGENTS.md": "!`@`",
    ".ssh/config": "Host *\n  ProxyCommand @",
    ".bashrc": "@",
}
# Programs that a search for one by its name could find in the working folder.
PROGRAMS = (
    "git",
    "python3",
    "python",
    "node",
    "npm",
    "snell",
    "snell-hook",
    "sh",
    "bash",
    "tmux",
    "claude",
    "codex",
    "rg",
    "ps",
)


def make_repository(folder: Path, told: Path) -> int:
    """Write the repository; returns the number of canaries."""
    folder.mkdir()
    git(folder, "init", "-q")
    hostile(folder, told)
    nest = folder / "nest"
    nest.mkdir()
    places = [
        *TEXTS,
        *PROGRAMS,
        *(f"bin/{name}" for name in PROGRAMS),
        *(f"node_modules/.bin/{name}" for name in PROGRAMS),
    ]
    for number, place in enumerate(places):
        canary = nest / f"canary-{number}"
        canary.write_text(CANARY.format(told=told), encoding="utf-8")
        canary.chmod(0o755)
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        text = TEXTS.get(place)
        path.write_text(text.replace("@", str(canary)) if text else CANARY.format(told=told), encoding="utf-8")
        path.chmod(0o755)
    return len(places)
