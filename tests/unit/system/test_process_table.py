import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from snell.system.process_table import (
    Process,
    process_at,
    processes,
    processes_from_ps,
    send,
    send_group,
    tags_of,
    ticks_now,
)
from tests.waiting import wait_until

linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux")


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        ["sleep", "60"], start_new_session=True, stdin=subprocess.PIPE, env={"SIGN": "abc def"}
    ) as child:
        yield child
        child.kill()


def test_a_process_is_read_with_its_relations(child: subprocess.Popen[bytes]) -> None:
    found = process_at(child.pid)
    assert found is not None
    assert msgspec.structs.replace(found, started=0, session=0) == Process(
        pid=child.pid, parent=os.getpid(), group=child.pid, session=0, started=0, alive=True
    )


@linux
def test_births_are_counted_like_the_present(child: subprocess.Popen[bytes]) -> None:
    found = process_at(child.pid)
    mine = process_at(os.getpid())
    assert found is not None
    assert mine is not None
    assert mine.started <= found.started <= ticks_now()
    assert found.session == child.pid


def test_all_processes_are_read_but_those_to_be_skipped(child: subprocess.Popen[bytes]) -> None:
    pids = {each.pid for each in processes()}
    assert {child.pid, os.getpid()} <= pids
    assert child.pid not in {each.pid for each in processes(skip={child.pid})}


@linux
def test_a_name_with_parentheses_and_spaces_does_not_confuse(tmp_path: os.PathLike[str]) -> None:
    program = os.path.join(tmp_path, "a) S 1 (b")
    os.symlink("/bin/sleep", program)
    with subprocess.Popen([program, "60"]) as child:
        found = process_at(child.pid)
        child.kill()
    assert found is not None
    assert found.parent == os.getpid()


def test_a_pid_that_no_process_has_is_not_found() -> None:
    assert process_at(2**22 + 1) is None


def test_a_dead_process_that_no_parent_waited_for_is_not_alive(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    found = process_at(child.pid)
    assert found is not None
    assert not found.alive


def test_a_signal_reaches_the_process_that_was_meant(child: subprocess.Popen[bytes]) -> None:
    found = process_at(child.pid)
    assert found is not None
    assert send(found, signal.SIGTERM)
    assert child.wait(timeout=10) == -signal.SIGTERM


def test_a_signal_never_reaches_another_process_that_got_the_same_pid(child: subprocess.Popen[bytes]) -> None:
    found = process_at(child.pid)
    assert found is not None
    before = msgspec.structs.replace(found, started=found.started - 1)
    assert not send(before, signal.SIGKILL)
    assert process_at(child.pid) == found


@linux
def test_signs_of_a_run_are_read_from_environment_and_pipes(child: subprocess.Popen[bytes]) -> None:
    assert child.stdin is not None
    wait_until(Path(f"/proc/{child.pid}/environ").read_bytes)  # the kernel fills it in at the end of an exec
    pipe = f"pipe:[{os.fstat(child.stdin.fileno()).st_ino}]"
    assert tags_of(child.pid, b"SIGN") == frozenset({"abc", "def", pipe})
    assert tags_of(child.pid, b"OTHER") == frozenset({pipe})
    assert tags_of(os.getpid(), b"NO_SUCH_VARIABLE") is not None


@linux
def test_ps_and_proc_agree(child: subprocess.Popen[bytes]) -> None:
    from_proc = process_at(child.pid)
    from_ps = next(each for each in processes_from_ps() if each.pid == child.pid)
    assert from_proc is not None
    assert msgspec.structs.replace(from_ps, started=0) == msgspec.structs.replace(from_proc, started=0, session=0)
    assert processes_from_ps("-p", str(child.pid)) == [from_ps]
    assert from_ps.started > 0


@pytest.mark.parametrize("group", [-1, 0, 1])
def test_the_group_of_a_process_that_is_about_to_end_is_not_signalled(group: int) -> None:
    arrived: list[int] = []
    before = signal.signal(signal.SIGURG, lambda number, _frame: arrived.append(number))  # ignored by all others
    try:
        send_group(group, signal.SIGURG)
    finally:
        signal.signal(signal.SIGURG, before)
    assert arrived == []
