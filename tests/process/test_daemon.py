"""The daemon behind the real `snell-hook`: started by it, shared by many, gone without a trace."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.process.machine import CALL, PACK
from tests.waiting import wait_until
from tests.wire_client import Reply, encode

pytest_plugins = ("tests.process.machine_fixtures",)
pytestmark = pytest.mark.real_start


@pytest.mark.proves("S2-135")
def test_the_first_hook_starts_the_daemon_and_the_next_ones_use_it(machine):
    assert machine.reason({"tool_input": {"command": "bad"}}) == "not that"
    first = machine.pid
    assert machine.reason() == ""
    assert (machine.pid, machine.daemons()) == (first, [first])
    modes = {name: oct(os.stat(machine.home / "run" / name).st_mode & 0o777) for name in ("snell.sock", "daemon.lock")}
    assert modes == {"snell.sock": "0o600", "daemon.lock": "0o600"}
    assert oct(os.stat(machine.home / "run").st_mode & 0o777) == "0o700"


def test_thirty_hooks_at_once_start_one_daemon_and_all_get_their_answer(machine):
    with ThreadPoolExecutor(30) as pool:
        commands = ["bad" if number % 2 else "ls" for number in range(30)]
        reasons = list(pool.map(lambda command: machine.reason({"tool_input": {"command": command}}), commands))
    assert reasons == ["not that" if command == "bad" else "" for command in commands]
    assert len(machine.daemons()) == 1


def test_hooks_of_a_pack_that_change_come_or_go_count_at_once(machine):
    """Although no settings file did."""
    bad = {"tool_input": {"command": "bad"}}
    reasons = [machine.reason(bad)]
    machine.write("pack/rules.py", PACK.format(reason="changed"))
    reasons.append(machine.reason(bad))
    machine.write("pack/second.py", PACK.format(reason="another").replace("no_bad", "nor_that"))
    reasons.append(machine.reason(bad))
    (machine.config / "pack" / "rules.py").unlink()
    reasons.append(machine.reason(bad))
    assert reasons == ["not that", "changed", "changed\nanother", "another"]


def test_changed_hooks_and_settings_count_at_once(machine):
    bad = {"tool_input": {"command": "bad"}}
    before = machine.reason(bad)
    machine.write("pack/rules.py", PACK.format(reason="changed"))
    machine.write("snell.toml", 'packs = ["pack"]\n[[hooks]]\nevent="PreToolUse"\ncommand="echo new >&2; exit 2"\n')
    assert [before, machine.reason(bad), machine.reason()] == ["not that", "changed\nnew", "new"]


@pytest.mark.proves("S2-132")
def test_two_requests_never_see_each_others_environment_or_directory(machine, tmp_path):
    """Both hooks are in the daemon at the same time: each waits until the other has written its line."""
    machine.write(
        "snell.toml",
        """
        [[hooks]]
        event = "PreToolUse"
        timeout = 20
        [hooks.command]
        command = '''
        echo "$WHO $PWD" > "$BOX/$WHO"
        while [ "$(ls "$BOX" | wc -l)" -lt 2 ]; do sleep 0.01; done
        echo "$WHO $PWD" >&2
        exit 2
        '''
        """,
    )
    box = tmp_path / "box"
    box.mkdir()
    places = {}
    for who in ("ann", "bob"):
        places[who] = tmp_path / who
        places[who].mkdir()
    with ThreadPoolExecutor(2) as pool:
        said = dict(
            pool.map(lambda who: (who, machine.reason({"cwd": str(places[who])}, WHO=who, BOX=str(box))), places)
        )
    assert said == {who: f"{who} {place}" for who, place in places.items()}


def test_the_environment_of_the_first_caller_does_not_stay(machine):
    machine.hook(MY_SECRET="hush")
    machine.write("snell.toml", '[[hooks]]\nevent="PreToolUse"\ncommand="echo [$MY_SECRET] >&2; exit 2"\n')
    assert machine.reason() == "[]"
    assert b"hush" not in Path(f"/proc/{machine.pid}/environ").read_bytes().split(b"MY_SECRET")[0]


def test_a_callers_own_policy_counts_for_that_caller_only(machine, tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text('[[hooks]]\nevent="PreToolUse"\ncommand="echo by policy >&2; exit 2"\n', encoding="utf-8")
    said = [machine.reason(), machine.reason(SNELL_POLICY=str(policy)), machine.reason()]
    machine.stop()
    said += [machine.reason(SNELL_POLICY=str(policy)), machine.reason()]
    assert said == ["", "by policy", "", "by policy", ""]


def test_a_pinned_script_that_was_away_counts_again_when_it_is_back(machine):
    from snell.settings.trust import approve, review
    from snell.system.paths import Places

    (machine.project / ".snell").mkdir()
    settings = '[[hooks]]\nevent="PreToolUse"\non_failure="block"\ncommand="sh guard.sh"\n'
    (machine.project / ".snell/snell.toml").write_text(settings, encoding="utf-8")
    guard = machine.project / "guard.sh"
    guard.write_text("echo guarded >&2; exit 2\n", encoding="utf-8")
    where = Places(machine.home / "config", machine.home / "state", machine.home / "run")
    approve(where, machine.project, [review(where, machine.project, machine.env()).digest], machine.env())
    before = machine.reason()
    guard.rename(machine.project / "away.sh")
    machine.hook()
    (machine.project / "away.sh").rename(guard)
    assert (before, machine.reason()) == ("guarded", "guarded")


def test_a_payload_without_a_directory_happens_where_its_sender_is(machine):
    machine.write("snell.toml", '[[hooks]]\nevent="PreToolUse"\ncommand="pwd >&2; exit 2"\n')
    assert machine.reason({"cwd": None}) == str(machine.project)


def test_a_slow_hook_holds_no_other_call_up(machine, tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    machine.write("snell.toml", f'[[hooks]]\nevent="PreToolUse"\nmatcher="Write"\ncommand="cat {gate}"\n')
    slow = threading.Thread(target=machine.hook, args=({"tool_name": "Write", "tool_input": {}},))
    slow.start()
    wait_until(lambda: machine.daemons() and (machine.home / "run/snell.sock").exists())
    assert [machine.reason() for _ in range(5)] == [""] * 5
    gate.write_text("", encoding="utf-8")  # lets it go
    slow.join(20)
    assert not slow.is_alive()


def test_the_same_delivery_is_decided_once_even_while_it_is_being_decided(machine, tmp_path):
    log = tmp_path / "log"
    machine.write("snell.toml", f'[[hooks]]\nevent="PreToolUse"\ncommand="echo ran >> {log}; sleep 0.3; exit 2"\n')
    with ThreadPoolExecutor(5) as pool:
        codes = list(pool.map(lambda _: machine.hook({"tool_use_id": "t1"})[1], range(5)))
    assert len(set(codes)) == 1
    assert log.read_text(encoding="utf-8") == "ran\n"


def test_a_prompt_that_two_files_report_is_decided_once_and_the_same_prompt_later_again(machine, tmp_path):
    log = tmp_path / "log"
    machine.write("snell.toml", f'[[hooks]]\nevent="UserPromptSubmit"\ncommand="echo ran >> {log}; sleep 0.2"\n')
    prompt = {"hook_event_name": "UserPromptSubmit", "prompt": "go on"}
    for rounds in (1, 2):
        with ThreadPoolExecutor(2) as pool:  # from the settings and from a plugin
            list(pool.map(lambda words: machine.hook(prompt, *words), [(), ("--plugin",)]))
        assert log.read_text(encoding="utf-8") == "ran\n" * rounds


@pytest.mark.proves("S2-136")
def test_a_killed_daemon_is_replaced_by_the_next_hook(machine):
    machine.hook()
    first = machine.pid
    os.kill(first, signal.SIGKILL)
    assert machine.reason({"tool_input": {"command": "bad"}}) == "not that"
    assert machine.pid != first


@pytest.mark.real_start
def test_a_daemon_that_is_ended_right_after_its_first_answer_keeps_its_trace_and_the_ledger_row(machine):
    machine.hook({"tool_use_id": "first"})
    machine.stop()
    assert json.loads(machine.snell("why", "last", "--json"))["rounds"]
    assert json.loads(machine.snell("ledger", "show", "first", "--json"))["tool_name"] == "Bash"


def test_large_payloads_and_answers_go_through_whole(machine):
    text = "x" * 5_000_000
    code, out, err = machine.hook({"tool_input": {"command": "bad", "description": text}})
    assert (code, err) == (0, "")
    assert json.loads(out)["hookSpecificOutput"]["permissionDecisionReason"] == "not that"


def test_what_cannot_be_read_gets_one_clear_line(machine):
    for raw in (b"", b"nope", b"[]", b'{"a":1}', b"\xff\xfe"):
        code, out, err = machine.hook(raw=raw)
        assert (code, out, err.startswith("snell: "), len(err.splitlines())) == (0, "", True, 1)


def test_remote_calls_are_lines_of_json_and_mistakes_leave_the_connection_usable(machine):
    machine.hook()
    answers = machine.ask(
        '{"cmd": "ping"}', '{"cmd": "pin"}', "{nope", '{"cmd": 3}', '{"cmd":"ping","args":[]}', '{"cmd":"ping"}'
    )
    assert [answer.get("data", answer.get("error")) for answer in answers] == [
        "pong",
        "UNKNOWN_COMMAND",
        "PARSE_ERROR",
        "VALIDATION_ERROR",
        "VALIDATION_ERROR",
        "pong",
    ]


def test_a_python_file_that_the_settings_name_is_read_again_when_it_changes(machine):
    machine.write("own.py", PACK.format(reason="one"))
    machine.write("snell.toml", '[[hooks]]\nevent="PreToolUse"\n[hooks.python]\nfile="own.py"\nfunction="no_bad"\n')
    bad = {"tool_input": {"command": "bad"}}
    before = machine.reason(bad)
    machine.write("own.py", PACK.format(reason="two"))
    assert [before, machine.reason(bad)] == ["one", "two"]


def test_a_daemon_with_nothing_to_do_leaves_and_takes_its_socket_along(machine):
    machine.hook(SNELL_IDLE="0.2")
    wait_until(lambda: not machine.daemons())
    assert not (machine.home / "run/snell.sock").exists()
    assert machine.reason({"tool_input": {"command": "bad"}}) == "not that"


def test_a_daemon_that_no_client_can_reach_any_more_exits(machine):
    machine.hook()
    assert machine.daemons()
    shutil.rmtree(machine.home)
    wait_until(lambda: not machine.daemons())


def test_a_stop_waits_for_the_hook_that_is_running(machine, tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    machine.write("snell.toml", f'[[hooks]]\nevent="PreToolUse"\ncommand="cat {gate} >&2; exit 2"\n')
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(machine.reason)
        pid = wait_until(machine.daemons)[0]
        wait_until(lambda: subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, check=False).stdout)
        stopping = subprocess.Popen(
            [sys.executable, "-m", "snell", "daemon", "stop"], env=machine.env(), stdout=subprocess.PIPE, text=True
        )
        wait_until(lambda: not machine.socket.exists())
        assert (stopping.poll(), machine.daemons()) == (None, [pid])  # it says nothing before the daemon has ended
        gate.write_text("let go", encoding="utf-8")
        assert running.result(20) == "let go"
        assert stopping.communicate(timeout=60)[0] == f"daemon stopped (pid {pid})\n"
    wait_until(lambda: not machine.daemons())


def test_a_newer_shim_makes_the_daemon_give_way_after_its_answer(machine):
    machine.hook()
    first = machine.pid
    from snell.daemon.wire import Request

    request = Request("1 99.0.0", "a" * 32, "/", ("--client", "generic"), b"", json.dumps(CALL).encode())
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(20)
        connection.connect(str(machine.home / "run/snell.sock"))
        connection.sendall(encode(request))
        data = b"".join(iter(lambda: connection.recv(65536), b""))
    assert Reply.decode(data).exit_code == 0
    wait_until(lambda: first not in machine.daemons())
    assert machine.reason() == ""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:  # again at once: no restart loop
        connection.connect(str(machine.home / "run/snell.sock"))
        connection.sendall(encode(request))
        connection.recv(65536)
    second = machine.pid
    machine.hook()
    assert machine.pid == second


def test_without_a_daemon_the_decision_is_made_in_process(machine):
    """A run folder that cannot be used leaves the shim no socket."""
    (machine.home / "run").write_text("in the way", encoding="utf-8")
    code, out, _ = machine.hook({"tool_input": {"command": "bad"}})
    assert (code, json.loads(out)["hookSpecificOutput"]["permissionDecision"]) == (0, "deny")
    assert machine.daemons() == []


@pytest.mark.proves("S2-135")
def test_the_daemon_command_starts_asks_and_stops(machine):
    def snell(*words):
        done = subprocess.run(
            [sys.executable, "-m", "snell", "daemon", *words],
            env=machine.env(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    assert snell("status")[0] == 1
    assert snell("start")[0] == 0
    assert json.loads(snell("status", "--json")[1])["pid"] == machine.pid
    assert f", pid {machine.pid}, version " in snell("status")[1]
    assert snell("stop")[1].startswith("daemon stopped")
    wait_until(lambda: not machine.daemons())
    assert "no daemon is running" in snell("stop")[2]
    assert "ExecStart=" in snell("unit")[1]


def test_a_flood_sheds_traces_of_silent_events_but_never_a_denial(machine):
    """Small rows are all there; what is shed is counted."""
    from snell.daemon.wire import Request

    machine.hook()
    served = 1

    def send(number: int, command: str) -> None:
        payload = json.dumps({**CALL, "cwd": str(machine.project), "tool_input": {"command": command}}).encode()
        frame = encode(Request("1 0.1.0", f"{number:032x}", "/", ("--client", "generic"), b"", payload))
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(20)
            connection.connect(str(machine.home / "run/snell.sock"))
            connection.sendall(frame)
            while connection.recv(65536):
                pass

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: send(number, "bad" if number % 500 == 0 else "ls"), range(1, 3001)))
    served += 3000
    status = machine.ask('{"cmd": "status"}')[0]["data"]
    assert status["served"] == served
    machine.stop()
    env = machine.env()
    done = subprocess.run(
        [sys.executable, "-m", "snell", "log", "--json", "--verdict", "deny"], env=env, capture_output=True, check=True
    )
    denials = [json.loads(line)["id"] for line in done.stdout.splitlines()]
    assert len(denials) == 6
    for denial in denials:
        why = subprocess.run([sys.executable, "-m", "snell", "why", denial], env=env, capture_output=True, check=True)
        assert b"not that" in why.stdout
    everything = subprocess.run(
        [sys.executable, "-m", "snell", "log", "--json", "-n", "10000"], env=env, capture_output=True, check=True
    )
    assert len(everything.stdout.splitlines()) == served
