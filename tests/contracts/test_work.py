"""The work layer keeps the same promises on every backend, the real PostgreSQL included."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from snell.model.errors import StoreError
from snell.model.protocols import Database, Transaction
from snell.packs.sessions.caller import caller_for
from snell.packs.sessions.tool_results import post_tool_use
from snell.store.sqlite import SqliteDatabase
from snell.work import agents, effort_commands, efforts, messages, phases, projects, sessions, skills, tasks
from snell.work.errors import WorkError
from snell.work.rows import update
from tests.helpers import event

FIVE_MINUTES = 300_000


@pytest.fixture
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    made = open_store(request, request.param, tmp_path)
    yield made
    made.close()


def open_store(request: pytest.FixtureRequest, backend: str, folder: Path) -> Database:
    make = request.getfixturevalue("on_postgres") if backend == "postgres" else None
    return make("work") if make else SqliteDatabase(folder / "work.db")


on_both = pytest.mark.parametrize(
    "database", ["sqlite", pytest.param("postgres", marks=pytest.mark.process)], indirect=True
)


def do(database: Database, function: Callable[..., Any], *values: Any, **named: Any) -> Any:
    return database.run(lambda tx: function(tx, *values, **named))


def begun(database: Database, task: str = "demo", skill: str = "build", agent: str = "", **more: Any) -> Any:
    return do(database, effort_commands.start_effort, "/p", agent, task, skill, **more)


def code_of(database: Database, function: Callable[..., Any], *values: Any, **named: Any) -> str:
    with pytest.raises(WorkError) as caught:
        do(database, function, *values, **named)
    return caught.value.code


@on_both
@pytest.mark.proves("S2-08", "S2-29", "S2-30", "S2-31", "S2-33")
def test_a_task_is_a_directory_that_lasts_and_is_active_while_an_effort_is(database: Database):
    project = do(database, projects.upsert, "/p", "mine")
    assert do(database, projects.upsert, "/p") == project
    made = do(database, tasks.upsert, "/p/.tasks/a", project["id"], title="A", workspace="w", description="d")
    assert {**made, "createdAt": 0, "lastActivity": 0} == {
        "dirPath": "/p/.tasks/a",
        "projectId": project["id"],
        "workspace": "w",
        "title": "A",
        "description": "d",
        "keywords": None,
        "createdAt": 0,
        "effortCount": 0,
        "activeCount": 0,
        "lastActivity": 0,
        "state": "dormant",
    }
    effort = do(database, efforts.start, "/p/.tasks/a", "build")
    assert do(database, tasks.get, "/p/.tasks/a")["state"] == "active"
    do(database, efforts.finish, effort["id"])
    assert [task["state"] for task in do(database, tasks.list_, project["id"])] == ["dormant"]
    assert code_of(database, tasks.get, "/nowhere") == "TASK_NOT_FOUND"


@on_both
@pytest.mark.proves("S2-06", "S2-19", "S2-20", "S2-22", "S2-23", "S2-24", "S2-28", "S2-32")
def test_an_effort_has_the_next_ordinal_of_its_task_and_ends_once(database: Database):
    first = begun(database)["effort"]
    second = begun(database, skill="fix", mode="quick")["effort"]
    other = begun(database, task="other")["effort"]
    found = [(each["ordinal"], each["mode"], each["lifecycle"]) for each in (first, second, other)]
    assert found == [(1, None, "active"), (2, "quick", "active"), (1, None, "active")]
    assert (first["discoveredDirectories"], first["finishedAt"]) == ([], None)
    done = do(database, efforts.finish, first["id"], "one two")
    assert (done["lifecycle"], done["finishedAt"] is not None) == ("finished", True)
    assert do(database, tasks.get, first["taskId"])["keywords"] == "one two"
    assert code_of(database, efforts.finish, first["id"]) == "ALREADY_FINISHED"
    assert code_of(database, efforts.get, 999) == "NOT_FOUND"
    assert code_of(database, efforts.start, "/nowhere", "x") == "TASK_NOT_FOUND"


@on_both
@pytest.mark.proves("S2-132")
def test_one_that_fails_takes_nothing_of_another_along_and_shows_it_nothing(database: Database):
    """The second is asked while the first has written something and not yet failed."""
    wrote, go = threading.Event(), threading.Event()

    def fails(tx: Transaction) -> None:
        projects.upsert(tx, "/first")
        wrote.set()
        assert go.wait(30)
        raise WorkError("COMMAND_ERROR", "on purpose")

    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(database.run, fails)
        assert wrote.wait(30)
        second = pool.submit(do, database, projects.upsert, "/second")
        seen = pool.submit(do, database, projects.find, "/first")
        go.set()
        with pytest.raises(WorkError):
            first.result(30)
        assert (second.result(30)["path"], seen.result(30)) == ("/second", None)
    assert [do(database, projects.find, path) is not None for path in ("/first", "/second")] == [False, True]


@on_both
@pytest.mark.proves("S2-23")
def test_two_that_start_at_once_never_get_the_same_ordinal(
    database: Database, request: pytest.FixtureRequest, tmp_path: Path
):
    project = do(database, projects.upsert, "/p")
    do(database, tasks.upsert, "/t", project["id"])
    got: list[int] = []
    several = [
        threading.Thread(target=lambda: got.append(do(database, efforts.start, "/t", "s")["ordinal"])) for _ in range(8)
    ]
    for each in several:
        each.start()
    for each in several:
        each.join(30)
    assert sorted(got) == list(range(1, 9))
    other = open_store(request, request.node.callspec.params["database"], tmp_path)
    assert both_at_once(database, other, lambda tx: efforts.start(tx, "/t", "s")["ordinal"]) == [9, 10]


@on_both
@pytest.mark.proves("S2-84")
def test_waiting_notes_go_to_one_of_two_calls_that_arrive_together(
    database: Database, request: pytest.FixtureRequest, tmp_path: Path
):
    waiting = [{"ruleId": "r", "content": "run the tests"}]
    effort, caller = begun(database)["effort"], caller_for({}, {})
    call = event("PostToolUse", session_id="s", cwd="/p", tool_name="Bash", tool_input={"command": "ls"})
    do(database, post_tool_use, call, caller)  # the window has its session
    do(database, efforts.update_metadata, effort["id"], {"pendingInjections": waiting, "mine": 1})
    other = open_store(request, request.node.callspec.params["database"], tmp_path)
    given = both_at_once(database, other, lambda tx: post_tool_use(tx, call, caller)["pendingInjections"])
    assert (given, do(database, efforts.get_metadata, effort["id"])) == ([waiting, []], {"mine": 1})


def both_at_once(one: Database, other: Database, work: Callable[[Transaction], Any]) -> list[Any]:
    """Return what the work of two daemons gives; the second one begins before the first has committed."""
    got: list[Any] = []
    second = threading.Thread(target=lambda: got.append(other.run(work)))

    def do_first(tx: Transaction) -> None:
        got.append(work(tx))
        second.start()
        second.join(0.3)  # it has to wait for this transaction; one that does not is done by then, or holds a lock

    one.run(do_first)
    second.join(30)
    other.close()
    return got


@on_both
@pytest.mark.proves("S2-02", "S2-03", "S2-11", "S2-12", "S2-13", "S2-14", "S2-18", "S2-51")
def test_a_new_window_ends_the_session_before_links_it_and_inherits_what_was_found(database: Database):
    begun_ = begun(database)
    first = begun_["session"]
    update_with = {"discovered_directives": ["/p/AGENTS.md"], "loaded_files": ["/p/a"], "pending_injections": [1]}
    database.run(lambda tx: update(tx, "sessions", "id", first["id"], update_with))
    second = do(database, sessions.start, begun_["effort"]["id"], "window-2", 7, "/t.jsonl")
    before = do(database, sessions.get, first["id"])
    assert (before["endedAt"] is not None, second["prevSessionId"], second["endedAt"]) == (True, first["id"], None)
    kept = ("discoveredDirectives", "loadedFiles", "preloadedFiles", "pendingInjections", "heartbeatCounter", "pid")
    assert [second[name] for name in kept] == [["/p/AGENTS.md"], [], [], [], 0, 7]
    assert (second["heartbeatInterval"], second["transcriptPath"], second["transcriptOffset"]) == (10, "/t.jsonl", 0)
    assert code_of(database, sessions.finish, first["id"]) == "ALREADY_ENDED"
    do(database, efforts.finish, begun_["effort"]["id"])
    assert code_of(database, sessions.start, begun_["effort"]["id"]) == "EFFORT_FINISHED"
    assert [each["id"] for each in do(database, sessions.chain, second)] == [first["id"]]


@on_both
@pytest.mark.proves("S2-04", "S2-15", "S2-16", "S2-17", "S2-18", "S2-35")
def test_a_session_keeps_its_numbers_files_and_messages(database: Database):
    id_ = begun(database)["session"]["id"]
    assert [do(database, sessions.heartbeat, id_)["heartbeatCounter"] for _ in range(3)] == [1, 2, 3]
    assert do(database, sessions.heartbeat, id_, reset=True)["heartbeatCounter"] == 0
    assert do(database, sessions.update_context_usage, id_, 0.85)["contextUsage"] == 0.85
    assert do(database, sessions.update_context_usage, id_, 7)["contextUsage"] == 1.0
    assert do(database, sessions.update_loaded_files, id_, ["/ä"])["loadedFiles"] == ["/ä"]
    assert do(database, sessions.update_preloaded_files, id_, ["/b"])["preloadedFiles"] == ["/b"]
    assert do(database, sessions.set_transcript, id_, "/t", 12)["transcriptOffset"] == 12
    do(database, sessions.update_injections, id_, [{"ruleId": "r", "content": "c"}])
    assert do(database, sessions.get_injections, id_) == [{"ruleId": "r", "content": "c"}]
    ended = do(database, sessions.finish, id_, {"summary": "s"})
    assert (ended["dehydrationPayload"], ended["endedAt"] is not None) == ({"summary": "s"}, True)
    first = do(database, messages.append, id_, "user", "hello", timestamp=5)
    assert do(database, messages.upsert, id_, "user", "hello") == first
    do(database, messages.append, id_, "assistant", "hi", "Bash", 6)
    named = ("role", "content", "toolName", "timestamp")
    kept = [tuple(each[name] for name in named) for each in do(database, messages.list_, id_)]
    assert kept == [("user", "hello", None, 5), ("assistant", "hi", "Bash", 6)]
    assert [each["toolName"] for each in do(database, messages.list_, id_, role="assistant")] == ["Bash"]
    for missing in (sessions.get, sessions.heartbeat):
        assert code_of(database, missing, 999) == "NOT_FOUND"


@on_both
@pytest.mark.proves("S2-07", "S2-25", "S2-26", "S2-27")
def test_metadata_changes_key_by_key_and_phases_are_shown_with_their_names(database: Database):
    declared = [{"label": "1", "name": "Plan"}, {"label": "2", "name": "Build"}]
    effort = begun(database, metadata={"phases": declared, "blockAfter": 5})["effort"]
    changed = do(database, efforts.update_metadata, effort["id"], {"blockAfter": None, "guards": []})
    assert changed == {"phases": declared, "guards": []}
    moved = do(database, phases.change, effort["id"], "1", {"plan": "written"})
    assert (moved["phase"], moved["effort"]["currentPhase"]) == ("1: Plan", "1: Plan")
    assert [(each["phaseLabel"], each["proof"]) for each in do(database, phases.history, effort["id"])] == [
        ("1: Plan", {"plan": "written"})
    ]


@on_both
@pytest.mark.proves("S2-34", "S2-46", "S2-143")
def test_an_agent_has_its_own_effort_and_never_another_agents(database: Database):
    one = begun(database, task="a", agent="ann")["effort"]
    two = begun(database, task="b", agent="bob")["effort"]
    project = do(database, projects.find, "/p")["id"]
    found = {who: do(database, efforts.find_active, project, who) for who in ("ann", "bob", "carl", "default", None)}
    ids = {who: each and each["id"] for who, each in found.items()}
    assert ids == {"ann": one["id"], "bob": two["id"], "carl": None, "default": two["id"], None: two["id"]}
    assert [each["id"] for each in do(database, agents.find_by_effort, one["id"])] == ["ann"]
    assert do(database, agents.update_status, "ann", "attention")["status"] == "attention"
    assert code_of(database, agents.update_status, "ann", "happy") == "VALIDATION_ERROR"
    assert code_of(database, agents.update_status, "absent", "done") == "NOT_FOUND"
    do(database, agents.register, "ann", label="Ann", manages=["bob"])
    again = do(database, agents.register, "ann")
    assert (again["label"], again["manages"], again["effortId"]) == ("Ann", ["bob"], one["id"])


@on_both
def test_of_two_hosts_one_has_the_lease_of_an_agent_until_it_gives_it_back(database: Database):
    do(database, agents.register, "ann")
    assert do(database, agents.claim, "ann", "host-1")["holder"] == "host-1"
    assert do(database, agents.claim, "ann", "host-1")["holder"] == "host-1"
    assert code_of(database, agents.claim, "ann", "host-2") == "LEASED"
    do(database, agents.claim, "ann", "host-1", -1)
    assert do(database, agents.claim, "ann", "host-2")["holder"] == "host-2"


@on_both
@pytest.mark.proves("S2-36")
def test_skills_of_a_project_are_kept_by_name(database: Database):
    project = do(database, projects.upsert, "/p")["id"]
    do(database, skills.upsert, project, "build", phases=[{"label": "1", "name": "x"}], version="1")
    do(database, skills.upsert, project, "build", templates=["t.md"], version="2")
    found = do(database, skills.get, project, "build")
    assert (found["templates"], found["version"], found["phases"]) == (["t.md"], "2", None)
    assert [each["name"] for each in do(database, skills.list_, project)] == ["build"]
    assert (do(database, skills.delete, project, "build"), do(database, skills.find, project, "build")) == (True, None)
    assert code_of(database, skills.get, project, "build") == "NOT_FOUND"


@on_both
@pytest.mark.proves("S2-37")
def test_the_views_show_the_fleet_active_efforts_and_sessions_that_fell_silent(database: Database):
    begun_ = begun(database, agent="ann")
    ((agent, skill, session),) = database.run(lambda tx: tx.rows("SELECT id, skill, session_id FROM fleet_status"))
    assert (agent, skill, session) == ("ann", "build", begun_["session"]["id"])
    assert database.run(lambda tx: tx.rows("SELECT effort_count, active_count FROM task_summary")) == [(1, 1)]
    assert database.run(lambda tx: tx.rows("SELECT id FROM active_efforts")) == [(begun_["effort"]["id"],)]
    assert database.run(lambda tx: tx.rows("SELECT id FROM stale_sessions")) == []
    silent = begun_["session"]["createdAt"] - 2 * FIVE_MINUTES
    database.run(lambda tx: update(tx, "sessions", "id", begun_["session"]["id"], {"last_heartbeat": silent}))
    assert database.run(lambda tx: tx.rows("SELECT id FROM stale_sessions")) == [(begun_["session"]["id"],)]
    do(database, efforts.finish, begun_["effort"]["id"])
    assert database.run(lambda tx: tx.rows("SELECT id FROM active_efforts")) == []
    empty = do(database, tasks.upsert, "/p/.tasks/empty", begun_["task"]["projectId"])
    late = begun_["effort"]["createdAt"] + 60_000
    database.run(lambda tx: update(tx, "efforts", "id", begun_["effort"]["id"], {"finished_at": late}))
    summary = "SELECT effort_count, active_count, last_activity FROM task_summary ORDER BY effort_count"
    assert database.run(lambda tx: tx.rows(summary)) == [(0, 0, empty["createdAt"]), (1, 0, late)]


@on_both
@pytest.mark.proves("S2-38")
def test_foreign_keys_hold_and_what_belongs_to_a_task_goes_with_it(database: Database):
    begun_ = begun(database, agent="ann")
    do(database, messages.append, begun_["session"]["id"], "user", "x")
    do(database, phases.change, begun_["effort"]["id"], "1")
    with pytest.raises(StoreError):
        database.run(lambda tx: tx.do("UPDATE sessions SET effort_id = 999"))
    database.run(lambda tx: tx.do("DELETE FROM tasks"))
    left = [database.run(_counting(table)) for table in ("efforts", "sessions", "messages", "phase_history", "agents")]
    assert left == [0, 0, 0, 0, 1]
    assert do(database, agents.get, "ann")["effortId"] is None


@on_both
@pytest.mark.proves("S2-140", "S2-134")
def test_starting_an_effort_that_fails_leaves_nothing_and_the_same_one_again_goes_on(database: Database):
    def fails(tx: Transaction) -> None:
        effort_commands.start_effort(tx, "/p", "ann", "demo", "build")
        raise WorkError("COMMAND_ERROR", "on purpose")

    with pytest.raises(WorkError):
        database.run(fails)
    assert [database.run(_counting(table)) for table in ("projects", "tasks", "efforts", "agents")] == [0, 0, 0, 0]
    first, again = begun(database), begun(database)
    assert (again["effort"]["id"], again["session"]["id"], again["resumed"]) == (
        first["effort"]["id"],
        first["session"]["id"],
        True,
    )
    assert code_of(database, effort_commands.resume_effort, "/elsewhere", "") == "NO_ACTIVE_EFFORT"
    assert do(database, effort_commands.resume_effort, "/p/deep/inside", "")["effort"]["id"] == first["effort"]["id"]
    assert code_of(database, effort_commands.start_effort, "/p", "", " ", "x") == "VALIDATION_ERROR"


def _counting(table: str) -> Callable[[Transaction], int]:
    return lambda tx: tx.rows(f"SELECT count(*) FROM {table}")[0][0]
