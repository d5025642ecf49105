"""The kind and the fields of a call follow from what its input carries, for hooks by kind, by type and by name."""

from typing import Any

import pytest

from snell import DatabaseCall, Deny, EditCall, Event, ReadCall, Remark, Runtime, WebCall, WriteCall, judges
from snell.model.events import event_from


@judges("PreToolUse")
def by_write(call: WriteCall) -> Deny:
    return Deny(f"write {call.path}: {call.content}")


@judges("PreToolUse")
def by_edit(call: EditCall) -> Deny:
    return Deny(f"edit {call.path}: {call.new}")


@judges("PreToolUse")
def by_read(call: ReadCall) -> Deny:
    return Deny(f"read {call.path}")


@judges("PreToolUse")
def by_web(call: WebCall) -> Deny:
    return Deny(f"web {call.url}")


@judges("PreToolUse")
def by_database(call: DatabaseCall) -> Deny:
    return Deny(f"database {call.statement}")


def _told(tool: str, given: Any) -> str:
    with Runtime.embed(by_write, by_edit, by_read, by_web, by_database) as runtime:
        return runtime.fire("PreToolUse", session_id="s", cwd="/p", tool_name=tool, tool_input=given).reason


@pytest.mark.parametrize("tool", ["helper", "mcp__box__helper"])
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"path": "a", "content": "x"}, "write a: x"),
        ({"FilePath": "a", "file_text": "x"}, "write a: x"),
        ({"arguments": '{"file_path": "a", "contents": "x"}'}, "write a: x"),
        ({"path": "a", "old_text": "x", "new_text": "y"}, "edit a: y"),
        ({"path": "a", "edits": [{"oldText": "x", "newText": "y"}, {"oldText": "v", "newText": "w"}]}, "edit a: y\nw"),
        ({"input": "*** Begin Patch\n*** Update File: a\n+y\n*** End Patch"}, "edit a: y"),
        ({"patch": "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+y"}, "edit b: y"),
        ({"path": "a"}, "read a"),
        ({"operations": [{"mode": "Line", "path": "a"}]}, "read a"),
        ({"uri": "file:///a"}, "read /a"),
        ({"url": "https://a.example"}, "web https://a.example"),
        ({"sql": "select a from b"}, "database select a from b"),
        ({"count": 3, "name": "x"}, ""),
        ({"path": ["a", {"b": 1}, None]}, "read a"),
        ({"path": 7, "content": b"x".hex()}, ""),
    ],
    ids=str,
)
def test_a_call_is_what_its_input_carries(tool: str, given: Any, told: str):
    assert _told(tool, given) == told


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("remove_file", {"path": "a"}, "edit a: "),
        ("mcp__fs__move", {"source": "a", "destination": "b"}, "edit b: "),
        ("mcp__fs__create_directory", {"path": "a"}, "write a: "),
        ("search_text", {"path": "a", "text": "x"}, "read a"),
        ("mcp__acme_db__run", {"q": "select a from b"}, "database select a from b"),
        ("mcp__docs__query", {"q": "how to select a table from a list"}, ""),
    ],
)
def test_the_name_of_a_tool_says_what_it_does_with_a_path(tool: str, given: Any, told: str):
    assert _told(tool, given) == told


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"path": "a", "content": "x"}, ("helper", "Write")),
        ({"path": "a"}, ("helper", "Read")),
        ({"url": "https://a.example"}, ("helper", "WebFetch")),
        ({"command": "ls"}, ("helper", "Bash")),
        ({"n": 1}, ("helper",)),
    ],
)
def test_a_matcher_finds_a_tool_by_the_name_that_claude_code_has_for_it(given: Any, names: tuple[str, ...]):
    payload = {"tool_name": "helper", "tool_input": given}
    assert event_from(payload, "PreToolUse").tool_names == names


def test_an_input_with_very_many_parts_is_looked_at_within_limits():
    many = {"items": [{"path": f"f{number}", "content": "x" * 1000} for number in range(10_000)]}
    event: Event = event_from({"tool_name": "helper", "tool_input": many}, "PreToolUse")
    assert (event.kind, event.contents.is_complete, len(event.contents.writes) < 2_001) == ("write", False, True)


def test_an_input_with_very_many_texts_is_looked_at_up_to_a_limit():
    many = {"path": "a", "urls": ["https://a.example"] * 100_000, "sql": "drop table t"}
    event: Event = event_from({"tool_name": "helper", "tool_input": many}, "PreToolUse")
    assert (event.contents.is_complete, event.contents.reads, event.contents.statements) == (False, ("a",), ())


def test_a_remark_is_only_in_the_trace():
    @judges("PreToolUse")
    def marks(event: Event) -> Remark:
        return Remark(f"seen {event.tool}")

    with Runtime.embed(marks) as runtime:
        decision = runtime.fire("PreToolUse", session_id="s", cwd="/p", tool_name="helper", tool_input={})
    assert [outcome.remarks for _round, _hook, outcome in decision.runs()] == [("seen helper",)]
    assert (decision.verdict.name, decision.notes, decision.tells) == ("NO_OPINION", (), ())


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("Edit", {"file_path": "a", "old_string": "x", "new_string": "y"}, "x -> y"),
        ("MultiEdit", {"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}]}, "x -> y"),
        ("helper", {"path": "a", "edits": [{"oldText": "x", "newText": "y"}, {"oldText": "v"}]}, "x -> y"),
    ],
)
def test_an_edit_has_the_texts_of_all_its_parts(tool: str, given: Any, told: str):
    @judges("PreToolUse")
    def tell(call: EditCall) -> Deny:
        return Deny(f"{call.old} -> {call.new}")

    with Runtime.embed(tell) as runtime:
        fired = runtime.fire("PreToolUse", session_id="s", cwd="/p", tool_name=tool, tool_input=given)
    assert fired.reason == told


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"sql": "CALL purge()"}, "database"),
        ({"sql": "select 1"}, "database"),
        ({"query": "DELETE FROM users"}, "database"),
        ({"query": "how to delete from a table"}, "other"),
        ({"path": "a", "diff": "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE"}, "edit"),
        ({"path": "a", "blob": "eA=="}, "write"),
    ],
)
def test_sql_and_changes_are_recognised_in_tools_that_no_table_knows(given: Any, kind: str):
    assert event_from({"tool_name": "frob", "tool_input": given}, "PreToolUse").kind == kind
