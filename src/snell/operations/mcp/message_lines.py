"""
The lines of an MCP client, as the library wants them: whole messages as text.

Whoever sends something that is no message gets an answer that says so, since a client waits for one. The library
itself passes such a line over.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import msgspec

NO_JSON, NO_MESSAGE = -32700, -32600
_ID = re.compile(rb'"id"[ \t]*:[ \t]*(\d{1,18}|"[^"\\\x00-\x1f]{1,200}")')
_ENDS = 4_096  # bytes of an overlong line in which its id is looked for, at each end


class Lines:
    """A stream of bytes, read as the library reads a file: line by line, as text."""

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
        """The next line; one that is too long is dropped, and its sender told."""
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
        """The line, if it is a message; an empty text otherwise."""
        if not line.strip():
            return ""
        text = line.decode("utf-8", "replace")
        try:
            if "\\ud" in text or "\\uD" in text:  # perhaps half of a character, which cannot be handed on
                text = json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace").decode() + "\n"
            told = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        except msgspec.ValidationError:
            return self._refuse(NO_MESSAGE, "a message is a JSON object", None)
        except (ValueError, RecursionError) as error:
            return self._refuse(NO_JSON, f"this is not JSON: {str(error)[:200]}", None)
        if not told.keys() & {"method", "result", "error"}:
            return self._refuse(NO_MESSAGE, "a message has a `method`, a `result` or an `error`", _id_in(told))
        return text

    def _refuse(self, code: int, message: str, id_: Any) -> str:
        answer = {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}
        self._writer.write(msgspec.json.encode(answer) + b"\n")
        return ""


def _id_in(told: dict[str, msgspec.Raw]) -> str | int | None:
    try:
        return msgspec.json.decode(told["id"], type=str | int | None)
    except (KeyError, msgspec.DecodeError):
        return None
