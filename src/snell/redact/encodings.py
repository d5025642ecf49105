"""Decode runs of characters that are base64 or hex."""

from base64 import b64decode
from binascii import Error, unhexlify
from collections.abc import Iterator

from snell.redact.pattern_file import PATTERNS

_URL_SAFE = str.maketrans("-_", "+/")
_LONGEST = 1 << 20
_LONGEST_PATH = 512
_WRAPPED = 60  # lines of base64 are this long at least
_NARROW = 24  # or this, if all of them but the last are equally long
_PRINTABLE = bytes([9, 10, 13, *range(32, 127)])


def run_at(text: str, at: int) -> int:
    """Return the end of the run that begins here, over all lines that it is wrapped into."""
    found = PATTERNS.encoded_run.match(text, at)
    end = found.end() if found else at
    first = width = end - at
    while end - at < _LONGEST and (line := PATTERNS.encoded_line.match(text, end)):
        if width < _WRAPPED and (first < _NARROW or width != first or len(line[1]) > first):
            break
        width = len(line[1])
        end = line.end(1)
    return end


def decode_run(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield the texts that the run may encode, and where each begins: a path may directly precede the run."""
    start += 2 if text[start : start + 2].lower() == "0x" else 0
    if PATTERNS.hex_of_text.match(text, start, end) and (decoded := _from_hex(text[start:end])):
        yield start, decoded
    if PATTERNS.base64_of_text.match(text, start, end) and (decoded := _from_base64(text[start:end])):
        yield start, decoded
    for separator in ("/", "-", "_", "="):
        cut = text.rfind(separator, start, min(end - 20, start + _LONGEST_PATH)) + 1
        if cut and PATTERNS.base64_of_text.match(text, cut, end) and (decoded := _from_base64(text[cut:end])):
            yield cut, decoded


def reads_like_text(text: str, start: int, end: int) -> bool:
    """Whether the beginning of the run can be base64 of text; if not, it is not decoded at all."""
    return bool(PATTERNS.base64_of_text.match(text, start, end))


def _from_hex(run: str) -> str | None:
    run = "".join(run.replace("\\n", "").split())
    return _text(unhexlify(run)) if len(run) >= 32 and PATTERNS.hex.fullmatch(run) else None


def _from_base64(run: str) -> str | None:
    body = "".join(run.replace("\\n", "").split()).rstrip("=").translate(_URL_SAFE)
    if len(body) < 16 or len(body) % 4 == 1:
        return None
    try:
        return _text(b64decode(body + "=" * (-len(body) % 4)))
    except Error:
        return None


def _text(data: bytes) -> str | None:
    """Return printable text; None for other data, such as a hash or a picture."""
    if not data or data[0] > 126 or not data.isascii():
        return None
    return data.decode() if not data.translate(None, _PRINTABLE) else None
