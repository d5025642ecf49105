"""Exports that cannot be written and imports that cannot be read: what is wrong, where, and what to do."""

import errno
import json
import os
import resource
from pathlib import Path

import pytest

from snell.memory.export_files import export_memories, import_memories
from snell.memory.service import Memories
from snell.memory.types import Draft, NotRememberedError
from snell.runtime.app import database_of
from snell.system.paths import Places

TEXT = "We decided to use uv for packages because pip was slow, see `uv.lock`"


@pytest.fixture
def memories(tmp_path: Path):
    database = database_of(Places(tmp_path / "config", tmp_path / "state", tmp_path / "run"))
    made = Memories(database, tmp_path / "state" / "memory")
    made.remember(Draft(content=TEXT, project="p"))
    yield made
    database.close()


def refusal(call, *args, **how) -> str:
    with pytest.raises(NotRememberedError) as caught:
        call(*args, **how)
    return str(caught.value)


def test_an_export_says_what_is_wrong_with_its_place(memories: Memories, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "there.json").write_text("mine")

    def said(path: str) -> str:
        return refusal(export_memories, memories, path, project="p")

    assert said(f"{tmp_path}/folder") == f"`{tmp_path}/folder`: is a folder; name a new file in it"
    assert said(f"{tmp_path}/there.json") == f"`{tmp_path}/there.json`: exists already; name a new file"
    assert said("/dev/full") == "`/dev/full`: exists already; name a new file"
    assert said(f"{tmp_path}/no/x.json") == f"`{tmp_path}/no`: is not a folder; create it, or name another"
    assert said("/proc/x.json").startswith("`/proc/x.json`: cannot be written: ")
    assert said("/proc/x.json").endswith("; name a file that you may write")
    assert (tmp_path / "there.json").read_text() == "mine"


def test_an_export_that_finds_the_disk_full_leaves_nothing_and_says_so(memories: Memories, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, before[1]))
    try:
        said = refusal(export_memories, memories, f"{folder}/x.json", project="p")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    why = os.strerror(errno.EFBIG).lower()
    assert said == f"`{folder}/x.json`: cannot be written: {why}; make room, or name a file on another disk"
    assert os.listdir(folder) == []


@pytest.mark.parametrize(
    ("data", "name", "what"),
    [
        (b"", "x.json", "`{}`: the file does not contain memories: Input data was truncated; nothing was imported"),
        (b"no json", "x.json", "`{}`: the file does not contain memories: JSON is malformed"),
        (b"\xff\xfe\x00", "x.json", "`{}`: the file does not contain memories: JSON is malformed"),
        (b'{"version": 9, "rows": []}', "x.json", "`{}`: the file has version 9, and this program reads 1; upgrade"),
        (b'{"memories": [{"id": "a", "content": 5}]}', "x.json", "at `$.memories[0].content`; nothing was imported"),
        (b"a,b\n1,2\n", "x.csv", "`{}`, line 2: is not a memory: Object missing required field `id`; nothing"),
    ],
)
def test_an_import_names_the_file_and_what_is_wrong_in_it(
    memories: Memories, tmp_path: Path, data: bytes, name: str, what: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert what.format(path) in refusal(import_memories, memories, str(path), project="*", is_dry=False)


def test_an_import_reads_regular_files_only(memories: Memories, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    wanted = {
        "/nowhere/x.json": "cannot be read: no such file or directory; name a file that `snell memory export` wrote",
        str(tmp_path): "is a directory, not a file; name a regular file",
        str(tmp_path / "pipe.json"): "is a named pipe, not a file; name a regular file",
        "/dev/zero": "is a device, not a file; name a regular file",
    }
    said = {path: refusal(import_memories, memories, path, project="*") for path in wanted}
    assert said == {path: f"`{path}`: {text}" for path, text in wanted.items()}


def test_one_wrong_memory_keeps_the_whole_file_out(memories: Memories, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    export_memories(memories, str(path), project="p")
    file = json.loads(path.read_bytes())
    file["memories"] = [{**file["memories"][0], "id": "b" * 21, "content": "We chose tea over coffee"}, {"content": 1}]
    path.write_text(json.dumps(file))
    refusal(import_memories, memories, str(path), project="*", is_dry=False)
    assert export_memories(memories, str(tmp_path / "again.json"), project="p")["memories"] == 1
