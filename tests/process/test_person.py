"""Who may loosen protection: real processes with real terminals, as a person, an editor, and an agent have them."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from snell.cli.confirmation import AGENT_MARKERS
from snell.cli.person.caller import Caller, at_terminal, runs_only_system_code
from snell.cli.person.codes import LIFE, Request, accept, issue, last_refusal, remember_refusal
from snell.cli.person.process_chain import Link
from tests.process.person_home import (
    HOST,
    PAUSE,
    SYSTEM_PYTHON,
    Home,
    in_container,
    needs_root,
    needs_system_python,
    refused,
)
from tests.waiting import wait_until


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.mark.parametrize("answer", ["letters", "y"])
def test_a_terminal_that_a_python_program_opened_is_refused(home: Home, answer: str) -> None:
    assert refused(home, home.run([sys.executable, "-c", HOST, answer, *PAUSE]))


def test_a_terminal_that_script_opened_is_refused(home: Home) -> None:
    command = ["/usr/bin/script", "-qec", shlex.join(PAUSE), "/dev/null"]
    assert refused(home, home.run(command))
    # A variable cannot make it more.
    assert refused(home, home.run(command, TERM_PROGRAM="vscode", TERMINAL_EMULATOR="JetBrains-JediTerm"))


def test_a_shell_whose_parents_have_ended_is_refused_though_it_has_a_terminal(home: Home) -> None:
    shown = home.folder / "shown"
    wait = "while [ $(cut -d' ' -f4 /proc/$$/stat) = $PARENT ]; do :; done"
    orphan = f"{wait}; {shlex.join(PAUSE)} >{shown} 2>&1; echo done >>{shown}"
    host = f"""
import os, pty, signal
if os.fork() == 0:
    os.environ["PARENT"] = str(os.getpid())
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.execv("/bin/sh", ["sh", "-c", {orphan!r}])
    os.set_inheritable(terminal, True)  # one more process keeps it open
    os.execv("/bin/sh", ["sh", "-c", "exec sleep 20 >/dev/null 2>&1"]) if os.fork() == 0 else os._exit(0)
"""
    home.run([sys.executable, "-c", host])
    wait_until(lambda: shown.exists() and "done" in shown.read_text(encoding="utf-8"))
    assert refused(home, shown.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["claude", "codex", "cursor-agent", "opencode"])
def test_a_client_among_the_ancestors_is_an_agent_even_without_its_variables(home: Home, name: str) -> None:
    client = home.program(name, '#!/bin/sh\n"$@"\n')
    said = home.run([client, "/usr/bin/env", "-i", *(f"{key}={home.env[key]}" for key in home.env), *PAUSE])
    assert "belongs to an agent" in said
    assert refused(home, said)


def test_a_client_that_an_interpreter_runs_is_an_agent(home: Home) -> None:
    folder = home.folder / "node_modules" / "@anthropic-ai" / "claude-code"
    folder.mkdir(parents=True)
    (folder / "cli.sh").write_text('"$@"; exit\n', encoding="utf-8")
    assert "belongs to an agent" in home.run(["/bin/sh", str(folder / "cli.sh"), *PAUSE])


@pytest.mark.parametrize("marker", AGENT_MARKERS[::7])
def test_a_variable_that_was_unset_still_counts_in_an_ancestor(home: Home, marker: str) -> None:
    command = ["/bin/sh", "-c", f"unset {marker}; {shlex.join(PAUSE)}; exit"]
    said = home.run(command, **{marker: "1"})
    assert "belongs to an agent" in said
    assert marker not in said
    assert refused(home, said)


@needs_root
@needs_system_python
def test_in_the_terminal_of_an_editor_the_letters_that_it_shows_have_to_be_typed(home: Home) -> None:
    words = home.installed("code")
    assert refused(home, home.run([*words, "WRONG", *PAUSE]))
    assert refused(home, home.run([*words, "letters", *PAUSE], ELECTRON_RUN_AS_NODE="1"))
    said = home.run([*words, "letters", *PAUSE])
    assert "only policy hooks run until" in said
    assert home.is_paused


@needs_root
@needs_system_python
def test_an_agent_in_the_terminal_of_an_editor_gets_no_letters(home: Home) -> None:
    said = home.run([*home.installed("code"), "letters", *PAUSE], CURSOR_AGENT="1")
    assert "Type " not in said
    assert refused(home, said)


@needs_root
@needs_system_python
def test_no_code_is_given_in_an_editor_nor_without_a_terminal_nor_to_an_agent(home: Home) -> None:
    words, command = home.installed("code"), [sys.executable, "-m", "snell", "code"]
    for said in (home.run(command), home.run([*words, "y", *command]), home.run(command, CLAUDECODE="1")):
        assert "a code is given only to a person at a terminal" in said
        assert not re.search(r"[A-Z0-9]{4}-[A-Z0-9]{4}", said)


@pytest.fixture
def tmux(home: Home) -> Iterator[list[str]]:
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed")
    words = ["tmux", "-S", str(home.folder / "tmux"), "-f", "/dev/null"]
    yield words
    home.run([*words, "kill-server"])


def test_keys_that_are_sent_to_a_pane_of_tmux_are_not_a_persons(home: Home, tmux: list[str]) -> None:
    shown = home.folder / "shown"
    home.run([*tmux, "new-session", "-d", "-s", "one", "/bin/sh"])
    home.run([*tmux, "send-keys", "-t", "one", f"{shlex.join(PAUSE)} >{shown} 2>&1; echo done >>{shown}", "Enter"])
    wait_until(lambda: shown.exists() and "done" in shown.read_text(encoding="utf-8"))
    assert refused(home, shown.read_text(encoding="utf-8"))


@needs_system_python
@pytest.mark.parametrize("name", ["gnome-terminal-server", "xterm", "sshd", "konsole", "login", "tmux"])
@pytest.mark.parametrize("way", ["first argument", "kernel name"])
def test_a_program_of_the_system_that_calls_itself_a_terminal_is_refused(home: Home, name: str, way: str) -> None:
    """Its path is what counts: any process can change its other names."""
    rename = f"import ctypes; ctypes.CDLL(None).prctl(15, b{name[:15]!r}, 0, 0, 0)\n"
    host = rename + HOST if way == "kernel name" else HOST
    ssh = {"SSH_CONNECTION": "198.51.100.7 40000 203.0.113.9 22"}
    words = ["/bin/bash", "-c", f'exec -a {name} {SYSTEM_PYTHON} "$@"', "bash", "-c", host, "letters", *PAUSE]
    assert refused(home, home.run(words, **ssh))


@pytest.mark.skipif(not shutil.which("gcc"), reason="there is no C compiler")
def test_a_terminal_into_which_a_library_was_loaded_is_refused(home: Home) -> None:
    """A library of the user's in a program of the system does what the user's program does."""
    source = home.program("evil.c", """
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void) {}
""")  # fmt: skip
    library = f"{home.folder}/evil.so"
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", library], check=True)
    link = Link(pid=1, parent=0, name="x", program="/bin/sleep")
    sleeper = subprocess.Popen(["/bin/sleep", "60"], env={"LD_PRELOAD": library})
    other = subprocess.Popen(["/bin/sleep", "60"])
    try:
        wait_until(lambda: os.readlink(f"/proc/{sleeper.pid}/exe").endswith(("sleep", "coreutils")), 10)
        wait_until(lambda: "evil.so" in Path(f"/proc/{sleeper.pid}/maps").read_text(encoding="utf-8"), 10)
        found = [runs_only_system_code(msgspec.structs.replace(link, pid=each.pid)) for each in (sleeper, other)]
    finally:
        for each in (sleeper, other):
            each.kill()
            each.wait()
    assert found == [False, True]


def on(terminal: str, *, pid: int, **fields: object) -> Link:
    """A process of the user 1000 in a session of its own on this terminal; those of the host are of root."""
    ours = {
        "parent": 0,
        "name": "x",
        "session": pid,
        "terminal": terminal,
        "user": 1000,
        "is_pseudo": terminal == "pts",
    }
    return Link(pid=pid, **(ours | fields))  # type: ignore[arg-type]  # the fields of one


FIRST = on("", pid=1, user=0, name="systemd")
OWN, LOGIN = {"name": "bash"}, {"user": 0, "name": "login"}


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        # A console: `login` stays its leader, or leaves it to the shell.
        ([on("tty1", pid=2**22 + 1, session=2**22 + 2), on("tty1", pid=2**22 + 2, **LOGIN), FIRST], Caller.PERSON),
        ([on("tty1", pid=2**22 + 1, **OWN), on("", pid=2**22 + 2, **LOGIN), FIRST], Caller.PERSON),
        ([on("pts", pid=2**22 + 1, **OWN), on("", pid=2**22 + 2, **LOGIN), FIRST], Caller.UNKNOWN),
        # A process of the user without its parent that opened a serial line.
        ([on("ttyUSB0", pid=2**22 + 1, **OWN), FIRST], Caller.UNKNOWN),
        # Servers of terminals to which any process can connect.
        *(
            ([on("pts", pid=2**22 + 1, **OWN), on("", pid=2**22 + 2, name=name, program=f"/usr/bin/{name}"), FIRST],
             Caller.UNKNOWN)
            for name in ("mosh-server", "wezterm-mux-server", "flatpak-session-helper", "screen", "zellij")
        ),
    ],
)  # fmt: skip
def test_who_opened_a_terminal_decides(chain: list[Link], expected: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert at_terminal(chain) is expected


@needs_root
def test_a_person_at_a_terminal_is_asked_nothing(home: Home) -> None:
    said = home.run([sys.executable, "-c", HOST, "", *in_container(PAUSE)])
    assert "only policy hooks run until" in said
    assert home.is_paused


@needs_root
def test_a_container_that_any_user_can_make_is_refused(home: Home) -> None:
    inside = f"""
import fcntl, os, termios, time
ours, theirs = os.openpty()
if os.fork() == 0:
    while True:
        os.write(1, os.read(ours, 65536))
os.setsid()
fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
[os.dup2(theirs, number) for number in range(3)]
os.execv({PAUSE[0]!r}, {PAUSE!r})
"""
    command = ["/usr/bin/unshare", "-Ur", "-pf", "--mount-proc", sys.executable, "-c", inside]
    assert refused(home, home.run(command))


@needs_root
def test_a_code_from_a_persons_terminal_lets_exactly_the_refused_command_run_once(home: Home) -> None:
    asked = [*PAUSE, "--why", "it hangs"]
    assert refused(home, home.run(asked))
    code_command = in_container([sys.executable, "-m", "snell", "code"])
    shown = home.run([sys.executable, "-c", HOST, "y", *code_command])
    assert "snell pause 5 --why 'it hangs'" in shown
    (code, *_) = re.findall(r"[A-Z0-9]{4}-[A-Z0-9]{4}", shown)
    assert "for something else" in home.run([*PAUSE[:-1], "60", "--code", code])
    assert not home.is_paused
    assert "only policy hooks run until" in home.run([*asked, "--code", code])
    assert "this code is wrong, used, too old" in home.run([*asked, "--code", code])


@needs_root
def test_digests_in_the_policy_of_the_machine_need_no_person(home: Home) -> None:
    project = home.folder / "project"
    (project / ".snell" / "hooks").mkdir(parents=True)
    (project / ".snell" / "hooks" / "a.py").write_text("from snell import informs\n", encoding="utf-8")
    trust = [sys.executable, "-m", "snell", "trust", str(project)]
    digest = json.loads(home.run([*trust, "--json"]))["digest"]
    assert refused(home, home.run([*trust, "--hash", digest]))
    policy = home.folder / "etc" / "snell" / "policy.toml"
    policy.parent.mkdir(parents=True)
    policy.write_text(f'trusted_digests = ["{digest}"]\n', encoding="utf-8")
    # Not if only a variable names it: an agent can set that, too.
    assert refused(home, home.run([*trust, "--hash", digest], SNELL_POLICY=str(policy)))
    mounted = f"mount --bind {policy.parents[1]} /etc && exec {shlex.join([*trust, '--hash', digest])}"
    assert "approved 1 of 1" in home.run(["/usr/bin/unshare", "-m", "/bin/sh", "-c", mounted])


def test_a_code_works_once_and_only_for_its_request(tmp_path: Path) -> None:
    mine, other = Request("snell trust", "/p", "approve a"), Request("snell trust", "/p", "approve b")
    code = issue(tmp_path, mine)
    assert [accept(tmp_path, each, request) for each, request in ((code, other), (code, mine), (code, mine))] == [
        False,
        True,
        False,
    ]
    assert accept(tmp_path, issue(tmp_path).lower().replace("-", " "), other)
    assert code.replace("-", "") not in (tmp_path / "codes.json").read_text(encoding="utf-8")


def test_after_five_wrong_tries_no_code_works(tmp_path: Path) -> None:
    request, code = Request("snell pause 5", "/p"), issue(tmp_path)
    assert not any(accept(tmp_path, f"AAAA-AAA{number}", request) for number in range(2, 7))
    assert not accept(tmp_path, code, request)


def test_a_code_is_too_old_after_five_minutes_and_if_a_clock_was_set(tmp_path: Path) -> None:
    request = Request("snell pause 5", "/p")
    for name, moved in (("wall", -LIFE), ("steady", -LIFE), ("wall", 60)):
        code = issue(tmp_path)
        stored = json.loads((tmp_path / "codes.json").read_bytes())
        stored["codes"][-1]["made"][name] += moved
        (tmp_path / "codes.json").write_text(json.dumps(stored), encoding="utf-8")
        assert not accept(tmp_path, code, request)


@pytest.mark.parametrize("content", [b"", b"null", b"[]", b"\xff\xfe", b'{"codes": 3}', b"[" * 100_000, b"x" * 200_000])
def test_a_damaged_file_of_codes_has_no_code_and_is_written_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "codes.json").write_bytes(content)
    request = Request("snell pause 5", "/p")
    assert last_refusal(tmp_path) is None
    assert not accept(tmp_path, "ABCD-EFGH", request)
    assert accept(tmp_path, issue(tmp_path), request)


def test_a_huge_request_is_kept_short(tmp_path: Path) -> None:
    huge = Request("snell trust " + "x" * 1_000_000, "/p")
    remember_refusal(tmp_path, huge)
    found = last_refusal(tmp_path)
    assert found is not None
    assert len(found.command) < 5_000
    assert accept(tmp_path, issue(tmp_path, found), huge)
