"""Decode runs of characters that are base64 or hex."""

import re
from base64 import b64decode
from binascii import Error, unhexlify
from collections.abc import Iterator

_RUN = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
_NEXT_LINE = re.compile(r"(?:\r?\n|\\n)[ \t]*(?=([A-Za-z0-9+/]{4,128}={0,2})[ \t]*(?:\r?\n|\\n|[\"']|\Z))")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+")
# Eight and twelve bytes that are printable ASCII or white space, as both encodings write them.
_HEX_OF_TEXT = re.compile(r"(?:[2-7][0-9a-fA-F]|0[9aAdD]){8}")
_BASE64_OF_TEXT = re.compile(
    r"(?:[CDI-Za-f][ACDEFGHQSTUVWXgijklmnwyz0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){4}"
)
_URL_SAFE = str.maketrans("-_", "+/")
_LONGEST = 1 << 20
_LONGEST_PATH = 512
_WRAPPED = 60  # lines of base64 are this long at least
_NARROW = 24  # or this, if all of them but the last are equally long
_PRINTABLE = bytes([9, 10, 13, *range(32, 127)])


def run_at(text: str, at: int) -> int:
    """Return the end of the run that begins here, over all lines that it is wrapped into."""
    found = _RUN.match(text, at)
    end = found.end() if found else at
    first = width = end - at
    while end - at < _LONGEST and (line := _NEXT_LINE.match(text, end)):
        if width < _WRAPPED and (first < _NARROW or width != first or len(line[1]) > first):
            break
        width = len(line[1])
        end = line.end(1)
    return end


def decode_run(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield the texts that the run may encode, and where each begins: a path may directly precede the run."""
    start += 2 if text[start : start + 2].lower() == "0x" else 0
    if _HEX_OF_TEXT.match(text, start, end) and (decoded := _from_hex(text[start:end])):
        yield start, decoded
    if _BASE64_OF_TEXT.match(text, start, end) and (decoded := _from_base64(text[start:end])):
        yield start, decoded
    for separator in ("/", "-", "_", "="):
        cut = text.rfind(separator, start, min(end - 20, start + _LONGEST_PATH)) + 1
        if cut and _BASE64_OF_TEXT.match(text, cut, end) and (decoded := _from_base64(text[cut:end])):
            yield cut, decoded


def reads_like_text(text: str, start: int, end: int) -> bool:
    """Whether the beginning of the run can be base64 of text; if not, it is not decoded at all."""
    return bool(_BASE64_OF_TEXT.match(text, start, end))


def _from_hex(run: str) -> str | None:
    run = "".join(run.replace("\\n", "").split())
    return _text(unhexlify(run)) if len(run) >= 32 and _HEX.fullmatch(run) else None


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
