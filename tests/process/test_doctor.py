"""The doctor: a good installation is proved, and what is wrong is named with what to do."""

import json
import os
import subprocess
import sys

import pytest

from snell.cli.commands.doctor import is_supported
from snell.cli.health.program import kind_of
from tests.fork_server import run_snell
from tests.process.machine import HOOK, Machine


@pytest.fixture
def machine(tmp_path):
    if not HOOK.exists():
        pytest.skip("snell-hook is not installed beside this Python")
    machine = Machine(tmp_path)
    yield machine
    machine.stop()


def doctor(machine: Machine, *words: str) -> tuple[int, str]:
    code, out, err = run_snell("doctor", *(words or ("--all",)), env=machine.env(), cwd=machine.project)
    assert err == ""
    return code, out


def examined(machine: Machine) -> tuple[int, dict[str, list[tuple[str, str]]]]:
    """Exit code, and status and detail of each check by its name."""
    code, said = doctor(machine, "--json")
    found: dict[str, list[tuple[str, str]]] = {}
    for check in json.loads(said)["checks"]:
        assert check["status"] == "ok" or check["advice"]
        found.setdefault(check["name"], []).append((check["status"], check["detail"]))
    return code, found


def test_a_good_installation_is_proved_by_an_event_through_the_installed_command(machine):
    machine.hook({"tool_input": {"command": "bad"}})
    code, found = examined(machine)
    assert code == 0
    assert {status for name, rows in found.items() for status, _ in rows if name != "user"} == {"ok"}
    assert found["snell-hook"][0][1].startswith(str(HOOK))
    assert found["synthetic event"][0][1].startswith("6 events answered by the daemon; first ")
    assert found["client claude-code"] == [("ok", "last event just now, 1 recent event")]
    assert found["hook p/no_bad"] == [("ok", "last run just now, 1 recent run")]
    assert f"pid {machine.pid}, version " in found["daemon"][0][1]
    assert {"state folder", "run folder", "config folder", "socket", "store", "settings", "hooks"} <= set(found)


def test_people_get_a_line_for_each_check_and_what_to_do(machine):
    os.chmod(machine.config, 0o777)
    code, said = doctor(machine)
    assert code == 1
    assert f"fail  config folder: {machine.config} is writable by other users (mode 777)\n" in said
    assert f"      `chmod go-rwx {machine.config}`\n" in said


def test_a_folder_that_others_can_enter_fails(machine):
    machine.hook()
    machine.stop()  # a daemon that opens its store makes the folder private again
    os.chmod(machine.home / "state", 0o755)
    code, found = examined(machine)
    assert (code, found["state folder"][0][0]) == (1, "fail")


def test_a_socket_that_others_can_open_fails(machine):
    machine.hook()
    os.chmod(machine.home / "run/snell.sock", 0o666)
    code, found = examined(machine)
    assert (code, found["socket"][0][0]) == (1, "fail")


def test_a_damaged_store_is_named(machine):
    machine.hook()
    machine.stop()
    (machine.home / "state/snell.db").write_bytes(b"no database" * 1000)
    for ending in ("-wal", "-shm"):
        (machine.home / f"state/snell.db{ending}").unlink(missing_ok=True)
    _, found = examined(machine)
    assert found["store"][0][0] == "warn"
    assert "is damaged" in found["store"][0][1]


def test_a_store_that_cannot_be_written_fails(machine):
    machine.hook({"tool_input": {"command": "bad"}})
    machine.stop()
    state = machine.home / "state"
    for path in (state / "snell.db", state):
        path.chmod(0o500)
    # Root may write anywhere; in a namespace that does not know it, it is an owner like any other.
    wrap = ["unshare", "--user"] if os.geteuid() == 0 else []
    command = [*wrap, sys.executable, "-m", "snell", "doctor", "--json"]
    done = subprocess.run(command, env=machine.env(), cwd=machine.project, capture_output=True, timeout=100)
    state.chmod(0o700)
    told = [check for check in json.loads(done.stdout)["checks"] if check["name"] == "store"]
    assert [(check["status"], check["detail"]) for check in told] == [("fail", f"{state / 'snell.db'} is not writable")]


def test_the_doctors_own_event_is_not_the_last_decision(machine):
    machine.hook({"tool_input": {"command": "bad"}})
    doctor(machine)
    _, out, _ = run_snell("why", "last", env=machine.env(), cwd=machine.project)
    assert out.startswith("PreToolUse Bash")


def test_settings_that_cannot_be_meant_fail_and_unapproved_hooks_are_named(machine):
    machine.write("snell.toml", 'packs = ["pack"]\ndisable_all_hook = true\n[[hooks]]\nevent = "PreToolUse"\n')
    (machine.project / ".snell/hooks").mkdir(parents=True)
    (machine.project / ".snell/hooks/x.py").write_text("", encoding="utf-8")
    code, found = examined(machine)
    assert code == 1
    assert ("fail", f"{machine.config / 'snell.toml'}:2: `disable_all_hook` is not a setting") in found["settings"]
    assert found["trust"][0][0] == "warn"
    assert "1 hook of this project not approved, so without effect: " in found["trust"][0][1]
    assert not [each for each in found["settings"] if "not approved" in each[1]]  # it is said once


def test_a_hook_that_failed_last_is_a_warning(machine):
    machine.write("snell.toml", '[[hooks]]\nid="broken"\nevent="PreToolUse"\ncommand="exit 5"\n')
    machine.hook()
    machine.stop()
    _, found = examined(machine)
    assert found["hook broken"] == [("warn", "last run just now, 1 recent run, 1 failed, including the last one")]


def test_a_port_that_is_taken_fails_and_a_server_that_is_away_is_a_warning_without_its_password(machine):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        address = "postgresql://ann:hush-hush@127.0.0.1:1/team"
        machine.write("snell.toml", f'database = "{address}"\n[http]\nport = {port}\n')
        code, found = examined(machine)
        assert (code, found["http endpoint"][0][0]) == (1, "fail")
        assert found["database"][0][1].startswith("postgresql://127.0.0.1:1/team, ")
        for words in (["--json"], []):
            _, said, _ = run_snell("settings", *words, env=machine.env(), cwd=machine.project)
            assert "127.0.0.1:1/team" in said
            assert "hush" not in said
        assert "hush" not in str(found) + json.dumps(machine.ask('{"cmd": "status"}'))
        machine.stop()
    kept = [path for path in machine.home.rglob("*") if path.is_file() and path.name != "snell.toml"]
    assert [path for path in kept if b"hush" in path.read_bytes()] == []


def test_the_stand_in_is_told_from_the_native_program():
    assert [kind_of(data) for data in (b"#!/bin/sh\n", b"\xcf\xfa\xed\xfe", b"")] == ["stand-in", "native", "stand-in"]


def test_windows_is_told_that_it_is_not_supported():
    assert [is_supported(name) for name in ("linux", "darwin", "win32", "cygwin")] == [True, True, False, False]
