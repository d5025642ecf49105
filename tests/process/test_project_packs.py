"""The packs for every project, from a client's payload to its reply."""

import json
from pathlib import Path
from typing import Any

import pytest

ON = "[pack.nudges]\nenabled = true\n[pack.learn]\nenabled = true\n"


def replied(snell: Any, payload: dict[str, Any] | bytes) -> dict[str, Any]:
    code, out, _ = snell("hook", "--client", "claude-code", given=payload)
    assert code == 0
    return json.loads(out) if out.strip() else {}


@pytest.mark.proves("S0-01", "S0-71")
def test_one_prompt_brings_the_notes_and_the_nudge(snell: Any, tmp_path: Path):
    snell.settings(ON)
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/LOCAL.md").write_text("we deploy on Fridays", encoding="utf-8")
    prompt = {"session_id": "s", "prompt": "improve the parser", "cwd": str(snell.project)}
    reply = replied(snell, {"hook_event_name": "UserPromptSubmit", **prompt})
    context = reply["hookSpecificOutput"]["additionalContext"]
    assert 0 <= context.index("we deploy on Fridays") < context.index("Invoke @improve.")
    assert "Invoke @improve." in reply["systemMessage"]


@pytest.mark.proves("S0-70")
def test_a_tool_call_becomes_the_projects_own_command(snell: Any):
    (snell.project / "Makefile").write_text("test:\n\t./run\n", encoding="utf-8")
    call = {"tool_name": "Bash", "tool_input": {"command": "pytest", "timeout": 5}, "cwd": str(snell.project)}
    reply = replied(snell, {"hook_event_name": "PreToolUse", "session_id": "s", **call})
    output = reply["hookSpecificOutput"]
    assert output["updatedInput"] == {"command": "make test", "timeout": 5}
    assert "permissionDecision" not in output  # a rewrite approves nothing


@pytest.mark.proves("S0-73")
@pytest.mark.parametrize("client", ["generic", "claude-code"])
@pytest.mark.parametrize("field", ["hook_event", "hook_event_name", "hookEventName"])
def test_the_events_name_is_understood_under_three_fields(snell: Any, field: str, client: str):
    snell.settings(ON)
    code, out, _ = snell("hook", "--client", client, given={field: "UserPromptSubmit", "prompt": "improve it"})
    assert (code, "Invoke @improve." in out) == (0, True)


@pytest.mark.proves("S0-72")
@pytest.mark.parametrize(
    "payload",
    [
        b"", b"{", b"[]", b"null", b"3", b'"text"', b"\xff\xfe",
        b'{"hook_event_name": null}',
        b'{"hook_event_name": 3}',
        b'{"hook_event_name": "UserPromptSubmit", "prompt": ["ship"]}',
        b'{"hook_event_name": "PreCompact", "session_id": {}}',
        b'{"hook_event_name": "PreToolUse", "session_id": 7, "cwd": ["x"], "tool_name": "Bash", "tool_input": "ls"}',
        b'{"hook_event_name": "UserPromptSubmit", "session_id": true, "cwd": 3, "prompt": {"a": "ship"}}',
        b'{"hook_event_name": "SessionEnd", "cwd": "/does/not/exist"}',
    ],
)  # fmt: skip
def test_malformed_input_breaks_no_session(snell: Any, payload: bytes):
    snell.settings(ON)
    code, out, err = snell("hook", "--client", "claude-code", given=payload)
    assert (code, "Traceback" in err, "block" in out, err.count("\n") <= 1) == (0, False, False, True)


OWN = """
[pack.nudges.routes]
deploy = "/deploy"
ship = ""
[pack.toolchain.toolchains.bazel]
files = ["WORKSPACE"]
commands = { test = "bazel test //..." }
"""


def rows(snell: Any, component: str, *asked: dict[str, Any]) -> list[dict[str, Any]]:
    given = "".join(json.dumps({"id": number, **row}) + "\n" for number, row in enumerate(asked))
    code, out, err = snell("check", component, "--jsonl", given=given.encode())
    assert (code, err) == (0, "")
    return [json.loads(line) for line in out.splitlines()]


def test_a_check_goes_by_the_settings_that_count_here(snell: Any):
    prompts = [{"prompt": "deploy it"}, {"prompt": "ship it"}, {"prompt": "improve it"}]
    files = {"WORKSPACE": "", "pyproject.toml": "", "uv.lock": ""}
    assert [row["route"] for row in rows(snell, "nudge", *prompts)] == [None, "ship", "improve"]
    assert [row["command"] for row in rows(snell, "redirect", {"files": files, "command": "pytest"})] == [
        "uv run pytest"
    ]
    snell.settings(OWN)
    assert [row["route"] for row in rows(snell, "nudge", *prompts)] == ["deploy", None, "improve"]
    (row,) = rows(snell, "redirect", {"files": files, "command": "pytest"})
    assert row == {"id": 0, "command": "bazel test //...", "why": "test: bazel"}
    assert snell("check", "nudge", "deploy it") == (0, "Invoke /deploy.\n", "")
    snell.settings('[pack.toolchain]\nmode = "seed"\n')
    (row,) = rows(snell, "redirect", {"files": {"Cargo.toml": ""}, "command": "pytest -k x"})
    assert row == {"id": 0, "command": "cargo test", "why": "Redirected: test"}


def test_a_check_names_what_could_not_be_read(snell: Any):
    asked = [
        {"files": {"Makefile/": "", "pyproject.toml": "", "uv.lock": ""}, "command": "pytest"},
        {"files": {"package.json": "{", "pnpm-lock.yaml": ""}, "command": "npm test"},
        {"files": {"go.mod": ""}, "command": "npm test"},
        {"files": {}, "command": "!pytest -x"},
    ]
    assert [(row["command"], row["why"]) for row in rows(snell, "redirect", *asked)] == [
        ("uv run pytest", "test: uv (Makefile: is not a file)"),
        ("pnpm test", "test: pnpm (package.json: is not JSON)"),
        (None, "`npm test` is for node, and `go` is for another language"),
        ("pytest -x", "`!` asks to run it as typed"),
    ]


def test_a_project_that_is_trusted_has_a_say_in_a_check(snell: Any):
    (snell.project / ".snell").mkdir(exist_ok=True)
    (snell.project / ".snell/snell.toml").write_text(OWN, encoding="utf-8")
    assert rows(snell, "nudge", {"prompt": "deploy it"}) == [{"id": 0, "route": None}]
    assert snell("trust", "--hash", json.loads(snell("trust", "--json")[1])["digest"])[0] == 0
    assert rows(snell, "nudge", {"prompt": "deploy it"}) == [{"id": 0, "route": "deploy"}]
