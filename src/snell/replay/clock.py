"""The time of an event, for hooks that ask for it while it is decided again; and which of them tried to connect."""

import os
import struct
import time
from pathlib import Path

_real_time, _real_time_ns = time.time, time.time_ns
_MS = struct.Struct("<q")
# Run in the process of the Python hooks, before their files. It reads the time from a file that the clock writes, and
# writes there which files open a socket: a hook that catches the refusal answers without what it wanted to know. The
# sockets of an event loop's own pair have a `fileno`.
_IN_CHILD = """
import datetime, os, struct, sys, time, traceback
_file, _real = os.open({path!r}, os.O_RDWR | os.O_CLOEXEC), time.time
def _note(name, _):
    is_new = name == "socket.__new__" and sys._getframe(1).f_locals.get("fileno") is None
    if is_new or name == "socket.getaddrinfo":
        files = (frame.f_code.co_filename for frame, _ in traceback.walk_stack(None))
        os.pwrite(_file, "\\n".join(files).encode(), 8)
sys.addaudithook(_note)
def _now():
    ms = struct.unpack("<q", os.pread(_file, 8, 0))[0]
    return ms / 1000 if ms else _real()
class _DateTime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(_now(), tz)
    @classmethod
    def utcnow(cls):
        return cls.fromtimestamp(_now(), datetime.timezone.utc).replace(tzinfo=None)
time.time, time.time_ns, datetime.datetime = _now, lambda: int(_now() * 1e9), _DateTime
"""


class RecordedClock:
    """Shows the time of an event between `show` and `hide`, in this process and in that of Python hooks."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "clock"
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._at = 0
        self.hide()

    @property
    def source(self) -> bytes:
        """Return the code that makes the process of Python hooks ask this clock."""
        return _IN_CHILD.format(path=str(self._path)).encode()

    def show(self, at: int) -> None:
        """Show this time, in milliseconds since 1970; 0 is the time of the system."""
        os.ftruncate(self._file, _MS.size)
        if at:
            self._at = at
            os.pwrite(self._file, _MS.pack(at), 0)
            time.time, time.time_ns = self._time, self._time_ns

    def hide(self) -> None:
        os.pwrite(self._file, _MS.pack(0), 0)
        time.time, time.time_ns = _real_time, _real_time_ns

    def connecting(self) -> list[str]:
        """Return the files whose code has last tried to open a connection since `show`."""
        return os.pread(self._file, 1_000_000, _MS.size).decode("utf-8", "replace").splitlines()

    def _time(self) -> float:
        return self._at / 1000

    def _time_ns(self) -> int:
        return self._at * 1_000_000
