"""Traces: sessions, tool calls and hooks reach an OpenTelemetry receiver, redacted, and no event waits for it."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from tests.fork_server import run_snell
from tests.loopback import Answer, Sent, Server, serving
from tests.process.machine import HOOK, Machine
from tests.waiting import wait_until

SECRET = "sk-ant-api03-" + "a1B2" * 20
TOKEN = "ghp_" + "a1B2c3D4e5" * 4  # known by its form alone
SESSION = "invoke_agent Claude Code"
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    if not HOOK.exists():
        pytest.skip("snell-hook is not installed beside this Python")
    machine = Machine(tmp_path, forks_daemon=True)
    yield machine
    machine.stop()
    machine.end_hooks()


@pytest.fixture
def receiver() -> Iterator[Server]:
    with serving(Answer()) as server:
        yield server


def enable(machine: Machine, url: str, *more: str, interval: float = 0.1) -> None:
    options = ("enabled = true", f'endpoint = "{url}"', f"interval = {interval}")
    lines = ('packs = ["pack"]', "[pack.traces]", *options, *more)
    machine.write("snell.toml", "\n".join(lines) + "\n")


def run_session(machine: Machine, session: str = "s1", command: str = "ls", **env: str) -> None:
    """One session with one tool call."""
    call = {"session_id": session, "tool_use_id": f"{session}-t1", "tool_input": {"command": command}}
    machine.hook({"session_id": session, "hook_event_name": "SessionStart", "source": "startup"}, **env)
    machine.hook(call, **env)
    machine.hook({**call, "hook_event_name": "PostToolUse", "tool_response": {"stdout": "x"}}, **env)
    machine.hook({"session_id": session, "hook_event_name": "SessionEnd", "reason": "exit"}, **env)


def spans(receiver: Server) -> dict[str, dict]:
    """The spans that were received, by name; the last of each name."""
    found = {}
    for sent in list(receiver.sent):
        if sent.path == "/v1/traces":
            for each in ExportTraceServiceRequest.FromString(sent.body).resource_spans:
                for span in each.scope_spans[0].spans:
                    found[span.name] = {
                        "trace": span.trace_id.hex(),
                        "id": span.span_id.hex(),
                        "parent": span.parent_span_id.hex(),
                        "start": span.start_time_unix_nano,
                        "end": span.end_time_unix_nano,
                        "status": span.status.code,
                        **{item.key: _value(item.value) for item in span.attributes},
                    }
    return found


def wait_for(receiver: Server, *names: str) -> dict[str, dict]:
    """The spans, when those with these names are among them."""
    return wait_until(lambda: set(names) <= spans(receiver).keys() and spans(receiver))


def _value(value) -> object:
    kind = value.WhichOneof("value")
    return [_value(each) for each in value.array_value.values] if kind == "array_value" else getattr(value, kind)


def status(machine: Machine) -> dict:
    return json.loads(machine.snell("traces", "--json"))


def test_a_session_its_tool_call_and_its_hooks_are_one_trace(machine: Machine, receiver: Server):
    enable(machine, receiver.url)
    run_session(machine, command="bad")
    found = wait_for(receiver, SESSION, "execute_tool Bash", "hook p/no_bad", "event SessionStart")
    session, call, hook = (found[name] for name in (SESSION, "execute_tool Bash", "hook p/no_bad"))
    assert {each["trace"] for each in found.values()} == {session["trace"]}
    assert (session["parent"], call["parent"], hook["parent"]) == ("", session["id"], call["id"])
    assert found["event SessionStart"]["parent"] == session["id"]
    assert session["gen_ai.operation.name"] == "invoke_agent"
    assert call["gen_ai.operation.name"] == "execute_tool"
    assert (call["gen_ai.tool.name"], call["gen_ai.tool.call.id"]) == ("Bash", "s1-t1")
    assert {each["gen_ai.conversation.id"] for each in (session, call)} == {"s1"}
    assert (call["snell.verdict"], call["status"], hook["snell.hook.effects"]) == ("deny", 2, ["deny: not that"])
    assert call["start"] <= call["end"]
    assert session["start"] <= call["end"] <= session["end"] + 1e9


def test_the_clients_own_trace_is_continued(machine: Machine, receiver: Server):
    enable(machine, receiver.url)
    run_session(machine, TRACEPARENT=PARENT)
    found = wait_for(receiver, SESSION)
    session = found[SESSION]
    assert (session["trace"], session["parent"]) == (PARENT[3:35], PARENT[36:52])


def test_nothing_unredacted_is_sent(machine: Machine, receiver: Server):
    machine.write("pack/rules.py", _ECHOES)
    enable(machine, receiver.url, "inputs = true", "all_hooks = true")
    run_session(machine, command=f"curl -H 'x-api-key: {SECRET}'")
    found = wait_for(receiver, "execute_tool Bash", "hook p/echo")
    assert "curl" in found["execute_tool Bash"]["gen_ai.tool.call.arguments"]
    assert "curl" in str(found["hook p/echo"]["snell.hook.effects"])
    assert not any(b"a1B2a1B2" in sent.body for sent in receiver.sent)


@pytest.mark.parametrize("field", ["session_id", "tool_use_id", "tool_name", "agent_id", "cwd"])
def test_a_secret_in_a_name_is_not_sent(machine: Machine, receiver: Server, field: str):
    enable(machine, receiver.url, "inputs = true", "all_hooks = true")
    call = {"session_id": "s1", "tool_use_id": "t1", "tool_input": {"command": "ls"}, field: TOKEN}
    machine.hook(call)
    machine.hook({**call, "hook_event_name": "PostToolUse", "tool_response": {"stdout": "x"}})
    wait_until(lambda: any(name.startswith("execute_tool") for name in spans(receiver)))
    assert not any(b"a1B2c3D4" in sent.body for sent in receiver.sent)


_ECHOES = """
from snell import Deny, judges

@judges("PreToolUse", kind="shell")
def echo(call):
    return Deny(f"not {call.command}")
"""


def test_metrics_count_decisions_by_verdict(machine: Machine, receiver: Server):
    enable(machine, receiver.url)
    run_session(machine, command="bad")

    def counts() -> dict[str, dict[str, int]]:
        last = next((sent for sent in reversed(receiver.sent) if sent.path == "/v1/metrics"), None)
        if last is None:
            return {}
        metrics = ExportMetricsServiceRequest.FromString(last.body).resource_metrics[0].scope_metrics[0].metrics
        return {each.name: _points(each) for each in metrics}

    found = wait_until(lambda: sum(counts().get("snell.decisions", {}).values()) == 4 and counts())
    assert found["snell.decisions"]["deny"] == 1
    assert sum(found["snell.decision.duration"].values()) == 4
    assert sum(found["snell.hook.failures"].values()) == sum(found["snell.asks"].values()) == 0


def _points(metric) -> dict[str, int]:
    found: dict[str, int] = {}
    for point in (metric.sum or metric.histogram).data_points or metric.histogram.data_points:
        verdict = next(each.value.string_value for each in point.attributes if each.key == "snell.verdict")
        number = point.as_int if metric.HasField("sum") else point.count
        found[verdict] = found.get(verdict, 0) + number
    return found


def test_no_event_waits_for_a_receiver_that_is_down_and_it_gets_everything_later(machine: Machine):
    with serving(Answer()) as gone:
        url, port = gone.url, gone.port
    enable(machine, url)
    run_session(machine)
    wait_until(lambda: status(machine)["error"])
    shown = status(machine)
    assert "cannot reach" in shown["error"]
    assert (shown["sent"], shown["lost"], shown["waiting"] > 0) == (0, 0, True)
    with serving(Answer(), port=port) as receiver:
        wait_for(receiver, SESSION, "execute_tool Bash")
        wait_until(lambda: not status(machine)["error"])
        assert status(machine)["lost"] == 0


def test_no_event_waits_for_a_slow_receiver(machine: Machine):
    with serving(Answer(before=60.0)) as slow:
        enable(machine, slow.url, "timeout = 0.5")
        machine.hook()
        wait_until(lambda: slow.sent)
        started = time.monotonic()
        for _ in range(20):
            machine.send()
        assert time.monotonic() - started < 10
        wait_until(lambda: "did not answer within 0.5 s" in status(machine)["error"])


def test_spans_that_the_receiver_refuses_are_counted_as_lost(machine: Machine):
    with serving(Answer(status=400)) as refusing:
        enable(machine, refusing.url)
        run_session(machine)
        shown = wait_until(lambda: status(machine)["lost"] and status(machine))
    assert shown["sent"] == 0
    assert "refused" in shown["remark"]
    assert "lost" in machine.snell("traces")


def test_spans_of_a_partial_success_are_counted_as_lost(machine: Machine):
    partial = ExportTraceServiceResponse(partial_success={"rejected_spans": 1}).SerializeToString()
    with serving(Answer(partial)) as receiver:
        enable(machine, receiver.url)
        machine.hook({"hook_event_name": "SessionStart", "source": "startup"})
        shown = wait_until(lambda: status(machine)["lost"] and status(machine))
    assert shown["lost"] >= 1


def test_what_waits_for_too_long_is_counted_as_lost(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, receiver: Server
):
    from snell.packs.traces.options import read_options
    from snell.runtime.app import database_of
    from snell.system.deadline import Deadline
    from snell.system.paths import places
    from snell.traces import exporter
    from snell.traces.exporter import Exporter

    machine.hook()
    machine.stop()
    monkeypatch.setattr(exporter, "MOST_WAITING", 2)
    enable(machine, receiver.url)
    where = places(machine.env())
    database = database_of(where)
    sender = Exporter(where.state, read_options(where)[1], database, None)
    sender.send_next(Deadline(10))
    for number in range(6):
        machine.hook({"session_id": f"n{number}", "hook_event_name": "SessionStart", "source": "startup"})
    machine.stop()
    sender.send_next(Deadline(10))
    database.close()
    assert sender._progress.lost >= 4


def test_the_exporter_that_was_killed_is_started_again_at_the_next_session(machine: Machine, receiver: Server):
    enable(machine, receiver.url)
    run_session(machine, "s1")
    wait_for(receiver, SESSION)
    first = status(machine)["pid"]
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: first not in machine._processes(b"snell.traces"))
    receiver.sent.clear()
    run_session(machine, "s2")
    found = wait_for(receiver, SESSION)
    assert found[SESSION]["session.id"] == "s2"


def test_the_exporter_ends_with_the_daemon_and_sends_what_is_left(machine: Machine, receiver: Server):
    enable(machine, receiver.url, interval=3600)
    machine.hook({"hook_event_name": "SessionStart", "source": "startup"})
    wait_until(lambda: machine._processes(b"snell.traces"))
    wait_until(lambda: status(machine)["at"])
    run_session(machine, "s9")
    assert SESSION not in spans(receiver)
    machine.stop()
    wait_until(lambda: not machine._processes(b"snell.traces"))
    assert spans(receiver)[SESSION]["session.id"] == "s9"
    assert status(machine)["pid"] == 0


def test_a_project_cannot_say_where_traces_go(machine: Machine, receiver: Server):
    (machine.project / ".snell").mkdir()
    text = f'[pack.traces]\nenabled = true\nendpoint = "{receiver.url}"\n'
    (machine.project / ".snell" / "snell.toml").write_text(text, encoding="utf-8")
    machine.snell("trust", "--hash", json.loads(machine.snell("trust", "--json"))["digest"])
    run_session(machine)
    assert not machine._processes(b"snell.traces")
    assert status(machine)["enabled"] is False


def test_a_test_span_can_be_sent_and_the_doctor_says_how_it_goes(machine: Machine, receiver: Server):
    enable(machine, receiver.url)
    assert machine.snell("traces", "test") == f"one span sent to {receiver.url}\n"
    assert list(spans(receiver)) == ["snell traces test"]
    run_session(machine)
    wait_until(lambda: status(machine)["sent"])
    assert f"traces: {receiver.url}: " in machine.snell("doctor", "--all")
    enable(machine, "http://127.0.0.1:1")
    code, _, said = run_snell("traces", "test", cwd=machine.project, env=machine.env())
    assert (code, "cannot reach 127.0.0.1:1" in said, "`snell traces test`" in said) == (1, True, True)


def test_without_the_ledger_a_tool_call_is_still_a_span(machine: Machine, receiver: Server):
    enable(machine, receiver.url, "[pack.ledger]", "enabled = false")
    run_session(machine)
    found = wait_for(receiver, "execute_tool Bash")
    assert found["execute_tool Bash"]["gen_ai.tool.call.id"] == "s1-t1"


def test_a_receiver_without_metrics_gets_spans(machine: Machine):
    def answer(sent: Sent) -> Answer:
        return Answer(status=404 if sent.path == "/v1/metrics" else 200)

    with serving(answer) as receiver:
        enable(machine, receiver.url)
        run_session(machine)
        wait_for(receiver, "execute_tool Bash")
        wait_until(lambda: status(machine)["remark"] == "the receiver takes no metrics")
