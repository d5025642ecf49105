"""
Export memories to a file and import them: JSON, CSV or Parquet, without vectors, which an import computes.

An existing file is not replaced; an import is all or nothing.
"""

import contextlib
import csv
import errno
import io
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any

import msgspec
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from snell.memory import rows
from snell.memory.remember import remember
from snell.memory.service import Memories
from snell.memory.shortlist import shortlist_of
from snell.memory.types import ANY, Memory, NotRememberedError
from snell.memory.validation import is_id, redact_draft, validate_draft
from snell.model.errors import DISK_FULL
from snell.model.protocols import Transaction
from snell.system.files import FileError, read_capped, write_atomically
from snell.system.optional_packages import install_advice, is_installed, missing_message

FORMATS = ("json", "csv", "parquet")
VERSION = 1
LARGEST = 1_073_741_824


def export_memories(
    memories: Memories, path: str, *, project: str, namespace: str = "", form: str = ""
) -> dict[str, Any]:
    """Write all memories of a project, or of all (`*`), to a new file."""
    target, form = _absolute(path), form_of(path, form)
    check_form(form)
    _check_target(target)
    found = memories.read(lambda tx: list(rows.iter_memories(tx, project=project, namespace=namespace)))
    try:
        write_atomically(target, write_memories(found, form))
    except OSError as error:
        is_full = error.errno in {*DISK_FULL, errno.EFBIG}
        advice = "make room, or name a file on another disk" if is_full else "name a file that you may write"
        raise NotRememberedError(f"cannot be written: {_why(error)}", where=f"`{target}`", advice=advice) from None
    return {"path": str(target), "memories": len(found)}


def _check_target(target: Path) -> None:
    """Check before anything is read: an existing file is not replaced, and no folder is created."""
    if target.is_dir():
        raise NotRememberedError("is a folder", where=f"`{target}`", advice="name a new file in it")
    if target.exists() or target.is_symlink():
        raise NotRememberedError("exists already", where=f"`{target}`", advice="name a new file")
    if not target.parent.is_dir():
        raise NotRememberedError("is not a folder", where=f"`{target.parent}`", advice="create it, or name another")


def _why(error: OSError) -> str:
    return error.strerror.lower() if error.strerror else str(error)


def import_memories(
    memories: Memories, path: str, *, project: str, form: str = "", is_dry: bool = True, similar: float = 0.95
) -> dict[str, Any]:
    """
    Import the memories of a file, all or none. Each keeps its project, unless one is named (`*`: its own).

    A file is not trusted: it is redacted and checked like any other input.
    """
    found = _read_file(_absolute(path), form_of(path, form))
    pairs = [(validate_draft(redact_draft(rows.draft_of(memory))), memory) for memory in found]
    if project != ANY:
        pairs = [(replace(draft, project=project), memory) for draft, memory in pairs]
    statuses: Counter[str] = Counter()

    def work(tx: Transaction) -> None:
        for draft, memory in pairs:
            id_ = memory.id if is_id(memory.id) and not rows.get_many(tx, [memory.id]) else ""
            lists = shortlist_of(memories.database)
            kept = remember(tx, draft, lists, similar=similar, is_gated=False, memory_id=id_)
            if kept.is_stored:
                rows.restore_use(tx, kept.id, memory)
            statuses[kept.status] += 1
        if is_dry:
            raise _Undo

    with contextlib.suppress(_Undo):
        memories.run(work)
    return {"memories": len(found), "statuses": dict(statuses), "dry_run": is_dry}


class _Undo(Exception):  # noqa: N818 - not an error: it rolls a dry run back
    """Roll the transaction back."""


def _read_file(source: Path, form: str) -> list[Memory]:
    try:
        return read_memories(read_capped(source, LARGEST), form)
    except OSError as error:
        advice = "name a file that `snell memory export` wrote"
        raise NotRememberedError(f"cannot be read: {_why(error)}", where=f"`{source}`", advice=advice) from None
    except FileError as error:
        raise NotRememberedError(error.message, where=f"`{source}`", advice=error.advice) from None
    except NotRememberedError as error:  # it says what is wrong, and perhaps in which line
        where = f"`{source}`, {error.where}" if error.where else f"`{source}`"
        advice = error.advice or "nothing was imported; correct it, or export it again with `snell memory export`"
        raise NotRememberedError(error.message, where=where, advice=advice) from None


def _absolute(path: str) -> Path:
    path = os.path.expanduser(path)
    if not os.path.isabs(path) or "\0" in path:
        raise NotRememberedError(f"`{path[:200]}` is not an absolute path", advice="give the full path")
    return Path(path)


class _File(Struct):
    memories: list[Memory]
    version: int = VERSION


def write_memories(memories: Iterable[Memory], form: str) -> bytes:
    """Return the memories as the bytes of a file."""
    check_form(form)
    if form == "json":
        return msgspec.json.format(msgspec.json.encode({"version": VERSION, "memories": list(memories)})) + b"\n"
    return _parquet(memories) if form == "parquet" else _csv(memories).encode()


def read_memories(data: bytes, form: str) -> list[Memory]:
    """Return the memories in a file; raises `NotRememberedError` with the row that is wrong."""
    check_form(form)
    return list({"json": _from_json, "csv": _from_csv, "parquet": _from_parquet}[form](data))


def form_of(path: str, form: str = "") -> str:
    """Return the format: the one that was named, else the file name's suffix; JSON if it has none."""
    return form or PurePath(path).suffix[1:].lower() or "json"


def check_form(form: str) -> None:
    """Raise NotRememberedError for an unknown format."""
    if form not in FORMATS:
        raise NotRememberedError(f"`{form}` is not a format for memories", advice=f"use {' or '.join(FORMATS)}")
    if form == "parquet" and not is_installed("parquet"):
        advice = f"{install_advice('parquet')}, or use json or csv"
        raise NotRememberedError(f"Parquet cannot be used: {missing_message('parquet')}", advice=advice)


def _from_json(data: bytes) -> list[Memory]:
    _check_version(data)
    try:
        file = msgspec.json.decode(data, type=_File | list[Memory])
    except (msgspec.DecodeError, RecursionError) as error:
        raise NotRememberedError(f"the file does not contain memories: {error}") from None
    return file if isinstance(file, list) else file.memories


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


def _parquet(memories: Iterable[Memory]) -> bytes:
    """Return one column for each field; lists and tables are JSON, as in CSV."""
    pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    found = [to_builtins(memory) for memory in memories]
    columns = {name: [_cell(row[name]) for row in found] for name in Memory.__struct_fields__}
    out = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()


def _from_parquet(data: bytes) -> Iterator[Memory]:
    pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    try:
        table = parquet.read_table(io.BytesIO(data)).to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        raise NotRememberedError(f"the file is not a Parquet table: {error}") from None
    return (_memory(row, number, "row") for number, row in enumerate(table, 1))


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


def _memory(row: dict[str, Any], number: int, unit: str = "line") -> Memory:
    fields = {name: row[name] for name in Memory.__struct_fields__ if row.get(name) not in (None, "")}
    try:
        for name in ("tags", "metadata"):
            if isinstance(fields.get(name), str):
                fields[name] = msgspec.json.decode(fields[name])
        return msgspec.convert(fields, Memory, strict=False)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise NotRememberedError(f"is not a memory: {error}", where=f"{unit} {number}") from None
