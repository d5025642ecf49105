"""Hooks know what their session has used, and a run or a session can be limited to a number of tokens."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.process.machine import HOOK, Machine

HOOKS = """
from snell import Deny, Note, Prompt, ShellCall, informs, judges


@judges("PreToolUse", kind="shell")
def say_usage(call: ShellCall):
    used = call.usage
    tokens = (used.tokens_in, used.tokens_out, used.tokens_cached, used.cache_written, used.tokens_spent)
    return Deny(f"{tokens} {used.context_tokens} {used.context_window} {used.context_fill} {used.model or '-'}")


@informs("UserPromptSubmit")
def say_spent(prompt: Prompt):
    return Note(f"spent {prompt.usage.tokens_spent}")
"""
EMPTY = "(0, 0, 0, 0, 0) 0 0 None -"


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    if not HOOK.exists():
        pytest.skip("snell-hook is not installed beside this Python")
    machine = Machine(tmp_path, forks_daemon=True)
    yield machine
    machine.stop()
    machine.end_hooks()


class Transcript:
    """What Claude Code writes about a session."""

    def __init__(self, folder: Path, session: str = "s") -> None:
        self.path = folder / f"{session}.jsonl"
        self.fields = {"session_id": session, "transcript_path": str(self.path)}

    def answer(self, number: int, read: int, written: int, cached: int = 0, to_cache: int = 0, **more: Any) -> None:
        usage = {"input_tokens": read, "output_tokens": written}
        usage |= {"cache_read_input_tokens": cached, "cache_creation_input_tokens": to_cache}
        message = {"id": f"msg_{number}", "role": "assistant", "model": "claude-x", "usage": usage, "content": []}
        row = {"type": "assistant", "requestId": f"req_{number}", "message": message, **more}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    return Transcript(tmp_path / "projects" / "p")


def test_a_hook_sees_what_its_session_has_used_until_now(machine: Machine, transcript: Transcript):
    machine.write("pack/rules.py", HOOKS)
    assert machine.reason(transcript.fields) == EMPTY
    transcript.answer(1, 10, 1, 1_000, 100)
    transcript.answer(1, 10, 50, 1_000, 100)  # the same answer, with its end
    assert machine.reason(transcript.fields) == "(10, 50, 1000, 100, 160) 1160 0 None claude-x"
    transcript.answer(2, 5, 5, 1_100)
    agent = Transcript(transcript.path.with_suffix("") / "subagents", "agent-a1")
    agent.answer(3, 700, 30, isSidechain=True)
    assert machine.reason(transcript.fields) == "(715, 85, 2100, 100, 900) 1110 0 None claude-x"
    prompt = {**transcript.fields, "hook_event_name": "UserPromptSubmit", "prompt": "go on"}
    assert "spent 900" in machine.hook(prompt)[1]


def test_a_transcript_that_was_replaced_is_counted_anew(machine: Machine, transcript: Transcript):
    machine.write("pack/rules.py", HOOKS)
    transcript.answer(1, 10, 10)
    transcript.answer(2, 10, 10)
    assert machine.reason(transcript.fields).startswith("(20, 20,")
    transcript.path.unlink()
    transcript.answer(1, 3, 4)
    assert machine.reason(transcript.fields).startswith("(3, 4,")


@pytest.mark.parametrize("path", ["", "/etc/passwd", "relative.jsonl", "/nowhere/x.jsonl"])
def test_a_session_without_a_transcript_has_used_nothing_that_is_known(machine: Machine, path: str):
    machine.write("pack/rules.py", HOOKS)
    assert machine.reason({"transcript_path": path}) == EMPTY


def test_the_status_line_says_how_full_the_context_is(machine: Machine, transcript: Transcript):
    machine.write("pack/rules.py", HOOKS)
    window = {"used_percentage": 42, "total_input_tokens": 84_000, "context_window_size": 200_000}
    session = {"session_id": "s", "model": {"id": "claude-y", "display_name": "Y"}, "context_window": window}
    machine.snell("statusline", given=json.dumps(session).encode())
    assert machine.reason(transcript.fields) == "(0, 0, 0, 0, 0) 84000 200000 0.42 claude-y"
    assert machine.reason({"session_id": "other"}) == EMPTY


def test_a_case_says_what_a_session_has_used(machine: Machine):
    machine.write("pack/rules.py", HOOKS)
    case = """
[[case]]
name = "it is said"
event = { on = "PreToolUse", kind = "shell", command = "ls", usage = { tokens_in = 7, model = "m" } }
expect = { deny = "(7, 0, 0, 0, 7) 0 0 None m" }
"""
    machine.write("pack/rules.cases.toml", case)
    assert "1 passed" in machine.snell("test", str(machine.config / "pack"))


def test_a_run_ends_when_its_tokens_are_used_up(machine: Machine, transcript: Transcript):
    transcript.answer(1, 5_000, 0)  # before the run
    machine.hook({**transcript.fields, "hook_event_name": "UserPromptSubmit", "prompt": "hi"})
    machine.snell("runs", "start", "r1", "--session", "s", "--tokens", "1000")
    said = machine.hook({**transcript.fields, "hook_event_name": "UserPromptSubmit", "prompt": "work"})[1]
    assert "and 1,000 tokens" in said
    assert machine.reason(transcript.fields) == ""
    transcript.answer(2, 600, 300, cached=90_000)
    assert machine.reason(transcript.fields) == ""
    assert "900/1,000 tokens" in machine.snell("runs", "show", "r1")
    other = Transcript(transcript.path.parent, "s2")
    other.answer(7, 100, 50)
    machine.hook({"hook_event_name": "Stop", **transcript.fields})  # frees the run
    assert "run `r1` has used up its 1,000 tokens" in machine.reason(other.fields, SNELL_RUN_ID="r1")
    assert "run `r1` has ended (failed)" in machine.reason(transcript.fields)


def limit_session(machine: Machine, at_limit: str) -> None:
    limits = f'[pack.usage]\nenabled = true\nsession_tokens = 1000\nat_limit = "{at_limit}"\n'
    machine.write("snell.toml", f'packs = ["pack"]\n{limits}')


def verdict(machine: Machine, transcript: Transcript, number: str) -> tuple[str, str]:
    answer = json.loads(machine.hook({**transcript.fields, "tool_use_id": number})[1] or "{}")
    said = answer.get("hookSpecificOutput", {})
    return said.get("permissionDecision", ""), said.get("permissionDecisionReason", answer.get("stopReason", ""))


def test_a_session_asks_at_its_limit_and_an_approval_allows_as_many_again(machine: Machine, transcript: Transcript):
    limit_session(machine, "ask")
    transcript.answer(1, 900, 50)
    assert verdict(machine, transcript, "t1") == ("", "")
    transcript.answer(2, 100, 0)
    expected = "this session has used 1,050 tokens, and its limit is 1,000; if you approve, it may use 1,000 more"
    assert verdict(machine, transcript, "t2") == ("ask", expected)
    assert verdict(machine, transcript, "t3")[0] == "ask"  # the user has refused the other one
    machine.hook({**transcript.fields, "tool_use_id": "t3", "hook_event_name": "PostToolUse", "tool_response": {}})
    transcript.answer(3, 900, 0)
    assert verdict(machine, transcript, "t4") == ("", "")
    transcript.answer(4, 900, 0)
    assert verdict(machine, transcript, "t5")[0] == "ask"


def test_a_session_stops_at_its_limit(machine: Machine, transcript: Transcript):
    limit_session(machine, "stop")
    transcript.answer(1, 1_000, 50)
    answer = json.loads(machine.hook(transcript.fields)[1])
    assert answer["continue"] is False
    assert "this session has used 1,050 tokens, and its limit is 1,000" in json.dumps(answer)


CODEX = [
    {"type": "turn_context", "payload": {"model": "gpt-x"}},
    {
        "type": "event_msg",
        "payload": {
            "type": "token_count",
            "info": {
                "total_token_usage": {
                    "input_tokens": 900, "cached_input_tokens": 800, "output_tokens": 90, "total_tokens": 990,
                },
                "last_token_usage": {
                    "input_tokens": 90, "cached_input_tokens": 80, "output_tokens": 10, "total_tokens": 100,
                },
                "model_context_window": 1_000,
            },
        },
    },
    {"type": "event_msg", "payload": {"type": "token_count", "info": None}},
]  # fmt: skip
GEMINI = {"input": 90, "output": 10, "cached": 80, "thoughts": 5, "total": 105}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (CODEX, "(100, 90, 800, 0, 190) 100 1000 0.1 gpt-x"),
        (
            [{"type": "gemini", "id": "1", "model": "g", "tokens": GEMINI}] * 2,
            "(10, 15, 80, 0, 25) 105 0 None g",
        ),
        (
            [{"$set": {"messages": [{"type": "gemini", "id": "1", "model": "g", "tokens": GEMINI}]}}],
            "(10, 15, 80, 0, 25) 105 0 None g",
        ),
        (
            [
                {
                    "uuid": "u",
                    "model": "q",
                    "message": {"parts": []},
                    "usageMetadata": {
                        "promptTokenCount": 90,
                        "cachedContentTokenCount": 80,
                        "candidatesTokenCount": 10,
                    },
                }
            ],
            "(10, 10, 80, 0, 20) 100 0 None q",
        ),
        (
            [
                {
                    "type": "session.usage_record",
                    "data": {"usage": {"model": "c", "inputTokens": 90, "outputTokens": 10, "cacheReadTokens": 80}},
                }
            ],
            "(10, 10, 80, 0, 20) 100 0 None c",
        ),
        (
            [{"role": "assistant", "usage": {"prompt_tokens": 90, "completion_tokens": 10}}],
            "(90, 10, 0, 0, 100) 100 0 None -",
        ),
        (
            [{"tokens": {"input": 10, "output": 10, "cache": {"read": 70, "write": 10}}}],
            "(10, 10, 70, 10, 30) 100 0 None -",
        ),
        ([{"usage": {"input_tokens": True, "total_tokens": -1}}, [1], "text", {"usage": "x"}], EMPTY),
        (
            [
                {"type": "assistant", "message": {"usage": {"input_tokens": 500, "output_tokens": 3}}},
                {"type": "assistant", "isSidechain": True, "message": {"usage": {"input_tokens": 900}}},
            ],
            "(1400, 3, 0, 0, 1403) 503 0 None -",
        ),
    ],
)
def test_every_client_counts_tokens_in_its_own_words(
    machine: Machine, transcript: Transcript, rows: list[Any], expected: str
):
    machine.write("pack/rules.py", HOOKS)
    transcript.path.parent.mkdir(parents=True)
    transcript.path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert machine.reason(transcript.fields) == expected


SAME = {"client": "claude_code", "model": "claude-x"}


def tokens(*figures: int) -> dict[str, int]:
    names = ("tokens_in", "tokens_out", "tokens_cached", "cache_written", "tokens_spent")
    return dict(zip(names, figures, strict=True))


def test_the_sessions_are_listed_and_a_copied_answer_counts_once(machine: Machine):
    folder = machine.home / ".claude" / "projects" / "p"
    first, second = Transcript(folder, "aaaa"), Transcript(folder, "bbbb")
    first.answer(1, 1_000, 10)
    second.answer(1, 1_000, 10)
    second.answer(2, 2_000, 20, 7, 3)
    found = json.loads(machine.snell("usage", "--json"))
    assert found == {
        "sessions": [
            {"session": "aaaa", **SAME, **tokens(1000, 10, 0, 0, 1010)},
            {"session": "bbbb", **SAME, **tokens(2000, 20, 7, 3, 2023)},
        ],
        "total": tokens(3000, 30, 7, 3, 3033),
    }
    text = machine.snell("usage")
    assert [line.split() for line in text.splitlines()[1:3]] == [
        ["bbbb", "claude-code", "claude-x", "2,000", "20", "7", "3", "2,023"],
        ["aaaa", "claude-code", "claude-x", "1,000", "10", "0", "0", "1,010"],
    ]
    assert "no session `cccc` has a transcript" in machine.snell("usage", "--session", "cccc")
