"""`snell-hook`, native and in Python, with a daemon to talk to: every byte gets through, and there is an answer."""

import os
import pty
import re
import socket
import subprocess
import sys
import threading
import time

import pytest

from snell.daemon.shim_connection import LARGEST_ENVIRONMENT, LARGEST_STDIN
from snell.daemon.wire import KEEPALIVE, Request
from tests.process.shim_sandbox import (
    BOUND,
    SHIM,
    VERSION,
    Ended,
    Peer,
    ShimSandbox,
    answers,
    reads,
    says,
    wait_for_end,
)
from tests.wire_client import Reply

pytest_plugins = ("tests.process.shim_fixtures",)


@pytest.mark.parametrize("size", [0, 1, 1_000_000, 10_000_000])
def test_every_byte_gets_through_both_ways(shim: ShimSandbox, size: int) -> None:
    payload = os.urandom(size)
    with Peer(shim, answers(lambda request: Reply(0, request.stdin, request.stdin[:5_000_000]))) as peer:
        assert shim.call(stdin=payload) == Ended(0, payload, payload[:5_000_000])
    assert peer.requests[0].stdin == payload


@pytest.mark.proves("S2-09")
@pytest.mark.parametrize("code", [0, 1, 2, 255])
def test_the_exit_code_is_the_daemons(shim: ShimSandbox, code: int) -> None:
    with Peer(shim, answers(lambda _: Reply(code, b"out", b"err"))):
        assert shim.call() == Ended(code, b"out", b"err")


@pytest.mark.proves("S2-01", "S2-09")
def test_the_daemon_gets_arguments_directory_and_environment_as_they_are(shim: ShimSandbox) -> None:
    folder = shim.home / "a folder"
    folder.mkdir()
    env = {"EMPTY": "", "ODD": "a=b\n\udce9"}
    with Peer(shim, answers(lambda _: Reply(0, b"all of it"))) as peer:
        ended = shim.call("--client", b"caf\xe9", "", "x y", cwd=folder, env=env, stdin=b"{}")
    assert (ended, peer.was_called_again) == (Ended(0, b"all of it", b""), False)
    (request,) = peer.requests
    variables = "\0".join(f"{name}={value}" for name, value in {**shim.env, **env}.items())
    assert request == Request(
        version=f"1 {VERSION}",
        request_id=request.request_id,
        cwd=str(folder),
        argv=("--client", "caf\udce9", "", "x y"),
        environment=variables.encode("utf-8", "surrogateescape"),
        stdin=b"{}",
    )


def test_two_events_have_two_ids(shim: ShimSandbox) -> None:
    with Peer(shim, *[answers(lambda _: Reply())] * 2) as peer:
        shim.call()
        shim.call()
    first, second = peer.requests
    assert first.request_id != second.request_id


def test_a_variable_that_does_not_fit_costs_no_other_one(shim: ShimSandbox) -> None:
    env = {"BIG": "x" * LARGEST_ENVIRONMENT, "LAST": "here"}
    with Peer(shim, answers(lambda _: Reply())) as peer:
        shim.call(env=env)
    assert peer.requests[0].variables() == {**shim.env, "LAST": "here"}


def test_a_directory_that_was_removed_is_none(shim: ShimSandbox) -> None:
    folder = shim.home / "gone"
    folder.mkdir()
    with Peer(shim, answers(lambda _: Reply())) as peer:
        assert shim.call(cwd=folder, before="os.rmdir(os.getcwd())") == Ended(0, b"", b"")
    assert peer.requests[0].cwd == ""


def test_a_closed_stdin_is_an_empty_one(shim: ShimSandbox) -> None:
    with Peer(shim, answers(lambda request: Reply(0, b"%d" % len(request.stdin)))):
        assert shim.call(before="os.close(0)") == Ended(0, b"0", b"")


def test_a_client_that_reads_nothing_still_gets_the_exit_code(shim: ShimSandbox) -> None:
    with Peer(shim, answers(lambda _: Reply(2, b"x" * 1_000_000, b"why"))):
        started = shim.start()
        assert started.stdout
        started.stdout.close()
        started.stdout = None
        assert wait_for_end(started) == Ended(2, None, b"why")  # type: ignore[arg-type]  # there is no stdout any more


def test_an_answer_that_comes_before_the_request_was_read_counts(shim: ShimSandbox) -> None:
    refusal = Reply(1, b"", b"too much").encode()
    with Peer(shim, lambda _, connection: connection.sendall(refusal)):
        assert shim.call(stdin=b"x" * 5_000_000) == Ended(1, b"", b"too much")


def test_a_daemon_that_goes_away_is_asked_again_under_the_same_id(shim: ShimSandbox) -> None:
    served = answers(lambda _: Reply(0, b"served"))
    with Peer(shim, says(b""), lambda *_: None, served) as peer:
        assert shim.call(stdin=b"{}") == Ended(0, b"served", b"")
    first, second = peer.requests
    assert first == second


def test_a_daemon_that_always_goes_away_is_asked_six_times(shim: ShimSandbox) -> None:
    with Peer(shim, *[says(b"")] * 6) as peer:
        assert shim.call("--client", "x", stdin=b"{}") == without_daemon(
            shim, "the daemon ended without an answer", peer.requests[0], "--client x", "{}"
        )
    assert (peer.requests, peer.signs) == ([peer.requests[0]] * 6, [b"", *[b"r"] * 5])


@pytest.mark.parametrize("data", [b"SNR1", Reply(0, b"x" * 100).encode()[:-1]])
def test_half_an_answer_is_none(shim: ShimSandbox, data: bytes) -> None:
    with Peer(shim, says(data)) as peer:
        got = shim.call(stdin=b"{}")
    assert got == without_daemon(shim, "the daemon ended without an answer", peer.requests[0], "", "{}")


@pytest.mark.parametrize(
    "data",
    [
        b'{"error": "what is this"}',
        Reply().encode()[:4] + (256).to_bytes(4, "little") + bytes(8),
        Reply().encode()[:8] + b"\xff" * 8,
    ],
)
def test_an_answer_in_another_language_is_none(shim: ShimSandbox, data: bytes) -> None:
    with Peer(shim, says(data)) as peer:
        got = shim.call(stdin=b"{}")
    trouble = "the daemon uses another protocol; restart it with `snell daemon stop`"
    assert got == without_daemon(shim, trouble, peer.requests[0], "", "{}")


def test_a_daemon_that_hangs_is_given_up(hasty_shim: ShimSandbox) -> None:
    over = threading.Event()

    def hang(peer: Peer, connection: socket.socket) -> None:
        reads(peer, connection)
        over.wait(BOUND)

    with Peer(hasty_shim, hang) as peer:
        got = hasty_shim.call(stdin=b"{}")
        over.set()
    assert got == without_daemon(hasty_shim, "the daemon does not answer", peer.requests[0], "", "{}")


def test_a_daemon_that_is_at_work_is_waited_for(hasty_shim: ShimSandbox) -> None:
    def work(peer: Peer, connection: socket.socket) -> None:
        reads(peer, connection)
        for _ in range(10):
            time.sleep(0.1)  # ten times is more than the silence that is put up with
            connection.sendall(KEEPALIVE * 3)
        connection.sendall(KEEPALIVE + Reply(3, b"..out", b"err").encode())

    with Peer(hasty_shim, work):
        assert hasty_shim.call(stdin=b"{}") == Ended(3, b"..out", b"err")


def test_a_client_that_does_not_close_stdin_is_given_up(hasty_shim: ShimSandbox) -> None:
    with Peer(hasty_shim, lambda _, connection: connection.recv(1)):
        started = hasty_shim.start()
        assert started.stdin
        started.stdin.write(b"{")
        started.stdin.flush()
        assert started.wait(BOUND) == 7
        got = wait_for_end(started)
    assert got.stderr == b"snell-hook: `stdin`: the client does not close it; deciding without the daemon\n"
    assert got.stdout.splitlines()[1:] == [b"{"]


@pytest.mark.proves("S4-96")
def test_a_payload_that_is_too_large_for_a_request_is_refused_in_process(shim: ShimSandbox) -> None:
    with Peer(shim, lambda _, connection: connection.recv(1)):
        got = shim.call(stdin=b"x" * (LARGEST_STDIN + 4_000_000))
    assert got.stderr == b"snell-hook: `stdin`: the payload is larger than 16 MB; deciding without the daemon\n"
    assert got.stdout.count(b"x") >= LARGEST_STDIN + 4_000_000


def test_the_version_is_the_builds(shim: ShimSandbox) -> None:
    assert shim.call("--version") == Ended(0, f"snell-hook {VERSION}\n".encode(), b"")


HELP = (SHIM.parent / "shim_help.txt").read_bytes()


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_it_explains_itself(shim: ShimSandbox, word: str) -> None:
    assert shim.call(word) == Ended(0, HELP, b"")
    assert not shim.daemon_starts()


def test_without_arguments_at_a_terminal_it_explains_itself_instead_of_waiting(shim: ShimSandbox) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "wb"), os.fdopen(theirs, "rb") as terminal:
        assert wait_for_end(shim.start(stdin=terminal)) == Ended(0, HELP, b"")
    assert not shim.daemon_starts()


def test_the_help_names_the_options_that_clients_and_people_use() -> None:
    named = set(re.findall(rb"--[a-z-]+", HELP))
    assert named == {b"--client", b"--event", b"--fail-closed", b"--bridge", b"--version", b"--help", b"--command"}
    assert max(map(len, HELP.splitlines())) <= 120


def test_the_python_form_loads_only_what_it_needs(shim: ShimSandbox) -> None:
    if shim.form == "native":
        pytest.skip("about the form in Python")

    def loaded(*words: str) -> set[str]:
        command = [sys.executable, "-I", "-S", "-X", "importtime", *words]
        env = {"SNELL_HOME": str(shim.home)}
        done = subprocess.run(command, env=env, input=b"", capture_output=True, timeout=BOUND, check=True)
        return {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines() if "|" in line}

    with Peer(shim, answers(lambda _: Reply())):
        mine = loaded(str(SHIM), VERSION)
    form = {f"snell.daemon.python_form{name}" for name in ("", ".event", ".exchange")}
    ours = {"snell", "snell.daemon", "snell.daemon.shim_connection", *form}
    assert mine - loaded("-c", "import posix, _socket, select, time") == ours


def without_daemon(shim: ShimSandbox, trouble: str, request: Request, words: str, stdin: str) -> Ended:
    """What is seen when the decision is made in process, with the payload read before."""
    called = f"in process: -I -m snell hook --request-id {request.request_id} {words}".rstrip(" ")
    warning = f"snell-hook: `{shim.socket}`: {trouble}; deciding without the daemon\n"
    return Ended(7, f"{called}\n{stdin}\n".encode(), warning.encode())
