"""
The frames between `snell-hook` and the daemon: one request and one reply per connection.

    request   `SNL1`, length of the rest, then six fields, each with its length before it:
              version (`1 0.1.0`: protocol, build), request id (32 hex digits), working directory,
              arguments joined by NUL, environment (`NAME=value`) joined by NUL, standard input
    reply     `SNR1`, exit code, length of stdout, length of stderr, stdout, stderr;
              before it any number of `.`, each a keepalive while hooks are running

Numbers are 32-bit little-endian. A frame begins with `S`; on the same socket, JSON-RPC begins with `{`.
"""

import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec

from snell.model.errors import SnellError

PROTOCOL = 1
LARGEST_STDIN = 16 * 1024 * 1024
LARGEST_REQUEST = 17 * 1024 * 1024  # without the eight bytes before it
LARGEST_REPLY = 17 * 1024 * 1024  # stdout and stderr together
LARGEST_ENVIRONMENT = 64 * 1024
LARGEST_ARGUMENTS = 128 * 1024
LONGEST_CWD = 4096
LONGEST_VERSION = 64
ID_LENGTH = 32

Buffer: TypeAlias = bytes | bytearray | memoryview

KEEPALIVE = b"."

_REQUEST_MAGIC = b"SNL1"
_REPLY_MAGIC = b"SNR1"
_REQUEST_PREFIX = struct.Struct("<4sI")
_REPLY_PREFIX = struct.Struct("<4sIII")
_NUMBER = struct.Struct("<I")
_number_at = _NUMBER.unpack_from
_FIELDS = (
    ("version", LONGEST_VERSION),
    ("request id", ID_LENGTH),
    ("working directory", LONGEST_CWD),
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

    @property
    def protocol(self) -> int:
        return int(self.version.partition(" ")[0])

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
        start = _value_start(self.environment, f"{name}=".encode())
        if start < 0:
            return None
        end = self.environment.find(b"\0", start)
        return _text(self.environment[start:] if end < 0 else self.environment[start:end])

    @staticmethod
    def frame_length(buffer: Buffer) -> int | None:
        """Return the length of the complete frame; None if too few bytes have arrived to tell."""
        if len(buffer) < _REQUEST_PREFIX.size:
            return _nothing_yet(buffer, _REQUEST_MAGIC)
        magic, length = _REQUEST_PREFIX.unpack_from(buffer)
        _check_magic(magic, _REQUEST_MAGIC)
        if length > LARGEST_REQUEST:
            raise _too_large("request", length, LARGEST_REQUEST)
        return _REQUEST_PREFIX.size + int(length)

    @classmethod
    def decode(cls, frame: Buffer, sender: int = 0) -> "Request":
        """Decode a complete frame. Raises WireError."""
        _check_length(frame, cls.frame_length(frame))
        version, request_id, cwd, argv, environment, stdin = _fields(frame)
        if not _IS_VERSION(version):
            raise WireError(f"the version is {_printable(version)}", advice="send `PROTOCOL BUILD`, such as `1 0.1.0`")
        if not _IS_ID(request_id):
            raise WireError(f"the request id is {_printable(request_id)}", advice="send 32 lower-case hex digits")
        if cwd and (not cwd.startswith(b"/") or b"\0" in cwd):
            raise WireError(f"the working directory is {_printable(cwd)}", advice="send an absolute path, or nothing")
        return cls(version.decode(), request_id.decode(), _text(cwd), _words(argv), environment, stdin, sender)

    def encode(self) -> bytes:
        words = (self.version, self.request_id, self.cwd, "\0".join(self.argv))
        fields = [*(word.encode("utf-8", "surrogateescape") for word in words), self.environment, self.stdin]
        for (name, most), field in zip(_FIELDS, fields, strict=True):
            if len(field) > most:
                raise _too_large(name, len(field), most)
        rest = b"".join(part for field in fields for part in (_NUMBER.pack(len(field)), field))
        return _REQUEST_PREFIX.pack(_REQUEST_MAGIC, len(rest)) + rest


class LazyEnvironment(Mapping[str, str]):
    """The caller's environment: single names are read from the request's bytes, all of it only for a hook's process."""

    __slots__ = ("_everything", "_read", "_request")

    def __init__(self, request: Request) -> None:
        self._request = request
        self._read: dict[str, str | None] = {}  # names that were asked for, also those that are not set
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


class Reply(msgspec.Struct, frozen=True, gc=False):
    """The reply that `snell-hook` passes to the client."""

    exit_code: int = 0
    stdout: bytes = b""
    stderr: bytes = b""

    @staticmethod
    def frame_length(buffer: Buffer) -> int | None:
        """Return the length of the complete frame; None if too few bytes have arrived to tell."""
        if len(buffer) < _REPLY_PREFIX.size:
            return _nothing_yet(buffer, _REPLY_MAGIC)
        magic, exit_code, out, err = _REPLY_PREFIX.unpack_from(buffer)
        _check_magic(magic, _REPLY_MAGIC)
        _check_reply(exit_code, out + err)
        return _REPLY_PREFIX.size + int(out) + int(err)

    @classmethod
    def decode(cls, frame: Buffer) -> "Reply":
        """Decode a complete frame. Raises WireError."""
        _check_length(frame, cls.frame_length(frame))
        _, exit_code, out, _ = _REPLY_PREFIX.unpack_from(frame)
        rest = memoryview(frame)[_REPLY_PREFIX.size :]
        return cls(exit_code, bytes(rest[:out]), bytes(rest[out:]))

    def encode(self) -> bytes:
        _check_reply(self.exit_code, len(self.stdout) + len(self.stderr))
        prefix = _REPLY_PREFIX.pack(_REPLY_MAGIC, self.exit_code, len(self.stdout), len(self.stderr))
        return b"".join((prefix, self.stdout, self.stderr))


def join_environment(entries: Iterable[str]) -> bytes:
    """Join `NAME=value` entries as a request carries them; entries that do not fit are left out."""
    room, kept = LARGEST_ENVIRONMENT, []
    for entry in entries:
        data = entry.encode("utf-8", "surrogateescape")
        if len(data) <= room:
            kept.append(data)
            room -= len(data) + 1
    return b"\0".join(kept)


def _fields(frame: Buffer) -> list[bytes]:
    """Split a frame into its fields. Every event runs this loop, so errors are described in `_misfit`."""
    view = frame if type(frame) is bytes else memoryview(frame)  # slicing a bytearray would make one more copy
    at, found = 8, []
    try:
        for _, most in _FIELDS:
            start = at + 4
            at = start + _number_at(view, at)[0]
            if at - start > most:
                break
            found.append(bytes(view[start:at]))
    except struct.error:
        pass
    if at != len(view) or len(found) != len(_FIELDS):
        raise _misfit(view)
    return found


def _misfit(frame: Buffer) -> WireError:
    at = 8
    for name, most in _FIELDS:
        if at + 4 > len(frame):
            return WireError(f"the request ends before its {name}")
        length = _number_at(frame, at)[0]
        if length > most:
            return _too_large(name, length, most)
        at += 4 + length
        if at > len(frame):
            return WireError(f"the request ends inside its {name}")
    return WireError(f"the request has {len(frame) - at} bytes after its last field")


def _nothing_yet(buffer: Buffer, magic: bytes) -> int | None:
    begun = bytes(buffer[: len(magic)])
    if not magic.startswith(begun):
        _check_magic(begun, magic)
    return None


def _check_magic(found: bytes, wanted: bytes) -> None:
    if found != wanted:
        raise WireError(f"the frame begins with {_printable(found)}", advice=f"begin it with `{wanted.decode()}`")


def _check_length(frame: Buffer, needed: int | None) -> None:
    if len(frame) != needed:
        raise WireError(f"the frame has {len(frame)} bytes instead of {needed or 'at least its header'}")


def _check_reply(exit_code: int, length: int) -> None:
    if not 0 <= exit_code <= 255:
        raise WireError(f"the exit code is {exit_code}", advice="send 0 to 255")
    if length > LARGEST_REPLY:
        raise _too_large("reply", length, LARGEST_REPLY)


def _too_large(name: str, length: int, most: int) -> WireError:
    return WireError(f"the {name} has {length} bytes", advice=f"send at most {most}")


def _value_start(environment: bytes, beginning: bytes) -> int:
    """Return where the value of the first entry with this `NAME=` begins; -1 when there is no such entry."""
    if environment.startswith(beginning):
        return len(beginning)
    at = environment.find(b"\0" + beginning)
    return at if at < 0 else at + 1 + len(beginning)


def _split(data: bytes) -> tuple[str, ...]:
    return tuple(_text(data).split("\0")) if data else ()


_words = lru_cache(maxsize=64)(_split)  # a client uses the same arguments for every event


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")  # arguments and variables may contain any bytes


def _printable(data: bytes) -> str:
    return f"`{ascii(data[:40])[2:-1]}`"
