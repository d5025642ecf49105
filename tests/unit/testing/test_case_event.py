"""How an event that an author writes becomes one that a client could have sent."""

import pytest

from snell.model.events import Event
from snell.testing import CaseError
from snell.testing.case_event import case_event_from


def happening(**fields):
    return case_event_from(fields).to_event("/project", "s1")


def test_a_shell_call_looks_like_the_clients_own():
    assert happening(on="PreToolUse", kind="shell", command="ls") == Event(
        name="PreToolUse",
        tool="Bash",
        tool_name="Bash",
        kind="shell",
        payload={
            "tool_use_id": "call-1",
            "session_id": "s1",
            "hook_event_name": "PreToolUse",
            "tool_input": {"command": "ls"},
            "cwd": "/project",
            "tool_name": "Bash",
        },
    )


@pytest.mark.parametrize("spelling", ["PostToolUse", "postToolUse", "post_tool_use", "post-tool-use"])
def test_an_event_may_be_spelled_in_any_way(spelling):
    assert happening(on=spelling, kind="shell", command="ls").name == "PostToolUse"


@pytest.mark.parametrize(
    ("fields", "tool", "tool_input"),
    [
        (
            {"kind": "edit", "path": "/a", "old": "1", "new": "2"},
            "Edit",
            {"file_path": "/a", "old_string": "1", "new_string": "2"},
        ),
        ({"kind": "edit", "path": "/a"}, "Edit", {"file_path": "/a", "old_string": "", "new_string": ""}),
        ({"kind": "write", "path": "/a", "content": "x"}, "Write", {"file_path": "/a", "content": "x"}),
        ({"kind": "read", "path": "/a"}, "Read", {"file_path": "/a"}),
        ({"kind": "search", "pattern": "x"}, "Grep", {"pattern": "x"}),
        ({"kind": "web", "url": "https://a"}, "WebFetch", {"url": "https://a"}),
        ({"kind": "web", "query": "x"}, "WebSearch", {"query": "x"}),
        ({"kind": "mcp", "server": "files", "method": "list"}, "mcp__files__list", {}),
        ({"kind": "agent", "prompt": "x", "agent_type": "y"}, "Agent", {"prompt": "x", "subagent_type": "y"}),
        ({"kind": "skill", "skill": "x"}, "Skill", {"skill": "x"}),
        ({"tool": "Bash", "command": "ls"}, "Bash", {"command": "ls"}),
        ({"tool": "Bash", "input": {"command": "ls", "timeout": 5}}, "Bash", {"command": "ls", "timeout": 5}),
        ({"kind": "shell", "command": "ls", "input": {"timeout": 5}}, "Bash", {"command": "ls", "timeout": 5}),
        ({"tool": "Purge"}, "Purge", {}),
    ],
)
def test_every_kind_has_its_own_fields(fields, tool, tool_input):
    event = happening(on="PreToolUse", **fields)
    assert (event.tool, event.tool_input) == (tool, tool_input)


def test_a_clients_own_tool_name_is_kept_beside_the_canonical_one():
    event = happening(on="PreToolUse", kind="shell", tool="run_terminal_cmd", command="ls")
    assert (event.tool, event.tool_name, event.kind) == ("Bash", "run_terminal_cmd", "shell")


def test_a_relative_path_is_meant_from_the_project_because_clients_send_full_ones():
    assert happening(on="PreToolUse", kind="read", path="src/a.py").tool_input == {"file_path": "/project/src/a.py"}


def test_a_raw_input_stays_as_it_is():
    assert happening(on="PreToolUse", tool="Read", input={"file_path": "a.py"}).tool_input == {"file_path": "a.py"}


def test_a_working_directory_inside_the_project_can_be_given():
    assert happening(on="PreToolUse", kind="shell", command="ls", cwd="src").cwd == "/project/src"


def test_fields_go_by_the_clients_name_or_by_the_one_that_a_hook_reads():
    assert happening(on="Stop", last_message="x").payload == happening(on="Stop", last_assistant_message="x").payload
    assert happening(on="UserPromptSubmit", prompt="hi").prompt == "hi"
    assert happening(on="SessionStart", source="startup", model="m").payload["model"] == "m"


def test_a_recorded_payload_can_be_pasted():
    event = happening(hook_event_name="PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, session_id="mine")
    assert (event.name, event.kind, event.tool_input, event.session_id) == (
        "PreToolUse",
        "shell",
        {"command": "ls"},
        "mine",
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "shell"}, 'the event has no `on`; name the event: on = "PreToolUse"'),
        ({"on": "PreTolUse"}, "unknown event `PreTolUse`; did you mean `PreToolUse`?"),
        ({"on": 3}, "`on` must be text, not a number; put it in quotes"),
        ({"on": "PreToolUse"}, 'PreToolUse needs a tool; add kind = "shell" or tool = "Bash"'),
        ({"on": "PreToolUse", "kind": "shel"}, "unknown tool kind `shel`; did you mean `shell`?"),
        ({"on": "PreToolUse", "kind": "shell"}, 'this shell call has no `command`; add command = "..."'),
        ({"on": "PreToolUse", "kind": "shell", "comand": "ls"}, "unknown field `comand`; did you mean `command`?"),
        (
            {"on": "PreToolUse", "kind": "shell", "command": ["ls"]},
            "`command` must be text, not a list; put it in quotes",
        ),
        (
            {"on": "PreToolUse", "kind": "shell", "tool": "Edit", "path": "x"},
            "`Edit` is of kind edit, not shell; keep one of the two",
        ),
        (
            {"on": "PreToolUse", "kind": "mcp"},
            'a call of kind mcp needs the tool\'s name; add server = "..." and method = "..."',
        ),
        (
            {"on": "PreToolUse", "tool": "Bash", "input": "ls"},
            "`input` must be a table, not text; write { name = value }",
        ),
        ({"on": "Stop", "kind": "shell"}, "Stop has no tool, so it has no `kind`; remove it"),
        ({"on": "UserPromptSubmit", "promt": "hi"}, "unknown field `promt`; did you mean `prompt`?"),
    ],
)
def test_a_mistake_is_explained(fields, message):
    with pytest.raises(CaseError) as caught:
        case_event_from(fields)
    assert str(caught.value) == message
