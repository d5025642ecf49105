"""
Exchange data with a process through its three pipes at once.

Input is written while output is read, so neither side can block the other; output over its cap is read and discarded,
so a process that floods us neither blocks nor fills our memory.
"""

import contextlib
import os
import selectors
import subprocess
from typing import IO

CHUNK = 65_536


class Captured:
    """The first bytes of one output stream, up to a cap."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._data = bytearray()
        self.truncated = False

    def add(self, chunk: bytes) -> None:
        room = self._cap - len(self._data)
        self._data += chunk[:room]
        self.truncated = self.truncated or len(chunk) > room

    def __len__(self) -> int:
        return len(self._data)

    def __bytes__(self) -> bytes:
        return bytes(self._data)


class Pipes:
    """The three pipes of one process; `close` releases them."""

    def __init__(self, process: "subprocess.Popen[bytes]", stdin: bytes, stdout_cap: int, stderr_cap: int) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self.stdout = Captured(stdout_cap)
        self.stderr = Captured(stderr_cap)
        self._stdin = process.stdin
        self._unsent = memoryview(stdin)
        self._closed = False
        self._outputs: dict[IO[bytes], Captured] = {process.stdout: self.stdout, process.stderr: self.stderr}
        self._selector = selectors.PollSelector()
        self.names = frozenset(f"pipe:[{os.fstat(pipe.fileno()).st_ino}]" for pipe in (self._stdin, *self._outputs))
        for pipe in (self._stdin, *self._outputs):
            os.set_blocking(pipe.fileno(), False)
        for pipe in self._outputs:
            self._selector.register(pipe, selectors.EVENT_READ)
        self._selector.register(self._stdin, selectors.EVENT_WRITE)
        self._send()

    def wake_on(self, descriptor: int) -> None:
        """Let `move` also return when this descriptor becomes readable."""
        self._selector.register(descriptor, selectors.EVENT_READ)

    def stop_waking_on(self, descriptor: int) -> None:
        if not self._closed:
            self._selector.unregister(descriptor)

    def move(self, seconds: float) -> bool:
        """Wait at most `seconds` until bytes can be moved, and move them; returns whether output was received."""
        has_output = False
        for key, _ in self._selector.select(max(0.0, seconds)):
            if key.fileobj is self._stdin:
                self._send()
            elif not isinstance(key.fileobj, int):
                has_output = self._receive(key.fileobj) or has_output  # type: ignore[arg-type]  # registered above as IO[bytes]
        return has_output

    def drain(self) -> None:
        """Move what is available without waiting; limited, in case a process still writes."""
        for _ in range(64):
            if self._closed or not self.move(0):
                return

    @property
    def at_end(self) -> bool:
        """Whether both outputs are closed at their other end."""
        return not self._outputs

    def close_input(self) -> None:
        """Close the process's standard input, sent or not."""
        if not self._stdin.closed:
            self._selector.unregister(self._stdin)
            _close(self._stdin)
        self._unsent = memoryview(b"")

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self.close_input()
        for pipe in list(self._outputs):
            self._close_output(pipe)
        self._selector.close()

    def _send(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._stdin.fileno(), self._unsent[:CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:
            pass  # no process reads it; one may answer without having read its input
        self.close_input()

    def _receive(self, pipe: IO[bytes]) -> bool:
        try:
            chunk = os.read(pipe.fileno(), CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            chunk = b""
        if not chunk:
            self._close_output(pipe)
            return False
        self._outputs[pipe].add(chunk)
        return True

    def _close_output(self, pipe: IO[bytes]) -> None:
        self._selector.unregister(pipe)
        del self._outputs[pipe]
        _close(pipe)


def _close(pipe: IO[bytes]) -> None:
    with contextlib.suppress(OSError):
        pipe.close()
