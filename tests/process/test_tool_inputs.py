"""What tools need, through the real `snell-hook`: refused with an example before the call, a hint after it."""

import json
from typing import Any

import pytest

from tests.process.desk import Desk
from tests.process.machine import Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)
LONG = "long enough to be a text"


@pytest.fixture
def desk(machine: Machine) -> Desk:
    machine.hook()  # starts the daemon
    return Desk(machine)


class Calls:
    """Tool calls, each with an id of its own."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.made = desk, 0

    def before(self, tool: str, given: Any) -> dict[str, Any]:
        self.made += 1
        return self.desk.call(self.made, tool_name=tool, tool_input=given)

    def refusal(self, tool: str, given: Any) -> str:
        """Return why a call is refused; empty if it is not."""
        answer = self.before(tool, given)
        return str(answer["permissionDecisionReason"]) if answer.get("permissionDecision") == "deny" else ""

    def hint(self, event: str, tool: str = "Write", **fields: Any) -> str:
        self.made += 1
        call = {"tool_name": tool, "tool_input": {"file_path": "/a"}, "tool_use_id": f"t{self.made}"}
        return self.desk.told(event, **call, **fields)


@pytest.mark.proves("S3-08", "S3-09", "S3-10", "S3-11", "S3-12", "S3-13", "S3-14", "S3-15", "S3-16", "S3-18")
def test_a_call_that_lacks_a_field_is_refused_with_a_call_that_would_pass(desk: Desk):
    desk.machine.write("tools.json", json.dumps({"mcp__a__count": {"type": "object", "required": ["n"]}}))
    own = '[pack.tool_inputs.tools.invoice]\nrequired = ["customer"]\nmin_lengths = { customer = 3 }\n'
    for name, field in (("paid__invoice", "date"), ("mcp__shop__paid__invoice", "sum")):
        own += f'[pack.tool_inputs.tools.{name}]\nrequired = ["{field}"]\n'
    files = f'files = ["{desk.machine.config}/tools.json"]\n'
    desk.machine.write("snell.toml", f'[pack.tool_inputs]\nmode = "strict"\n{files}{own}')
    calls = Calls(desk)
    cases: list[tuple[str, Any, str]] = [
        ("Write", {"file_path": "/a", "content": LONG}, ""),
        ("Write", {"file_path": "", "content": LONG}, "file_path"),
        ("Write", {"file_path": None, "content": LONG}, "file_path"),
        ("Write", {}, "file_path, content"),
        ("mcp__fs__WRITE", {"file_path": "/a"}, "content"),
        ("TodoWrite", {"todos": [{"content": "a", "status": "pending", "activeForm": "a"}]}, ""),
        ("write_local_file", "not an object", "path, content"),
        ("read_local_file", {"path": 0}, ""),
        ("read_local_file", {"path": False}, ""),
        ("gmail_send_email", {"subject": "s", "body": "b", "to": "x"}, ""),
        ("gmail_send_email", {"subject": "s", "body": "b", "recipient_email": "x"}, ""),
        ("gmail_send_email", {"subject": "s", "body": "b"}, "one of: recipient_email|to"),
        ("gmail_send_email", {"subject": "s", "to": "x"}, "body"),
        ("gmail_send_email", {"body": "b", "to": "x"}, "subject"),
        ("composio_multi_execute_tool", {"tools": []}, "tools"),
        ("upload_to_composio", {}, "path, tool_slug, toolkit_slug"),
        ("list_directory", {}, "path"),
        ("read_local_file", {}, "path"),
        ("composio_search_news", {}, "query"),
        ("composio_search_web", {}, "query"),
        ("unheard_of", {}, ""),
        ("invoice", {}, "customer"),
        ("invoice", {"customer": {}}, "customer"),
        ("invoice", {"customer": "ACME"}, ""),
        ("mcp__x__invoice", {}, "customer"),
        ("mcp__x__paid__INVOICE", {}, "date"),  # the longest part that is known
        ("mcp__shop__paid__invoice", {}, "sum"),  # the whole name
        ("mcp__a__count", {}, "n"),
        ("mcp__a__count", {"n": 1}, ""),
    ]
    for tool, given, missing in cases:
        refusal = calls.refusal(tool, given)
        assert (tool, given, bool(refusal)) == (tool, given, bool(missing)), refusal
        assert missing in refusal
    assert calls.before("Write", {"file_path": "/a", "content": LONG}) == {}
    refusal = calls.refusal("write_local_file", {"path": "x"})
    assert "Missing required fields: content" in refusal
    assert calls.refusal("write_local_file", json.loads(refusal.partition("Example: ")[2])) == ""
    assert calls.refusal("invoice", {"customer": "AB"}) != ""  # shorter than its minimum


@pytest.mark.proves("S3-10", "S3-15", "S3-22")
def test_a_text_that_is_too_short_is_a_note_a_refusal_or_nothing_as_the_mode_says(desk: Desk):
    calls = Calls(desk)
    poor = {"file_path": "/a", "content": ""}

    def answer() -> tuple[str, bool]:
        found = calls.before("Write", poor)
        return found.get("permissionDecision", ""), "content is empty" in str(found.get("additionalContext", ""))

    assert answer() == ("", True)
    assert calls.before("unheard_of", poor) == {}
    desk.machine.write("snell.toml", '[pack.tool_inputs]\nmode = "strict"\n')
    assert answer() == ("deny", False)
    for tool, path in (("Write", "file_path"), ("write_local_file", "path")):
        refused = [calls.refusal(tool, {path: "/a", "content": "x" * length}) for length in (9, 10)]
        assert ("content_too_short(min:10)" in refused[0], refused[1]) == (True, "")
    desk.machine.write("snell.toml", '[pack.tool_inputs]\nmode = "strict"\nfiles = ["no\\u0000path"]\n')
    assert answer() == ("deny", False)
    assert "it cannot be read: embedded null byte" in desk.snell("settings").stdout
    desk.machine.write("snell.toml", '[pack.tool_inputs]\nmode = "off"\n')
    assert answer() == ("", False)
    assert calls.refusal("Write", {"file_path": "/a"}) == ""


@pytest.mark.proves("S3-19", "S3-20", "S3-21")
def test_a_name_is_repaired_text_becomes_an_object_and_inner_calls_are_checked(desk: Desk):
    calls = Calls(desk)
    odd = [("Bash<parameter name=x>", "Bash"), ('read["a"]', "read"), ("{Write}", "Write")]
    odd += [("<Bash>", "Bash"), ("Bash</invoke>", "Bash"), ("Bash[0]", "Bash"), ("`Bash`", "Bash"), ("Bash x", "Bash")]
    for name, bare in (*odd, ('"Bash"', "Bash"), ("'Read'", "Read"), ("Write(", "Write")):
        assert f"`{bare}`" in calls.refusal(name, {"command": "ls"}).partition("Instead")[2]
    batch = "composio_multi_execute_tool"
    inner = [{"tool_slug": "X", "arguments": {}}]
    for given in ({"tools": json.dumps(inner)}, json.dumps({"tools": inner})):
        assert calls.before(batch, given)["updatedInput"] == {"tools": inner}
    wrong = [{"tool_slug": "GMAIL_SEND_EMAIL", "arguments": {"subject": "s", "to": "x"}}, {"arguments": {}}, 3]
    named = "tools[0] GMAIL_SEND_EMAIL: body, tools[1].tool_slug, tools[2].tool_slug"
    assert named in calls.refusal(batch, {"tools": wrong})


@pytest.mark.proves("S3-24", "S3-25", "S3-26", "S3-27", "S3-28", "S3-29")
def test_after_a_failure_the_hint_fits_its_cause_and_success_gets_none(desk: Desk):
    calls = Calls(desk)
    for error, hint in (
        ("InputValidationError: x", "A call that would pass"),
        ("Missing required argument", "A call that would pass"),
        ("Required parameter: content", "A call that would pass"),
        ("'content' is a required property", "A call that would pass"),
        ("Invalid arguments for Write", "A call that would pass"),
        ("No such tool available: Wrte", "There is no tool"),
        ("Unknown tool Wrte", "There is no tool"),
        ("tool `Wrte` was not found", "There is no tool"),
        ("ENOENT: no such file or directory", "Check the path"),
        ("something odd", "Read the error and change what caused it"),
    ):
        told = calls.hint("PostToolUseFailure", error=error, is_interrupt=False)
        assert (error, hint in told) == (error, True), told
        assert ("file_path" in told and "content" in told) is (hint == "A call that would pass")
    assert "A call that would pass" in calls.hint(
        "PostToolUse", tool_response={"is_error": True, "content": "field required"}
    )
    assert "right form" in calls.hint("PostToolUseFailure", "mcp__any__tool", error="1 validation error for call[tool]")
    for response in ({"content": "docs on validation error, field required"}, "field required", {"filePath": "/a"}):
        assert calls.hint("PostToolUse", tool_response=response) == ""
    assert calls.hint("PostToolUseFailure", error="something odd", is_interrupt=True) == ""


@pytest.mark.proves("S3-01", "S3-17", "S3-23")
def test_a_refused_call_is_in_the_journal_with_tool_fields_run_and_step(desk: Desk):
    desk.machine.write("snell.toml", '[pack.ledger]\nmode = "durable"\n')
    desk.fire("SessionStart", source="startup")  # starts the daemon, so that the prompt is decided once and by it
    assert desk.snell("runs", "start", "r", "--session", "s").returncode == 0
    desk.fire("UserPromptSubmit", prompt="go")
    calls = Calls(desk)
    poor = {"file_path": "/a"}
    assert "Missing required fields: content" in calls.refusal("Write", poor)
    wait_until(lambda: '"status":"denied"' in desk.snell("ledger", "show", "t1", "--json").stdout)
    row = desk.snell("ledger", "show", "t1", "--json").json
    assert [row[name] for name in ("status", "tool_name", "run_id", "step_id")] == ["denied", "Write", "r", "r#1"]
    # The call before the run is not part of it, also where its row was written after the run began.
    assert desk.rows("SELECT run_id FROM tool_calls ORDER BY created_at LIMIT 1") == [("s",)]
    why = desk.snell("why", row["decision_id"], "--json").json
    assert (why["tool"], why["reasons"][0]["hook"]) == ("Write", "tool_inputs/check")
    assert why["reasons"][0]["text"] == "Invalid Write call. Missing required fields: content"
    assert "`/`" in calls.refusal("Bash", {"command": "rm -rf /"})
    push = {"command": "curl -X POST https://example.com/hooks/build"}
    assert calls.before("Bash", push).get("permissionDecision", "") != "deny"
    desk.fire("PostToolUse", tool_name="Bash", tool_input=push, tool_use_id=f"t{calls.made}", tool_response="built")
    wait_until(lambda: '"status":"succeeded"' in desk.snell("ledger", "show", f"t{calls.made}", "--json").stdout)
    assert "not done twice" in calls.refusal("Bash", push)
    # A call that a person has queued to be made again is not validated once more.
    failed = {"tool_name": "Write", "tool_input": poor, "tool_use_id": "queued", "error": "e", "is_interrupt": False}
    desk.fire("PostToolUseFailure", **failed)
    desk.snell("runs", "approve", "r")
    assert wait_until(lambda: desk.snell("runs", "replay", "r", "--call", "s/queued", "--json").json["changed"])
    assert calls.refusal("Write", poor) == ""
    assert "Missing required fields" in calls.refusal("Write", poor)
