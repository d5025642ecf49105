"""Memories to a file and back, and files that are not that."""

import io

import pyarrow
import pytest
from pyarrow import parquet

from snell.memory.export_files import form_of, read_memories, write_memories
from snell.memory.rows import draft_of
from snell.memory.types import Draft, Memory, NotRememberedError


def parquet_file(**columns: list[object]) -> bytes:
    out = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()


MEMORIES = [
    Memory(id="1", content='a, "b"\nc', tags=("x", "y"), metadata={"k": [1, None]}, created_at=5, project="p"),
    Memory(id="2", content="zwölf 💥", importance=0.25, source="Stop", accesses=3),
]


@pytest.mark.parametrize("form", ["json", "csv", "parquet"])
def test_what_is_written_is_read_again(form: str) -> None:
    assert read_memories(write_memories(MEMORIES, form), form) == MEMORIES


def test_a_plain_list_is_read_too() -> None:
    assert read_memories(b'[{"id": "1", "content": "x"}]', "json") == [Memory(id="1", content="x")]
    assert draft_of(Memory(id="1", content="x", created_at=7)) == Draft(content="x", source="import", at=7)


def test_the_format_follows_the_name_unless_it_is_said() -> None:
    assert [form_of("a.csv"), form_of("a.json"), form_of("a"), form_of("a.csv", "json")] == [
        "csv",
        "json",
        "json",
        "json",
    ]


@pytest.mark.parametrize(
    ("data", "form", "problem"),
    [
        (b"{", "json", "the file does not contain memories"),
        (b'{"version": 2, "memories": []}', "json", "the file has version 2"),
        (b'[{"id": "1"}]', "json", "missing required field `content`"),
        (b"id,content,importance\n1,x,much\n", "csv", "line 2: is not a memory"),
        (b"", "parquet", "the file is not a Parquet table"),
        (b"PAR1 and no more", "parquet", "the file is not a Parquet table"),
        (parquet_file(content=["x"], importance=["much"]), "parquet", "row 1: is not a memory"),
        (b'id,content\n1,"x\ny"\n2,"z\n3,w\n', "csv", "the row that begins in line 4: the file is not a table"),
        (b"", "xml", "`xml` is not a format for memories; use json or csv or parquet"),
    ],
)
def test_a_file_that_is_something_else_is_refused(data: bytes, form: str, problem: str) -> None:
    with pytest.raises(NotRememberedError) as error:
        read_memories(data, form)
    assert problem in str(error.value)
