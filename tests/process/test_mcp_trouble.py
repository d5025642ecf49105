"""The MCP server when things go wrong, come all at once, or are not there."""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import MCPError

from tests.process.machine import HOOK, Machine
from tests.process.mcp_agent import McpAgent, content_of, error_of, run_bounded

pytestmark = pytest.mark.skipif(not HOOK.exists(), reason="snell-hook is not beside this Python")
pytest_plugins = ("tests.process.mcp_fixtures",)

FACT = "We decided to use PostgreSQL for the orders database because SQLite locked under load"
BAD = {
    "100 KB too long": (
        "remember",
        {"content": "x" * 100_001},
        "the text has 100,001 characters, and 100,000 is the most",
    ),
    "10 MB": ("remember", {"content": "x" * 10_000_000}, "the text has 10,000,000 characters"),
    "blank": ("remember", {"content": " \x00 \x07 "}, "the text is empty"),
    "namespace with a slash": ("remember", {"content": FACT, "namespace": "a/b"}, "`a/b` is not a name"),
    "unknown id": ("forget", {"memory_id": "nope"}, "there is no memory `nope`"),
    "unknown end": ("journey", {"start_id": "nope", "end_id": "nope"}, "there is no memory `nope`"),
    "limit": ("recall", {"query": "x", "limit": 0}, "limit: expected a number >= 1"),
    "missing": ("recall", {}, "query: is missing"),
    "unknown argument": ("recall", {"qery": "x"}, "qery: unknown argument; did you mean `query`?"),
    "wrong type": ("remember", {"content": 3}, "content: expected a string, got a number"),
    "unknown tool": ("recal", {}, "unknown tool `recal`; did you mean `recall`?"),
    "unknown client": ("setup_hooks", {"client": "nope"}, "`nope`"),
    "file elsewhere": ("export_memories", {"output_path": "../out.json"}, "is not a plain file in"),
    "absolute path": ("export_memories", {"output_path": "/etc/out.json"}, "is not a plain file in"),
    "hidden file": ("export_memories", {"output_path": ".git/hooks/post-checkout"}, "is not a plain file in"),
    "not a format": ("export_memories", {"output_path": "a.xml"}, "is not a format for memories"),
    "map of a bad name": ("visualize", {"namespace": "a/b"}, "`a/b` is not a name"),
    "import for all": ("import_memories", {"source_path": "a.json", "project": "*"}, "works on the project you are in"),
    "import elsewhere": ("import_memories", {"source_path": "a.json", "project": "x/y"}, "not on `x/y`"),
    "delete for all": ("delete_namespace", {"namespace": "default", "project": "*", "confirm": True}, "not on `*`"),
    "rename elsewhere": (
        "rename_namespace",
        {"old_namespace": "a", "new_namespace": "b", "project": "x"},
        "not on `x`",
    ),
    "decay for all": ("decay", {"project": "*", "dry_run": False}, "works on the project you are in"),
    "null for what is needed": ("recall", {"query": None}, "query: is missing"),
    "no such file": ("import_memories", {"source_path": "a.json"}, "cannot be read"),
}


def test_bad_input_gets_a_message_and_the_session_goes_on(agent):
    async def work(session):
        for name, (tool, arguments, wanted) in BAD.items():
            assert wanted in error_of(await session.call_tool(tool, arguments)), name
        return content_of(await session.call_tool("stats", {}))["memories"]

    assert agent.run(work) == 0


def test_control_characters_and_secrets_do_not_get_in(agent):
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" + "K1l2M3n4O5p6Q7r8"
    text = f"The deploy token of the CI pipeline\x00\x1b is {secret}, because releases need it"
    assert agent.call("remember", content=text)["status"] == "stored"
    (found,) = agent.call("recall", query="deploy token")["memories"]
    assert secret not in found["content"]
    assert not {"\x00", "\x1b"} & set(found["content"])
    again = agent.call("remember", content=text)
    assert (again["status"], again["id"]) == ("rejected_exact", found["id"])
    assert agent.call("remember", content="ok")["status"] == "rejected_quality"


def test_an_agent_neither_forgets_nor_changes_what_other_projects_know(agent):
    theirs = agent.call("remember", content=FACT, project="another/project")["id"]
    ours = agent.call("remember", content=f"Here it is otherwise: {FACT}")["id"]
    (found,) = agent.call("recall", query=FACT, project="another/project")["memories"]
    assert found["id"] == theirs

    async def work(session):
        before = content_of(await session.call_tool("stats", {"project": "*"}))["memories"]
        for tool, arguments in (
            ("forget", {"memory_id": theirs}),
            ("forget_batch", {"memory_ids": [ours, theirs]}),
            ("reinforce", {"memory_ids": [theirs]}),
            ("nearby", {"memory_id": theirs}),
        ):
            assert f"memory `{theirs}` belongs to another project" in error_of(await session.call_tool(tool, arguments))
        return before, content_of(await session.call_tool("stats", {"project": "*"}))["memories"]

    before, after = agent.run(work)
    assert before == after
    assert agent.call("forget_batch", memory_ids=[ours, "nope"]) == {"forgotten": [ours], "missing": ["nope"]}


def test_a_link_out_of_the_project_is_not_followed(agent, tmp_path):
    (agent.project / "out").symlink_to(tmp_path)

    async def work(session):
        return error_of(await session.call_tool("export_memories", {"output_path": "out/memories.json"}))

    assert "is not a plain file in" in agent.run(work)
    assert not (tmp_path / "memories.json").exists()


def test_eight_clients_at_once_lose_nothing(agent):
    async def one(number):
        async with agent.session() as session:
            for turn in range(5):
                text = f"Client {number} decided to use tool_{number}_{turn} because of reason_{number * 7 + turn}"
                kept = content_of(
                    await session.call_tool("remember", {"content": text, "idempotency_key": f"{number}.{turn}"})
                )
                assert kept["status"] in ("stored", "rejected_similar", "potential_duplicate"), kept
                content_of(await session.call_tool("recall", {"query": f"tool_{number}_{turn}"}))
            shared = await session.call_tool("remember", {"content": FACT})
            return content_of(shared)["status"]

    async def all_calls():
        return await asyncio.gather(*(one(number) for number in range(8)))

    statuses = run_bounded(all_calls())
    assert sorted(statuses) == ["rejected_exact"] * 7 + ["stored"]
    assert len(agent.machine.daemons()) == 1


def test_hooks_are_answered_while_a_client_is_connected_and_the_daemon_can_be_stopped(tmp_path):
    machine = Machine(tmp_path)
    agent = McpAgent(machine, machine.project)

    async def work(session):
        assert (await asyncio.to_thread(machine.reason, {"tool_input": {"command": "bad"}})) == "not that"
        await asyncio.to_thread(machine.stop)
        with pytest.raises(MCPError):
            await session.call_tool("stats", {})

    agent.run(work)
    assert agent.call("stats")["memories"] == 0  # the next client starts a new one
    machine.stop()


def test_without_the_library_the_client_is_told_what_to_install(tmp_path):
    """The daemon is a Python that has no `mcp`; the bridge still answers in the client's protocol."""
    code = "import sys; sys.modules['mcp'] = None; from snell.daemon.main import main; sys.exit(main())"
    machine = Machine(tmp_path)
    env = machine.env(SNELL_IDLE="30")
    with subprocess.Popen([sys.executable, "-c", code], env=env) as daemon:
        while not machine.socket.exists():
            assert daemon.poll() is None
        hello = {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {}}
        given = json.dumps(hello).encode() + b"\n"
        done = subprocess.run(
            [HOOK, "--bridge", "mcp"], input=given, env=env, capture_output=True, timeout=60, check=False
        )
        daemon.terminate()
    answer = json.loads(done.stdout)
    message = answer["error"]["message"]
    assert answer == {"jsonrpc": "2.0", "id": 7, "error": {"code": -32603, "message": message}}
    assert re.fullmatch(r"the `mcp` extra is not installed; run `[^`]* install [^`]*'mcp<3,>=2\.3'`", message)
    code = "import sys; sys.modules['mcp'] = None; from snell.cli.main import main; sys.exit(main(['mcp']))"
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.decode()) == (1, f"snell: {message}\n")


def test_nothing_of_the_library_is_loaded_before_a_client_comes(tmp_path):
    machine = Machine(tmp_path)
    machine.hook()
    before = _libraries(machine.pid)
    McpAgent(machine, machine.project).call("stats")
    after = _libraries(machine.pid)
    machine.stop()
    assert ("pydantic_core" in before, "pydantic_core" in after) == (False, True)


def _libraries(pid):
    return Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")


def test_an_unknown_bridge_is_refused(agent):
    agent.call("stats")
    done = subprocess.run(
        [HOOK, "--bridge", "nope"], env=agent.machine.env(), capture_output=True, timeout=60, check=False
    )
    assert json.loads(done.stdout) == {"ok": False, "error": "UNKNOWN_BRIDGE", "message": "unknown bridge `nope`"}


def test_null_is_the_same_as_nothing(agent):
    given = {"tags": None, "metadata": {"kept": None}, "idempotency_key": None, "project": None, "agent_id": None}
    assert agent.call("remember", content=FACT, **given)["status"] == "stored"
    (found,) = agent.call("recall", query="orders database", namespace=None, limit=None)["memories"]
    assert found["metadata"] == {"kept": None}
    many = agent.call("remember_batch", memories=[{"content": f"{FACT}, in eu-west-1", "tags": None}])
    assert many["stored"] == 1


PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def spoken(agent, *lines):
    """What comes back for these lines, up to the answer of a last ping."""
    with subprocess.Popen(
        [HOOK, "--bridge", "mcp"],
        cwd=agent.project,
        env=agent.machine.env(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        process.stdin.write(b"\n".join([*lines, json.dumps(PING).encode(), b""]))
        process.stdin.flush()
        answers = []
        while not answers or answers[-1].get("id") != 1:
            answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
    assert answers.pop() == {"jsonrpc": "2.0", "id": 1, "result": {}}
    return answers


@pytest.mark.parametrize(
    ("line", "code", "id_"),
    [
        (b"nope", -32700, None),
        (b'{"jsonrpc": "2.0", "id": 7, "method": ', -32700, None),
        (b"\xff\xfe", -32700, None),
        (b"[]", -32600, None),
        (b"3", -32600, None),
        (b"{}", -32600, None),
        (b'{"id": 7}', -32600, 7),
    ],
)
def test_a_line_that_is_no_message_is_answered_and_the_session_goes_on(agent, line, code, id_):
    assert [(each["error"]["code"], each["id"]) for each in spoken(agent, line)] == [(code, id_)]


def test_a_line_that_is_far_too_long_is_answered_and_the_session_goes_on(agent):
    call = {"jsonrpc": "2.0", "id": "long", "method": "tools/call"}
    first = json.dumps({**call, "params": {"name": "remember", "arguments": {"content": "x" * 40_000_000}}}).encode()
    last = json.dumps({"params": {"name": "remember", "arguments": {"content": "x" * 20_000_000}}, **call}).encode()
    answers = spoken(agent, first, last, b"nope")
    assert [(each["error"]["code"], each["id"]) for each in answers] == [
        (-32600, "long"),
        (-32600, "long"),
        (-32700, None),
    ]


def test_half_a_character_in_a_request_is_no_reason_not_to_answer(agent):
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    call = (
        b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "remember", "arguments":'
        b' {"content": "The \\ud800 sign in orders.py breaks the parser, because it is half; \\ud83d\\ude00 is not"}}}'
    )
    begin = {"jsonrpc": "2.0", "id": 4, "method": "initialize", "params": hello}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    with subprocess.Popen(
        [HOOK, "--bridge", "mcp"],
        cwd=agent.project,
        env=agent.machine.env(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        process.stdin.write(b"\n".join([json.dumps(begin).encode(), json.dumps(ready).encode(), call, b""]))
        process.stdin.flush()
        while (answer := json.loads(process.stdout.readline())).get("id") != 5:
            pass
        process.stdin.close()
    assert answer["result"]["structuredContent"]["status"] == "stored"
    (found,) = agent.call("recall", query="orders.py parser")["memories"]
    assert ("The ? sign" in found["content"], "\U0001f600" in found["content"]) == (True, True)


def test_a_client_that_sends_all_at_once_and_closes_its_end_gets_every_answer(agent):
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    asked = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        *({"id": number, "method": "ping"} for number in range(2, 8)),
        {"id": 8, "method": "tools/list"},
        {"id": "last", "method": "tools/call", "params": {"name": "stats", "arguments": {}}},
    ]
    given = b"".join(json.dumps({"jsonrpc": "2.0", **each}).encode() + b"\n" for each in asked)
    done = subprocess.run(
        [HOOK, "--bridge", "mcp"],
        input=given,
        cwd=agent.project,
        env=agent.machine.env(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert {each["id"] for each in answers if "result" in each} == {*range(1, 9), "last"}
