"""One event: to the daemon and back; without a daemon, decided by a Python of our own."""

import _signal  # type: ignore[import-not-found] # what `signal` is made of, without enum
import _socket
import posix
import sys
import time

from snell.machine.shim_descriptors import ANSWER_SECONDS, SILENCE_SECONDS, NoDaemonError, read_all, write_all
from snell.machine.shim_place import Place

PROTOCOL = b"1"
RETRIES = 5
CANNOT_START = 127  # an exit code, as shells have it
LARGEST_STDIN = 16 * 1024 * 1024  # that a daemon takes
LARGEST_PAYLOAD = 64 * 1024 * 1024  # that is decided at all
LARGEST_REPLY = 17 * 1024 * 1024
LARGEST_ARGUMENTS = 128 * 1024
LARGEST_ENVIRONMENT = 64 * 1024
RUNS_OTHER_CODE = (b"LD_", b"DYLD_", b"GCONV_PATH", b"GLIBC_TUNABLES", b"PYTHON")


class SilentError(NoDaemonError):
    """It is there, and gives no sign of life."""


class NoAnswerError(Exception):
    """The daemon closed the connection without a byte."""


def main(version: str, words: list[str]) -> int:
    _keep_standard_descriptors()
    _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)  # where it is ignored, nobody learns how a child ended
    arguments = [_bytes(word) for word in words]
    if arguments == [b"--version"]:
        return 0 if write_all(1, f"snell-hook {version}\n".encode()) else 1
    if arguments[:1] == [b"--bridge"]:
        from snell.machine.shim_bridge import bridge

        return bridge(arguments[1] if len(arguments) == 2 else b"")
    event = ShimEvent(version.encode(), arguments)
    try:
        code, out, err = event.answer()
    except NoDaemonError as trouble:
        return event.decide_here(trouble)
    write_all(1, out)
    write_all(2, err)
    return code


class ShimEvent:
    """What a client gave us; its stdin is read when there is somebody to send it to."""

    def __init__(self, version: bytes, arguments: list[bytes]) -> None:
        self.version = version
        self.arguments = arguments
        self.request_id = posix.urandom(16).hex().encode()
        self.stdin: bytes | None = None

    def answer(self) -> tuple[int, bytes, bytes]:
        """The daemon's answer; when it goes away without one, the next daemon's."""
        place, until = Place(), 0.0
        for attempt in range(RETRIES + 1):
            if attempt > 0:
                time.sleep(0.005 * 2**attempt)
            daemon = place.reach()
            # Not before: with nobody to be reached, the decision in this process gets stdin untouched.
            if self.stdin is None:
                until = time.monotonic() + ANSWER_SECONDS
                self._read_stdin(until)
            try:
                return _ask(daemon, self._request(), until, place.socket)
            except NoAnswerError:
                daemon.close()
        raise NoDaemonError(place.socket, "the daemon ended without an answer")

    def decide_here(self, trouble: NoDaemonError) -> int:
        """
        The same decision by Python itself; the id lets it know an event that the daemon decided already.

        We stay: a hook may kill or stop whoever runs it, and then the failure policy counts.
        """
        write_all(2, b"snell-hook: " + trouble.text + b"; deciding without the daemon\n")
        program = _bytes(sys.executable)
        flags = [b"--end-silent-daemon"] if isinstance(trouble, SilentError) else []
        words = [b"-I", b"-m", b"snell", b"hook", b"--request-id", self.request_id, *flags, *self.arguments]
        env = {name: value for name, value in posix.environ.items() if not name.startswith(RUNS_OTHER_CODE)}
        try:
            self._replay_stdin()
            child = posix.fork()
        except OSError:
            return self._failure_policy(NoDaemonError(b"stdin", "the payload could not be handed on"))
        if child == 0:
            _become(program, [program, *words], env)
        status = _waited(child)
        if status is not None and posix.WIFEXITED(status) and posix.WEXITSTATUS(status) != CANNOT_START:
            return posix.WEXITSTATUS(status)
        if status is not None and posix.WIFEXITED(status):
            return self._failure_policy(NoDaemonError(program, "cannot be started; install Snell again"))
        text = "was killed or hung while it decided; see what your hooks do"
        return self._failure_policy(NoDaemonError(program, text))

    def _failure_policy(self, trouble: NoDaemonError) -> int:
        closed = b"--fail-closed" in self.arguments
        stopped, unchecked = (
            b"stopped, because nothing could check it (--fail-closed): ",
            b"not checked, because nothing could: ",
        )
        write_all(2, b"snell-hook: " + (stopped if closed else unchecked) + trouble.text + b"\n")
        return 2 if closed else 0

    def _read_stdin(self, until: float) -> None:
        self.stdin, ended = read_all(0, LARGEST_PAYLOAD, until)
        if len(self.stdin) > LARGEST_STDIN:
            raise NoDaemonError(b"stdin", "the payload has more than 16 MB")
        if not ended:
            raise NoDaemonError(b"stdin", "the client does not close it")

    def _replay_stdin(self) -> None:
        if self.stdin is not None:
            file = _memory_file()
            write_all(file, self.stdin)
            posix.lseek(file, 0, 0)
            posix.dup2(file, 0)

    def _request(self) -> bytes:
        arguments = b"\0".join(self.arguments)
        if len(arguments) > LARGEST_ARGUMENTS:
            raise NoDaemonError(b"snell-hook", "the arguments have more than 128 KB")
        version = PROTOCOL + b" " + self.version
        fields = (version, self.request_id, _working_directory(), arguments, _environment(), self.stdin or b"")
        rest = b"".join(part for field in fields for part in (len(field).to_bytes(4, "little"), field))
        return b"SNL1" + len(rest).to_bytes(4, "little") + rest


def _become(program: bytes, words: list[bytes], env: dict[bytes, bytes]) -> None:
    try:
        posix.execve(program, words, env)
    finally:
        posix._exit(CANNOT_START)


def _waited(child: int) -> int | None:
    """How a child ended; None when it had to be ended."""
    until = time.monotonic() + ANSWER_SECONDS
    while time.monotonic() < until:
        ended, status = posix.waitpid(child, posix.WNOHANG)
        if ended:
            return status
        time.sleep(0.002)
    posix.kill(child, 9)
    return None


def _ask(daemon: _socket.socket, request: bytes, until: float, where: bytes) -> tuple[int, bytes, bytes]:
    """Nothing is passed on before all of it is there: half an answer could be mistaken for another one."""
    try:
        _send(daemon, request, until)
        reply = _receive(daemon, 16, b"", until)
        code, out, err = (int.from_bytes(reply[at : at + 4], "little") for at in (4, 8, 12))
        if reply[:4] != b"SNR1" or code > 255 or out + err > LARGEST_REPLY:
            raise NoDaemonError(where, "the daemon speaks another language; restart it")
        reply = _receive(daemon, 16 + out + err, reply, until)
    except TimeoutError:
        raise SilentError(where, "the daemon does not answer") from None
    except EOFError:
        raise NoDaemonError(where, "the daemon ended without an answer") from None
    return code, reply[16 : 16 + out], reply[16 + out : 16 + out + err]


def _send(daemon: _socket.socket, request: bytes, until: float) -> None:
    try:
        daemon.settimeout(_left(until))
        daemon.sendall(request)
        daemon.shutdown(_socket.SHUT_WR)
    except (BrokenPipeError, ConnectionResetError):
        return  # it closed; perhaps it answered before it did


def _receive(daemon: _socket.socket, length: int, begun: bytes, until: float) -> bytes:
    parts, got = [begun], len(begun)
    while got < length:
        daemon.settimeout(_left(until))
        try:
            part = daemon.recv(1 << 18)
        except ConnectionResetError:
            part = b""
        if not part:
            raise EOFError if got else NoAnswerError
        if not got:
            part = part.lstrip(b".")  # signs of life, before its answer
        parts.append(part)
        got += len(part)
    return b"".join(parts)


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return min(left, SILENCE_SECONDS)


def _environment() -> bytes:
    room, kept = LARGEST_ENVIRONMENT, []
    for name, value in posix.environ.items():
        entry = name + b"=" + value
        if len(entry) <= room:
            kept.append(entry)
            room -= len(entry) + 1
    return b"\0".join(kept)


def _working_directory() -> bytes:
    try:
        return posix.getcwdb()
    except OSError:
        return b""  # it was removed


def _keep_standard_descriptors() -> None:
    """A client may have closed some; a socket must not take their place."""
    for descriptor in range(3):
        try:
            posix.fstat(descriptor)
        except OSError:
            posix.open("/dev/null", posix.O_RDWR)


def _memory_file() -> int:
    if hasattr(posix, "memfd_create"):
        return posix.memfd_create("snell-stdin")
    path = f"/tmp/snell-hook-{posix.urandom(8).hex()}"
    file = posix.open(path, posix.O_RDWR | posix.O_CREAT | posix.O_EXCL | posix.O_NOFOLLOW, 0o600)
    posix.unlink(path)
    return file


def _bytes(word: str) -> bytes:
    return word.encode(sys.getfilesystemencoding(), "surrogateescape")
