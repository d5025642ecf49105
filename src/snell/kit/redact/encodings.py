"""What a run of characters says when it is base64 or hex."""

import re
from base64 import b64decode
from binascii import Error, unhexlify
from collections.abc import Iterator

_RUN = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
_NEXT_LINE = re.compile(r"(?:\r?\n|\\n)[ \t]*(?=([A-Za-z0-9+/]{4,128}={0,2})[ \t]*(?:\r?\n|\\n|[\"']|\Z))")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+")
_URL_SAFE = str.maketrans("-_", "+/")
_LONGEST = 1 << 20
_WRAPPED = 60  # lines of base64 are this long at least


def run_at(text: str, at: int) -> tuple[int, int]:
    """The run that begins here, over all lines that it is wrapped into."""
    found = _RUN.match(text, at)
    end = found.end() if found else at
    width = end - at
    while width >= _WRAPPED and end - at < _LONGEST and (line := _NEXT_LINE.match(text, end)):
        width = len(line[1])
        end = line.end(1)
    return at, end


def decoded(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """What the run may stand for, if that is text, and where it begins: a path may stand directly before it."""
    run = text[start:end]
    yield from ((start, said) for said in (_from_hex(run), _from_base64(run)) if said)
    for sign in ("/", "-", "_", "="):
        cut = run.rfind(sign, 0, len(run) - 20) + 1
        if cut and (said := _from_base64(run[cut:])):
            yield start + cut, said


def _from_hex(run: str) -> str | None:
    if len(run) < 32 or not _HEX.fullmatch(run):
        return None
    return _text(unhexlify(run))


def _from_base64(run: str) -> str | None:
    body = "".join(run.replace("\\n", "").split()).rstrip("=").translate(_URL_SAFE)
    if len(body) < 16 or len(body) % 4 == 1:
        return None
    if _text(_decode(body[:16])) is None:
        return None
    return _text(_decode(body))


def _decode(body: str) -> bytes:
    try:
        return b64decode(body + "=" * (-len(body) % 4))
    except Error:
        return b""


def _text(data: bytes) -> str | None:
    """Only what can be read: a hash or a picture is not text."""
    if not data or data[0] > 126 or not data.isascii():
        return None
    return data.decode() if not data.translate(None, _PRINTABLE) else None


_PRINTABLE = bytes([9, 10, 13, *range(32, 127)])
