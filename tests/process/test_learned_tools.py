"""What MCP servers say of their tools: asked for by a person, then used for every call."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from snell.clients import client_names
from snell.model.context import McpServer
from snell.model.effects import Verdict
from snell.runtime.app import Runtime
from snell.setup.client_mcp_servers import ConfiguredServer, servers_of
from snell.setup.plan import Site, find_install
from snell.system.mcp_tool_schemas import (
    DAY,
    LearnedServer,
    LearnedTool,
    all_learned,
    learned_tool,
    store_learned_tools,
)
from tests.fork_server import run_snell
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
SNELL = Path(sys.executable).with_name("snell")
SERVER = """
import asyncio, sys
from mcp.server import MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("mail")

@server.tool()
def send_letter(to: str, subject: str, copies: int = 1) -> str:
    return "sent"

@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def archive_everything(folder: str) -> str:
    return "only looked"

if len(sys.argv) > 1:
    asyncio.run(server.run_streamable_http_async(port=int(sys.argv[1])))
else:
    asyncio.run(server.run_stdio_async())
"""


class Person:
    """A user with Claude Code, a project and a mail server."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.project.mkdir(parents=True)
        (self.home / ".claude").mkdir(parents=True)
        self.script = folder / "mail.py"
        self.script.write_text(SERVER, encoding="utf-8")
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "SNELL_HOME": str(folder / "snell")}
        self.state = folder / "snell/state"

    def configure(self, **servers: Any) -> None:
        (self.home / ".claude.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")

    def snell(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        code, out, err = run_snell(*words, env={**self.env, **env}, cwd=self.project, timeout=110)
        return subprocess.CompletedProcess(words, code, out, err)

    def runtime(self) -> Runtime:
        return Runtime.for_user(self.env)

    def fire(self, tool: str, given: Any) -> Any:
        with self.runtime() as runtime:
            return runtime.fire(
                "PreToolUse",
                client="claude_code",
                session_id="s",
                tool_name=tool,
                tool_input=given,
                cwd=str(self.project),
            )


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def remote(person: Person) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, person.script, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_until(lambda: is_listening(port))
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


@pytest.mark.proves("S3-01", "S3-15", "S3-18")
def test_what_a_server_says_of_its_tools_counts_for_every_call(person: Person) -> None:
    person.configure(mail={"command": sys.executable, "args": [str(person.script)]})
    assert person.fire("mcp__mail__send_letter", {"to": "a"}).verdict is not Verdict.DENY
    done = person.snell("tools", "learn", "--yes")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "claude_code: mail: 2 tools"), done.stderr
    refused = person.fire("mcp__mail__send_letter", {"to": "a"})
    assert refused.verdict is Verdict.DENY
    assert '"subject" is a required property' in refused.reasons[0].text
    assert refused.reasons[0].instead == 'call it again with them. Example: {"to": "...", "subject": "..."}'
    assert person.fire("mcp__mail__send_letter", {"to": "a", "subject": "b", "copies": 0}).verdict is not Verdict.DENY
    assert person.fire("mcp__mail__unheard_of", {}).verdict is not Verdict.DENY
    mended = person.fire("mcp__mail__send_letter", {"to": "a", "subject": "b", "copies": "2"})
    assert mended.event.tool_input == {"to": "a", "subject": "b", "copies": 2}


def test_a_server_that_is_reached_over_http_is_asked_too(person: Person, remote: str) -> None:
    person.configure(mail={"type": "http", "url": remote, "headers": {"X-Key": "${MAIL_KEY:-none}"}})
    done = person.snell("tools", "learn", "--yes")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "claude_code: mail: 2 tools"), done.stderr


def test_a_server_that_does_not_answer_costs_only_itself(person: Person) -> None:
    person.configure(
        gone={"command": "/nowhere/server"},
        mute={"command": "/bin/sleep", "args": ["100"]},
        off={"command": sys.executable, "args": [str(person.script)], "disabled": True},
        mail={"command": sys.executable, "args": [str(person.script)]},
    )
    done = person.snell("tools", "learn", "--yes", "--seconds", "10")
    assert done.returncode == 1
    assert done.stdout.splitlines()[3:] == [
        "claude_code: gone: cannot start `/nowhere/server`: No such file or directory",
        "claude_code: mute: did not answer within 10 s",
        "claude_code: mail: 2 tools",
    ]
    listed = person.snell("tools", "list").stdout
    assert "mcp__mail__archive_everything: requires folder (readOnlyHint)" in listed
    assert person.snell("tools", "forget", "mail").stdout == "deleted the schemas of 1 server\n"
    assert all_learned(person.state) == ()


SLOPPY = """
import json, sys
PAGES = {
    None: [{"name": "good", "inputSchema": {"type": "object", "required": ["a"]}},
           {"name": "odd", "inputSchema": "none"}, {"inputSchema": {"type": "object"}}, "no tool", {"name": 7}],
    "2": [{"name": "later", "inputSchema": {"$ref": "#/$defs/x", "$defs": {"x": {"type": "object"}}},
           "annotations": {"readOnlyHint": "perhaps"}}],
}
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        answer = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "sloppy", "version": "1"}}
    elif asked.get("method") == "tools/list":
        cursor = (asked.get("params") or {}).get("cursor")
        answer = {"tools": PAGES[cursor], **({} if cursor else {"nextCursor": "2"})}
    else:
        continue
    if sys.argv[1:] == ["broken"]:
        answer = {"tools": 7}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"""


def test_a_tool_that_is_described_badly_costs_only_itself(person: Person) -> None:
    person.script.write_text(SLOPPY, encoding="utf-8")
    person.configure(
        sloppy={"command": sys.executable, "args": [str(person.script)]},
        broken={"command": sys.executable, "args": [str(person.script), "broken"]},
    )
    done = person.snell("tools", "learn", "--yes")
    assert done.stdout.splitlines()[2:] == [
        "claude_code: sloppy: 3 tools",
        "claude_code: broken: the server failed: its reply does not follow the protocol",
    ]
    (row,) = all_learned(person.state)
    assert {name: bool(tool.schema) for name, tool in row.tools.items()} == {"good": True, "odd": False, "later": True}


def test_no_server_is_started_unless_a_person_says_so(person: Person) -> None:
    flag = person.home / "started"
    person.configure(mail={"command": "/usr/bin/touch", "args": [str(flag)]})
    asked = person.snell("tools", "learn")
    agent = person.snell("tools", "learn", "--yes", CLAUDECODE="1")
    assert (asked.returncode, agent.returncode, flag.exists()) == (1, 1, False)
    assert "needs a person" in agent.stderr


@pytest.mark.proves("S3-47")
def test_what_a_server_says_of_its_effects_counts_in_the_ledger(person: Person) -> None:
    person.configure(mail={"command": sys.executable, "args": [str(person.script)]})
    (person.state.parent / "config").mkdir(parents=True)
    (person.state.parent / "config/snell.toml").write_text('[pack.ledger]\nmode = "durable"\n', encoding="utf-8")
    person.snell("tools", "learn", "--yes")
    call = ("mcp__mail__archive_everything", {"folder": "all"})
    with person.runtime() as runtime:
        for number in range(2):
            fields = {"session_id": "s", "tool_use_id": f"t{number}", "cwd": str(person.project)}
            before = runtime.fire("PreToolUse", tool_name=call[0], tool_input=call[1], **fields)
            assert before.verdict is not Verdict.DENY
            runtime.fire("PostToolUse", tool_name=call[0], tool_input=call[1], tool_response="x", **fields)


def test_what_was_learned_long_ago_counts_no_more(tmp_path: Path) -> None:
    row = LearnedServer(
        "claude_code", "my.mail", at=time.time() - 40 * DAY, tools={"send": LearnedTool({"type": "object"})}
    )
    store_learned_tools(tmp_path, [row])
    assert learned_tool(tmp_path, "claude_code", "", "mcp__my_mail__send", 30) is None
    assert learned_tool(tmp_path, "cursor", "", "mcp__my_mail__send", 50) == row.tools["send"]
    assert learned_tool(tmp_path, "cursor", "", "Write", 50) is None


def test_the_nearest_server_of_a_name_counts(tmp_path: Path) -> None:
    now = time.time()

    def row(client: str, project: str) -> LearnedServer:
        return LearnedServer(client, "x", project, now, {"t": LearnedTool({"title": f"{client} {project}"})})

    store_learned_tools(tmp_path, [row("cursor", ""), row("codex", ""), row("cursor", "/p")])

    def title(client: str, project: str) -> Any:
        found = learned_tool(tmp_path, client, project, "mcp__x__t")
        return found and found.schema["title"]

    assert [title("codex", "/q"), title("cursor", "/q"), title("codex", "/p")] == ["codex ", "cursor ", "cursor /p"]


@pytest.mark.parametrize("text", ["", "{", "[1]", '[{"client": 5}]', "[" * 5000])
def test_a_file_of_learned_tools_that_is_none_counts_as_empty(tmp_path: Path, text: str) -> None:
    (tmp_path / "mcp_tools.json").write_text(text, encoding="utf-8")
    assert learned_tool(tmp_path, "", "", "mcp__a__b") is None


RUN = McpServer("run", ("a", "secret"), {"K": "v"})
FORMS: dict[str, tuple[str, Any]] = {
    "claude_code": (
        "~/.claude.json",
        {"mcpServers": {"m": {"command": "run", "args": ["a", "${T}"], "env": {"K": "v"}}}},
    ),
    "cursor": (
        "~/.cursor/mcp.json",
        {"mcpServers": {"m": {"command": "run", "args": ["a", "${env:T}"], "env": {"K": "v"}}}},
    ),
    "opencode": (
        "~/.config/opencode/opencode.json",
        {"mcp": {"m": {"type": "local", "command": ["run", "a", "{env:T}"], "environment": {"K": "v"}}}},
    ),
    "zed": (
        "~/.config/zed/settings.json",
        {"context_servers": {"m": {"command": {"path": "run", "args": ["a", "${T}"], "env": {"K": "v"}}}}},
    ),
}
TEXTS = {
    "codex": ("~/.codex/config.toml", '[mcp_servers.m]\ncommand = "run"\nargs = ["a", "${T}"]\nenv = { K = "v" }\n'),
    "goose": (
        "~/.config/goose/config.yaml",
        (
            "extensions:\n  m:\n    type: stdio\n    cmd: run\n"
            "    args:\n      - a\n      - ${T}\n    envs:\n      K: v\n    enabled: true\n"
        ),
    ),
    "gemini": (
        "~/.gemini/settings.json",
        '{ // mine\n "mcpServers": {"m": {"command": "run", "args": ["a", "${T}",], "env": {"K": "v"}, /* end */ }}}',
    ),
}


@pytest.mark.parametrize("client", [*FORMS, *TEXTS])
def test_each_client_writes_its_servers_in_its_own_way(tmp_path: Path, client: str) -> None:
    name, said = FORMS.get(client) or TEXTS[client]
    path = tmp_path / name[2:]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(said if isinstance(said, str) else json.dumps(said), encoding="utf-8")
    site = Site.here({"HOME": str(tmp_path), "T": "secret"}, tmp_path / "project")
    assert servers_of(find_install(client), site, is_trusted=False) == [ConfiguredServer(client, "m", RUN)]


def test_servers_of_a_project_count_where_it_is_trusted(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / ".mcp.json").write_text('{"mcpServers": {"m": {"command": "run"}}}', encoding="utf-8")
    own = {"projects": {str(project): {"mcpServers": {"l": {"command": "local"}}}}}
    (tmp_path / ".claude.json").write_text(json.dumps(own), encoding="utf-8")
    site = Site.here({"HOME": str(tmp_path)}, project)
    local = ConfiguredServer("claude_code", "l", McpServer("local"), str(project))
    install = find_install("claude_code")
    assert servers_of(install, site, is_trusted=False) == [local]
    expected = [local, ConfiguredServer("claude_code", "m", McpServer("run"), str(project))]
    assert servers_of(install, site, is_trusted=True) == expected


@pytest.mark.parametrize("text", ["", "{", "[]", '{"mcpServers": 5}', '{"mcpServers": {"a": 1, "b": {"command": []}}}'])
def test_a_client_whose_file_cannot_be_read_has_no_servers(tmp_path: Path, text: str) -> None:
    for name in client_names():
        for path in find_install(name).mcp.values():
            place = tmp_path / path.replace("{base}", find_install(name).base).removeprefix("~/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    site = Site.here({"HOME": str(tmp_path)}, tmp_path)
    assert [row for name in client_names() for row in servers_of(find_install(name), site, is_trusted=True)] == []
