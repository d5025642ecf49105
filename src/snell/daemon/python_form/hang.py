"""
Tell a daemon that hangs from one that is busy, and let one process wait for it to come back.

native/snell-hook.c has the same rules. A daemon is taken for hung at once if it was stopped, or if another caller has
found so; after a second without an answer if it does not use the processor either; and much later if it does. Linux
only: elsewhere nothing is known about it, as about one that is starting.
"""

import _signal  # type: ignore[import-not-found] # `signal` without enum, which is slow to import
import _socket
import fcntl
import posix
import select
import time

SILENCE_SECONDS = 1.0  # of a daemon that does nothing; more than twice the interval of keepalives
BUSY_SECONDS = 10.0  # of one that uses the processor, or of which nothing is known because it is starting
PROBE_SECONDS = 5.0  # for a silent daemon to come back before it is ended
GONE_SECONDS = 2.0
LOOK, MOST_LOOK = 0.1, 0.4
PING = b'{"cmd":"ping","args":{},"env":{}}\n'


def has_timed_out(daemon: _socket.socket, until: float, run: bytes) -> bool:
    """Wait for data; return True if the daemon has to be taken for hung instead."""
    began = active_at = time.monotonic()
    work: int | None = None
    look, poll = LOOK, select.poll()
    poll.register(daemon.fileno(), select.POLLIN)
    while not poll.poll(max(0.0, min(look, until - time.monotonic())) * 1000):
        pid, before = _pid(run), work
        state, work = _state(f"/proc/{pid}/stat")
        now = time.monotonic()
        if state == b"?" or (before is not None and work != before) or _has_running_thread(pid):
            active_at = now
        is_quiet = now >= active_at + SILENCE_SECONDS or now >= began + BUSY_SECONDS
        if state == b"T" or is_quiet or now >= until or is_probed(run):
            return True
        look = min(2 * look, MOST_LOOK)
    return False


def is_probed(run: bytes) -> bool:
    """Return whether another caller has found the daemon silent, and waits for it to come back."""
    try:
        lock = posix.open(run + b"/probe.lock", posix.O_RDWR | posix.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return not _try_lock(lock, fcntl.LOCK_SH)
    finally:
        posix.close(lock)


def probe(run: bytes, socket: bytes) -> None:
    """Let one process wait for a silent daemon, and end it if it does not come back; no event waits for that."""
    lock = posix.open(run + b"/probe.lock", posix.O_RDWR | posix.O_CREAT | posix.O_NOFOLLOW, 0o600)
    if _try_lock(lock) and posix.fork() == 0:
        try:
            posix.setsid()
            nothing = posix.open("/dev/null", posix.O_RDWR)
            for descriptor in range(3):
                posix.dup2(nothing, descriptor)
            if not _answers(socket):
                _end(run)
        finally:
            posix._exit(0)
    posix.close(lock)


def _answers(socket: bytes) -> bool:
    with_daemon = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    with_daemon.settimeout(PROBE_SECONDS)
    try:
        with_daemon.connect(socket)
        with_daemon.sendall(PING)
        with_daemon.recv(1)
    except TimeoutError:
        return False
    except OSError:
        return True  # it has ended
    return True


def _end(run: bytes) -> None:
    pid = _pid(run)
    until = time.monotonic() + GONE_SECONDS
    if pid > 1:
        posix.kill(pid, _signal.SIGKILL)
    else:
        posix.unlink(run + b"/snell.sock")  # it was stopped before it took its lock: the next caller starts another one
    while _pid(run) == pid and time.monotonic() < until:
        time.sleep(0.01)  # until it is gone, no caller should try to connect to it


def _has_running_thread(pid: int) -> bool:
    """Return whether a thread of the process uses the processor or the disk, or waits for its turn."""
    try:
        threads = posix.listdir(f"/proc/{pid}/task")
    except OSError:
        return False
    return any(_state(f"/proc/{pid}/task/{thread}/stat")[0] in (b"R", b"D") for thread in threads)


def _state(path: str) -> tuple[bytes, int | None]:
    """Return a letter for what a process does, `?` if nothing is known, and the processor time that it has used."""
    try:
        file = posix.open(path, posix.O_RDONLY)
    except OSError:
        return b"?", None
    words = posix.read(file, 512).rpartition(b")")[2].split()
    posix.close(file)
    return (words[0], int(words[11]) + int(words[12])) if len(words) > 12 else (b"?", None)


def _pid(run: bytes) -> int:
    """Return the process id that the holder of the daemon's lock has written into it; 0 if no process holds it."""
    try:
        lock = posix.open(run + b"/daemon.lock", posix.O_RDWR | posix.O_NOFOLLOW)
    except OSError:
        return 0
    try:
        text = b"" if _try_lock(lock, fcntl.LOCK_SH) else posix.read(lock, 16).strip()
        return int(text) if text.isdigit() else 0
    finally:
        posix.close(lock)


def _try_lock(lock: int, kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
