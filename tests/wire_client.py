"""The frames of a client in tests: requests as `snell-hook` encodes them, and replies, read with code of their own."""

import struct

import msgspec

from snell.daemon import wire
from snell.daemon.shim_connection import encode_request
from snell.model import protocols

HEAD = struct.Struct("<4sIII")


class Reply(msgspec.Struct, frozen=True):
    exit_code: int = 0
    stdout: bytes = b""
    stderr: bytes = b""

    def encode(self) -> bytes:
        """Return the frame that the daemon sends."""
        return wire.encode_reply(protocols.Reply(self.stdout, self.stderr, self.exit_code))

    @staticmethod
    def is_complete(data: bytes) -> bool:
        return len(data) >= HEAD.size and len(data) >= HEAD.size + sum(HEAD.unpack_from(data)[2:])

    @classmethod
    def decode(cls, data: bytes) -> "Reply":
        magic, exit_code, out, err = HEAD.unpack_from(data)
        assert (magic, len(data)) == (b"SNR1", HEAD.size + out + err)
        return cls(exit_code, data[HEAD.size : HEAD.size + out], data[HEAD.size + out :])


def encode(request: wire.Request) -> bytes:
    """Return the frame that `snell-hook` sends."""
    words = (request.request_id, request.version.partition(" ")[2], request.cwd, "\0".join(request.argv))
    fields = (word.encode("utf-8", "surrogateescape") for word in words)
    return encode_request(*fields, request.environment, request.stdin)
