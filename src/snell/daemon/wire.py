"""
The frames between `snell-hook` and the daemon: one request and one reply per connection.

    request   `SNL1`, length of the rest, then six fields, each with its length before it:
              version (`1 0.1.0`: protocol, build), request id (32 hex digits), working directory,
              arguments joined by NUL, environment (`NAME=value`) joined by NUL, standard input;
              after it `r` if a daemon that has ended may have decided the event, and later `x` if `snell-hook` no
              longer waits and has the event decided without the daemon
    reply     `SNR1`, exit code, length of stdout, length of stderr, stdout, stderr;
              before it any number of `.`, each a keepalive while hooks are running

Numbers are 32-bit little-endian. A frame begins with `S`; on the same socket, JSON-RPC begins with `{`.
"""

import re
import struct
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec

from snell.daemon.shim_connection import LARGEST_ARGUMENTS, LARGEST_ENVIRONMENT, LARGEST_REPLY, LARGEST_STDIN
from snell.model.errors import SnellError
from snell.model.protocols import Reply

LARGEST_REQUEST = 17 * 1024 * 1024  # without the eight bytes before it

Buffer: TypeAlias = bytes | bytearray | memoryview

KEEPALIVE, REPEATED, WITHDRAWN = b".", b"r", b"x"

_MAGIC = b"SNL1"
_REQUEST_PREFIX = struct.Struct("<4sI")
_REPLY_PREFIX = struct.Struct("<4sIII")
_number_at = struct.Struct("<I").unpack_from
_FIELDS = (
    ("version", 64),
    ("request id", 32),
    ("working directory", 4096),
    ("list of arguments", LARGEST_ARGUMENTS),
    ("environment", LARGEST_ENVIRONMENT),
    ("standard input", LARGEST_STDIN),
)
_IS_VERSION = re.compile(rb"[1-9][0-9]{0,3} [!-~]+").fullmatch
_IS_ID = re.compile(rb"[0-9a-f]{32}").fullmatch


class WireError(SnellError):
    """Bytes on the socket are not a valid frame."""

    id = "wire"


class Request(msgspec.Struct, frozen=True, gc=False):
    """The event that a client passed to `snell-hook`."""

    version: str
    request_id: str
    cwd: str
    argv: tuple[str, ...]
    environment: bytes  # joined, as received: an event needs few of the variables, or none
    stdin: bytes
    sender: int = 0  # the process id of `snell-hook`, from the operating system; 0: not known
    is_repeated: bool = False  # an earlier daemon may have decided this event, and has sent no reply

    @property
    def build(self) -> str:
        return self.version.partition(" ")[2]

    def variables(self) -> dict[str, str]:
        """Return the environment; if a name is given twice the first one wins, as in the C library."""
        pairs = (entry.partition("=") for entry in reversed(_split(self.environment)))
        return {name: value for name, equals, value in pairs if equals}

    def variable(self, name: str) -> str | None:
        """Return what `variables` has under this name, or None, and read only that entry of the environment."""
        if not name.isascii():  # decoded names are compared, since one name can have several encodings
            return self.variables().get(name)
        if "=" in name or "\0" in name:
            return None
        beginning = f"{name}=".encode()
        start = 0
        if not self.environment.startswith(beginning):
            start = self.environment.find(b"\0" + beginning) + 1
            if start == 0:
                return None
        end = self.environment.find(b"\0", start)
        return _text(self.environment[start + len(beginning) : None if end < 0 else end])

    @staticmethod
    def frame_length(buffer: Buffer) -> int | None:
        """Return the length of the complete frame; None if too few bytes have arrived to tell."""
        begun = bytes(buffer[: len(_MAGIC)])
        if not _MAGIC.startswith(begun):
            raise WireError(f"the frame begins with {_printable(begun)}", advice=f"begin it with `{_MAGIC.decode()}`")
        if len(buffer) < _REQUEST_PREFIX.size:
            return None
        _, length = _REQUEST_PREFIX.unpack_from(buffer)
        if length > LARGEST_REQUEST:
            raise _too_large("request", length, LARGEST_REQUEST)
        return _REQUEST_PREFIX.size + int(length)

    @classmethod
    def decode(cls, frame: Buffer, sender: int = 0, *, is_repeated: bool = False) -> "Request":
        """Decode a complete frame. Raises WireError."""
        needed = cls.frame_length(frame)
        if len(frame) != needed:
            raise WireError(f"the frame has {len(frame)} bytes instead of {needed or 'at least its header'}")
        version, request_id, cwd, argv, environment, stdin = _fields(frame)
        if not _IS_VERSION(version):
            raise WireError(f"the version is {_printable(version)}", advice="send `PROTOCOL BUILD`, such as `1 0.1.0`")
        if not _IS_ID(request_id):
            raise WireError(f"the request id is {_printable(request_id)}", advice="send 32 lower-case hex digits")
        if cwd and (not cwd.startswith(b"/") or b"\0" in cwd):
            raise WireError(f"the working directory is {_printable(cwd)}", advice="send an absolute path, or nothing")
        words = _words(argv)
        return cls(version.decode(), request_id.decode(), _text(cwd), words, environment, stdin, sender, is_repeated)


class LazyEnvironment(Mapping[str, str]):
    """The caller's environment: single names are read from the request's bytes, all of it only for a hook's process."""

    __slots__ = ("_everything", "_read", "_request")

    def __init__(self, request: Request) -> None:
        self._request = request
        self._read = _names_read(request.environment)
        self._everything: dict[str, str] | None = None

    def __getitem__(self, name: str) -> str:
        found: str | None = self.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def get(self, name: str, default: Any = None) -> Any:  # several hooks ask on every event
        try:
            found = self._read[name]
        except KeyError:
            found = self._read[name] = self._request.variable(name)
        return default if found is None else found

    def __bool__(self) -> bool:
        return b"=" in self._request.environment

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, str]:
        if self._everything is None:
            self._everything = self._request.variables()
        return self._everything


@lru_cache(maxsize=8)
def _names_read(_environment: bytes) -> dict[str, str | None]:
    """Return the names that were asked for, also those not set; all events of a session have one environment."""
    return {}


def encode_reply(reply: Reply) -> bytes:
    """Return the frame of a reply. Raises WireError."""
    length = len(reply.stdout) + len(reply.stderr)
    if not 0 <= reply.exit_code <= 255:
        raise WireError(f"the exit code is {reply.exit_code}", advice="send 0 to 255")
    if length > LARGEST_REPLY:
        raise _too_large("reply", length, LARGEST_REPLY)
    prefix = _REPLY_PREFIX.pack(b"SNR1", reply.exit_code, len(reply.stdout), len(reply.stderr))
    return b"".join((prefix, reply.stdout, reply.stderr))


def _fields(frame: Buffer) -> list[bytes]:
    view = frame if type(frame) is bytes else memoryview(frame)  # slicing a bytearray would make one more copy
    end, at, found = len(view), 8, []
    for name, most in _FIELDS:
        start = at + 4
        if start > end:
            raise WireError(f"the request ends before its {name}")
        at = start + _number_at(view, at)[0]
        if at - start > most:
            raise _too_large(name, at - start, most)
        if at > end:
            raise WireError(f"the request ends inside its {name}")
        found.append(bytes(view[start:at]))
    if at != end:
        raise WireError(f"the request has {end - at} bytes after its last field")
    return found


def _too_large(name: str, length: int, most: int) -> WireError:
    return WireError(f"the {name} has {length} bytes", advice=f"send at most {most}")


def _split(data: bytes) -> tuple[str, ...]:
    return tuple(_text(data).split("\0")) if data else ()


_words = lru_cache(maxsize=64)(_split)  # a client uses the same arguments for every event


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")  # arguments and variables may contain any bytes


def _printable(data: bytes) -> str:
    return f"`{ascii(data[:40])[2:-1]}`"
