"""Tasks, efforts and sessions as rows: made and read through the socket, the command line and events."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import apsw
import pytest

from tests.process.desk import REFUSED, Desk
from tests.process.machine import Machine

pytest_plugins = ("tests.process.machine_fixtures",)


@pytest.fixture
def desk(machine: Machine) -> Desk:
    machine.hook()  # starts the daemon
    return Desk(machine)


@pytest.mark.proves("S2-08", "S2-29", "S2-30", "S2-31", "S2-32", "S2-33")
def test_a_task_is_a_folder_that_lasts_and_is_active_while_one_of_its_efforts_is(desk: Desk):
    folder = str(desk.project / "Work/A")
    words = ("--title", "A", "--description", "d", "--workspace", "w", "--keywords", "old")
    elsewhere = desk.data("db.project.upsert", path="/elsewhere")["id"]  # not the only one
    added = desk.snell("task", "add", "Work/A", *words, "--json").json
    project = desk.data("db.project.find", path=str(desk.project))["id"]
    named = ("dirPath", "projectId", "title", "description", "workspace", "keywords", "state", "effortCount")
    assert [added[name] for name in named] == [folder, project, "A", "d", "w", "old", "dormant", 0]
    assert added["createdAt"] > 0
    again = desk.data("db.task.upsert", dirPath=f"{folder}/../A/", projectId=project)
    assert (again["dirPath"], again["createdAt"]) == (folder, added["createdAt"])  # the same folder, the same task
    assert [desk.data("db.task.list", projectId=each) for each in (project, elsewhere)] == [[again], []]
    assert desk.ask("db.task.upsert", dirPath="/elsewhere/b", projectId=9_999)["ok"] is False  # no such project

    def state() -> tuple[str, str]:
        (row,) = desk.snell("task", "list", "--json").json
        return row["state"], row["keywords"]

    first = desk.data("db.effort.start", taskId=folder, skill="build")["id"]
    second = desk.data("db.effort.start", taskId=folder, skill="fix")["id"]
    assert desk.snell("effort", "finish", str(first)).returncode == 0
    assert state() == ("active", "old")  # the second one goes on, and the first brought no keywords
    assert desk.snell("effort", "finish", str(second), "--keywords", "new").returncode == 0
    assert state() == ("dormant", "new")
    assert desk.snell("task", "add", "Work/A", "--title", "B", "--json").json["title"] == "B"
    assert [row["skill"] for row in desk.snell("task", "show", "Work/A", "--json").json] == ["build", "fix"]


@pytest.mark.proves("S2-06", "S2-07", "S2-19", "S2-22", "S2-23", "S2-24", "S2-25", "S2-26", "S2-27", "S2-28")
def test_an_effort_is_numbered_in_its_task_goes_through_phases_and_is_finished_once(desk: Desk):
    def start(number: int) -> dict:
        return desk.data("db.effort.start", taskId=folder, skill=f"s{number}", mode="quick" if number == 3 else None)

    folder = desk.snell("task", "add", "t", "--json").json["dirPath"]
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(start, range(8)))
    assert sorted(each["ordinal"] for each in made) == list(range(1, 9))
    assert len({each["id"] for each in made}) == 8
    assert {type(each["id"]) for each in made} == {int}
    assert {each["skill"]: each["mode"] for each in made} == {f"s{n}": "quick" if n == 3 else None for n in range(8)}
    assert {(each["lifecycle"], each["finishedAt"]) for each in made} == {("active", None)}
    metadata = {
        "phases": [{"label": "1", "name": "Plan"}, {"label": "2", "name": "Build"}],
        "blockAfter": 5,
        "guards": [{"ruleId": "r"}],
        "loading": False,
        "dehydrating": False,
        "pendingInjections": [{"ruleId": "x", "content": "c"}],
    }
    words = ("effort", "start", "mine", "ship", "--mode", "slow", "--metadata", json.dumps(metadata))
    id_ = desk.snell(*words, "--json").json["effort"]["id"]
    desk.data("db.effort.updateMetadata", id=id_, metadata={"blockAfter": 6, "loading": None})
    assert desk.data("db.effort.getMetadata", id=id_) == {
        name: 6 if name == "blockAfter" else value for name, value in metadata.items() if name != "loading"
    }
    assert desk.snell("phase", "1").stdout == "now in phase 1: Plan\n"
    (desk.project / "src").mkdir()
    (desk.project / "src/AGENTS.md").write_text("rules", encoding="utf-8")
    desk.fire("SessionStart", source="startup")
    read = {"tool_name": "Read", "tool_input": {"file_path": str(desk.project / "src/a.py")}, "tool_use_id": "1"}
    desk.fire("PostToolUse", **read, tool_response="x")
    with desk.database() as database, pytest.raises(apsw.ConstraintError):
        database.execute("UPDATE efforts SET lifecycle = 'paused'")
    row = desk.snell("effort", "show", str(id_), "--json").json
    named = ("mode", "lifecycle", "currentPhase", "discoveredDirectives", "discoveredDirectories")
    src = str(desk.project / "src")
    assert [row[name] for name in named] == ["slow", "active", "1: Plan", [f"{src}/AGENTS.md"], [src]]
    assert row["createdAt"] > 0
    done = desk.snell("effort", "finish", str(id_), "--json").json
    assert (done["lifecycle"], done["finishedAt"] >= done["createdAt"]) == ("finished", True)
    assert desk.code("db.effort.finish", id=id_) == "ALREADY_FINISHED"
    assert desk.snell("effort", "finish", str(id_)).returncode == 1
    assert desk.snell("effort", "show", str(id_), "--json").json == done


@pytest.mark.proves("S2-02", "S2-03", "S2-04", "S2-11", "S2-13", "S2-14", "S2-15", "S2-16", "S2-17", "S2-18", "S2-51")
def test_each_window_is_a_session_of_its_own_linked_to_the_one_before(desk: Desk):
    effort = desk.snell("effort", "start", "t", "fix", "--json").json["effort"]
    transcript = str(desk.project / "t.jsonl")
    desk.fire("SessionStart", source="startup", session_id="w1", transcript_path=transcript)
    desk.snell("statusline", given={"session_id": "w1", "context_window": {"used_percentage": 42}})
    read: dict[str, Any] = {"tool_name": "Read", "transcript_path": transcript}
    for number in range(3):
        if number == 1:
            assert desk.snell("effort", "log", "the first call was a look").returncode == 0  # it counts from zero again
        read["tool_input"] = {"file_path": "/p/b.py" if number == 2 else "/p/a.py"}
        before = desk.data("commands.where")["session"]["lastHeartbeat"]
        desk.fire("PreToolUse", **read, session_id="w1", tool_use_id=f"{number}")
        assert desk.data("commands.where")["session"]["lastHeartbeat"] > before
        desk.fire("PostToolUse", **read, session_id="w1", tool_use_id=f"{number}", tool_response="x")
    left = {"summary": "s", "lastAction": "l", "nextSteps": ["n"], "requiredFiles": ["/p/a.py"]}
    left |= {"handoverInstructions": "h", "userHistory": "u"}
    assert desk.snell("session", "dehydrate", given=left).returncode == 0
    desk.fire("SessionStart", source="startup", session_id="w2")
    desk.fire("SessionStart", source="clear", session_id="w2")  # the same client, and yet another window
    rows = desk.snell("session", "list", "--json").json
    ids = [row["id"] for row in rows]
    assert ids == list(range(1, len(ids) + 1))
    assert [row["prevSessionId"] for row in rows] == [None, *ids[:-1]]
    assert {(row["effortId"], row["taskId"]) for row in rows} == {(effort["id"], effort["taskId"])}
    assert [row["clientSessionId"] for row in rows] == [None, "w1", "w2", "w2"]
    assert [row["endReason"] for row in rows] == ["replaced", "dehydrated", "replaced", None]
    assert [row["endedAt"] is None for row in rows] == [False, False, False, True]
    assert [row["endedAt"] >= row["createdAt"] for row in rows[:3]] == [True] * 3
    worked, fresh = rows[1], rows[3]
    named = ("heartbeatCounter", "contextUsage", "loadedFiles", "transcriptPath", "heartbeatInterval")
    assert [worked[name] for name in named] == [2, 0.42, ["/p/a.py", "/p/b.py"], transcript, 10]
    assert worked["dehydrationPayload"] == left
    assert worked["lastHeartbeat"] > worked["createdAt"] > 0  # that of the last call
    named = ("heartbeatCounter", "loadedFiles", "preloadedFiles", "pendingInjections", "dehydrationPayload")
    assert [fresh[name] for name in named] == [0, [], [], [], None]
    assert (fresh["contextUsage"], fresh["discoveredDirectives"], fresh["discoveredDirectories"]) == (None, [], ["/p"])
    counts = [desk.data("db.session.heartbeat", id=fresh["id"], reset=reset) for reset in (False, False, True)]
    assert [each["heartbeatCounter"] for each in counts] == [1, 2, 0]
    for over in (2, -1):
        assert (
            desk.data("db.session.updateContextUsage", id=fresh["id"], usage=over)["contextUsage"] == max(over, 0) / 2
        )
    set_ = desk.data("db.session.setTranscript", id=fresh["id"], path="/t", offset=7)
    assert (set_["transcriptPath"], set_["transcriptOffset"]) == ("/t", 7)
    # No way leads back: an ended session ends no second time, counts no call of its window and is not resumed.
    assert desk.code("db.session.finish", id=worked["id"]) == "ALREADY_ENDED"
    desk.fire("SessionStart", source="resume", session_id="w1")
    for window in ("w1", "w2"):
        desk.fire("PreToolUse", **read, session_id=window, tool_use_id=f"9{window}")
    again = desk.snell("session", "list", "--json").json
    assert [row["endedAt"] for row in again[:3]] == [row["endedAt"] for row in rows[:3]]
    assert ([row["heartbeatCounter"] for row in again], again[-1]["clientSessionId"]) == ([0, 2, 0, 0, 1], "w1")
    assert again[-1]["id"] not in ids
    by_hand = desk.data("db.session.start", effortId=effort["id"], pid=77)
    assert (by_hand["pid"], by_hand["prevSessionId"]) == (77, again[-1]["id"])


@pytest.mark.proves("S2-12", "S2-20", "S2-38")
def test_no_session_is_without_an_effort_and_what_belongs_to_a_task_goes_with_it(desk: Desk):
    desk.snell("effort", "start", "t", "fix")
    desk.snell("phase", "1: Plan")
    desk.fire("SessionStart", source="startup")
    desk.fire("PostToolUseFailure", tool_name="Bash", tool_input={"command": "x"}, tool_use_id="1", error="e")
    desk.fire("SubagentStart", agent_id="a", agent_type="x")
    desk.fire("SessionStart", source="clear")
    assert desk.code("db.session.start", effortId=999) == "NOT_FOUND"
    assert desk.code("db.session.start") == "VALIDATION_ERROR"
    with desk.database() as database:
        for wrong in ("effort_id = NULL", "effort_id = 999"):
            with pytest.raises(apsw.ConstraintError):
                database.execute(f"UPDATE sessions SET {wrong}")
        tables = ("efforts", "sessions", "messages", "phase_history", "agents")
        assert all(database.execute(f"SELECT count(*) FROM {table}").get for table in tables)
        # With a session goes what its sub-agents and its messages are; the one after it stays.
        chain = "SELECT id, prev_session_id, parent_session_id FROM sessions ORDER BY id"
        assert database.execute(chain).fetchall() == [(1, None, None), (2, 1, None), (3, None, 2), (4, 2, None)]
        database.execute("DELETE FROM sessions WHERE id = 2")
        assert database.execute(chain).fetchall() == [(1, None, None), (4, None, None)]
        assert database.execute("SELECT count(*) FROM messages").get == 0
        database.execute("INSERT INTO messages (session_id, role, content, timestamp) VALUES (4, 'r', 'c', 1)")
        database.execute("SAVEPOINT whole; DELETE FROM efforts")
        assert [database.execute(f"SELECT count(*) FROM {table}").get for table in tables] == [0, 0, 0, 0, 1]
        database.execute("ROLLBACK TO whole")
        database.execute("DELETE FROM tasks")
        assert [database.execute(f"SELECT count(*) FROM {table}").get for table in tables] == [0, 0, 0, 0, 1]
        for table, where, by in (
            ("sessions", "effort_id = 1 AND ended_at IS NULL", "effort_id=? AND ended_at=?"),
            ("sessions", "client_session_id = 's' AND subagent_id = ''", "client_session_id=? AND subagent_id=?"),
            ("messages", "session_id = 1 AND timestamp > 0", "session_id=? AND timestamp>?"),
        ):
            plan = str(database.execute(f"EXPLAIN QUERY PLAN SELECT * FROM {table} WHERE {where}").fetchall())
            assert ("USING INDEX" in plan, f"({by})" in plan) == (True, True), plan
        database.execute("INSERT INTO skills (project_id, name, updated_at) SELECT id, 'fix', 1 FROM projects")
        database.execute("DELETE FROM projects")
        assert database.execute("SELECT count(*) FROM skills").get == 0
    assert desk.snell("agent", "list", "--json").json[0]["effortId"] is None


@pytest.mark.proves("S2-34", "S2-37", "S2-46", "S2-132", "S2-143")
def test_agents_in_one_folder_have_an_effort_each_whatever_process_asks(desk: Desk):
    ids = {}
    for agent in ("ann", "bob"):
        ids[agent] = desk.snell("effort", "start", agent, "fix", "--json", agent=agent).json["effort"]["id"]
        desk.fire("SessionStart", agent, source="startup", session_id=agent)
    for number, agent in enumerate(("ann", "bob", "ann", "ann")):
        call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": f"{number}"}
        desk.fire("PreToolUse", agent, session_id=agent, **call)
    desk.snell("agent", "register", "ann", "--label", "Ann", "--parent", "boss", "--manages", "bob")
    desk.data("db.agents.register", id="ann", claims=["src"], targetedClaims=["src/a.py"])
    (row,) = (row for row in desk.snell("agent", "list", "--json").json if row["id"] == "ann")
    named = ("label", "parent", "manages", "claims", "targetedClaims", "effortId", "status")
    assert [row[name] for name in named] == ["Ann", "boss", "bob", ["src"], ["src/a.py"], ids["ann"], "idle"]
    found = {agent: desk.data("commands.where", agent)["effortId"] for agent in ("ann", "bob", "", "default", "carl")}
    assert found == {**ids, "": ids["bob"], "default": ids["bob"], "carl": None}
    assert desk.told("SessionStart", "", source="startup", session_id="plain") == ""  # takes neither of them
    view = desk.rows("SELECT id, skill, heartbeat_counter, effort_id FROM fleet_status ORDER BY id")
    assert view == [("ann", "fix", 3, ids["ann"]), ("bob", "fix", 1, ids["bob"])]
    assert [line.split()[0] for line in desk.snell("fleet").stdout.splitlines()[1:3]] == ["ann", "bob"]
    assert desk.rows("SELECT id FROM active_efforts ORDER BY id") == [(id_,) for id_ in ids.values()]
    assert desk.rows("SELECT effort_count, active_count FROM task_summary") == [(1, 1), (1, 1)]
    ages = ((299, []), (301, [("ann",), ("bob",)]))  # each has an older session, which has ended
    for seconds, stale in ages:
        with desk.database() as database:
            given = "(unixepoch() - ?) * 1000"
            database.execute(f"UPDATE sessions SET last_heartbeat = {given}", (seconds - (seconds < 300) * 60,))
        assert desk.rows("SELECT client_session_id FROM stale_sessions ORDER BY 1") == stale
    desk.snell("effort", "finish", agent="bob")
    assert desk.rows("SELECT id FROM active_efforts") == [(ids["ann"],)]
    assert desk.rows("SELECT id, heartbeat_counter FROM fleet_status ORDER BY id") == [("ann", 3), ("bob", None)]
    assert sorted(desk.rows("SELECT effort_count, active_count FROM task_summary")) == [(1, 0), (1, 1)]
    newer = desk.snell("effort", "start", "later", "fix", "--json", agent="").json["effort"]["id"]
    desk.fire("PreToolUse", "ann", session_id="ann", **{**call, "tool_use_id": "last"})
    assert [desk.data("commands.where", agent)["effortId"] for agent in ("ann", "carl")] == [ids["ann"], newer]


COUNTED = "SELECT heartbeat_counter FROM sessions"


@pytest.mark.proves("S2-36", "S2-134", "S2-140")
def test_a_call_that_fails_in_the_middle_leaves_nothing(desk: Desk):
    project = desk.data("db.project.upsert", path=str(desk.project), name="mine")
    assert desk.data("db.project.find", path=str(desk.project)) == project
    for version in ("1", "2"):
        desk.data("db.skills.upsert", projectId=project["id"], name="ship", version=version)
    assert [row["version"] for row in desk.data("db.skills.list", projectId=project["id"])] == ["2"]
    with desk.database() as database:
        database.execute(f"CREATE INDEX full_sessions ON sessions ({REFUSED.format('task_id')})")
    assert desk.ask("commands.effort.start", taskName="t", skill="fix")["ok"] is False
    assert desk.snell("effort", "start", "t", "fix").returncode == 1
    assert [desk.rows(f"SELECT * FROM {table}") for table in ("tasks", "efforts", "sessions", "agents")] == [[]] * 4
    with desk.database() as database:
        database.execute("DROP INDEX full_sessions")
    begun = desk.snell("effort", "start", "t", "fix", "--json").json
    again = desk.snell("effort", "start", "t", "fix", "--json").json
    assert (again["effort"]["id"], again["session"]["id"]) == (begun["effort"]["id"], begun["session"]["id"])
    with desk.database() as database:
        database.execute("UPDATE sessions SET heartbeat_counter = 3")
    log = desk.project / ".tasks/t/1_FIX_LOG.md"
    log.mkdir(parents=True)  # so that it cannot be written
    assert (desk.snell("effort", "log", "x").returncode, desk.rows(COUNTED)) == (1, [(3,)])
    log.rmdir()
    assert (desk.snell("effort", "log", "x").returncode, desk.rows(COUNTED)) == (0, [(0,)])
    (desk.project / "deep").mkdir()
    resumed = desk.data("commands.effort.resume", cwd=str(desk.project / "deep"))
    assert resumed["effort"]["id"] == begun["effort"]["id"]
    proofs = {"1: Plan": {"plan": "there"}, "2: Build": {"tests": "green"}}
    for phase, proof in proofs.items():
        desk.snell("phase", phase, "--proof", json.dumps(proof))
    kept = desk.data("db.effort.phaseHistory", effortId=begun["effort"]["id"])
    assert {row["phaseLabel"]: row["proof"] for row in kept} == proofs


@pytest.mark.proves("S2-45", "S2-47", "S2-50", "S2-76", "S2-99")
def test_where_no_effort_is_found_every_hook_lets_the_agent_go_on(desk: Desk):
    nothing = {"projectId": None, "effortId": None, "engineSessionId": None, "effort": None, "session": None}
    assert desk.data("commands.where") == nothing
    common = {"sessionId": "s", "transcriptPath": "", "cwd": str(desk.project)}
    empty = {"sessionContext": "", "effortId": None, "sessionId": None, "taskDir": None, "skill": None, "phase": None}

    def answers() -> None:
        started = desk.data("hooks.sessionStart", **common, source="startup")
        assert (started["found"], started["effortId"], started["filesToPreload"]) == (False, None, [])
        prompt = desk.data("hooks.userPrompt", **common, prompt="p")
        assert {name: prompt[name] for name in (*empty, "heartbeat")} == {**empty, "heartbeat": None}
        call = {"toolName": "Bash", "toolInput": {"command": "ls"}, "toolUseId": "1"}
        before = desk.data("hooks.preToolUse", **common, **call)
        assert (before["allow"], before["heartbeatCount"]) == (True, None)
        after = desk.data("hooks.postToolUse", **common, **call, toolResponse="x")
        assert (after["heartbeatCount"], after["pendingInjections"]) == (None, [])
        assert [desk.told("SessionStart", source="startup"), desk.told("UserPromptSubmit", prompt="p")] == ["", ""]
        assert [desk.call(number) for number in range(12)] == [{}] * 12  # neither a verdict nor a note

    answers()
    desk.snell("effort", "start", "t", "fix", agent="bob")
    answers()  # what there is belongs to another agent
    deep = desk.project / "deep/down"
    deep.mkdir(parents=True)
    desk.snell("effort", "start", "t", "fix")
    for folder, is_found in ((deep, True), (desk.project.parent, False), (f"{desk.project}x", False)):
        found = desk.data("commands.where", cwd=str(folder))
        assert [found[name] is not None for name in ("projectId", "effortId", "engineSessionId")] == [is_found] * 3
        started = desk.data("hooks.sessionStart", **{**common, "cwd": str(folder), "sessionId": f"w{is_found}"})
        assert started["found"] is is_found
    inner = desk.data("db.project.upsert", path=str(deep.parent))["id"]
    found = desk.data("commands.where", cwd=str(deep))  # the nearest one, in which nothing was begun
    assert (found["projectId"], found["effortId"]) == (inner, None)
    with desk.database() as database:
        database.execute("ALTER TABLE sessions RENAME TO lost")
    assert [desk.verdict(number) for number in range(20, 32)] == [""] * 12
    assert desk.fire("UserPromptSubmit", session_id="w2", prompt="p") == {}  # no hook fails, so no user is warned
    before = desk.data("hooks.preToolUse", **common, toolName="Bash", toolInput={"command": "ls"}, toolUseId="1")
    assert before["allow"] is True
