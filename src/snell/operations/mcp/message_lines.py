"""
Read the lines of an MCP client as complete messages.

A line that is not a message gets an error answer, since the client waits for one; the library would ignore it.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import msgspec

NO_JSON, NO_MESSAGE = -32700, -32600
_ID = re.compile(rb'"id"[ \t]*:[ \t]*(\d{1,18}|"[^"\\\x00-\x1f]{1,200}")')
_ENDS = 4_096  # bytes at each end of an overlong line in which its id is searched


class Lines:
    """A byte stream that the library can read like a text file, line by line."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def __aiter__(self) -> AsyncIterator[str]:
        try:
            while line := await self._line():
                if text := self._message(line):
                    yield text
        except ConnectionError:
            return

    async def _line(self) -> bytes:
        """Return the next line; a line that is too long is dropped, and answered with an error."""
        dropped = b""
        while True:
            try:
                line = await self._reader.readuntil()
            except asyncio.IncompleteReadError as error:
                return b"" if dropped else error.partial
            except asyncio.LimitOverrunError as error:
                part = await self._reader.readexactly(error.consumed)
                dropped = (dropped or part[:_ENDS]) + part[-_ENDS:]
                dropped = dropped[:_ENDS] + dropped[_ENDS:][-_ENDS:]
                continue
            if not dropped:
                return line
            found = _ID.search(dropped + line[-_ENDS:])
            self._refuse(NO_MESSAGE, "the message is too long", json.loads(found.group(1)) if found else None)
            dropped = b""

    def _message(self, line: bytes) -> str:
        """Return the line if it is a message, else an empty text."""
        if not line.strip():
            return ""
        text = line.decode("utf-8", "replace")
        try:
            if "\\ud" in text or "\\uD" in text:  # perhaps a lone surrogate, which cannot be passed on
                text = json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace").decode() + "\n"
            fields = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        except msgspec.ValidationError:
            return self._refuse(NO_MESSAGE, "a message is a JSON object", None)
        except (ValueError, RecursionError) as error:
            return self._refuse(NO_JSON, f"this is not JSON: {str(error)[:200]}", None)
        if not fields.keys() & {"method", "result", "error"}:
            return self._refuse(NO_MESSAGE, "a message has a `method`, a `result` or an `error`", _id_in(fields))
        return text

    def _refuse(self, code: int, message: str, id_: Any) -> str:
        answer = {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}
        self._writer.write(msgspec.json.encode(answer) + b"\n")
        return ""


def _id_in(fields: dict[str, msgspec.Raw]) -> str | int | None:
    try:
        return msgspec.json.decode(fields["id"], type=str | int | None)
    except (KeyError, msgspec.DecodeError):
        return None
