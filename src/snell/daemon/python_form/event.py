"""Send one event to the daemon and pass on its reply; without a daemon, decide in a new Python process."""

import _signal  # type: ignore[import-not-found] # `signal` without enum, which is slow to import
import _socket
import posix
import sys
import time

from snell.daemon import shim_connection as connection
from snell.daemon.python_form import exchange
from snell.daemon.shim_connection import ANSWER_SECONDS, NoDaemonError, ShimPaths, read_all, write_all

TYPE_CHECKING = False  # as in `typing`, which is slow to import
if TYPE_CHECKING:
    from snell.daemon.python_form.policy import Policy

RETRIES = 5
LARGEST_PAYLOAD = 64 * 1024 * 1024  # the limit without the daemon
RUNS_OTHER_CODE = (b"LD_", b"DYLD_", b"GCONV_PATH", b"GLIBC_TUNABLES", b"PYTHON")


def main(version: str, words: list[str]) -> int:
    """Handle the arguments of `snell-hook`; return the exit code."""
    _keep_standard_descriptors()
    _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)  # if it is ignored, the exit status of a child is lost
    arguments = [_bytes(word) for word in words]
    if arguments == [b"--version"]:
        return 0 if write_all(1, f"snell-hook {version}\n".encode()) else 1
    if arguments in ([b"--help"], [b"-h"]) or (not arguments and posix.isatty(0)):
        with open(__file__.rpartition("/python_form/")[0] + "/shim_help.txt", "rb") as file:
            return 0 if write_all(1, file.read()) else 1
    if arguments[:1] == [b"--bridge"]:
        from snell.daemon.shim_bridge import bridge

        return bridge(arguments[1] if len(arguments) == 2 else b"", _start_daemon)
    event = ShimEvent(version.encode(), arguments)
    try:
        code, out, err = event.answer()
    except NoDaemonError as trouble:
        return event.decide_here(trouble)
    write_all(2, err)
    advice = "the daemon did not decide; `snell doctor` shows the problem"
    return event.pass_on(code, out, NoDaemonError(event.socket, advice))


def _start_daemon(place: ShimPaths) -> _socket.socket | None:
    from snell.daemon.shim_start import start_alone  # few events need it

    return start_alone(place)


class ShimEvent:
    """One call by a client; its stdin is read when the daemon is connected."""

    def __init__(self, version: bytes, arguments: list[bytes]) -> None:
        self.version = version
        self.arguments = arguments
        self.request_id = posix.urandom(16).hex().encode()
        self.stdin: bytes | None = None
        self.socket = b""  # of the daemon; empty when the event is decided without it
        self.payload_length = 0  # of all data, also of the part that was dropped

    def answer(self) -> tuple[int, bytes, bytes]:
        """Return the daemon's reply; if it ends without one, that of the next daemon."""
        place, until = ShimPaths(), 0.0
        self.socket = place.socket
        for attempt in range(RETRIES + 1):
            if attempt > 0:
                time.sleep(0.005 * 2**attempt)
            daemon = place.reach(_start_daemon)
            if self.stdin is None:
                until = time.monotonic() + ANSWER_SECONDS
                self._read_request(until)
            try:
                sign = b"r" if attempt else b""  # a daemon that has ended may have decided it
                got = exchange.exchange(daemon, self._request() + sign, until, place.socket)
            except exchange.NoAnswerError:
                daemon.close()
                continue
            if place.starts:
                place.forget_failures()
            return got
        raise NoDaemonError(place.socket, "the daemon ended without an answer")

    def _read_request(self, until: float) -> None:
        ended = self._read_all_stdin(until)
        if self.payload_length > LARGEST_PAYLOAD:
            raise NoDaemonError(b"stdin", "the payload is larger than 64 MB")
        if self.payload_length > connection.LARGEST_STDIN:
            raise NoDaemonError(b"stdin", "the payload is larger than 16 MB")
        if not ended:
            raise NoDaemonError(b"stdin", "the client does not close it")

    def decide_here(self, trouble: NoDaemonError) -> int:
        """
        Decide in a new Python process; by the request id it recognises an event that the daemon has decided.

        This process waits, and passes the output on only after a normal exit: a hook may kill or stop the process
        that runs it, or Snell may be incomplete, and then the failure policy applies.
        """
        if isinstance(trouble, exchange.SilentError):
            from snell.daemon.python_form.hang import probe

            probe(self.socket.rpartition(b"/")[0], self.socket)
        self.socket = b""
        write_all(2, b"snell-hook: " + trouble.text + b"; deciding without the daemon\n")
        if self.stdin is None:
            self._read_all_stdin(time.monotonic() + ANSWER_SECONDS)
        import subprocess  # slow to import, and few events need it

        program = _bytes(sys.executable)
        flags = []
        if self.payload_length > LARGEST_PAYLOAD:
            flags = [b"--payload-bytes", str(self.payload_length).encode()]
        words = [b"-I", b"-m", b"snell", b"hook", b"--request-id", self.request_id, *flags, *self.arguments]
        env = {name: value for name, value in posix.environ.items() if not name.startswith(RUNS_OTHER_CODE)}
        try:
            output = _memory_file()  # not a pipe, which a background process of a hook may keep open
            child = subprocess.Popen([program, *words], stdin=subprocess.PIPE, stdout=output, env=env)
        except OSError:
            return self._policy().answer(NoDaemonError(program, "cannot be started; install Snell again"))
        try:
            child.communicate(self.stdin, ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
        if child.returncode is None or child.returncode < 0:
            text = "was killed or hung while it decided; check what your hooks do"
            return self._policy().answer(NoDaemonError(program, text))
        text = "ended without a decision; `snell doctor` shows the problem"
        return self.pass_on(child.returncode, _contents(output), NoDaemonError(program, text))

    def pass_on(self, code: int, out: bytes, trouble: NoDaemonError) -> int:
        """Pass the decision to the client; if it is not a valid one, reply by the failure policy."""
        policy = self._policy() if code not in (0, 2) or not self.socket else None
        if policy is None or policy.is_decision(code, out):
            write_all(1, out)
            return code
        by_policy = policy.answer(trouble)
        return 2 if code == 2 else by_policy

    def _policy(self) -> "Policy":
        from snell.daemon.python_form.policy import Policy  # few events need it

        return Policy(self.arguments, self.stdin or b"")

    def _read_all_stdin(self, until: float) -> bool:
        """Read stdin to its end; data beyond the limit is dropped, but a client may block until all of it is read."""
        self.stdin, ended = read_all(0, LARGEST_PAYLOAD, until)
        self.payload_length = len(self.stdin)
        while len(self.stdin) > LARGEST_PAYLOAD and not ended and time.monotonic() < until:
            rest, ended = read_all(0, LARGEST_PAYLOAD, until)
            self.payload_length += len(rest)
        return ended

    def _request(self) -> bytes:
        arguments = b"\0".join(self.arguments)
        if len(arguments) > connection.LARGEST_ARGUMENTS:
            raise NoDaemonError(b"snell-hook", "the arguments are longer than 128 KB")
        environment = connection.join_environment(name + b"=" + value for name, value in posix.environ.items())
        cwd, stdin = connection.working_directory(), self.stdin or b""
        return connection.encode_request(self.request_id, self.version, cwd, arguments, environment, stdin)


def _keep_standard_descriptors() -> None:
    """Open the standard descriptors that a client has closed, so that no socket gets their numbers."""
    for descriptor in range(3):
        try:
            posix.fstat(descriptor)
        except OSError:
            posix.open("/dev/null", posix.O_RDWR)


def _memory_file() -> int:
    if hasattr(posix, "memfd_create"):
        return posix.memfd_create("snell-hook")
    path = f"/tmp/snell-hook-{posix.urandom(8).hex()}"
    file = posix.open(path, posix.O_RDWR | posix.O_CREAT | posix.O_EXCL | posix.O_NOFOLLOW, 0o600)
    posix.unlink(path)
    return file


def _contents(file: int) -> bytes:
    posix.lseek(file, 0, 0)
    parts: list[bytes] = []
    while part := posix.read(file, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _bytes(word: str) -> bytes:
    return word.encode(sys.getfilesystemencoding(), "surrogateescape")
