"""Send one request to the daemon and receive the reply, or take the request back; `wire.py` describes the frames."""

import _socket
import select
import time

from snell.daemon.shim_connection import LARGEST_REPLY, NoDaemonError

FIRST_LOOK = 0.1  # seconds until it is worth finding out what a daemon does that has not answered
SEND_SECONDS = 10.0  # for the daemon to read the request


class SilentError(NoDaemonError):
    """The daemon listens, but does not answer."""


class NoAnswerError(Exception):
    """The daemon closed the connection without a byte."""


def exchange(daemon: _socket.socket, request: bytes, until: float, where: bytes) -> tuple[int, bytes, bytes]:
    """Send a request and return the complete reply; a partial one could be mistaken for another reply."""
    received = bytearray()
    try:
        _send(daemon, request, until)
        return _reply(daemon, received, until, where)
    except TimeoutError:
        pass
    _withdraw(daemon)
    try:
        return _reply(daemon, received, until, where)
    except (NoAnswerError, NoDaemonError, OSError):
        raise SilentError(where, "the daemon does not answer") from None


def _send(daemon: _socket.socket, request: bytes, until: float) -> None:
    try:
        daemon.settimeout(min(_seconds_left(until), SEND_SECONDS))
        daemon.sendall(request)
    except (BrokenPipeError, ConnectionResetError):
        return  # it has closed, perhaps after a reply


def _withdraw(daemon: _socket.socket) -> None:
    """Take the request back, so that the daemon does not decide it later as well; a reply that has come counts."""
    daemon.settimeout(0.0)
    for step in (lambda: daemon.send(b"x"), lambda: daemon.shutdown(_socket.SHUT_RD)):
        try:
            step()  # after the second one the daemon cannot send
        except OSError:
            continue  # it has replied and closed, or not even read the request


def _reply(daemon: _socket.socket, received: bytearray, until: float, where: bytes) -> tuple[int, bytes, bytes]:
    try:
        _receive(daemon, received, 16, until, where)
        code, out, err = (int.from_bytes(received[at : at + 4], "little") for at in (4, 8, 12))
        if received[:4] != b"SNR1" or code > 255 or out + err > LARGEST_REPLY:
            raise NoDaemonError(where, "the daemon uses another protocol; restart it with `snell daemon stop`")
        _receive(daemon, received, 16 + out + err, until, where)
    except EOFError:
        raise NoDaemonError(where, "the daemon ended without an answer") from None
    return code, bytes(received[16 : 16 + out]), bytes(received[16 + out : 16 + out + err])


def _receive(daemon: _socket.socket, received: bytearray, length: int, until: float, where: bytes) -> None:
    while len(received) < length:
        _wait_for_data(daemon, until, where)
        try:
            part = daemon.recv(1 << 18)
        except ConnectionResetError:
            part = b""
        if not part:
            raise EOFError if received else NoAnswerError
        received += part if received else part.lstrip(b".")  # keepalives before the reply


def _wait_for_data(daemon: _socket.socket, until: float, where: bytes) -> None:
    poll = select.poll()
    poll.register(daemon.fileno(), select.POLLIN)
    if not poll.poll(min(_seconds_left(until), FIRST_LOOK) * 1000):
        from snell.daemon.python_form.hang import has_timed_out  # few events need it

        if has_timed_out(daemon, until, where.rpartition(b"/")[0]):
            raise TimeoutError


def _seconds_left(until: float) -> float:
    seconds = until - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds
