"""Start the daemon. The socket is created here, so that other processes can connect before the daemon is ready."""

import _socket
import errno
import fcntl
import posix
import sys
import time

from snell.daemon.shim_connection import NoDaemonError, ShimPaths

STARTS = 2  # a daemon that ended twice without a reply would do so a third time
BACK_OFF = 30  # the most seconds without another try; events are decided without the daemon meanwhile
DAEMON = "from snell.daemon.main import main; raise SystemExit(main())"  # -m would import more
KEPT = (b"HOME", b"USER", b"LOGNAME", b"SHELL", b"PATH", b"LANG", b"TZ", b"TMPDIR")
MALLOC = {b"MALLOC_ARENA_MAX": b"1", b"MALLOC_MMAP_THRESHOLD_": b"65536"}  # for why, see `snell-hook.c`
KEPT_PREFIXES = (b"LC_", b"XDG_", b"SNELL_")


class CannotWriteError(NoDaemonError):
    """Nothing can be created there, because of its permissions or a read-only disk."""


def start_alone(place: ShimPaths) -> _socket.socket | None:
    """Start the daemon if no other process does so now; else return None, and the caller tries to connect."""
    try:
        _make_private(place.run)
        lock = _open_lock(place.run + b"/start.lock")
    except CannotWriteError:
        if place.use_other_folder():
            return _try_to_connect(place) or start_alone(place)
        raise
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            return _start(place)
        finally:
            # Closing is not enough: until it executes Python, the daemon has the lock open too.
            fcntl.flock(lock, fcntl.LOCK_UN)
    except BlockingIOError:
        return None
    finally:
        posix.close(lock)


def _open_lock(path: bytes) -> int:
    try:
        return posix.open(path, posix.O_RDWR | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _kind_of(error)(path, "cannot be opened; check its owner, and remove it") from None


def _kind_of(error: OSError) -> type[NoDaemonError]:
    """Return the error to raise: with some of them another folder may be used."""
    is_unwritable = isinstance(error, PermissionError | FileNotFoundError) or error.errno == errno.EROFS
    return CannotWriteError if is_unwritable else NoDaemonError


def _start(place: ShimPaths) -> _socket.socket | None:
    """Start the daemon. INVARIANT: the lock is held, so no other process removes or creates the socket."""
    for attempt in range(1 if sys.platform == "linux" else 20):  # elsewhere a full queue looks like a missing daemon
        time.sleep(0.01 * (attempt > 0))
        daemon = _try_to_connect(place)
        if daemon:
            return daemon
    if place.starts == 0 and _failed_lately(place.gave_up):
        advice = "Snell tries again soon, `snell daemon run` shows why"
        raise NoDaemonError(place.socket, f"the daemon ended at once; {advice}")
    if place.starts == STARTS:
        _note_failed_start(place.gave_up)
        raise NoDaemonError(place.socket, "the daemon was started and ended at once")
    place.starts += 1
    listener = bind_socket(place.socket)
    child = posix.fork()
    if child == 0:
        _become_daemon(listener)
    listener.close()
    posix.waitpid(child, 0)
    return _try_to_connect(place)  # the connection waits in the queue until the daemon is ready


def _failed_lately(path: bytes) -> bool:
    """
    Return whether a start has failed recently: not every event should try to start a broken daemon.

    The file has a byte for each failure in a row, and the time without another try doubles with each: a daemon that was
    merely killed should be back soon.
    """
    try:
        found = posix.lstat(path)
    except OSError:
        return False
    pause = 1 << found.st_size >> 1 if found.st_size < 6 else BACK_OFF
    return 0 <= int(time.time()) - int(found.st_mtime) < pause


def _note_failed_start(path: bytes) -> None:
    try:
        flags = posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND | posix.O_NOFOLLOW | posix.O_CLOEXEC
        file = posix.open(path, flags, 0o600)
        posix.write(file, b"x")
        posix.close(file)
    except OSError:
        return  # the next event tries again


def _try_to_connect(place: ShimPaths) -> _socket.socket | None:
    try:
        return place.connect()
    except (FileNotFoundError, ConnectionRefusedError):
        return None


def _make_private(path: bytes) -> None:
    for end in range(1, len(path) + 1):
        if path[end : end + 1] in {b"/", b""}:
            try:
                posix.mkdir(path[:end], 0o700)
            except OSError:
                continue  # it exists, or opening it will fail
    try:
        folder = posix.open(path, posix.O_RDONLY | posix.O_DIRECTORY | posix.O_NOFOLLOW | posix.O_CLOEXEC)
    except OSError as error:
        text = "is not a directory, or cannot be created; set SNELL_HOME to another directory"
        raise _kind_of(error)(path, text) from None
    found = posix.fstat(folder)
    if found.st_uid != posix.geteuid():
        raise NoDaemonError(path, "belongs to another user; set SNELL_HOME to a directory of your own")
    if found.st_mode & 0o077:
        posix.fchmod(folder, 0o700)
    posix.close(folder)


def bind_socket(path: bytes) -> _socket.socket:
    """Return the listening socket; the socket file of a daemon that was killed is replaced. Raises NoDaemonError."""
    try:
        if posix.lstat(path).st_mode & 0o170000 != 0o140000:
            raise NoDaemonError(path, "is not a socket; move it away")
        posix.unlink(path)
    except FileNotFoundError:
        pass  # there was no daemon
    listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    usual = posix.umask(0o177)
    try:
        listener.bind(path)
        listener.listen(1024)
    except OSError:
        raise NoDaemonError(path, "the socket could not be created") from None
    finally:
        posix.umask(usual)
    listener.settimeout(0.0)
    return listener


def _become_daemon(listener: _socket.socket) -> None:
    """Become the daemon. INVARIANT: it inherits only the listening socket: no pipe, no secret, no parent."""
    try:
        posix.setsid()
        if posix.fork() != 0:
            posix._exit(0)
        nothing = posix.open("/dev/null", posix.O_RDWR)
        for descriptor in range(3):
            posix.dup2(nothing, descriptor)
        if listener.fileno() == 3:
            posix.set_inheritable(3, True)
        else:
            posix.dup2(listener.fileno(), 3)
        posix.closerange(4, 1024)
        posix.umask(0o077)
        posix.chdir("/")
        variables = posix.environ.items()
        kept = {name: value for name, value in variables if name in KEPT or name.startswith(KEPT_PREFIXES)}
        posix.execve(sys.executable, [sys.executable, "-I", "-c", DAEMON], {**kept, b"SNELL_LISTEN_FD": b"3", **MALLOC})
    finally:
        posix._exit(127)
