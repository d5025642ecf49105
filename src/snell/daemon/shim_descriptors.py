"""Read and write with time limits, and the error that says why the daemon cannot be reached."""

import posix
import select
import time

SILENCE_SECONDS = 10.0  # five times the interval of the daemon's keepalives
ANSWER_SECONDS = 605.0  # the longest time limit of a hook, and a little more
ATOMIC = 4096  # bytes that a writable pipe accepts without blocking


class NoDaemonError(Exception):
    """Why the daemon cannot be reached; bytes, because a path may contain any."""

    def __init__(self, where: bytes, what: str) -> None:
        super().__init__(where, what)
        self.text = b"`" + where + b"`: " + what.encode()


def read_all(descriptor: int, most: int, until: float) -> tuple[bytes, bool]:
    """Return all data, and whether the end was reached; a closed descriptor counts as empty."""
    parts: list[bytes] = []
    length, poll = 0, select.poll()
    poll.register(descriptor, select.POLLIN)
    while length <= most and poll.poll(max(0.0, until - time.monotonic()) * 1000):
        part = read_some(descriptor)
        if part == b"":
            return b"".join(parts), True
        parts.append(part or b"")
        length += len(parts[-1])
    return b"".join(parts), False


def read_some(descriptor: int) -> bytes | None:
    """Return the available data; empty at the end, None if there is none yet."""
    try:
        return posix.read(descriptor, 1 << 18)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def write_all(descriptor: int, data: bytes) -> bool:
    """Write all data; return whether that succeeded."""
    view, until, poll = memoryview(data), time.monotonic() + ANSWER_SECONDS, select.poll()
    poll.register(descriptor, select.POLLOUT)
    while view:
        if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
            return False
        taken = write_some(descriptor, view)
        if taken is None:
            return False
        view = view[taken:]
    return True


def write_some(descriptor: int, data: bytes | memoryview) -> int | None:
    """Return how many bytes were written; None if the other end is closed."""
    try:
        return posix.write(descriptor, data[:ATOMIC])
    except BlockingIOError:
        return 0
    except OSError:
        return None
