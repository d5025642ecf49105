"""T11, T15, T24: inputs that are broken, huge, or named so that they point elsewhere."""

import contextlib
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from snell.clients import CLIENTS, client_named
from snell.daemon.wire import Request
from snell.model.errors import SnellError
from snell.runtime.app import Runtime
from snell.store.sqlite import LOG_LIMIT
from snell.system.paths import Places
from tests.faults.counts import Figure, times
from tests.process.machine import CALL, Machine
from tests.seeds import draw_seed
from tests.waiting import wait_until
from tests.wire_client import Reply, encode

pytest_plugins = ("tests.process.machine_fixtures",)

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
ODD: list[Any] = [
    None,
    True,
    -1,
    1e308,
    2**63,
    "",
    "\0",
    "\ud800",
    "../../x",
    "x" * 5000,
    [],
    [[]],
    {},
    {"": None},
    "é",
]
LARGE = 10_000_000


@times("inputs", 3000, 100_000)
def test_no_input_crashes_or_hangs_what_reads_it(inputs: int, figure: Figure) -> None:
    """Sixty in a hundred are odd events, thirty are damaged ones, ten are noise."""
    seed = draw_seed()
    chosen, began, slowest = random.Random(seed), time.monotonic(), 0.0
    clients = [client_named(name) for name in CLIENTS]
    runtime = Runtime.embed()
    answered = 0
    for data in fuzzed(chosen, inputs):
        start = time.monotonic()
        with contextlib.suppress(SnellError):
            assert runtime.handle(chosen.choice(clients), data).exit_code in {0, 1, 2}
            answered += 1
        slowest = max(slowest, time.monotonic() - start)
    runtime.close()
    counted = {
        "inputs": inputs,
        "answered": answered,
        "refused": inputs - answered,
        "slowest_seconds": round(slowest, 3),
    }
    figure(test="T15", fault="fuzzed inputs", **counted, seed=seed, seconds=round(time.monotonic() - began, 1))
    assert slowest < 5
    assert min(answered, inputs - answered) > inputs / 20


@times("inputs", 300, 10_000)
def test_no_bytes_on_the_socket_take_the_daemon_down(machine: Machine, inputs: int, figure: Figure) -> None:
    seed = draw_seed()
    chosen = random.Random(seed)
    machine.hook()
    pid, before = machine.pid, open_files(machine.pid)
    answered = sum(bool(machine.send_bytes(data)) for data in frames(chosen, inputs))
    for data in fuzzed(chosen, 20):  # and a few all the way
        code, _, err = machine.hook(raw=data)
        assert (code in {0, 1}, "Traceback" in err, "bug in Snell" in err) == (True, False, False)
    after = open_files(pid)
    figure(test="T15", fault="fuzzed frames", inputs=inputs, answered=answered, descriptors=[before, after], seed=seed)
    assert (machine.pid, machine.reason({"tool_input": {"command": "bad"}})) == (pid, "not that")
    assert after <= before + 2
    assert not (machine.home / "state" / "crashes").exists()


def fuzzed(chosen: random.Random, number: int) -> Iterator[bytes]:
    cases = [json.loads(path.read_bytes()) for path in sorted(GOLDEN.rglob("*.json"))]
    events = [CALL, *(case["payload"] for case in cases if isinstance(case.get("payload"), dict))]
    real = [json.dumps(event).encode() for event in events]
    for _ in range(number):
        dice = chosen.random()
        if dice < 0.6:
            yield json.dumps(odd(chosen, chosen.choice(events))).encode("utf-8", "surrogatepass")
        elif dice < 0.9:
            yield damaged(chosen, chosen.choice(real))
        else:
            yield chosen.randbytes(chosen.randrange(200))


def odd(chosen: random.Random, event: dict[str, Any]) -> dict[str, Any]:
    """The event with one to three of its fields turned into something else."""
    event = dict(event)
    for _ in range(chosen.randint(1, 3)):
        key = chosen.choice([*event, "tool_input", "session_id", "cwd", "hook_event_name", "zzz"])
        inner = event.get(key)
        event[key] = odd(chosen, inner) if isinstance(inner, dict) and chosen.random() < 0.5 else chosen.choice(ODD)
    return event


def damaged(chosen: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chosen.randint(1, 8)):
        at = chosen.randrange(len(changed) + 1)
        change = chosen.randrange(4)
        if change == 0:
            del changed[at : at + chosen.randrange(1, 20)]
        elif change == 1:
            changed[at:at] = chosen.choice((b'"', b"{", b"[" * 300, b"\\u0000", b"\xff\xfe", b"1e999", b"NaN", b","))
        elif change == 2:
            changed[at:at] = changed[: chosen.randrange(1, 200)]
        elif at < len(changed):
            changed[at] = chosen.randrange(256)
    return bytes(changed)


def test_a_frame_that_breaks_off_is_let_go_at_once_also_with_a_line_end_in_it(machine: Machine) -> None:
    machine.hook()
    whole = machine.frame({"tool_input": {"command": "one\ntwo"}}).replace(b"\\n", b"\n")
    assert [machine.send_bytes(whole[:-length]) for length in (1, 5)] == [b"", b""]


def frames(chosen: random.Random, number: int) -> Iterator[bytes]:
    for data in fuzzed(chosen, number):
        words = chosen.choice(
            (("--client", "generic"), ("--client", "no-such"), ("--client",), (), ("--x=y", "\udcff"))
        )
        frame = encode(Request("1 0.0.1", f"{chosen.getrandbits(128):032x}", "/", words, b"A=B\0C", data))
        dice = chosen.random()
        if dice < 0.5:
            yield frame
        elif dice < 0.8:
            yield damaged(chosen, frame[:300]) + frame[300:]
        else:
            yield chosen.choice((b"{", b"SNL", b"GET / HTTP/1.1\r\n\r\n", b"\0" * 50, b'{"cmd":"ping"}\n', data))


@times("large", 4, 20)
def test_large_payloads_hold_up_no_small_ones(machine: Machine, large: int, figure: Figure) -> None:
    machine.hook()
    payload = {"tool_input": {"command": "ls", "description": "word " * (LARGE // 5)}}
    frames = [machine.frame(payload) for _ in range(large)]  # before: making them would keep this interpreter busy
    alone = latencies(machine, 100)
    memory = peak(machine.pid)
    with ThreadPoolExecutor(2) as pool:
        began = time.monotonic()
        bigs = [pool.submit(timed, machine, frame) for frame in frames]
        beside = latencies(machine, 10 * large, until=lambda: all(big.done() for big in bigs))
        seconds = [big.result(60) for big in bigs]
        lasted = time.monotonic() - began
    figure(
        test="T11",
        fault="10 MB payloads",
        large=large,
        small=len(beside),
        large_p95_seconds=round(percentile(seconds, 95), 2),
        small_alone_p95_ms=round(percentile(alone, 95) * 1000, 2),
        small_beside_p95_ms=round(percentile(beside, 95) * 1000, 2),
        memory_peak_mb=round((peak(machine.pid) - memory) / 1e6),
        seconds=round(lasted, 1),
    )
    assert percentile(beside, 95) < max(0.5, percentile(seconds, 50))
    assert peak(machine.pid) - memory < 300e6


def test_what_is_over_the_limit_is_refused_with_one_line(machine: Machine, figure: Figure) -> None:
    machine.hook()
    began = time.monotonic()
    code, out, err = machine.hook(raw=b'{"x": "' + b"y" * 17_000_000 + b'"}')
    figure(test="T11", fault="17 MB payload", exit_code=code, seconds=round(time.monotonic() - began, 2))
    assert (code, out, "16 MB" in err, "Traceback" in err) == (0, "", True, False)


def test_an_event_too_large_for_the_daemon_is_decided_without_it(machine: Machine, figure: Figure) -> None:
    """Slower, but right: what a guard would refuse is refused at any size that is read at all."""
    began = time.monotonic()
    command = {"command": "rm -rf ~ # " + "y" * 17_000_000}
    event = {"hook_event_name": "PreToolUse", "session_id": "large", "tool_name": "Bash", "tool_input": command}
    code, out, err = machine.hook(raw=json.dumps(event).encode())
    figure(test="T11", fault="17 MB event", exit_code=code, seconds=round(time.monotonic() - began, 2))
    assert ("ask" in out or "deny" in out, "Traceback" in err) == (True, False), (code, out[:300], err[:300])


LIMIT = 64 * 1024 * 1024


def oversized(event: str, **fields: str) -> bytes:
    """A command that a guard would refuse, in an event that is larger than what is read at all."""
    head = {"hook_event_name": event, "session_id": "s", **fields, "tool_name": "Bash"}
    return json.dumps(head).encode()[:-1] + b', "tool_input": {"command": "rm -rf ~ # ' + b"y" * LIMIT + b'"}}'


@pytest.mark.parametrize("with_daemon", [True, False])
def test_a_call_over_the_size_limit_is_asked_about(machine: Machine, with_daemon: bool) -> None:
    if with_daemon:
        machine.hook()
    else:
        (machine.home / "run").mkdir()
        (machine.home / "run" / "snell.sock").write_text("not a socket", encoding="utf-8")
    payload = oversized("PreToolUse")
    code, out, err = machine.hook(raw=payload)
    said = json.loads(out)["hookSpecificOutput"]
    reason = f"Snell cannot judge this call: the payload has {len(payload)} bytes; send at most {LIMIT}"
    assert (code, said["permissionDecision"], said["permissionDecisionReason"]) == (0, "ask", reason)
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "fields", "wanted"),
    [
        (("--fail-closed",), {}, (2, "")),
        (("--client", "codex"), {}, (0, "deny")),  # which cannot ask
        (("--client", "cursor", "--event", "preToolUse"), {}, (0, "deny")),
        (("--client", "gemini", "--event", "BeforeTool", "--fail-closed"), {}, (0, "deny")),
    ],
)
def test_a_call_over_the_size_limit_is_refused_where_no_user_can_be_asked(
    machine: Machine, words: tuple[str, ...], fields: dict[str, str], wanted: tuple[int, str]
) -> None:
    machine.hook()
    payload = oversized("PreToolUse", **fields)
    code, out, err = machine.hook(None, *words, raw=payload)
    verdicts = ("deny", "ask", "allow")
    assert (code, next((each for each in verdicts if f'"{each}"' in out), "")) == wanted
    assert f"the payload has {len(payload)} bytes; send at most {LIMIT}" in (out or err)


@pytest.mark.parametrize("words", [(), ("--fail-closed",)])
def test_an_output_over_the_size_limit_is_not_refused(machine: Machine, words: tuple[str, ...]) -> None:
    machine.hook()
    assert machine.hook(None, *words, raw=oversized("PostToolUse"))[:2] == (0, "")


def test_a_call_with_more_parts_than_are_read_is_asked_about(machine: Machine) -> None:
    machine.hook()
    parts = b"[" + b"[]," * 600_000 + b"[]]"
    payload = (
        json.dumps({**CALL, "tool_name": "mcp__x__y"}).encode().replace(b'{"command": "ls"}', b'{"a": ' + parts + b"}")
    )
    code, out, _ = machine.hook(raw=payload)
    assert (code, json.loads(out)["hookSpecificOutput"]["permissionDecision"]) == (0, "ask")


def latencies(machine: Machine, number: int, until: Any = lambda: False) -> list[float]:
    """How long small events took; at least this many, and on until the condition holds."""
    found: list[float] = []
    while len(found) < number and not (found and until()):
        found.append(timed(machine, machine.frame()))
    return found


def timed(machine: Machine, frame: bytes) -> float:
    began = time.monotonic()
    assert machine.send_bytes(frame) == Reply().encode()
    return time.monotonic() - began


def percentile(values: list[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def peak(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def open_files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


NAMES = ["..", "../../x", "/etc/x", "a/../../b", "~", "~root", "-rf", "con", ".", "a\0b", "x" * 5000, "$(touch pwned)"]
NAMES += ["`touch pwned`", "%2e%2e%2fx", "..\\..\\x", "\u202e", "a\nb", "; touch pwned", "{{x}}", "file:///x", "\ud800"]
FIELDS = ("session_id", "tool_use_id", "transcript_path", "agent_id", "prompt_id", "tool_name")


@times("names", 40, 300)
def test_no_name_in_a_payload_makes_a_file_elsewhere(tmp_path: Path, names: int, figure: Figure) -> None:
    seed = draw_seed()
    chosen = random.Random(seed)
    where = Places(tmp_path / "h" / "config", tmp_path / "h" / "state", tmp_path / "h" / "run")
    project = tmp_path / "project"
    project.mkdir()
    (where.config).mkdir(parents=True)
    (where.config / "snell.toml").write_text('[[hooks]]\nevent="PreToolUse"\ncommand="true $X"\n', encoding="utf-8")
    before = everything_but(tmp_path, where.state)
    client = client_named("claude-code")
    with Runtime.for_user({"HOME": str(tmp_path / "h"), "PATH": os.environ["PATH"]}, where) as runtime:
        for number in range(names):
            name = NAMES[number] if number < len(NAMES) else "".join(chosen.choices("./\\~a\0%$é-\n", k=20))
            for field in FIELDS:
                event = {**CALL, "cwd": str(project), field: name}
                data = json.dumps(event).encode("utf-8", "surrogatepass")
                with contextlib.suppress(SnellError):
                    runtime.handle(client, data)
    odd_ones = [
        path.name for path in where.state.rglob("*") if not path.name.startswith(("snell.db", "crashes", "audit."))
    ]
    figure(test="T24", fault="names that point elsewhere", names=names, fields=len(FIELDS), seed=seed, escaped=0)
    assert (everything_but(tmp_path, where.state), odd_ones) == (before, [])


def everything_but(folder: Path, left_out: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path != left_out and left_out not in path.parents}


@times("events", 3000, 100_000)
@pytest.mark.skipif(sys.platform != "linux", reason="memory is looked up in /proc")
def test_a_long_life_leaks_nothing(machine: Machine, events: int, figure: Figure) -> None:
    machine.hook()
    pid, began = machine.pid, time.monotonic()
    first = max(1500, events // 5)  # more than the requests that are remembered
    flood(machine, first)
    at_first, files = resident(pid), open_files(pid)
    flood(machine, events - first)
    growth, after = resident(pid) - at_first, open_files(pid)
    wal = machine.home / "state" / "snell.db-wal"
    wait_until(lambda: wal.stat().st_size <= LOG_LIMIT)  # what a checkpoint leaves; one may still be due
    log = wal.stat().st_size
    served = machine.ask('{"cmd": "status"}')[0]["data"]["served"]
    children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, check=False).stdout.split()
    figure(
        test="T03",
        fault="soak",
        events=served,
        growth_mb=round(growth / 1e6, 1),
        descriptors=[files, after],
        children=len(children),
        log_mb=round(log / 1e6, 1),
        seconds=round(time.monotonic() - began, 1),
    )
    assert growth < 10_000_000
    assert (abs(after - files) <= 2, len(children) <= 1, log <= LOG_LIMIT, machine.pid) == (True, True, True, pid)


def flood(machine: Machine, events: int) -> None:
    """From other processes, as an interpreter cannot keep up with the daemon and be two agents at once."""
    flooding = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.faults.flood", str(machine.home), str(machine.project), str(events // 2)],
            cwd=Path(__file__).resolve().parent.parent.parent,
        )
        for _ in range(2)
    ]
    assert [each.wait(100) for each in flooding] == [0, 0]


def resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
