"""The tool calls of an effort through the real `snell-hook`: counted, refused, told of, and what is kept of them."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.process.desk import Desk
from tests.process.machine import Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)


@pytest.fixture
def desk(machine: Machine) -> Desk:
    machine.hook()  # starts the daemon
    return Desk(machine)


class Counted:
    """Tool calls of an effort, each with an id of its own, and how many of them count."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.made = 0
        self.id = desk.snell("effort", "start", "t", "fix", "--json").json["effort"]["id"]
        desk.fire("SessionStart", source="startup")

    def call(self, tool: str = "Bash", agent_id: str = "", **given: Any) -> dict[str, Any]:
        self.made += 1
        more = {"agent_id": agent_id, "agent_type": "x"} if agent_id else {}
        return self.desk.call(self.made, tool_name=tool, tool_input=given or {"command": "ls"}, **more)

    def verdict(self, tool: str = "Bash", **given: Any) -> str:
        return str(self.call(tool, **given).get("permissionDecision", ""))

    def after(self, tool: str, given: Any, response: Any = "ok") -> str:
        self.made += 1
        call = {"tool_name": tool, "tool_input": given, "tool_use_id": f"t{self.made}", "tool_response": response}
        return self.desk.told("PostToolUse", **call)

    @property
    def count(self) -> int:
        return int(self.desk.data("commands.where")["session"]["heartbeatCounter"])

    def set(self, **metadata: Any) -> None:
        self.desk.data("db.effort.updateMetadata", id=self.id, metadata=metadata)


@pytest.mark.proves("S2-27", "S2-66", "S2-67", "S2-68", "S2-69", "S2-70", "S2-75", "S2-121", "S2-146")
def test_calls_count_until_the_log_has_an_entry_and_snells_own_commands_do_not(desk: Desk):
    work = Counted(desk)
    answers = [work.call() for _ in range(11)]
    verdicts = [answer.get("permissionDecision", "") for answer in answers]
    assert verdicts == [""] * 9 + ["deny"] * 2
    told = [number for number, each in enumerate(answers, 1) if "tool calls without a log entry" in str(each)]
    assert told == [3]
    assert "10/10 tool calls without logging" in answers[9]["permissionDecisionReason"]
    for own in ("snell phase", "snell session dehydrate < a.json", "cd /p && snell effort show"):
        assert (own, work.verdict(command=own), work.count) == (own, "", 11)
    for foreign in ("snellx effort log x", "engineer build", "snell effort log x; make", "echo snell effort log x"):
        count = work.count
        assert (foreign, work.verdict(command=foreign), work.count) == (foreign, "deny", count + 1)
    assert work.verdict(command="snell effort log 'found it'") == ""
    logged = desk.snell("effort", "log", "## Found it\nin the lexer")
    assert (Path(logged.stdout.split()[-1]).name, work.count) == ("1_FIX_LOG.md", 0)
    assert (work.verdict(), work.count) == ("", 1)
    for words in (("task", "list"), ("effort", "show"), ("effort", "resume"), ("effort", "start", "t", "fix")):
        assert desk.snell(*words).returncode == 0
    desk.fire("UserPromptSubmit", prompt="x")
    work.after("Bash", {"command": "snell effort log x"})
    desk.fire("PostToolUseFailure", tool_name="Bash", tool_input={"command": "x"}, tool_use_id="f", error="e")
    desk.fire("SubagentStart", agent_id="a1", agent_type="x")
    desk.fire("SubagentStop", agent_id="a1", agent_type="x", stop_hook_active=False)
    desk.fire("Stop", stop_hook_active=False)
    assert work.count == 1
    assert (work.verdict("Skill", skill="effort", args="log the same by the skill"), work.count) == ("", 0)
    assert (work.verdict(), work.count) == ("", 1)
    assert (desk.snell("phase", "1: Plan").returncode, work.count) == (0, 0)
    desk.snell("effort", "log", "--log", "PLAN", "first this")
    names = sorted(path.name for path in (desk.project / ".tasks/t").iterdir())
    assert names == ["1_FIX_LOG.md", "1_FIX_PLAN.md"]
    work.set(blockAfter=0)
    assert work.verdict() == "deny"
    work.set(blockAfter=3)
    desk.snell("effort", "log", "x")
    assert [work.verdict() for _ in range(3)] == ["", "", "deny"]
    work.set(blockAfter=20)
    desk.snell("effort", "log", "y")
    for number, tool in enumerate(("Read", "Grep", "Write", "WebFetch", "Glob", "mcp__x__y"), 1):
        given = {"file_path": "/a", "pattern": "x", "content": "long enough", "url": "https://example.org"}
        answer = work.call(tool, **given, prompt="x")
        assert (tool, work.count, "3/20 tool calls" in str(answer)) == (tool, number, number == 3)
    for _ in range(2):
        work.call("Edit", file_path="/a", old_string="x", new_string="y")
        assert work.count == 7  # the second one in a row neither counts nor sets back
    always = {"type": "toolCount", "condition": {"gte": 0}}
    work.set(guards=[{"id": "stop", "trigger": always, "urgency": "block", "payload": {"text": "ask first"}}])
    commands = ("ls", "snell effort show", "snellx effort show")
    assert [work.verdict(command=each) for each in commands] == ["deny", "", "deny"]


@pytest.mark.proves("S2-27", "S2-77", "S2-80", "S2-81")
def test_what_is_not_work_is_neither_counted_nor_held_back(desk: Desk):
    work = Counted(desk)
    edit = {"old_string": "a", "new_string": "b"}
    for path in ("/p/a", "/p/a", "/p/b", "/p/a"):
        work.verdict("Edit", file_path=path, **edit)
    for path, count in (("/p/a", 3), ("/p/c", 4), ("/p/c", 4)):
        work.verdict("MultiEdit", file_path=path, edits=[edit])
        assert (path, work.count) == (path, count)
    work.set(blockAfter=4)
    for tool in ("Task", "Agent"):
        assert work.verdict(tool, prompt="p", description="d", subagent_type="s") == ""
    assert work.count == 4
    work.set(blockAfter=None)
    for flag in ("loading", "dehydrating"):
        work.set(**{flag: True, "blockAfter": 0})
        assert (flag, work.verdict(), work.count) == (flag, "", 4)
        work.set(**{flag: None})
    assert (work.verdict(), work.count) == ("deny", 5)
    assert (work.call(agent_id="a1").get("permissionDecision"), work.count) == (None, 5)
    assert "only a note" in work.call(agent_id="a1")["additionalContext"]
    desk.snell("effort", "finish")
    assert [work.verdict() for _ in range(3)] == [""] * 3
    assert work.call(agent_id="a1") == {}  # its session is open until it stops, and no call of it is held back or noted


@pytest.mark.proves("S2-15", "S2-71", "S2-72")
def test_a_context_that_fills_up_is_warned_about_and_kept_with_the_session(desk: Desk):
    work = Counted(desk)
    work.set(blockAfter=100)

    def told(percent: float) -> str:
        desk.snell("statusline", given={"session_id": "s", "context_window": {"used_percentage": percent}})
        text = str(work.call().get("additionalContext", ""))
        assert desk.data("commands.where")["session"]["contextUsage"] == percent / 100
        return text

    assert "context is used" not in told(79)
    assert ("89% of the context is used" in (text := told(89)), "dehydrate" in text) == (True, False)
    assert "snell session dehydrate" in told(90)
    desk.machine.write("snell.toml", "[pack.sessions]\nwarn = 0.5\nnotice = 0.3\n")
    assert "snell session dehydrate" in told(51)
    desk.fire("SessionStart", source="clear")  # the notice comes once a window
    assert ("29% of the context" in told(29), "31% of the context is used" in told(31)) == (False, True)
    desk.machine.write("snell.toml", "[pack.sessions]\nblock = 0.76\n")
    told(77)
    assert work.verdict() == "deny"
    assert work.verdict(command="snell session dehydrate < a.json") == ""


@pytest.mark.proves("S2-73", "S2-74", "S2-75")
def test_the_rules_of_an_effort_compare_a_number_and_the_answer_names_all_that_fire(desk: Desk):
    work = Counted(desk)
    desk.snell("statusline", given={"session_id": "s", "context_window": {"used_percentage": 50}})

    def fired(*conditions: tuple[Any, str, Any]) -> dict[str, Any]:
        rules = [
            {"ruleId": f"r{number}", "condition": {"field": field, "op": op, "value": value}, "payload": {"text": "t"}}
            for number, (field, op, value) in enumerate(conditions)
        ]
        work.set(guards=rules)
        work.made += 1
        given = {"sessionId": "s", "transcriptPath": "", "cwd": str(desk.project), "toolUseId": f"c{work.made}"}
        return dict(desk.data("hooks.preToolUse", **given, toolName="Bash", toolInput={"command": "ls"}))

    compared = [(op, value) for op in ("gte", "gt", "lte", "lt", "eq") for value in (0.4, 0.5, 0.6)]
    answer = fired(*(("context_usage", op, value) for op, value in compared))
    holds = {"gte": (0.4, 0.5), "gt": (0.4,), "lte": (0.5, 0.6), "lt": (0.6,), "eq": (0.5,)}
    expected = [f"r{number}" for number, (op, value) in enumerate(compared) if value in holds[op]]
    assert [rule["ruleId"] for rule in answer["firedRules"]] == expected
    named = ("allow", "heartbeatCount", "contextUsage", "overflowWarning", "pendingPreloads")
    assert [answer[name] for name in named] == [True, 1, 0.5, False, []]
    answer = fired(("heartbeat_counter", "eq", 2), (None, "gte", 0), ("heartbeat_counter", "about", 0))
    assert answer["firedRules"] == [{"ruleId": "r0", "payload": {"text": "t"}}]
    desk.snell("statusline", given={"session_id": "s", "context_window": {"used_percentage": 95}})
    always = {"type": "toolCount", "condition": {"gte": 1}}
    rule = {"id": "stop", "trigger": always, "urgency": "block", "payload": {"text": "ask first"}}
    files = {"id": "load", "trigger": always, "mode": "preload", "payload": {"files": ["/p/plan.md"]}}
    work.set(guards=[rule, files])
    given = {"sessionId": "s", "transcriptPath": "", "cwd": str(desk.project), "toolUseId": "last"}
    answer = desk.data("hooks.preToolUse", **given, toolName="Bash", toolInput={"command": "ls"})
    named = ("allow", "reason", "contextUsage", "overflowWarning", "pendingPreloads")
    assert [answer[name] for name in named] == [False, "ask first", 0.95, True, ["/p/plan.md"]]
    denied = work.call()
    assert (denied["permissionDecision"], denied["permissionDecisionReason"]) == ("deny", "ask first")


@pytest.mark.proves("S2-27", "S2-83", "S2-84", "S2-85", "S2-90", "S2-121")
def test_waiting_notes_are_delivered_once_as_blocks_of_their_own(desk: Desk):
    work = Counted(desk)
    notes = [{"ruleId": "r1", "content": "run the tests"}, {"ruleId": "r2", "content": "keep it small"}]
    work.set(pendingInjections=notes, mine=1)
    with ThreadPoolExecutor(6) as pool:
        texts = list(pool.map(lambda _: work.after("Bash", {"command": "ls"}), range(6)))
    assert sorted(texts)[:5] == [""] * 5
    assert max(texts).split("\n") == ["run the tests", "keep it small"]
    assert desk.data("db.effort.getMetadata", id=work.id) == {"mine": 1}
    once = {
        "id": "tests",
        "trigger": {"type": "toolCount", "condition": {"gte": 1}},
        "inject": "once",
        "mode": "paste",
    }
    work.set(guards=[{**once, "payload": {"text": "look", "files": ["/p/plan.md"]}}])
    assert [work.verdict(), work.verdict()] == ["", ""]
    session = desk.data("commands.where")["session"]
    waits = {"ruleId": "tests", "content": "look Read these files: /p/plan.md.", "mode": "paste"}
    waits["path"] = "/p/plan.md"
    assert session["pendingInjections"] == [waits]
    common = {"sessionId": "s", "transcriptPath": "", "cwd": str(desk.project), "toolUseId": "last"}
    call = {"toolName": "Bash", "toolInput": {"command": "ls"}, "toolResponse": {"stdout": ""}}
    answer = desk.data("hooks.postToolUse", **common, **call)
    named = ("heartbeatCount", "pendingInjections", "dialogueEntry")
    assert [answer[name] for name in named] == [session["heartbeatCounter"], [waits], None]
    assert answer["hookSpecificOutput"]["additionalContext"] == waits["content"]
    assert work.after("Bash", {"command": "ls"}) == ""


@pytest.mark.proves("S2-35", "S2-82", "S2-83", "S2-86", "S2-87", "S2-89", "S2-145")
def test_a_question_becomes_a_dialogue_entry_among_the_messages(desk: Desk):
    work = Counted(desk)
    asked = {
        "preamble": "two things",
        "questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}, {"question": "Why?"}],
    }
    entry = {
        "preamble": "two things",
        "questions": [
            {"question": "Which?", "options": ["A", "B"], "answer": "B"},
            {"question": "Why?", "options": [], "answer": ""},
        ],
    }
    work.after("AskUserQuestion", asked, {"answers": {"Which?": "B", "Where?": "C"}})
    for odd in (None, 3, [1], "text", {"answers": 5}):
        work.after("AskUserQuestion", asked if odd else {"questions": "nonsense"}, odd)
    common = {"sessionId": "s", "transcriptPath": "", "cwd": str(desk.project), "toolUseId": "last"}
    call = {"toolName": "AskUserQuestion", "toolInput": asked, "toolResponse": {"answers": {"Which?": "B"}}}
    assert desk.data("hooks.postToolUse", **common, **call)["dialogueEntry"] == entry
    several = {"questions": [{"header": "Kind", "question": "Which kinds?", "options": []}]}
    call = {**call, "toolInput": several, "toolResponse": {"answers": {"Kind": ["A", "C"]}}}
    (found,) = desk.data("hooks.postToolUse", **{**common, "toolUseId": "2"}, **call)["dialogueEntry"]["questions"]
    assert found == {"question": "Which kinds?", "options": [], "answer": "A, C"}
    for path in ("/p/a", "/p/c", "/p/a"):
        work.after("Read", {"file_path": path})
    work.after("NotebookRead", {"notebook_path": "/p/n.ipynb"})
    work.after("Bash", {"command": "cat /p/b"})
    session = desk.data("commands.where")["session"]
    assert session["loadedFiles"] == ["/p/a", "/p/c", "/p/n.ipynb"]
    kept = desk.data("db.messages.list", sessionId=session["id"])
    assert {(row["role"], row["toolName"]) for row in kept} == {("dialogue", "AskUserQuestion")}
    assert [row["timestamp"] >= session["createdAt"] for row in kept] == [True] * 8
    empty = {"source": "hook", "preamble": "", "questions": []}
    whole = {"source": "hook", **entry}
    told = {**empty, "questions": [found]}
    unanswered = {**whole, "questions": [{**each, "answer": ""} for each in entry["questions"]]}
    assert [json.loads(row["content"]) for row in kept] == [whole, empty, *[unanswered] * 4, whole, told]
    desk.machine.write("snell.toml", "[pack.sessions]\ningest = true\n")
    work.after("AskUserQuestion", asked, {"answers": {}})
    assert len(desk.data("db.messages.list", sessionId=session["id"])) == 8
    assert not [path for path in desk.project.rglob("*") if "DIALOGUE" in path.name.upper()]


@pytest.mark.proves("S2-91")
def test_a_transcript_becomes_messages_after_the_reply_has_left(desk: Desk):
    desk.machine.write("snell.toml", "[pack.sessions]\ningest = true\n")
    work = Counted(desk)
    path = desk.project / "t.jsonl"
    total = 6_000
    line = json.dumps({"type": "user", "message": {"role": "user", "content": "a word " * 20}})
    path.write_text(f"{line}\n" * total, encoding="utf-8")
    work.verdict()
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "x", "transcript_path": str(path)}
    desk.fire("PostToolUse", **call, tool_response="")
    ((at_reply,),) = desk.rows("SELECT count(*) FROM messages")
    assert at_reply == 0
    wait_until(lambda: desk.rows("SELECT count(*) FROM messages") == [(total,)], seconds=60)


@pytest.mark.proves("S2-26", "S2-55", "S2-88", "S2-148")
def test_the_rules_of_a_touched_folder_up_to_the_root_are_found_in_the_same_round_trip(desk: Desk):
    work = Counted(desk)
    deep = desk.project / "src/deep"
    (deep / ".directives/commands").mkdir(parents=True)
    (desk.project.parent / "AGENTS.md").write_text("outside", encoding="utf-8")
    (desk.project / ".directives").mkdir()
    inside = ("INVARIANTS.md", "commands/CMD_X.md")
    for name in ("AGENTS.md", ".directives/ARCHITECTURE.md", *(f"src/deep/.directives/{each}" for each in inside)):
        (desk.project / name).write_text(f"rules of {name}", encoding="utf-8")
    common = {"sessionId": "s", "transcriptPath": "", "cwd": str(desk.project), "toolUseId": "1"}
    call = {"toolName": "Edit", "toolInput": {"file_path": str(deep / "a.py")}, "toolResponse": ""}
    found = desk.data("hooks.postToolUse", **common, **call)["discovered"]
    assert [Path(path).name for path in found] == ["INVARIANTS.md", "CMD_X.md", "ARCHITECTURE.md", "AGENTS.md"]
    assert desk.snell("effort", "show", "--json").json["discoveredDirectives"] == found
    assert desk.data("hooks.postToolUse", **{**common, "toolUseId": "2"}, **call)["discovered"] == []
    (desk.project / "lib").mkdir()
    (desk.project / "lib/AGENTS.md").write_text("rules of lib", encoding="utf-8")
    write = {"file_path": str(desk.project / "lib/b.py"), "content": "x"}
    (desk.project / ".snell").mkdir()
    (desk.project / ".snell/snell.toml").write_text("[pack.sessions]\nheartbeat = 10\n", encoding="utf-8")
    digest = desk.snell("trust", "--json").json["digest"]
    assert desk.snell("trust", "--hash", digest).returncode == 0
    assert "lib/AGENTS.md" in work.after("Write", write)
    for tool, name in (
        ("MultiEdit", "file_path"),
        ("NotebookEdit", "notebook_path"),
        ("NotebookRead", "notebook_path"),
    ):
        (desk.project / tool).mkdir()
        (desk.project / tool / "COMMANDS.md").write_text("rules", encoding="utf-8")
        path = str(desk.project / tool / "a.ipynb")
        assert f"{tool}/COMMANDS.md" in work.after(tool, {name: path, "edits": [], "new_source": "x"})
    assert desk.data("commands.where")["session"]["loadedFiles"] == [path]
    told = desk.told("SessionStart", source="startup", session_id="w2")
    assert all(text in told for text in ("heartbeat 0/10", "skill fix", "INVARIANTS.md", "rules of lib"))


@pytest.mark.proves("S2-78", "S2-79", "S2-25")
def test_an_agent_starts_efforts_by_a_skill_and_by_a_phase_command(desk: Desk):
    number = iter(range(1000))

    def skill(args: str) -> dict[str, Any]:
        return desk.call(next(number), tool_name="Skill", tool_input={"skill": "effort", "args": args})

    assert "Effort 1 starts" in skill("start parser implement")["additionalContext"]
    assert "continues" in skill("resume")["additionalContext"]
    assert "1_IMPLEMENT_LOG.md" in skill("log wrote the lexer")["additionalContext"]
    assert "wrote the lexer" in (desk.project / ".tasks/parser/1_IMPLEMENT_LOG.md").read_text("utf-8")
    for wrong in ("", "start", "start a b c d", "resume x", "resume 999", "log", "dance"):
        refused = skill(wrong)
        assert (wrong, refused["permissionDecision"]) == (wrong, "deny")
        assert "start TASK SKILL" in refused["permissionDecisionReason"]
    desk.snell("effort", "finish")
    project = desk.data("db.project.find", path=str(desk.project))["id"]
    desk.data("db.skills.upsert", projectId=project, name="analyse", phases=[{"label": "0", "name": "Setup"}])
    command = 'snell phase 0 <<\'EOF\'\n{"taskName": "Look around"}\nEOF'
    assert desk.verdict(next(number), tool_name="Bash", tool_input={"command": command}) == ""
    (effort,) = desk.snell("effort", "list", "--active", "--json").json
    assert (effort["skill"], Path(effort["taskId"]).name) == ("analyse", "look-around")
    for other in ("snell phase 0 <<EOF\nnot json\nEOF", command.replace("Look around", "Another")):
        desk.verdict(next(number), tool_name="Bash", tool_input={"command": other})  # there is an effort now
    assert len(desk.snell("effort", "list", "--json").json) == 2


@pytest.mark.proves("S2-139")
def test_phases_go_one_step_at_a_time(desk: Desk):
    declared = [("1", "Plan"), ("2", "Build"), ("2.1", "Parser"), ("2.2", "Lexer"), ("3", "Check")]
    phases = json.dumps({"phases": [{"label": label, "name": name} for label, name in declared]})
    desk.snell("effort", "start", "t", "fix", "--metadata", phases)

    def enter(*words: str) -> str:
        done = desk.snell("phase", *words)
        shown = desk.snell("effort", "show", "--json").json["currentPhase"]
        return str(shown) if done.returncode == 0 else f"refused: {shown}"

    assert enter("2") == "refused: None"
    assert [enter("1"), enter("1")] == ["1: Plan", "1: Plan"]
    assert len(desk.snell("phase", "--json").json) == 1  # the same phase again is no change
    assert enter("3") == "refused: 1: Plan"
    assert enter("2") == "2: Build"
    assert enter("1") == "refused: 2: Build"
    assert enter("2.1") == "2.1: Parser"
    assert enter("2.2") == "2.2: Lexer"
    assert [enter("2.A"), enter("3.1"), enter("9", "--reason", "why not")] == ["refused: 2.2: Lexer"] * 3
    assert enter("2.3: More") == "2.3: More"
    assert enter("3") == "3: Check"
    assert enter("1", "--reason", "start over") == "1: Plan"
