"""The format of exported memories: JSON or CSV, a row for each memory, without vectors (an import computes them)."""

import contextlib
import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any

import msgspec
from msgspec import Struct, to_builtins

from snell.memory.rows import now_ms
from snell.memory.types import Draft, Memory, NotRememberedError

FORMATS = ("json", "csv")
VERSION = 1
LARGEST = 1_073_741_824


class _File(Struct):
    memories: list[Memory]
    version: int = VERSION


def write_memories(memories: Iterable[Memory], form: str) -> bytes:
    """Return the memories as the bytes of a file."""
    check_form(form)
    if form == "json":
        return msgspec.json.format(msgspec.json.encode({"version": VERSION, "memories": list(memories)})) + b"\n"
    return _csv(memories).encode()


def read(data: bytes, form: str) -> list[Memory]:
    """Return the memories in a file; raises `NotRememberedError` with the row that is wrong."""
    check_form(form)
    return _from_json(data) if form == "json" else list(_from_csv(data))


def form_of(path: str, form: str = "") -> str:
    """Return the format: the one that was named, else the file name's suffix; JSON if it has none."""
    return form or PurePath(path).suffix[1:].lower() or "json"


def draft_of(memory: Memory) -> Draft:
    """Return the draft that stores this memory again."""
    return Draft(
        content=memory.content,
        namespace=memory.namespace,
        project=memory.project,
        tags=memory.tags,
        importance=memory.importance,
        metadata=memory.metadata,
        source=memory.source or "import",
        agent=memory.agent,
        at=memory.created_at if 0 < memory.created_at <= now_ms() + 60_000 else 0,
    )


def check_form(form: str) -> None:
    """Raise NotRememberedError for an unknown format."""
    if form not in FORMATS:
        hint = "; parquet needs a library that Snell does not use" if form == "parquet" else ""
        raise NotRememberedError(f"`{form}` is not a format for memories{hint}", advice=f"use {' or '.join(FORMATS)}")


def _from_json(data: bytes) -> list[Memory]:
    try:
        file = msgspec.json.decode(data, type=_File | list[Memory])
    except (msgspec.DecodeError, RecursionError) as error:
        _check_version(data)
        raise NotRememberedError(f"the file does not contain memories: {error}") from None
    if isinstance(file, list):
        return file
    _check_version(data)
    return file.memories


class _Head(Struct):
    version: int = VERSION


def _check_version(data: bytes) -> None:
    """Raise if the version differs, which explains any other error."""
    with contextlib.suppress(msgspec.DecodeError, RecursionError):
        found = msgspec.json.decode(data, type=_Head).version
        if found != VERSION:
            advice = "upgrade Snell, or export it again with this version"
            raise NotRememberedError(f"the file has version {found}, and this program reads {VERSION}", advice=advice)


def _csv(memories: Iterable[Memory]) -> str:
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(Memory.__struct_fields__)
    for memory in memories:
        row = to_builtins(memory)
        table.writerow([_cell(row[name]) for name in Memory.__struct_fields__])
    return out.getvalue()


def _cell(value: Any) -> Any:
    return msgspec.json.encode(value).decode() if isinstance(value, list | tuple | dict) else value


def _from_csv(data: bytes) -> Iterator[Memory]:
    csv.field_size_limit(1_000_000)
    # Strict: a quote without an end would make one memory of everything that follows.
    table = csv.DictReader(io.StringIO(data.decode("utf-8", "replace"), newline=""), strict=True)
    begin = 1
    try:
        for row in table:
            yield _memory(row, table.line_num)
            begin = table.line_num + 1
    except csv.Error as error:
        where = f"the row that begins in line {begin}"
        raise NotRememberedError(f"the file is not a table: {error}", where=where) from None


def _memory(row: dict[str, Any], line: int) -> Memory:
    fields = {name: row[name] for name in Memory.__struct_fields__ if row.get(name) not in (None, "")}
    try:
        for name in ("tags", "metadata"):
            if name in fields:
                fields[name] = msgspec.json.decode(fields[name])
        return msgspec.convert(fields, Memory, strict=False)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise NotRememberedError(f"is not a memory: {error}", where=f"line {line}") from None
