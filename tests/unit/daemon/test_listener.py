"""The daemon's socket: taken over, made, and given up."""

import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from snell.daemon.listener import Listener, adopt, is_served, listen, socket_path
from snell.daemon.shim_connection import is_ours
from snell.system.paths import PlaceError


@pytest.fixture
def run() -> Iterator[Path]:
    """A directory whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="snell-") as folder:
        yield Path(folder, "run")


@pytest.fixture
def listener(run: Path) -> Iterator[Listener]:
    listener = listen(run)
    yield listener
    listener.socket.close()


def connect(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(path))
    return connection


def test_what_is_made_is_for_its_owner_alone(run: Path, listener: Listener) -> None:
    modes = {path.name: stat.filemode(path.lstat().st_mode) for path in (run, *run.iterdir())}
    assert modes == {"run": "drwx------", "snell.sock": "srw-------", "start.lock": "-rw-------"}
    assert not listener.socket.get_inheritable()


def test_a_second_daemon_is_refused(run: Path, listener: Listener) -> None:
    with pytest.raises(PlaceError) as refused:
        listen(run)
    assert str(refused.value) == f"`{listener.path}`: a daemon is running there; stop it first"


def test_a_socket_that_no_daemon_serves_is_replaced(run: Path) -> None:
    listen(run).socket.close()
    again = listen(run)
    assert is_served(again.path)
    again.socket.close()
    assert not is_served(again.path)


def test_what_is_not_a_socket_is_not_removed(run: Path) -> None:
    run.mkdir()
    socket_path(run).touch()
    with pytest.raises(PlaceError) as refused:
        listen(run)
    assert str(refused.value) == f"`{socket_path(run)}`: is not a socket; move it away"


def test_a_withdrawn_socket_serves_those_who_came_before(listener: Listener) -> None:
    with connect(listener.path) as early:
        listener.withdraw()
        assert not is_served(listener.path)
        accepted, _ = listener.socket.accept()
        with accepted:
            accepted.sendall(b"x")
        assert early.recv(1) == b"x"
    with pytest.raises(BlockingIOError):
        listener.socket.accept()


def test_the_socket_of_a_successor_is_left_alone(run: Path, listener: Listener) -> None:
    listener.path.unlink()
    successor = listen(run)
    listener.withdraw()
    assert is_served(successor.path)
    successor.socket.close()


def test_a_socket_left_to_us_is_taken_over(run: Path, listener: Listener) -> None:
    left = os.dup(listener.socket.fileno())
    os.set_inheritable(left, True)
    env = {"SNELL_LISTEN_FD": str(left), "HOME": "/"}
    adopted = adopt(env, run)
    assert adopted
    assert (adopted.socket.fileno(), adopted.socket.getblocking()) == (left, False)
    with socket.socket(fileno=adopted.socket.detach()) as taken, connect(listener.path):
        accepted, _ = taken.accept()
        with accepted:
            assert is_ours(accepted)
        assert not taken.get_inheritable()
    assert env == {"HOME": "/"}


def test_without_one_there_is_nothing_to_take_over(run: Path) -> None:
    assert adopt({}, run) is None


@pytest.mark.parametrize("named", ["three", "999"])
def test_what_is_no_socket_is_not_taken_over(run: Path, named: str) -> None:
    with pytest.raises(PlaceError) as refused:
        adopt({"SNELL_LISTEN_FD": named}, run)
    problem = f"SNELL_LISTEN_FD is `{named}`, which is not the daemon's listening socket"
    assert str(refused.value) == f"{problem}; start the daemon without that variable"


def test_a_socket_of_somewhere_else_is_not_taken_over(run: Path, listener: Listener) -> None:
    left = os.dup(listener.socket.fileno())
    with pytest.raises(PlaceError):
        adopt({"SNELL_LISTEN_FD": str(left)}, run.with_name("other"))


def test_a_path_too_long_for_a_socket_is_said(run: Path) -> None:
    long = run / ("x" * 100)
    with pytest.raises(PlaceError) as refused:
        socket_path(long)
    advice = "a socket's path has at most 103 bytes; set SNELL_HOME to a shorter path"
    assert str(refused.value) == f"`{long}`: is too long: {advice}"
