"""`snell-hook` with no daemon to talk to: one daemon is started for all; without one, there still is a decision."""

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from snell.system.paths import places
from tests.process.shim_sandbox import BOUND, TEST_DAEMON, Ended, ShimSandbox, compile_shim, wait_for_end

pytest_plugins = ("tests.process.shim_fixtures",)

OTHER_USER = """
import os, socket, sys
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
os.setuid(12345)
listening.listen()
print("up", flush=True)
sys.stdin.read()
"""
ANSWERED = Ended(0, b"answered\n", b"")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can play another user")


def test_the_first_event_starts_the_daemon_and_the_second_finds_it(shim: ShimSandbox) -> None:
    assert [shim.call(), shim.call()] == [ANSWERED, ANSWERED]
    assert len(shim.daemon_starts()) == 1


def test_what_is_made_is_for_its_owner_alone(shim: ShimSandbox) -> None:
    shim.call()
    modes = {path.name: stat.filemode(path.lstat().st_mode) for path in (shim.run, *shim.run.iterdir())}
    assert modes == {"run": "drwx------", "snell.sock": "srw-------", "start.lock": "-rw-------"}


def test_the_daemon_keeps_nothing_of_the_client_that_started_it(shim: ShimSandbox) -> None:
    read, write = os.pipe()
    try:
        shim.call(env={"API_KEY": "secret", "LD_LIBRARY_PATH": "/x", "LANG": "C"}, pass_fds=[write], cwd=shim.bin)
        os.close(write)
        assert os.read(read, 1) == b""  # no other process has the other end open
    finally:
        os.close(read)
    (note,) = shim.daemon_starts()
    added = {"SNELL_LISTEN_FD": "3", "MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}
    if shim.form == "native" and sys.platform == "linux":
        added["SNELL_ADOPTS"] = "1"
    assert {name: note[name] for name in ("cwd", "umask", "descriptors", "environment")} == {
        "cwd": "/",
        "umask": 0o077,
        "descriptors": ["/dev/null", "/dev/null", "/dev/null", "socket"],
        "environment": {**shim.env, "LANG": "C", **added},
    }
    assert note["parent"] != os.getpid()
    assert not note["leads_session"]  # so no terminal can become its own


def test_a_group_of_callers_starts_one_daemon_and_all_are_answered(shim: ShimSandbox) -> None:
    stampede(shim, 50 if shim.form == "native" else 20)


@pytest.mark.nightly
def test_a_large_group_of_callers_starts_one_daemon_and_all_are_answered(native_shim: ShimSandbox) -> None:
    stampede(native_shim, 200)


def stampede(shim: ShimSandbox, number: int) -> None:
    herd = [shim.start(stdin=subprocess.DEVNULL) for _ in range(number)]
    assert [wait_for_end(each) for each in herd] == [ANSWERED] * number
    assert len(shim.daemon_starts()) == 1


def test_no_event_is_lost_or_served_twice_while_daemons_come_and_go(native_shim: ShimSandbox) -> None:
    come_and_go(native_shim, 100)


@pytest.mark.nightly
def test_of_many_events_none_is_lost_or_served_twice(native_shim: ShimSandbox) -> None:
    come_and_go(native_shim, 2000)


def come_and_go(shim: ShimSandbox, number: int) -> None:
    (shim.home / "short-lived").touch()
    with ThreadPoolExecutor(4) as agents:
        answers = list(agents.map(lambda _: shim.call(), range(number)))
    assert answers == [ANSWERED] * number
    served = (shim.home / "served").read_text(encoding="utf-8").split()
    assert (len(served), len(set(served))) == (number, number)
    assert len(shim.daemon_starts()) > number / 20


@pytest.mark.proves("S2-136")
def test_a_socket_that_a_killed_daemon_left_is_replaced(shim: ShimSandbox) -> None:
    shim.run.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(shim.socket))
    (shim.run / "start.lock").write_text("1", encoding="utf-8")
    assert shim.call() == ANSWERED


def test_a_directory_open_to_others_is_closed_to_them(shim: ShimSandbox) -> None:
    shim.run.mkdir()
    shim.run.chmod(0o777)
    assert shim.call() == ANSWERED
    assert stat.filemode(shim.run.stat().st_mode) == "drwx------"


@pytest.mark.parametrize(
    ("variables", "where"),
    [
        ({"XDG_RUNTIME_DIR": "{home}/r", "XDG_STATE_HOME": "{home}/s", "HOME": "{home}"}, "s/snell/run"),
        ({"XDG_STATE_HOME": "s", "HOME": "{home}"}, ".local/state/snell/run"),
        ({"SNELL_HOME": "", "HOME": "{home}"}, ".local/state/snell/run"),
    ],
)
def test_the_socket_is_where_python_looks_for_it(shim: ShimSandbox, variables: dict[str, str], where: str) -> None:
    del shim.env["SNELL_HOME"]
    env = {name: value.format(home=shim.home) for name, value in variables.items()}
    started = shim.call(env=env)
    notes = list(shim.home.rglob("daemon-*"))
    for note in notes:
        note.rename(shim.home / note.name)
    assert (started, [note.parent for note in notes]) == (ANSWERED, [(shim.home / where).parent])


# Without a daemon


def test_for_a_path_too_long_for_a_socket_there_is_another_one(shim: ShimSandbox) -> None:
    home = shim.home / ("long/" * 20) / "end"
    home.mkdir(parents=True)
    env = {"SNELL_HOME": str(home)}
    run = places(env).run
    assert (run.parent, len(os.fsencode(run)) < 60) == (Path("/tmp"), True)
    try:
        assert [shim.call(env=env), shim.call(env=env)] == [ANSWERED, ANSWERED]
        assert stat.filemode(run.stat().st_mode) == "drwx------"
    finally:
        shutil.rmtree(run, ignore_errors=True)
    for note in home.glob("daemon-*"):
        note.rename(shim.home / note.name)
    assert len(shim.daemon_starts()) == 1


@pytest.mark.parametrize(("env", "where"), [({"SNELL_HOME": "here"}, "here"), ({"SNELL_HOME": "", "HOME": ""}, "HOME")])
def test_a_home_that_is_not_absolute_is_said(shim: ShimSandbox, env: dict[str, str], where: str) -> None:
    got = shim.call(stdin=b"{}", env=env)
    trouble = "is not an absolute path; set HOME or SNELL_HOME to one"
    assert told(got) == (f"snell-hook: `{where}`: {trouble}; deciding without the daemon\n", "{}\n")


def test_a_directory_that_is_a_link_is_not_used(shim: ShimSandbox) -> None:
    elsewhere = shim.home / "elsewhere"
    elsewhere.mkdir()
    shim.run.symlink_to(elsewhere)
    trouble = "is not a directory, or cannot be created; set SNELL_HOME to another directory"
    got = shim.call(stdin=b"{}")
    assert told(got) == (f"snell-hook: `{shim.run}`: {trouble}; deciding without the daemon\n", "{}\n")
    assert list(elsewhere.iterdir()) == []


@needs_root
def test_a_directory_of_another_user_is_not_used(shim: ShimSandbox) -> None:
    shim.run.mkdir()
    os.chown(shim.run, 12345, 12345)
    trouble = "belongs to another user; set SNELL_HOME to a directory of your own"
    got = shim.call(stdin=b"{}")
    assert told(got) == (f"snell-hook: `{shim.run}`: {trouble}; deciding without the daemon\n", "{}\n")


@needs_root
def test_a_daemon_of_another_user_is_not_asked(shim: ShimSandbox) -> None:
    shim.run.mkdir()
    command = [sys.executable, "-I", "-S", "-c", OTHER_USER, str(shim.socket)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout
        assert other.stdout.readline() == b"up\n"
        got = shim.call(stdin=b"{}")
        other.communicate(timeout=BOUND)
    trouble = "belongs to another user; set SNELL_HOME to a directory of your own"
    assert told(got) == (f"snell-hook: `{shim.socket}`: {trouble}; deciding without the daemon\n", "{}\n")


def test_what_is_not_a_socket_is_not_removed(shim: ShimSandbox) -> None:
    shim.run.mkdir(mode=0o700)
    shim.socket.write_text("mine", encoding="utf-8")
    got = shim.call(stdin=b"{}")
    trouble = "is not a socket; move it away"
    assert told(got) == (f"snell-hook: `{shim.socket}`: {trouble}; deciding without the daemon\n", "{}\n")
    assert shim.socket.read_text(encoding="utf-8") == "mine"


def test_a_daemon_that_does_not_stay_is_started_twice(shim: ShimSandbox) -> None:
    (shim.home / "refuse").touch()
    got = shim.call("--client", "x", stdin=b"{}")
    trouble = "the daemon was started and ended at once"
    assert told(got) == (f"snell-hook: `{shim.socket}`: {trouble}; deciding without the daemon\n", "{}\n")
    assert len(shim.daemon_starts()) == 2


def test_a_daemon_that_does_not_stay_is_left_alone_for_a_while(shim: ShimSandbox) -> None:
    """The more often in a row, the longer: after six times for half a minute."""
    (shim.home / "refuse").touch()
    (shim.run).mkdir(mode=0o700)
    gave_up = shim.run / "gave-up"
    gave_up.write_bytes(b"x" * 6)
    os.utime(gave_up, (0, 0))
    shim.call(stdin=b"{}")
    trouble = "the daemon ended at once; Snell tries again soon, `snell daemon run` shows why"
    assert [told(shim.call(stdin=b"{}")) for _ in range(3)] == [
        (f"snell-hook: `{shim.socket}`: {trouble}; deciding without the daemon\n", "{}\n")
    ] * 3
    assert (len(shim.daemon_starts()), gave_up.stat().st_size) == (2, 7)
    (shim.home / "refuse").unlink()
    # Long ago, by a clock that was wrong, and after the first failure, which may have been a kill.
    for size, moment in ((7, time.time() - 31), (7, time.time() + 1000), (1, time.time() - 2)):
        gave_up.write_bytes(b"x" * size)
        os.utime(gave_up, (moment, moment))
        assert (shim.call(), gave_up.exists()) == (ANSWERED, False)
        os.kill(shim.daemon_starts()[-1]["pid"], signal.SIGKILL)


@pytest.mark.parametrize(("words", "code"), [([], 0), (["--fail-closed"], 2)])
def test_a_decision_that_is_killed_leaves_it_to_the_failure_policy(
    shim: ShimSandbox, words: list[str], code: int
) -> None:
    shim.script("python3", "#!/bin/sh\nkill -9 $$\n")
    got = shim.call(*words, stdin=b"{}")
    trouble = "was killed or hung while it decided; check what your hooks do"
    assert got.exit_code == code
    assert got.stderr.decode().endswith(f": `{shim.bin}/python3`: {trouble}\n")


def test_a_client_that_ignores_the_end_of_children_still_gets_the_decision(shim: ShimSandbox) -> None:
    (shim.home / "refuse").touch()
    ignores = "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)"
    assert told(shim.call(stdin=b"{}", before=ignores))[1] == "{}\n"


def test_a_decision_that_hangs_is_given_up(hasty_shim: ShimSandbox) -> None:
    stopped = hasty_shim.home / "stopped"
    hasty_shim.script("python3", f"#!/bin/sh\necho $$ >> {stopped}\nkill -STOP $$\n")  # the daemon, too
    got = hasty_shim.call("--fail-closed", stdin=b"{}")
    for pid in stopped.read_text(encoding="utf-8").split():
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
    assert (got.exit_code, got.stderr.decode().endswith("check what your hooks do\n")) == (2, True)


def test_variables_that_load_code_do_not_reach_the_decision_in_process(native_shim: ShimSandbox) -> None:
    (native_shim.home / "refuse").touch()
    got = native_shim.call(stdin=b"{}\n", env={"LD_LIBRARY_PATH": "/nowhere", "PYTHONPATH": "/nowhere"})
    assert got.stdout.splitlines()[1:] == [b"{}", b""]


def test_without_python_beside_it_the_console_script_decides(native_shim: ShimSandbox) -> None:
    (native_shim.bin / "python3").unlink()
    native_shim.script("snell", '#!/bin/sh\necho "$1 $2 $4"; cat\n')
    assert native_shim.call("--client", stdin=b"{}").stdout == b"hook --request-id --client\n{}"


def test_without_python_beside_it_the_console_script_becomes_the_daemon(native_shim: ShimSandbox) -> None:
    (native_shim.bin / "python3").unlink()
    native_shim.script("snell", f'#!/bin/sh\n[ "$*" = "daemon run" ] && exec {sys.executable} {TEST_DAEMON}\n')
    assert [native_shim.call(), native_shim.call()] == [ANSWERED, ANSWERED]
    assert len(native_shim.daemon_starts()) == 1


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--client", "x"], 0, "not checked, because Snell could not run"),
        (["--fail-closed"], 2, "denied, because Snell could not check it (--fail-closed)"),
    ],
)
def test_with_nothing_to_decide_the_failure_policy_does(
    shim: ShimSandbox, words: list[str], code: int, says: str
) -> None:
    python = shim.bin / "python3"
    python.unlink()
    got = shim.call(*words, stdin=b"{}")
    last = f"snell-hook: {says}: `{python}`: cannot be started; install Snell again\n"
    assert (got.exit_code, got.stdout, got.stderr.splitlines(keepends=True)[-1]) == (code, b"", last.encode())


def test_only_a_test_build_takes_another_daemon_from_the_environment(
    native_shim: ShimSandbox, tmp_path_factory: pytest.TempPathFactory
) -> None:
    shutil.move(native_shim.bin / "python3", native_shim.bin / "other")
    env = {"SNELL_DAEMON": str(native_shim.bin / "other")}
    assert native_shim.call(env=env).exit_code == 0
    assert native_shim.daemon_starts() == []
    (native_shim.run / "gave-up").unlink()
    test_build = compile_shim(tmp_path_factory.mktemp("shim"), "-DSNELL_TESTING")
    assert test_build
    shutil.copy(test_build, native_shim.bin / "snell-hook")
    native_shim.script("other", f"#!/bin/sh\nexec {sys.executable} {Path(__file__).with_name('shim_daemon.py')}\n")
    assert native_shim.call(env=env) == ANSWERED


def told(got: Ended) -> tuple[Any, ...]:
    """The warning, and what the decision in process read from stdin; how it was called is another test's business."""
    assert got.exit_code == 7
    return got.stderr.decode(), got.stdout.decode().partition("\n")[2]
