"""`snell-hook --bridge NAME`: stdin and stdout joined to the daemon."""

import os
import socket
import threading
from pathlib import Path

import pytest

from tests.process.shim_sandbox import BOUND, Ended, Peer, ShimSandbox, wait_for_end

pytest_plugins = ("tests.process.shim_fixtures",)

HELLO = f'{{"cmd":"bridge","args":{{"name":"mcp","cwd":"{os.getcwdb().hex()}"}}}}\n'.encode()


def test_bytes_flow_both_ways_until_stdin_ends(shim: ShimSandbox) -> None:
    payload = os.urandom(3_000_000)
    got = bytearray()

    def echo(_: Peer, connection: socket.socket) -> None:
        while part := connection.recv(1 << 16):
            got.extend(part)
            connection.sendall(part)

    with Peer(shim, echo):
        assert shim.call("--bridge", "mcp", stdin=payload) == Ended(0, HELLO + payload, b"")
    assert got == HELLO + payload


def test_an_answer_comes_while_stdin_is_open(shim: ShimSandbox) -> None:
    def answer(_: Peer, connection: socket.socket) -> None:
        with connection.makefile("rwb") as stream:
            assert stream.readline() == HELLO
            for line in stream:
                stream.write(line.upper())
                stream.flush()

    with Peer(shim, answer):
        started = shim.start("--bridge", "mcp", bufsize=0)
        assert started.stdin
        assert started.stdout
        for line in (b"one\n", b"two\n"):
            started.stdin.write(line)
            assert started.stdout.read(4) == line.upper()
        assert wait_for_end(started) == Ended(0, b"", b"")


def test_it_says_where_it_was_started_whatever_the_folder_is_called(shim: ShimSandbox, tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b'/a "b\\\xff\n'
    os.mkdir(folder)
    hello = b'{"cmd":"bridge","args":{"name":"mcp","cwd":"%s"}}\n' % folder.hex().encode()
    with Peer(shim, lambda _, connection: connection.sendall(connection.recv(10_000))):
        assert shim.call("--bridge", "mcp", cwd=folder) == Ended(0, hello, b"")


def test_it_ends_when_the_daemon_does(shim: ShimSandbox) -> None:
    with Peer(shim, lambda _, connection: connection.sendall(b"bye")):
        started = shim.start("--bridge", "mcp")
        assert started.wait(BOUND) == 0
        assert wait_for_end(started) == Ended(0, b"bye", b"")


def test_it_ends_when_no_process_reads(shim: ShimSandbox) -> None:
    over = threading.Event()
    with Peer(shim, lambda *_: over.wait(BOUND)):
        started = shim.start("--bridge", "mcp")
        assert started.stdout
        started.stdout.close()
        started.stdout = None
        code = started.wait(BOUND)
        over.set()
        wait_for_end(started)
    assert code == 0


def test_a_daemon_that_says_nothing_more_is_not_waited_for(hasty_shim: ShimSandbox) -> None:
    over = threading.Event()
    with Peer(hasty_shim, lambda *_: over.wait(BOUND)):
        got = hasty_shim.call("--bridge", "mcp")
        over.set()
    assert got == Ended(0, b"", b"")


def test_it_starts_the_daemon(shim: ShimSandbox) -> None:
    assert shim.call("--bridge", "mcp").exit_code == 0
    assert len(shim.daemon_starts()) == 1


@pytest.mark.parametrize("words", [["--bridge"], ["--bridge", 'a"b'], ["--bridge", "a", "b"], ["--bridge", "é"]])
def test_a_name_that_would_need_quoting_is_refused(shim: ShimSandbox, words: list[str]) -> None:
    name = words[1] if len(words) == 2 else ""
    advice = "call `snell-hook --bridge NAME` with letters, digits, `.`, `_` and `-`"
    assert shim.call(*words) == Ended(1, b"", f"snell-hook: `{name}`: is not a valid name; {advice}\n".encode())


def test_with_no_daemon_to_be_had_it_says_so(shim: ShimSandbox) -> None:
    (shim.home / "refuse").touch()
    shim.run.symlink_to("/")
    trouble = "is not a directory, or cannot be created; set SNELL_HOME to another directory"
    assert shim.call("--bridge", "mcp") == Ended(1, b"", f"snell-hook: `{shim.run}`: {trouble}\n".encode())
