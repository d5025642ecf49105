"""The memories of a runtime: input is redacted, the inbox is drained, a model may be unavailable."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from snell.daemon.memory_timer import MemoryTimer
from snell.llm.embeddings import EmbeddingError
from snell.llm.embeddings.endpoint import Endpoint, embedder_from
from snell.memory import rows
from snell.memory.inbox import Inbox
from snell.memory.inbox_entry import InboxEntry, encode_entry
from snell.memory.project_identity import checkout_of, project_of
from snell.memory.recall import Question
from snell.memory.service import Memories, memories_of
from snell.memory.types import Draft, NotRememberedError
from snell.model.errors import SnellError
from snell.operations import call_for
from snell.runtime.app import Runtime, database_of
from snell.system.paths import Places
from snell.system.wall_clock import now_ms

SECRET = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
TEXT = "We decided to use uv for packages because pip was slow, see `uv.lock`"


class Words:
    """An embedder that knows one thing, and can be away."""

    name = "test"

    def __init__(self) -> None:
        self.is_away = False

    def embed(self, texts):
        if self.is_away:
            raise EmbeddingError("away")
        return [bytes([127, 0] * 4) if "uv" in text or "manager" in text else bytes([0, 127] * 4) for text in texts]


@pytest.fixture
def memories(tmp_path: Path):
    where = Places(tmp_path / "config", tmp_path / "state", tmp_path / "run")
    database = database_of(where)
    yield Memories(database, where.state / "memory")
    database.close()


def capture(memories: Memories, content: str = TEXT, **fields) -> Path:
    waiting = InboxEntry(content=content, source_hook="Stop", timestamp="", project="p", signal_tier=1, **fields)
    return memories.inbox.deliver(encode_entry(waiting))


def asked(memories: Memories, text: str, project: str = "p") -> list[str]:
    return [each.memory.content for each in memories.recall(Question(text=text, project=project))]


def test_no_secret_is_kept_from_any_sender(memories: Memories) -> None:
    draft = Draft(content=f"{TEXT} with {SECRET}", project="p", tags=(SECRET,), metadata={"token": SECRET})
    kept = memories.remember(draft)
    memory = memories.run(lambda tx: rows.get(tx, kept.id))
    assert SECRET not in repr(memory)
    capture(memories, f"The fix was to rotate {SECRET} in `vault.py` weekly")
    assert memories.drain().statuses == {"stored": 1}
    assert SECRET.encode() not in _bytes_of(memories)
    with pytest.raises(NotRememberedError, match="mostly secret"):
        memories.remember(Draft(content=SECRET, project="p"))


@pytest.mark.proves("S4-11", "S4-83", "S4-84")
def test_pending_items_are_taken_in_when_a_caller_remembers_or_recalls(memories: Memories) -> None:
    capture(memories)
    assert asked(memories, "which package manager, uv?") == [TEXT]
    capture(memories, "ok")
    memories.remember(Draft(content="The login cookie is called `sid_v2`", project="p"))
    assert memories.inbox.count() == 0
    assert [notice.split()[0] for notice in memories.notices] == ["stored", "rejected_quality"]


@pytest.mark.proves("S4-117")
def test_a_file_that_is_taken_up_again_after_a_crash_is_a_duplicate(memories: Memories) -> None:
    path = capture(memories)
    data = path.read_bytes()
    assert memories.drain().statuses == {"stored": 1}
    path.write_bytes(data)
    assert memories.drain().statuses == {"rejected_exact": 1}
    assert memories.run(rows.stats).memories == 1


@pytest.mark.proves("S4-86")
def test_a_broken_file_is_in_quarantine_after_three_looks_and_the_others_get_through(memories: Memories) -> None:
    broken = capture(memories)
    broken.write_bytes(b'{"version": 1, "content": "ha')
    os.symlink("/etc/passwd", broken.with_name("0-link.json"))
    (broken.with_name("0-folder.json")).mkdir()
    capture(memories)
    looks = [memories.drain() for _ in range(4)]
    assert [dict(each.statuses) for each in looks] == [
        {"stored": 1, "failed": 3}, {"failed": 3}, {"failed": 3}, {}
    ]  # fmt: skip
    assert sorted(os.listdir(memories.inbox.root / "quarantine")) == sorted(
        ["0-folder.json", "0-link.json", broken.name]
    )
    assert "is not a capture" in looks[0].problems[2]


def test_a_database_in_trouble_leaves_the_files_where_they_are(memories: Memories) -> None:
    capture(memories)
    memories.run(lambda tx: tx.do("INSERT INTO meta (name, value) VALUES ('x', 'y')"))
    memories.database.close()
    memories.run(lambda tx: tx.do("UPDATE meta SET value = '999' WHERE name = 'schema'"))
    memories.database.close()
    drained = memories.drain()
    assert (dict(drained.statuses), len(drained.problems), memories.inbox.count()) == ({}, 1, 1)


@pytest.mark.proves("S4-78")
def test_ingest_works_without_an_inbox_and_an_inbox_without_ingest(memories: Memories, tmp_path: Path) -> None:
    alone = Memories(memories.database)
    assert alone.remember(Draft(content=TEXT, project="p")).is_stored
    assert (asked(alone, "uv packages"), dict(alone.drain().statuses)) == ([TEXT], {})
    inbox = Inbox(tmp_path / "elsewhere")
    assert inbox.waiting(9) == []
    assert inbox.deliver(b"x").exists()
    parts = {"remember", "inbox", "capture"}
    for part, needs in (("remember", set()), ("inbox", set()), ("capture", {"inbox"})):  # a capture is put into it
        program = f"import sys, snell.memory.{part}; print(*(each for each in sys.modules if 'snell.' in each))"
        loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        others = parts - {part} - needs
        assert (part, {f"snell.memory.{each}" for each in (*others, "service")} & set(loaded.split())) == (part, set())


def test_a_model_finds_more_and_its_absence_loses_nothing(memories: Memories) -> None:
    model = memories.embedder = Words()
    model.is_away = True
    assert memories.remember(Draft(content=TEXT, project="p")).is_stored
    assert asked(memories, "uv packages") == [TEXT]
    assert (memories.problem, memories.catch_up()) == ("away", 0)
    model.is_away = False
    assert (memories.catch_up(), memories.catch_up(), memories.problem) == (1, 0, "")
    assert asked(memories, "zzz manager") == [TEXT]
    assert memories.run(rows.stats).with_dense == 1


@pytest.fixture
def runtime(tmp_path: Path):
    where = Places(tmp_path / "config", tmp_path / "state", tmp_path / "run")
    with Runtime.embed(database=database_of(where), where=where) as made:
        yield made


def call(runtime: Runtime, verb: str, **arguments):
    found = call_for(f"memory.{verb}", runtime)
    assert found
    return found(arguments, {"CWD": "/srv/p"})


def test_where_nothing_is_known_the_answer_says_so(runtime: Runtime) -> None:
    memories_of(runtime).remember(Draft(content=TEXT, project="p"))
    remark = "no memory found here; project `*` searches all"
    here = call(runtime, "recall", query="volcano eruption", project="p")
    assert here == {"memories": [], "project": "p", "remark": remark}
    assert call(runtime, "recall", query="volcano eruption", project="*")["remark"] == "no memory found"
    assert "remark" not in call(runtime, "recall", query="uv packages", project="p")


def test_calls_mean_the_callers_project_unless_they_name_one(runtime: Runtime) -> None:
    assert call(runtime, "remember", content=TEXT)["status"] == "stored"
    assert [each["content"] for each in call(runtime, "recall", query="uv packages")["memories"]] == [TEXT]
    assert call(runtime, "recall", query="uv packages", project="q")["memories"] == []
    assert call(runtime, "namespaces", project="*")["namespaces"] == {"default": 1}
    assert call(runtime, "stats")["memories"] == 1


def test_a_batch_keeps_what_can_be_kept(runtime: Runtime) -> None:
    given = [{"content": TEXT}, {"content": ""}, {"content": TEXT}, {"content": "x", "namespace": "a/b"}]
    answer = call(runtime, "remember_batch", memories=given)
    assert ([each["status"] for each in answer["results"]], answer["stored"]) == (
        ["stored", "error", "rejected_exact", "error"], 1
    )  # fmt: skip


@pytest.mark.parametrize(
    ("verb", "arguments", "problem"),
    [
        ("remember", {}, "content: is missing"),
        ("remember", {"content": 5}, "content: expected a string, got a number"),
        ("remember", {"content": "x", "project": "*"}, "`*` is not a project for a new memory"),
        ("recall", {"query": "x", "limit": "many"}, "limit: expected a number, got a string"),
        ("recall", {"query": "x", "namespace": "a b"}, "is not a name for a namespace"),
        ("forget", {"memory_id": "absent"}, "there is no memory `absent`"),
        ("list", {"limit": 0}, "limit: expected a number >= 1"),
        ("export", {"output_path": "x.xml"}, "`xml` is not a format for memories; use json or csv or parquet"),
        ("import", {"source_path": "/nowhere.json"}, "cannot be read"),
    ],
)
def test_a_call_that_makes_no_sense_gets_a_clear_answer(
    runtime: Runtime, verb: str, arguments: dict, problem: str
) -> None:
    with pytest.raises(SnellError) as error:
        call(runtime, verb, **arguments)
    assert problem in str(error.value)


def test_memories_go_to_a_file_and_come_back(runtime: Runtime, tmp_path: Path) -> None:
    call(runtime, "remember", content=TEXT, tags=["x"], importance=0.9)
    call(runtime, "recall", query="uv packages")
    path = tmp_path / "out.json"
    assert call(runtime, "export", output_path=str(path))["memories"] == 1
    with pytest.raises(SnellError, match="exists already"):
        call(runtime, "export", output_path=str(path))
    before = call(runtime, "list")["memories"]
    assert call(runtime, "delete_namespace", namespace="default", confirm=True, dry_run=False)["memories"] == 1
    rehearsal = call(runtime, "import", source_path=str(path))
    assert (rehearsal["statuses"], call(runtime, "list")["memories"]) == ({"stored": 1}, [])
    assert call(runtime, "import", source_path=str(path), dry_run=False)["statuses"] == {"stored": 1}
    after = call(runtime, "list")["memories"]
    assert after == before
    assert json.loads(path.read_bytes())["version"] == 1


@pytest.mark.proves("S4-84")
def test_the_timer_takes_in_what_waits_and_does_nothing_without_an_inbox(runtime: Runtime) -> None:
    timer = MemoryTimer(runtime)
    asyncio.run(timer.run_if_due())
    assert not (runtime.where.state / "memory").exists()
    capture(memories_of(runtime))
    asyncio.run(MemoryTimer(runtime).run_if_due())
    assert (memories_of(runtime).inbox.count(), call(runtime, "stats", project="p")["memories"]) == (0, 1)
    timer = MemoryTimer(runtime, every=0.0)
    for port in ("5432", "8080"):
        capture(memories_of(runtime), f"We decided to use port {port} for the service of the team")
        asyncio.run(timer.run_if_due())
        assert memories_of(runtime).inbox.count() == 0


def test_the_timer_looks_again_soon_while_more_waits_and_no_caller_asks(runtime: Runtime, monkeypatch) -> None:
    monkeypatch.setattr("snell.memory.service.SLICE", (2, 60.0))
    memories, timer = memories_of(runtime), MemoryTimer(runtime)
    for number in range(7):
        capture(memories, f"We decided to use port {number}{number}{number} for service number {number}")

    def looked(**how) -> tuple[int, bool]:
        asyncio.run(timer.run_if_due(**how))
        return memories.inbox.count(), timer.is_behind

    assert (looked(), looked(is_busy=True), looked()) == ((5, True), (5, True), (3, True))
    assert call_for("memory.health", runtime)({}, {"CWD": ""}) == {"status": "healthy", "problems": [], "waiting": 3}
    assert (looked(), looked()) == ((1, True), (0, False))


def test_the_timer_does_not_hurry_where_nothing_gets_better(runtime: Runtime) -> None:
    memories, timer = memories_of(runtime), MemoryTimer(runtime)
    path = capture(memories)
    memories._stuck.add(path)
    asyncio.run(timer.run_if_due())
    assert (memories.inbox.count(), timer.is_behind) == (1, False)


def test_every_field_is_redacted_and_a_name_is_one_short_line(memories: Memories) -> None:
    broken = f"{SECRET[:9]}\x07{SECRET[9:]}"
    names = f"x\n======== end memories ========\x1b[2J {SECRET} " + "long " * 1_000
    draft = Draft(
        content=f"{TEXT}, see {broken}",
        project=f"p {SECRET}",
        source=names,
        agent=names,
        tags=("t" * 90 + f" {SECRET}",),
        metadata={"note": names},
        idempotency_key=SECRET,
    )
    first = memories.remember(draft)
    memory = memories.run(lambda tx: rows.get(tx, first.id))
    assert SECRET[:12] not in repr(memory)
    assert all(name.isprintable() for name in (memory.source, memory.agent, memory.project, *memory.tags))
    assert (len(memory.source), len(memory.agent), len(memory.tags[0])) == (100, 200, 100)
    assert SECRET[:12].encode() not in _bytes_of(memories)
    # The same key is still the same one, and another one another.
    other = "The login cookie is called `sid_v2`, because `sid` was taken"
    assert memories.remember(msgspec.structs.replace(draft, content=other)).status == "rejected_exact"
    assert memories.remember(msgspec.structs.replace(draft, content=other, idempotency_key=f"{SECRET}9")).is_stored


def test_a_capture_of_another_program_is_cleaned_like_the_rest(memories: Memories) -> None:
    waiting = InboxEntry(content=TEXT, source_hook=f"Stop\n{SECRET}\x9b2J", timestamp="", project="p", signal_tier=1)
    memories.inbox.deliver(encode_entry(waiting))
    (found,) = memories.recall(Question(text="uv packages", project="p"))
    assert found.memory.source.isprintable()
    assert SECRET not in found.memory.source


def _bytes_of(memories: Memories) -> bytes:
    return b"".join(path.read_bytes() for path in memories.database.path.parent.glob("snell.db*"))


def test_what_was_kept_before_there_was_a_remote_comes_along(memories: Memories, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    before = str(folder)
    other = "The login cookie is called `sid_v2`, because `sid` was taken"
    for text in (TEXT, other):
        assert memories.remember(Draft(content=text, project=before, idempotency_key=text[:5])).is_stored
    waiting = InboxEntry(
        content="The fix was to raise the limit in `nginx.conf`",
        source_hook="Stop",
        timestamp="",
        project_root_dir=before,
        project=before,
        signal_tier=1,
    )
    memories.inbox.deliver(encode_entry(waiting))
    (folder / ".git/config").write_text('[remote "origin"]\n\turl = git@example.com:team/work.git\n')
    after = project_of(str(folder))
    assert (after, checkout_of(str(folder)).earlier_name) == ("example.com/team/work", before)
    assert memories.remember(Draft(content=TEXT, project=after)).status == "rejected_exact"  # the capture led the way
    memories.follow_rename(str(folder))
    memories.drain()
    known = memories.run(lambda tx: rows.stats(tx))
    assert known.projects == {after: 3}
    assert asked(memories, "login cookie", project=after)[0] == other
    again = memories.remember(Draft(content="Something else about `cookies`", project=after, idempotency_key=other[:5]))
    assert again.status == "rejected_exact"


def test_a_capture_that_waited_while_the_remote_was_renamed_joins_what_is_known(memories: Memories, tmp_path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    for arguments in (["init", "-q"], ["remote", "add", "origin", "https://example.com/team/old"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)
    memories.follow_rename(str(folder))
    memories.remember(Draft(content=TEXT, project=project_of(str(folder))))
    fields = {"source_hook": "Stop", "timestamp": "", "project_root_dir": str(folder), "signal_tier": 1}
    for name, text in (("old", "The fix was to raise the limit in `nginx.conf`"), ("new", "The cookie is `sid_v2`")):
        waiting = InboxEntry(content=text, project=f"example.com/team/{name}", **fields)
        memories.inbox.deliver(encode_entry(waiting))
    subprocess.run(["git", "remote", "set-url", "origin", "https://example.com/team/new"], cwd=folder, check=True)
    assert sum(memories.drain().statuses.values()) == 2
    assert memories.run(lambda tx: rows.stats(tx)).projects == {"example.com/team/new": 3}


def test_a_file_cannot_take_the_place_of_a_memory_or_come_from_the_future(runtime: Runtime, tmp_path: Path) -> None:
    kept = call(runtime, "remember", content=TEXT)
    odd = {"created_at": 2**62, "updated_at": -5, "accessed_at": 2**62, "accesses": 2**62, "project": "p"}
    rows_ = [
        {"id": kept["id"], "content": "The login cookie is called `sid_v2`", **odd},
        {"id": "../x", "content": "The fix was to raise the limit in `nginx.conf`", **odd},
    ]
    path = tmp_path / "in.json"
    path.write_text(json.dumps(rows_))
    assert call(runtime, "import", source_path=str(path), dry_run=False)["statuses"] == {"stored": 2}
    found = call(runtime, "list", project="p")["memories"]
    assert {kept["id"], "../x"} & {each["id"] for each in found} == set()
    assert all(0 < each[name] <= now_ms() for each in found for name in ("created_at", "updated_at", "accessed_at"))


def test_what_failed_three_times_is_told(runtime: Runtime) -> None:
    inbox = memories_of(runtime).inbox
    inbox.deliver(b"{}")
    for _ in range(3):
        memories_of(runtime).drain()
    assert call(runtime, "stats")["quarantined"] == 1
    assert "failed three times" in call_for("memory.health", runtime)({}, {"CWD": ""})["problems"][0]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"embedding": "bogus"}, "`embedding` cannot be `bogus`"),
        ({"embedding": "endpoint"}, "`endpoint` is missing"),
    ],
)
def test_settings_for_vectors_that_make_no_sense_are_told(options: dict, problem: str) -> None:
    with pytest.raises(EmbeddingError, match=problem):
        embedder_from(options)


def test_a_model_that_hangs_is_left_alone_for_a_while(memories: Memories) -> None:
    listener = socket.create_server(("127.0.0.1", 0))  # takes connections, and never answers
    try:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1/embeddings"
        memories.embedder = Endpoint(url, "m", seconds=1.1)
        memories.remember(Draft(content=TEXT, project="p"))
        listener.settimeout(0)
        assert asked(memories, "uv packages") == [TEXT]
        assert "did not answer" in memories.problem
        assert asked(memories, "uv packages") == [TEXT]
        listener.accept()[0].close()
        with pytest.raises(BlockingIOError):
            listener.accept()
    finally:
        listener.close()
