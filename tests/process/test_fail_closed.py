"""`snell-hook --fail-closed` when the decision in process fails: a refusal that the client understands, and no trap."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from snell.clients import CLIENTS, client_named
from tests.process.shim_sandbox import BOUND, ROOT, Ended, Peer, ShimSandbox, says
from tests.wire_client import Reply

pytest_plugins = ("tests.process.shim_fixtures",)

CALL = b'{"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}'
STOPPED = "snell-hook: denied, because Snell could not check it (--fail-closed): "
NO_DECISION = "ended without a decision; `snell doctor` shows the problem"
# How the Python that decides may end, as a shell script. A daemon that ends so is given up at once.
ENDS = {
    "exit code 1": "exit 1",
    "exit code 3": "echo '{}'; exit 3",
    "not found": "exit 127",
    "killed": "kill -9 $$",
    "crashed": "kill -SEGV $$",
    "package missing": f"exec {sys.executable} -I -c 'import snell_is_not_installed'",
    "syntax error": f"exec {sys.executable} -I -c 'def broken('",
    "no memory": f"ulimit -v 40000; exec {sys.executable} -I -c 'bytes(9**9)'",
}
NATIVE = {"cursor": "preToolUse", "gemini": "BeforeTool", "windsurf": "pre_run_command"}
needs_namespaces = pytest.mark.skipif(
    not shutil.which("unshare")
    or subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "true"], capture_output=True).returncode != 0,
    reason="no user namespaces here",
)


@pytest.mark.parametrize("end", ENDS)
def test_however_the_decision_ends_without_one_the_call_is_refused(shim: ShimSandbox, end: str) -> None:
    shim.script("python3", f"#!/bin/sh\n{ENDS[end]}\n")
    by_code = shim.call("--client", "claude-code", "--fail-closed", stdin=CALL)
    by_json = shim.call("--client", "cline", "--event", "PreToolUse", "--fail-closed", stdin=b"{}")
    assert (by_code.exit_code, by_code.stdout, last_line(by_code).startswith(STOPPED)) == (2, b"", True)
    assert (by_json.exit_code, json.loads(by_json.stdout)) == (0, {"cancel": True, "errorMessage": last_line(by_json)})


@pytest.mark.parametrize("name", CLIENTS)
def test_each_client_is_refused_in_its_own_form(shim: ShimSandbox, name: str) -> None:
    shim.script("python3", "#!/bin/sh\nexit 3\n")
    event = NATIVE.get(name, "PreToolUse")
    got = shim.call("--client", name.replace("_", "-"), "--event", event, "--fail-closed", stdin=b"{}")
    wanted = client_named(name).encode_failure(event, last_line(got), blocks=True)
    assert (got.exit_code, got.stdout.strip()) == (wanted.exit_code, wanted.stdout.strip())
    assert last_line(got) == f"{STOPPED}`{shim.bin}/python3`: {NO_DECISION}"


@pytest.mark.parametrize("name", CLIENTS)
def test_without_the_wish_to_refuse_no_client_takes_it_for_a_refusal(shim: ShimSandbox, name: str) -> None:
    shim.script("python3", "#!/bin/sh\nexit 3\n")
    event = NATIVE.get(name, "PreToolUse")
    got = shim.call("--client", name, "--event", event, stdin=b"{}")
    neutral = client_named(name).encode_failure(event, "", blocks=False)
    # Where any other code is a failed hook that changes nothing, it stays: the client shows it to the person.
    assert (got.exit_code, got.stdout.strip()) == (3 if neutral.exit_code else 0, neutral.stdout.strip())


@pytest.mark.parametrize("said", ["", '{"permission": "allow', '{"permission": {"a": "}"}'])
def test_an_answer_that_breaks_off_is_none(shim: ShimSandbox, said: str) -> None:
    shim.script("python3", f"#!/bin/sh\nprintf '%s' '{said}'\n")
    got = shim.call("--client", "cursor", "--event", "preToolUse", "--fail-closed", stdin=b"{}")
    assert (got.exit_code, json.loads(got.stdout)["permission"]) == (0, "deny")


def test_what_another_program_prints_is_no_answer(shim: ShimSandbox) -> None:
    shim.script("python3", "#!/bin/sh\necho hello\n")
    got = shim.call("--client", "claude-code", "--fail-closed", stdin=CALL)
    assert (got.exit_code, got.stdout, last_line(got).startswith(STOPPED)) == (2, b"", True)
    assert shim.call("--client", "claude-code", stdin=CALL).stdout == b"hello\n"  # where nothing is to be refused


@pytest.mark.parametrize("limit", ["RLIMIT_FSIZE, (0, 0)", "RLIMIT_NOFILE, (4, 4)"])
def test_a_process_that_may_keep_no_file_is_refused_at_once(shim: ShimSandbox, limit: str) -> None:
    if shim.form != "native" and "NOFILE" in limit:
        pytest.skip("Python itself needs more files")
    shim.script("python3", "#!/bin/sh\necho '{}'\n")
    before = f"import resource; resource.setrlimit(resource.{limit})"
    assert shim.call("--client", "claude-code", "--fail-closed", stdin=CALL, before=before).exit_code == 2


@pytest.mark.parametrize("code", [0, 2])
def test_a_whole_answer_is_passed_on(shim: ShimSandbox, code: int) -> None:
    shim.script("python3", f'#!/bin/sh\necho \'{{"permission": "allow"}}\'; echo why >&2; exit {code}\n')
    got = shim.call("--client", "cursor", "--event", "preToolUse", "--fail-closed", stdin=b"{}")
    assert (got.exit_code, got.stdout, last_line(got)) == (code, b'{"permission": "allow"}\n', "why")


def test_a_mistake_that_looks_like_a_refusal_by_exit_code_is_one_for_clients_that_read_none(shim: ShimSandbox) -> None:
    shim.script("python3", "#!/bin/sh\necho 'usage: snell' >&2; exit 2\n")
    got = shim.call("--client", "cline", "--event", "PreToolUse", "--fail-closed", stdin=b"{}")
    assert (got.exit_code, json.loads(got.stdout)["cancel"]) == (2, True)


@pytest.mark.parametrize(
    "event", ["Stop", "SubagentStop", "TaskCompleted", "TeammateIdle", "PostToolUse", "SessionStart"]
)
@pytest.mark.parametrize("end", ["exit 3", "kill -9 $$"])
def test_what_ends_a_turn_or_has_happened_is_not_refused(shim: ShimSandbox, event: str, end: str) -> None:
    shim.script("python3", f"#!/bin/sh\n{end}\n")
    payload = CALL.replace(b"PreToolUse", event.encode())
    assert shim.call("--client", "claude-code", "--fail-closed", stdin=payload).exit_code in (0, 3)
    got = shim.call("--client", "cursor", "--fail-closed", stdin=payload)
    assert (got.exit_code, got.stdout) == (0, b'{"continue":true}' if event == "SessionStart" else b"{}")
    assert b"not checked" in got.stderr


def test_the_call_that_may_wake_an_agent_is_not_refused(shim: ShimSandbox) -> None:
    shim.script("python3", "#!/bin/sh\nkill -9 $$\n")
    assert shim.call("--client", "claude-code", "--fail-closed", "--rewake", stdin=CALL).exit_code == 0


@pytest.mark.parametrize(
    "payload",
    [
        b'{"tool_input": {"hook_event_name": "Stop"}, "hook_event_name": "PreToolUse"}',
        b'{"tool_input": {"command": "\\"hook_event_name\\": \\"Stop\\""}, "hook_event_name": "PreToolUse"}',
        b'{"hook_event_name": "PreToolUse", "hookEventName": "Stop"}',
        b'{"tool_input": [{"hook_event_name": "Stop"}',
        b"",
    ],
)
def test_what_a_model_writes_does_not_make_its_call_another_event(shim: ShimSandbox, payload: bytes) -> None:
    shim.script("python3", "#!/bin/sh\nexit 3\n")
    assert shim.call("--client", "claude-code", "--fail-closed", stdin=payload).exit_code == 2


@pytest.mark.parametrize(
    "words",
    [["--client=CLAUDE_CODE"], ["claude"], ["--event", "PreToolUse", "--client", "cursor", "--client", "claude-code"]],
)
def test_the_client_is_known_however_it_is_named(shim: ShimSandbox, words: list[str]) -> None:
    shim.script("python3", "#!/bin/sh\nexit 3\n")
    assert shim.call(*words, "--fail-closed", stdin=CALL).exit_code == 2
    got = shim.call("Cline-CLI", "--fail-closed", stdin=CALL)
    assert (got.exit_code, json.loads(got.stdout)["cancel"]) == (0, True)


def test_a_daemon_that_fails_is_no_decision_either(shim: ShimSandbox) -> None:
    with Peer(shim, says(Reply(1, b"", b"snell: this is a bug\n").encode())):
        got = shim.call("--client", "claude-code", "--fail-closed", stdin=CALL)
    assert (got.exit_code, got.stderr.splitlines()[0]) == (2, b"snell: this is a bug")


def test_a_path_with_quotes_in_it_makes_no_broken_json(native_shim: ShimSandbox) -> None:
    odd = native_shim.bin / 'a"b\\é'
    odd.mkdir()
    shutil.copy(native_shim.bin / "snell-hook", odd / "snell-hook")
    native_shim.bin = odd
    got = native_shim.call("--client", "gemini", "--event", "BeforeTool", "--fail-closed", stdin=b"{}")
    assert "a?b???/python3" in json.loads(got.stdout)["reason"]


@needs_namespaces
@pytest.mark.parametrize("how", ["absolute", "relative", "link", "PATH"])
def test_without_proc_the_program_finds_itself(native_shim: ShimSandbox, how: str) -> None:
    link = native_shim.home / "link"
    link.symlink_to(native_shim.bin / "snell-hook")
    (native_shim.home / "refuse").touch()
    program = {"absolute": str(native_shim.bin / "snell-hook"), "relative": "./snell-hook", "link": str(link)}
    got = in_a_world_without_proc(native_shim, program.get(how, "snell-hook"))
    assert (got.exit_code, got.stdout.splitlines()[1:]) == (7, [b"{}"])


@needs_namespaces
@pytest.mark.parametrize(("words", "code"), [([], 0), (["--fail-closed"], 2)])
def test_without_proc_and_without_python_the_failure_policy_counts(
    native_shim: ShimSandbox, words: list[str], code: int
) -> None:
    (native_shim.bin / "python3").unlink()
    got = in_a_world_without_proc(native_shim, str(native_shim.bin / "snell-hook"), *words)
    assert (got.exit_code, "cannot be started" in last_line(got)) == (code, True)


@pytest.mark.parametrize(
    ("event", "code"), [("PreToolUse", 2), ("PermissionRequest", 0), ("PostToolUse", 0), ("Stop", 0)]
)
def test_snell_hook_in_python_refuses_the_same_events(tmp_path: Path, event: str, code: int) -> None:
    payload = b'{"hook_event_name": "%s", "a": }' % event.encode()
    command = [sys.executable, "-I", "-m", "snell", "hook", "--client", "claude-code", "--fail-closed"]
    env = {"HOME": str(tmp_path), "SNELL_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, input=payload, env=env, cwd=tmp_path, capture_output=True, timeout=BOUND)
    assert (done.returncode, b'"behavior":"deny"' in done.stdout) == (code, event == "PermissionRequest")


def test_the_table_in_the_program_is_that_of_the_clients() -> None:
    done = subprocess.run([sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, timeout=BOUND)
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_half_removed_package_refuses(shim: ShimSandbox, tmp_path: Path) -> None:
    if shim.form == "native":
        pytest.skip("about the form in Python")
    package = tmp_path / "lib" / "snell" / "daemon"
    (package / "python_form").mkdir(parents=True)
    for name in ("shim.py", "shim_connection.py", "shim_forms.txt", "python_form/policy.py"):
        shutil.copy(ROOT / "src/snell/daemon" / name, package / name)
    command = [sys.executable, "-I", "-S", str(package / "shim.py"), "1", "--fail-closed", "--client"]
    for left, codes in (("policy.py", [2, 0]), ("nothing", [2, 2])):
        done = [
            subprocess.run([*command, name], capture_output=True, timeout=BOUND) for name in ("claude-code", "cline")
        ]
        assert ([each.returncode for each in done], b"Traceback" in done[0].stderr) == (codes, False), left
        (package / "python_form/policy.py").unlink(missing_ok=True)


def in_a_world_without_proc(shim: ShimSandbox, program: str, *words: str) -> Ended:
    script = f'mount -t tmpfs none /proc && cd {shim.bin} && PATH="{shim.bin}:$PATH" && exec "$@"'
    command = ["unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-c", script, "sh", program, *words]
    done = subprocess.run(command, input=b"{}", env=shim.env, capture_output=True, timeout=BOUND)
    return Ended(done.returncode, done.stdout, done.stderr)


def last_line(got: Ended) -> str:
    return got.stderr.decode("utf-8", "replace").splitlines()[-1]
