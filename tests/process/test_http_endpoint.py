"""The loopback endpoint for HTTP hooks: what it answers, and all that it does not."""

import json
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from tests.process.http_attacks import BODY, Attack, attacks, request
from tests.process.machine import CALL, HOOK, Machine
from tests.waiting import wait_until

BOUND = 30.0


class Endpoint:
    """A machine whose daemon has the endpoint."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        machine.write("snell.toml", 'packs = ["pack"]\n[http]\nenabled = true\n')
        machine.hook()
        self.status = machine.ask('{"cmd": "status"}')[0]["data"]["http"]
        self.port = int(self.status["address"].rpartition(":")[2])
        self.token = (machine.home / "state/http-token").read_text(encoding="utf-8").strip()

    def send(self, data: bytes) -> bytes:
        """Everything that comes back until the other end closes; we close ours as soon as we have sent all."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=BOUND) as connection:
            answer = b""
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # refused before it had read everything
            try:
                while part := connection.recv(65536):
                    answer += part
            except ConnectionResetError:
                pass
            return answer

    def post(self, payload: dict, *headers: str, client: str = "claude-code") -> tuple[int, dict | None]:
        body = json.dumps({**CALL, "cwd": str(self.machine.project), **payload}).encode()
        line = f"POST /hook/{client} HTTP/1.1"
        head, _, answer = self.send(request(self.port, self.token, *headers, line=line, body=body)).partition(
            b"\r\n\r\n"
        )
        return int(head.split()[1]), json.loads(answer) if answer else None

    def decisions(self) -> int:
        command = [sys.executable, "-m", "snell", "log", "--json", "-n", "10000"]
        done = subprocess.run(command, env=self.machine.env(), capture_output=True, check=True, timeout=60)
        return len(done.stdout.splitlines())


@pytest.fixture
def endpoint(tmp_path):
    if not HOOK.exists():
        pytest.skip("snell-hook is not installed beside this Python")
    machine = Machine(tmp_path, forks_daemon=True)
    try:
        yield Endpoint(machine)
    finally:
        machine.stop()


def test_a_payload_gets_what_the_hook_would_have_printed(endpoint):
    denied = {"permissionDecision": "deny", "permissionDecisionReason": "not that"}
    assert endpoint.post({"tool_input": {"command": "bad"}}) == (
        200,
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", **denied}},
    )
    assert endpoint.post({}) == (200, None)
    assert endpoint.post({}, "Sec-Fetch-Site: none", "Accept: */*", "Cookie: a=b") == (200, None)


def test_the_body_may_come_late_and_in_pieces(endpoint):
    data = request(endpoint.port, endpoint.token, "Expect: 100-continue", body=BODY)
    with socket.create_connection(("127.0.0.1", endpoint.port), timeout=BOUND) as connection:
        connection.sendall(data[: -len(BODY)])
        assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        for place in range(0, len(BODY), 40):
            connection.sendall(BODY[place : place + 40])
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")


def test_a_guard_that_fails_closed_refuses_what_cannot_be_read_in_a_body_that_blocks(endpoint):
    guard = '[http]\n[[hooks]]\nevent="PreToolUse"\non_failure="block"\nrole="judges"\ncommand="true"\n'
    endpoint.machine.write("snell.toml", guard)
    data = request(endpoint.port, endpoint.token, body=b'{"hook_event_name":"PreToolUse",')
    head, _, body = endpoint.send(data).partition(b"\r\n\r\n")
    answer = json.loads(body)
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"X-Snell-Exit-Code: 2" in head
    assert (answer["decision"], answer["hookSpecificOutput"]["permissionDecision"]) == ("block", "deny")


def test_the_token_stays_and_one_that_others_could_read_is_replaced(endpoint):
    path = endpoint.machine.home / "state/http-token"
    assert oct(os.stat(path).st_mode & 0o777) == "0o600"
    endpoint.machine.stop()
    assert Endpoint(endpoint.machine).token == endpoint.token
    endpoint.machine.stop()
    path.chmod(0o644)
    assert Endpoint(endpoint.machine).token != endpoint.token


def test_it_listens_on_this_machine_only_and_only_when_asked_to(endpoint):
    assert endpoint.status["address"] == f"http://127.0.0.1:{endpoint.port}"
    with socket.socket() as other:
        assert other.connect_ex(("127.0.0.2", endpoint.port)) != 0
    endpoint.machine.stop()
    endpoint.machine.write("snell.toml", 'packs = ["pack"]\n')
    endpoint.machine.hook()
    assert "http" not in endpoint.machine.ask('{"cmd": "status"}')[0]["data"]


def test_a_project_cannot_open_it(endpoint):
    from snell.settings.load import load
    from snell.system.paths import Places

    home, project = endpoint.machine.home, endpoint.machine.project
    endpoint.machine.write("snell.toml", "")
    (project / ".snell").mkdir()
    (project / ".snell/snell.toml").write_text('database="postgresql://x/y"\n[http]\nport=8744\n', encoding="utf-8")
    loaded = load(Places(home / "config", home / "state", home / "run"), project, {})
    assert (loaded.value("http"), loaded.value("database")) == (None, None)


def test_a_daemon_with_an_endpoint_does_not_leave(endpoint):
    """No caller that comes by HTTP could start another."""
    endpoint.machine.stop()
    endpoint.machine.hook(SNELL_IDLE="0.1")
    first = endpoint.machine.pid
    began = time.monotonic()
    wait_until(lambda: time.monotonic() - began > 0.6)
    assert endpoint.machine.daemons() == [first]


def test_no_malicious_request_is_answered_and_the_daemon_goes_on(endpoint):
    sent = attacks(endpoint.port, endpoint.token)
    before = endpoint.decisions()
    began = time.monotonic()
    with ThreadPoolExecutor(16) as pool:
        wrong = [each for each in pool.map(lambda attack: _wrong(endpoint, attack), sent) if each]
    took = time.monotonic() - began
    assert wrong == []
    assert endpoint.decisions() == before
    assert endpoint.post({}) == (200, None)
    assert endpoint.machine.reason({"tool_input": {"command": "bad"}}) == "not that"
    figures = {"requests": len(sent), "accepted": 0, "seconds": round(took, 2)}
    print(json.dumps({"fault": "T22 malicious HTTP", **figures}))
    assert len(sent) >= 120


def _wrong(endpoint: Endpoint, attack: Attack) -> str:
    """What is not as it must be, in words."""
    head = endpoint.send(attack.data).partition(b"\r\n\r\n")[0].lower()
    status = int(head.split()[1]) if head else None
    if status != attack.status:
        return f"{attack.name}: {status} instead of {attack.status}"
    if b"access-control" in head or (head and b"content-security-policy: default-src 'none'" not in head):
        return f"{attack.name}: {head!r}"
    return ""


def test_slow_senders_and_crowds_are_let_go_and_no_other_caller_waits_for_them(endpoint):
    whole = request(endpoint.port, endpoint.token)
    beginnings = [b"", b"P", whole[:60], whole[:-5]]
    with ExitStack() as open_ones:

        def connected(number):
            made = (socket.create_connection(("127.0.0.1", endpoint.port), timeout=BOUND) for _ in range(number))
            return [open_ones.enter_context(connection) for connection in made]

        slow = connected(12)
        for number, connection in enumerate(slow):
            connection.sendall(beginnings[number % 4])
        assert endpoint.post({}) == (200, None)
        crowd = connected(80)
        answers = [connection.recv(65536) for connection in crowd[-10:]]  # those who found no room
        connected(300)
        wait_until(lambda: len(os.listdir(f"/proc/{endpoint.machine.pid}/fd")) < 200)  # those without room are let go
        assert {answer.split(b"\r\n")[0] for answer in answers} == {b"HTTP/1.1 503 Service Unavailable"}
        assert endpoint.machine.reason({"tool_input": {"command": "bad"}}) == "not that"
        late = [connection.recv(65536) for number, connection in enumerate(slow) if number % 4 < 3]
        assert {answer.split(b"\r\n")[0] for answer in late} == {b"HTTP/1.1 408 Request Timeout"}
    wait_until(lambda: endpoint.post({}) == (200, None))
