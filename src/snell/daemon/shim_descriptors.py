"""Reading and writing that always ends, and the error that says why the daemon cannot be asked."""

import posix
import select
import time

SILENCE_SECONDS = 10.0  # five times as long as a daemon that is at work goes without a sign of life
ANSWER_SECONDS = 605.0  # the longest time limit of a hook, and a little more
ATOMIC = 4096  # what a pipe that calls itself writable takes without blocking


class NoDaemonError(Exception):
    """Why the daemon cannot be asked; like all of the shim's errors, bytes that may be any path."""

    def __init__(self, where: bytes, what: str) -> None:
        super().__init__(where, what)
        self.text = b"`" + where + b"`: " + what.encode()


def read_all(descriptor: int, most: int, until: float) -> tuple[bytes, bool]:
    """Everything, and whether that was the end; one that is closed is an empty one."""
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
    """Empty at the end, None when there is nothing yet."""
    try:
        return posix.read(descriptor, 1 << 18)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def write_all(descriptor: int, data: bytes) -> bool:
    """Whether somebody took all of it."""
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
    """How much was taken; None when nobody takes it any more."""
    try:
        return posix.write(descriptor, data[:ATOMIC])
    except BlockingIOError:
        return 0
    except OSError:
        return None
