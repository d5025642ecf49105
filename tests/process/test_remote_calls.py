"""Remote calls on the daemon's socket: the envelope, its errors, and who sees what."""

import asyncio
import json
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from snell.daemon.listener import listen
from snell.daemon.request_handler import RequestHandler
from snell.daemon.socket_server import SocketServer
from snell.model.errors import StoreError
from snell.operations.rpc import ENV_NAMES, Rpc
from snell.runtime.app import Runtime
from snell.work.errors import WorkError
from tests.process.machine import HOOK, Machine

COMMON = {"sessionId": "3f2c", "transcriptPath": "/t.jsonl", "cwd": "/", "permissionMode": "default"}
PRE = {**COMMON, "toolName": "Bash", "toolInput": {"command": "ls"}, "toolUseId": "t1"}


@pytest.fixture
def machine(tmp_path):
    if not HOOK.exists():
        pytest.skip("snell-hook is not installed beside this Python")
    machine = Machine(tmp_path, forks_daemon=True)
    machine.hook()
    yield machine
    machine.stop()


def call(command: str, arguments: Any = None, **env: str) -> str:
    return json.dumps({"cmd": command, "args": arguments, "env": env})


@pytest.mark.proves("S2-129")
def test_a_line_names_a_command_its_arguments_and_its_environment(machine):
    (answer,) = machine.ask(call("hooks.preToolUse", {**PRE, "toolInput": {"command": "bad"}, "cwd": None}, CWD="/tmp"))
    denied = {"permissionDecision": "deny", "permissionDecisionReason": "not that"}
    decision = answer["data"].pop("decisionId")
    assert decision
    assert (answer["ok"], answer["data"]["hookSpecificOutput"]) == (True, {"hookEventName": "PreToolUse", **denied})
    assert machine.ask(call("agent.register", {"label": "A"}, AGENT_ID="ann"))[0]["data"]["id"] == "ann"
    assert machine.ask(call("agent.register", {"label": "A"}, HOME="/ann"))[0]["error"] == "COMMAND_ERROR"
    answers = machine.send_bytes(f"{call('commands.where', {'cwd': '/tmp'})}\nnonsense\n".encode())
    first, second, end = answers.split(b"\n")  # a line each, and nothing else
    assert (json.loads(first)["ok"], json.loads(second)["ok"], end) == (True, False, b"")


VERDICTS = """
from snell import Allow, Ask, Defer, Deny, Note, Stop, judges

SAYS = {
    "deny": Deny("not that", instead="do this"),
    "deny without a word": Deny(""),
    "ask": Ask("is this meant?"),
    "ask without a word": Ask(""),
    "defer": Defer("a person decides later"),
    "stop": Stop("enough for today"),
    "allow": Allow("fine"),
    "note": Note("a note"),
}

@judges("PreToolUse", kind="shell")
def rule(call):
    return SAYS.get(call.command)

@judges("UserPromptSubmit")
def words(prompt):
    return {"deny": Deny("not that"), "ask": Ask("is this meant?")}.get(prompt.text)

@judges("Stop")
def ending(event):
    return Deny("finish first")
"""


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("deny", "not that. Instead: do this"),
        ("deny without a word", "refused by `p/rule`"),
        ("ask", "ask: is this meant?"),
        ("ask without a word", "ask: `p/rule` leaves this decision to a person"),
        ("defer", "defer: a person decides later"),
        ("stop", "enough for today"),
        ("allow", None),
        ("note", None),
        ("nothing to say", None),
    ],
)
def test_a_call_before_a_tool_is_allowed_only_when_it_may_run_now(machine, command, reason):
    """Seed 002's callers read nothing but `allow` and `reason`."""
    machine.write("pack/rules.py", VERDICTS)
    (answer,) = machine.ask(call("hooks.preToolUse", {**PRE, "toolInput": {"command": command}}))
    said = answer["data"]
    assert (said["allow"], said.get("reason")) == (reason is None, reason)
    assert {"heartbeatCount", "contextUsage", "overflowWarning", "pendingPreloads", "firedRules"} <= said.keys()


def test_a_prompt_and_a_stop_that_are_refused_say_so(machine):
    machine.write("pack/rules.py", VERDICTS)
    prompts = [call("hooks.userPromptSubmit", {**COMMON, "prompt": text}) for text in ("deny", "ask", "else")]
    stop = call("hooks.stop", {**COMMON, "stopHookActive": False, "lastAssistantMessage": "x"})
    found = [answer["data"] for answer in machine.ask(*prompts, stop)]
    assert [(said.get("decision"), said.get("reason")) for said in found] == [
        ("block", "not that"),
        ("block", "is this meant?"),
        (None, None),
        ("block", "finish first"),
    ]


@pytest.mark.proves("S2-130")
@pytest.mark.parametrize("line", ["nope", "{nope", "[]", "3", '"x"', "{}", '{"cmd": 3}', "Sn", " ", "\x00", "é" * 100])
def test_a_line_that_is_no_call_gets_an_error_and_the_connection_goes_on(machine, line):
    """Also as a later line that begins like a frame of the other protocol."""
    lines = ['{"cmd": "ping"}', line, '{"cmd": "ping"}']
    wanted = 2 if not line.strip() else 3
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(20)
        connection.connect(str(machine.home / "run/snell.sock"))
        connection.sendall("".join(f"{each}\n" for each in lines).encode())
        with connection.makefile("rb") as answers:
            found = [json.loads(answers.readline()) for _ in range(wanted)]
    assert [found[0], found[-1]] == [{"ok": True, "data": "pong"}] * 2
    if wanted == 3:
        assert (found[1]["ok"], found[1]["error"] in ("PARSE_ERROR", "VALIDATION_ERROR")) == (False, True)


def test_a_first_line_need_not_be_json_either(machine):
    assert [answer.get("error") for answer in machine.ask("nope", '{"cmd": "ping"}')] == ["PARSE_ERROR", None]


@pytest.mark.proves("S2-131")
def test_an_unknown_command_is_answered_with_its_code_and_the_nearest_name(machine):
    (answer,) = machine.ask('{"cmd": "statsu"}')
    told = "unknown command `statsu`; did you mean `status`?"
    assert answer == {"ok": False, "error": "UNKNOWN_COMMAND", "message": told}


@pytest.mark.proves("S2-44")
def test_a_payload_that_does_not_fit_is_answered_with_what_is_wrong_and_holds_no_other_caller_up(machine):
    wrong, empty = machine.ask(call("hooks.preToolUse", {**PRE, "cwd": 3, "sessionId": None}), call("hooks.stop", {}))
    issues = ["sessionId: is missing", "cwd: must be text"]
    assert wrong == {
        "ok": False,
        "error": "VALIDATION_ERROR",
        "message": "the payload is not valid: sessionId: is missing; cwd: must be text",
        "details": {"issues": issues},
    }
    assert len(empty["details"]["issues"]) == 3
    code, out, err = machine.hook(raw=b'{"hook_event_name": 3}')  # the same by the shim: a line, and the tool runs
    assert (code, out, err.startswith("snell: ")) == (0, "", True)


@pytest.mark.proves("S2-40")
@pytest.mark.parametrize("missing", ["sessionId", "transcriptPath", "cwd", "permissionMode"])
def test_of_the_common_fields_only_the_permission_mode_may_be_missing(machine, missing):
    given = {name: value for name, value in PRE.items() if name != missing}
    (answer,) = machine.ask(call("hooks.preToolUse", given))
    assert answer["ok"] is (missing == "permissionMode")


@pytest.mark.proves("S2-132")
def test_two_callers_never_see_each_others_environment(machine):
    """Each sends its own directory a hundred times, both at once; the hooks' answers name it."""
    machine.write("snell.toml", '[[hooks]]\nevent="PreToolUse"\ncommand="pwd >&2; exit 2"\n')

    def answers(folder: str) -> set[str]:
        found = set()
        for number in range(20):
            given = {**PRE, "cwd": None, "toolUseId": f"{folder}-{number}"}
            (answer,) = machine.ask(call("hooks.preToolUse", given, CWD=folder))
            found.add(answer["data"]["hookSpecificOutput"]["permissionDecisionReason"])
        return found

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(answers, ["/tmp", "/usr"])) == [{"/tmp"}, {"/usr"}]
    machine.write("snell.toml", '[[hooks]]\nevent="PreToolUse"\ncommand="echo agent $AGENT_ID >&2; exit 2"\n')
    told = []
    for number, env in enumerate(({"AGENT_ID": "ann"}, {})):
        (answer,) = machine.ask(call("hooks.preToolUse", {**PRE, "toolUseId": f"n-{number}"}, **env))
        told.append(answer["data"]["hookSpecificOutput"]["permissionDecisionReason"])
    assert told == ["agent ann", "agent"]


class Line:
    """A socket server in this process, with commands of the test's own."""

    def __init__(self, folder: Path, **commands: Callable[..., Any]) -> None:
        self.folder = folder
        self.commands = commands

    def ask(self, *lines: str, close_early: bool = False) -> list[dict[str, Any]]:
        return asyncio.run(self._ask(lines, close_early=close_early))

    async def _ask(self, lines: tuple[str, ...], *, close_early: bool) -> list[dict[str, Any]]:
        listener = listen(self.folder)
        server = SocketServer(listener.socket, RequestHandler(Runtime.embed()))
        server.start(asyncio.get_running_loop(), Rpc(self.commands), lambda _: None)
        reader, writer = await asyncio.open_unix_connection(str(listener.path))
        writer.write("".join(f"{line}\n" for line in lines).encode())
        if close_early:
            writer.write_eof()
        try:
            return [json.loads(await asyncio.wait_for(reader.readline(), 20)) for _ in lines]
        finally:
            writer.close()
            listener.withdraw()
            server.stop_accepting()
            await server.finish(5)


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.mark.proves("S2-133")
@pytest.mark.parametrize("close_early", [False, True])
def test_calls_sent_at_once_are_answered_in_their_order(run_folder, close_early):
    """Although every second one takes longer than the one after it."""

    async def later(arguments: Any, _env: Any) -> Any:
        await asyncio.sleep(0.02)
        return arguments["number"]

    line = Line(run_folder, later=later, now=lambda arguments, _env: arguments["number"])
    calls = [call("now" if number % 2 else "later", {"number": number}) for number in range(20)]
    assert [answer["data"] for answer in line.ask(*calls, close_early=close_early)] == list(range(20))


def test_only_the_named_variables_of_a_caller_are_taken(run_folder):
    line = Line(run_folder, env=lambda _arguments, env: env)
    given = {name: name.lower() for name in ENV_NAMES}
    (answer,) = line.ask(json.dumps({"cmd": "env", "env": {**given, "PATH": "/x", "AGENT_ID": "me", "CWD": 3}}))
    assert answer["data"] == {**{name: given[name] for name in ENV_NAMES if name != "CWD"}, "AGENT_ID": "me"}


def test_a_command_that_breaks_answers_with_handler_error_and_the_next_one_works(run_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SNELL_HOME", str(tmp_path / "home"))

    def breaks(*_: Any) -> None:
        raise ZeroDivisionError("secret words")

    async def breaks_later(*_: Any) -> None:
        breaks()

    def refuses(*_: Any) -> None:
        raise StoreError("no room")

    def says(*_: Any) -> None:
        raise WorkError("NOT_FOUND", "no such task", details={"id": 3})

    commands = {"breaks": breaks, "later": breaks_later, "refuses": refuses, "says": says}
    line = Line(run_folder, ok=lambda *_: 1, **commands)
    answers = line.ask(*(call(name) for name in ("breaks", "later", "refuses", "says", "ok")))
    assert [answer.get("error") for answer in answers] == [*["HANDLER_ERROR"] * 3, "NOT_FOUND", None]
    assert "internal error (a bug in Snell): ZeroDivisionError; report: " in answers[0]["message"]
    assert "secret words" not in answers[0]["message"]
    assert (answers[2]["message"], answers[3]["details"]) == ("no room", {"id": 3})


def test_a_caller_that_reads_nothing_holds_no_other_caller_up(machine):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as deaf:
        deaf.settimeout(20)
        deaf.connect(str(machine.home / "run/snell.sock"))
        deaf.setblocking(False)
        line = b'{"cmd": "status"}\n' * 1_000
        deadline = time.monotonic() + 1
        while time.monotonic() < deadline:
            try:
                deaf.send(line)
            except BlockingIOError:
                break
        assert machine.ask('{"cmd": "ping"}') == [{"ok": True, "data": "pong"}]
