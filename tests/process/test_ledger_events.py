"""The ledger and its runs through the real `snell-hook` and the command line."""

import hashlib
import json
import re
from typing import Any

import pytest

from tests.process.desk import REFUSED, Desk
from tests.process.machine import Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)
MAIL = "mcp__mail__send_email"
LETTER: dict[str, Any] = {"to": "a@example.com", "subject": "hello", "body": "text"}

NO_GUARD = "[pack.guard]\nenabled = false\n"  # it refuses to send a password


class Session:
    """The tool calls of one session, and their rows in the ledger."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def before(self, id_: str, tool: str = MAIL, given: Any = None, **fields: Any) -> tuple[str, str]:
        """Return verdict and reason."""
        call = {"tool_name": tool, "tool_input": LETTER if given is None else given, "tool_use_id": id_}
        answer = self.desk.fire("PreToolUse", **call, **fields).get("hookSpecificOutput", {})
        return answer.get("permissionDecision", ""), answer.get("permissionDecisionReason", "")

    def may_run(self, id_: str, tool: str = MAIL, given: Any = None, **fields: Any) -> bool:
        return self.before(id_, tool, given, **fields)[0] != "deny"

    def after(
        self, id_: str, response: Any = None, tool: str = MAIL, given: Any = None, **fields: Any
    ) -> dict[str, Any]:
        call = {"tool_name": tool, "tool_input": LETTER if given is None else given, "tool_use_id": id_}
        return self.desk.fire("PostToolUse", **call, tool_response=response, **fields)

    def fail(self, id_: str, error: str = "no", tool: str = MAIL, given: Any = None, **fields: Any) -> None:
        call = {"tool_name": tool, "tool_input": LETTER if given is None else given, "tool_use_id": id_}
        self.desk.fire("PostToolUseFailure", **call, error=error, **fields)

    def row(self, id_: str, status: str) -> dict[str, Any]:
        """Return the row of a call once it has this status: details are written after the reply."""

        def show() -> Any:
            found = self.desk.snell("ledger", "show", id_, "--json")
            return found.returncode == 0 and found.json["status"] == status and found.json

        return dict(wait_until(show, 20))


@pytest.fixture
def session(machine: Machine) -> Session:
    machine.write("snell.toml", '[pack.ledger]\nmode = "durable"\n')
    machine.hook({"session_id": "warm"})  # starts the daemon
    return Session(Desk(machine))


@pytest.mark.proves("S3-02", "S3-30", "S3-32", "S3-33", "S3-34", "S3-35", "S3-36", "S3-37")
@pytest.mark.parametrize("mode", ["audit", "durable"])
def test_every_call_is_recorded_with_input_output_time_and_status(session: Session, mode: str):
    session.desk.machine.write("snell.toml", f'[pack.ledger]\nmode = "{mode}"\nmost_characters = 1000\n{NO_GUARD}')
    secret = {**LETTER, "body": "password=hunter2hunter2"}
    session.before("t1", given=secret)
    session.row("t1", "running")
    session.after("t1", {"id": "m-7"}, given=secret, duration_ms=161)
    row = session.row("t1", "succeeded")
    named = ("tool_name", "duration_ms", "side_effect_class", "session_id", "external_correlation_id")
    assert [row[name] for name in named] == ["send_email", 161, "external", "s", "m-7"]
    assert ("hunter2" in row["input"], json.loads(row["input"])["subject"]) == (False, "hello")
    assert json.loads(row["output"]) == {"id": "m-7"}
    session.before("t1-again", given=dict(reversed(secret.items())))
    again = session.row("t1-again", "running" if mode == "audit" else "denied")
    assert again["normalized_args_hash"] == row["normalized_args_hash"]
    read = {"tool": "Read", "given": {"file_path": "/a"}}
    session.before("t2", **read)
    session.fail("t2", "no such file", **read, is_interrupt=True)
    row = session.row("t2", "failed")
    assert (row["error_code"], row["error_detail"]) == ("interrupted", "no such file")
    session.before("t3", **read)
    session.after("t3", "1234567 " * 50_000, **read)
    row = session.row("t3", "succeeded")
    assert len(row["output"]) < 2_000
    ((size,),) = session.desk.rows(f"SELECT size FROM tool_bodies WHERE ref = '{row['response_ref']}'")
    assert (size >= 400_000, 0 <= row["duration_ms"] < 60_000) == (True, True)
    for number, tool in enumerate(("Bash", "execute_bash_command"), 4):
        given = {"command": "touch made; echo x > never/there 2>&1 >/dev/null"}
        assert session.before(f"t{number}", tool, given)[0] != "deny"
        (session.desk.project / "made").touch()
        session.after(f"t{number}", {"stdout": ""}, tool, given)
        row = session.row(f"t{number}", "succeeded")
        assert json.loads(row["intent"]) == ["made", "never/there"]
        assert (json.loads(row["confirmed"]), row["side_effect_class"]) == (["made"], "local")
    session.before("t6", given={**LETTER, "subject": "left"})
    session.row("t6", "running")
    session.desk.fire("SessionStart", source="resume")
    session.row("t6", "abandoned_on_resume")
    asks = """[[hooks]]\nevent = "PreToolUse"\ncommand = '''echo '{"decision": "ask"}''''\n"""
    session.desk.machine.write("snell.toml", f'[pack.ledger]\nmode = "{mode}"\n{asks}')
    asked = {**LETTER, "subject": "asked"}
    assert session.before("t7", given=asked)[0] == "ask"
    session.row("t7", "prepared")
    session.after("t7", {"id": "m-8"}, given=asked)
    session.row("t7", "succeeded")
    session.before("t8", **read)
    session.after("t8", "1234567 " * 50_000, **read)
    assert len(session.row("t8", "succeeded")["output"].partition("… [")[0]) == 262_144


@pytest.mark.proves("S3-40", "S3-41", "S3-42", "S3-43", "S3-44", "S3-45", "S3-46")
def test_a_side_effect_happens_once_and_what_may_be_repeated_is(session: Session):
    inner = {**LETTER, "meta": [{"client_request_id": 1, "v": 2}], "idempotency_key": "k"}
    assert session.may_run("t1", given=inner)
    verdict, reason = session.before("t2", given=inner)
    assert (verdict, f"the same call of `{MAIL}` is still running" in reason) == ("deny", True)
    session.fail("t1", "timed out", given=inner)
    assert session.may_run("t3", given=inner)
    session.after("t3", {"id": "m1", "text": "y" * 2_000}, given=inner)
    row = session.row("t3", "succeeded")
    assert row["attempt"] == 2
    same = {"meta": [{"v": 2, "idempotency_key": 3}], **dict(reversed(LETTER.items()))}
    verdict, reason = session.before("t4", given=same)
    assert (verdict, "succeeded, so it is not done twice" in reason) == ("deny", True)
    assert 400 < len(re.search(r"y+", reason.partition("Its result")[2])[0]) <= 500  # type: ignore[index] # it is there
    assert session.may_run("t5", given={**LETTER, "subject": "another"})
    # Read-only calls and sub-agents get a key of their own each time; the key of others is reproducible.
    read = {"tool": "Read", "given": {"file_path": "/a"}}
    task = {"tool": "Task", "given": {"prompt": "look", "description": "d", "subagent_type": "s"}}
    for kind, call in (("r", read), ("k", task)):
        for number in (1, 2, 3):
            assert session.may_run(f"{kind}{number}", **call)
            session.after(f"{kind}{number}", "done", **call)
        rows = [session.row(f"{kind}{number}", "succeeded") for number in (1, 2, 3)]
        found = [len({row[name] for row in rows}) for name in ("idempotency_key", "normalized_args_hash")]
        assert found == [3, 1]
    assert rows[-1]["replay_policy"] == "RELAUNCH"
    hashed = hashlib.sha256(b'{"file_path":"/a"}').hexdigest()
    assert session.row("r1", "succeeded")["normalized_args_hash"] == hashed
    letter = json.dumps(dict(sorted(LETTER.items())), separators=(",", ":"))
    assert session.may_run("t6", session_id="other")
    scope = "a@example.com:hello:"
    text = f"other|mcp|send_email|{hashlib.sha256(letter.encode()).hexdigest()}|{scope}"
    assert session.row("t6", "running")["idempotency_key"] == hashlib.sha256(text.encode()).hexdigest()
    rule = '[[rule]]\nid = "again"\ntool = "send_.*"\nreplay = "RELAUNCH"\n'
    session.desk.machine.write("rules.toml", rule)
    overlay = session.desk.machine.config / "rules.toml"
    session.desk.machine.write("snell.toml", f'[pack.ledger]\nmode = "durable"\npolicies = ["{overlay}"]\n')
    assert [session.may_run(id_, given=same) for id_ in ("a1", "a2")] == [True, True]
    keys = {session.row(id_, "running")["idempotency_key"] for id_ in ("a1", "a2")}
    assert len(keys - {row["idempotency_key"]}) == 2
    assert session.may_run("a3", session_id="third")  # the first call of its session: its key is fresh as well
    common = hashlib.sha256(text.replace("other|", "third|", 1).encode()).hexdigest()
    assert session.row("a3", "running")["idempotency_key"] != common


@pytest.mark.proves("S3-47", "S3-48")
def test_rules_about_tools_come_from_files_that_are_checked_and_read_again(session: Session):
    overlay = session.desk.machine.config / "rules.yaml"
    session.desk.machine.write("snell.toml", f'[pack.ledger]\nmode = "durable"\npolicies = ["{overlay}"]\n')
    verdict, reason = session.before("t0")
    assert (verdict, "rules.yaml" in reason) == ("deny", True)
    rule = '{id: mail, tool: "send_.*", side_effects: external, replay: REPLAY_IDEMPOTENT}'
    overlay.write_text(f"rule:\n  - {rule}\n", encoding="utf-8")
    for number in (1, 2):
        assert session.may_run(f"t{number}")
        session.after(f"t{number}", {"id": number})
    assert session.row("t2", "succeeded")["policy_rule_id"] == "mail"
    overlay.write_text("rule: []\n", encoding="utf-8")
    assert session.before("t3")[0] == "deny"  # the built-in rules again: it was sent
    for number, wrong in enumerate(("rule: [{id: x}]", "rules: []", 'rule: [{id: x, tool: "("}]')):
        overlay.write_text(wrong, encoding="utf-8")
        verdict, reason = session.before(f"w{number}", given={**LETTER, "subject": str(number)})
        assert (verdict, "the ledger's rules cannot be used" in reason) == ("deny", True)
    session.desk.machine.write("snell.toml", '[pack.ledger]\nmode = "durable"\npolicies = ["no\\u0000path"]\n')
    verdict, reason = session.before("n", given={**LETTER, "subject": "n"})
    assert (verdict, "the ledger's rules cannot be used" in reason) == ("deny", True)
    session.desk.machine.write("snell.toml", '[pack.ledger]\nmode = "durable"\n')
    beside = '[[rule]]\nid = "tidy"\ntool = "tidy"\nside_effects = "external"\nreplay = "RELAUNCH"\n'
    ours = '[[rule]]\nid = "sent"\ntool = "edit_file"\nside_effects = "external"\nreplay = "REPLAY_EXACT"\n'
    session.desk.machine.write("ledger.toml", beside + ours)  # it need not be named
    found = {}
    for number, tool in enumerate(
        (
            "Read",
            "Write",
            "edit_file",
            "mcp__mail__list_threads",
            "mcp__x__frobnicate",
            "mcp__x__tidy",
            "TaskUpdate",
            MAIL,
        )
    ):
        given = {"file_path": "/a", "content": "long enough", "subject": "z", "to": "x", "body": "b"}
        session.before(f"c{number}", tool, given)
        row = session.row(f"c{number}", "running")
        found[tool] = (row["side_effect_class"], row["replay_policy"])
    assert found == {
        "Read": ("read_only", "REPLAY_IDEMPOTENT"),
        "Write": ("local", "REPLAY_IDEMPOTENT"),
        "edit_file": ("external", "REPLAY_EXACT"),  # a user's file comes before our own, which names it too
        "mcp__mail__list_threads": ("read_only", "REPLAY_IDEMPOTENT"),
        "mcp__x__frobnicate": ("local", "REPLAY_EXACT"),
        "mcp__x__tidy": ("external", "RELAUNCH"),
        "TaskUpdate": ("local", "REPLAY_EXACT"),  # a known name comes before the verb in it
        MAIL: ("external", "REPLAY_EXACT"),
    }


@pytest.mark.proves("S3-51")
def test_a_ledger_that_cannot_be_written_closes_durable_mode_and_not_audit_mode(session: Session):
    with session.desk.database() as database:
        for table in ("tool_claims", "tool_calls"):
            column = REFUSED.format("tool_call_id")
            database.execute(f"CREATE INDEX full_{table} ON {table} ({column}) WHERE tool_call_id IN ('s/t1', 's/t2')")
    verdict, reason = session.before("t1")
    assert (verdict, "the ledger cannot record this call" in reason) == ("deny", True)
    session.desk.machine.write("snell.toml", '[pack.ledger]\nmode = "audit"\n')
    assert session.may_run("t2")
    assert wait_until(lambda: "malformed JSON" in session.desk.snell("why", "last").stdout)


@pytest.mark.proves("S3-51")
def test_an_error_in_the_ledger_itself_closes_durable_mode_too(session: Session):
    assert session.may_run("t1")
    with session.desk.database() as database:
        database.execute("UPDATE tool_claims SET at = 'never'")  # a time that no program of ours can calculate with
    verdict, reason = session.before("t2")
    assert (verdict, "claim_call" in reason) == ("deny", True)
    assert session.may_run("t3", given={**LETTER, "subject": "another"})


@pytest.mark.proves("S3-39", "S3-52", "S3-53", "S3-54", "S3-55", "S3-75")
def test_a_run_keeps_its_steps_and_waits_for_a_person(session: Session):
    desk = session.desk
    started = desk.snell("runs", "start", "r", "--session", "s", "--json").json
    assert [started[name] for name in ("max_minutes", "max_steps", "max_calls")] == [90, 50, 250]
    read = {"tool": "Read", "given": {"file_path": "/a"}}
    for step in (1, 2):
        desk.fire("UserPromptSubmit", prompt="go")
        for number in (1, 2):
            assert session.may_run(f"r{step}{number}", **read)
            session.after(f"r{step}{number}", "x", **read)
            given = {**LETTER, "subject": f"{step}{number}"}
            assert session.may_run(f"w{step}{number}", given=given)
            session.after(f"w{step}{number}", {"id": "m"}, given=given)
    kinds = {"r": "pre_read_only", "w": "pre_side_effect"}
    kept = [(f"r#{step}", kind, f"s/{call}{step}1") for step in (1, 2) for call, kind in kinds.items()]
    its_call = "t.tool_call_id = json_extract(c.replay_cursor, '$.tool_call_id') AND t.created_at = c.created_at"
    found = f"SELECT c.step_id, checkpoint_type, tool_call_id FROM checkpoints c LEFT JOIN tool_calls t ON {its_call}"
    assert wait_until(lambda: desk.rows(f"{found} ORDER BY 1, 2") == kept)  # each from before its first call
    assert {session.row(f"w{step}1", "succeeded")["step_id"] for step in (1, 2)} == {"r#1", "r#2"}
    assert desk.rows("SELECT step_id FROM run_steps WHERE run_id = 'r' ORDER BY 1") == [("r#1",), ("r#2",)]

    def status() -> str:
        return str(desk.snell("runs", "show", "r", "--json").json["status"])

    tests = {"tool": "Bash", "given": {"command": "pytest -q > log.txt"}}
    session.before("p1", **tests)
    session.fail("p1", "exit code 1", **tests)
    session.row("p1", "failed")
    assert status() == "running"  # a failing test may be run again
    assert session.may_run("f1")
    session.fail("f1", "timed out")
    assert wait_until(lambda: status() == "waiting_for_human")
    verdict, reason = session.before("f2", **read)
    assert (verdict, "waits for a person" in reason) == ("deny", True)
    assert desk.snell("runs", "approve", "r").returncode == 0
    # Only a call that is queued to be made again may run, and after two others a person is asked.
    assert desk.snell("runs", "replay", "r", "--call", "s/f1", "--json").json["changed"]
    verdict, reason = session.before("q1", "Write", {"file_path": "/a", "content": "long enough"})
    assert (verdict, "has to be repeated" in reason) == ("deny", True)
    assert session.may_run("q2")
    session.after("q2", {"id": "m"})
    assert session.may_run("q3", **read)
    assert desk.snell("runs", "replay", "r", "--call", "s/w11", "--json").json["changed"]
    assert not session.may_run("q4", given={**LETTER, "subject": "with another input"})
    assert not session.may_run("q5", **read)
    assert status() == "waiting_for_human"
    desk.snell("runs", "approve", "r")
    assert session.may_run("q6", **read)
    desk.snell("runs", "cancel", "r", "--reason", "enough")
    assert session.before("x1", **read) == (
        "deny",
        "run `r` is cancelled: enough. Instead: stop now, and say where you are",
    )


@pytest.mark.proves("S3-75")
def test_a_run_ends_with_its_budget_of_calls_steps_or_minutes(session: Session):
    desk, read = session.desk, {"tool": "Read", "given": {"file_path": "/a"}}
    for option, allowed in (("--calls", 2), ("--steps", 2), ("--minutes", 1)):
        run = f"b{option}"
        desk.snell("runs", "start", run, option, str(allowed), "--session", "s")
        if option == "--calls":
            found = [session.may_run(f"{run}{n}", **read) for n in range(3)]
        elif option == "--steps":
            found = []
            for number in range(3):
                desk.fire("UserPromptSubmit", prompt="next")
                found.append(session.may_run(f"{run}{number}", **read))
        else:
            found = [session.may_run(f"{run}1", **read), session.may_run(f"{run}2", **read)]
            with desk.database() as database:
                database.execute("UPDATE runs SET created_at = created_at - 61000 WHERE run_id = ?", (run,))
            found.append(session.may_run(f"{run}3", **read))
        assert (option, found) == (option, [True, True, False])


@pytest.mark.proves("S3-49")
def test_a_receipt_waits_until_its_call_is_settled_and_a_resumed_session_promotes_it(session: Session):
    assert session.may_run("t1")
    with session.desk.database() as database:  # the daemon ends between the success and its commit
        late = f"CREATE INDEX late ON tool_calls ({REFUSED.format('status')}) WHERE status = 'succeeded'"
        database.execute(late)
    session.after("t1", {"id": "m-9"})
    assert wait_until(
        lambda: session.desk.rows("SELECT tool_call_id, status FROM tool_receipts") == [("s/t1", "succeeded")]
    )
    session.desk.machine.kill()
    with session.desk.database() as database:
        database.execute("DROP INDEX late")
    session.desk.fire("SessionStart", source="resume")
    session.row("t1", "succeeded")
    assert session.desk.rows("SELECT * FROM tool_receipts") == []
    verdict, reason = session.before("t2")
    assert (verdict, '"m-9"' in reason) == ("deny", True)
