"""Every example of docs/howto/handlers.md works as it stands there, but for the addresses."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from snell.model.decision import Decision
from snell.model.events import event_from
from snell.runtime.app import Runtime
from snell.system.paths import Places
from tests.loopback import Answer, serving
from tests.model_server import Line, model

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/howto/handlers.md").read_text(encoding="utf-8")
SETTINGS = dict(re.findall(r"```toml settings=(\w+)\n(.*?)```", PAGE, re.DOTALL))
PYTHON = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def decided(folder: Path, name: str, instead: dict[str, str], env: dict[str, str], on: str, **payload: Any) -> Decision:
    """What the example of this name decides for a user who has it in their settings."""
    where = Places(folder / "config", folder / "state", folder / "run")
    where.config.mkdir()
    text = SETTINGS[name]
    for shown, used in instead.items():
        assert shown in text
        text = text.replace(shown, used)
    (where.config / "snell.toml").write_text(text, encoding="utf-8")
    runtime = Runtime.for_user({"PATH": "/usr/bin:/bin", "HOME": str(folder), **env}, where)
    event = event_from({"session_id": "s", "cwd": str(folder), **payload}, on)
    assert runtime.context_for(replace(event, name="SessionStart")).problems == ()
    try:
        return runtime.decide(event)
    finally:
        runtime.close()


def test_no_example_is_left_out():
    assert sorted(SETTINGS) == ["agent", "mcp_tool", "prompt", "webhook"]


def test_the_webhook_of_the_page_refuses_and_its_signature_can_be_checked(tmp_path):
    with serving(Answer({"decision": "block", "reason": "not today"})) as server:
        bash = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
        instead = {"https://board.example": server.url}
        decision = decided(tmp_path, "webhook", instead, {"BOARD_TOKEN": "t0ken"}, "PreToolUse", **bash)
    (sent,) = server.sent
    assert (decision.reason, sent.path, sent.headers["authorization"]) == ("not today", "/check", "Bearer t0ken")
    namespace: dict[str, Any] = {}
    exec(compile(PYTHON[0], "handlers.md", "exec"), namespace)
    secret = (tmp_path / "config/webhook-secret").read_text(encoding="ascii").strip()
    genuine = namespace["is_genuine"]
    assert (genuine(secret, sent.headers, sent.body), genuine(secret, sent.headers, sent.body + b" ")) == (True, False)


@pytest.mark.proves("S0-67")
@pytest.mark.parametrize(
    ("answer", "tell"), [('"nudge": "42 lines in one file"}', "42 lines in one file"), ('"pass": true}', "")]
)
def test_the_prompt_of_the_page_nudges_or_passes(tmp_path, answer, tell):
    with model([Line(answer)]) as server:
        instead = {'api = "anthropic"': f'api = "anthropic"\nurl = "{server.url}"'}
        decision = decided(tmp_path, "prompt", instead, {"ANTHROPIC_API_KEY": "k"}, "Stop")
    assert (str(decision.verdict), decision.tell, server.asked[0]["model"]) == ("no_opinion", tell, "claude-haiku-4-5")


def test_the_agent_of_the_page_looks_into_the_project(tmp_path):
    (tmp_path / ".snell").mkdir()
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    lines = [Line(calls=(("Glob", {"pattern": "*.py"}),)), Line('So: {"ok": false, "reason": "no tests"}')]
    with model(lines) as server:
        instead = {"[[hooks]]": f'[model]\nurl = "{server.url}"\n\n[[hooks]]'}
        decision = decided(tmp_path, "agent", instead, {}, "Stop")
    assert (decision.reason, "a.py" in json.dumps(server.asked[1]["messages"][-1])) == ("no tests", True)


def test_the_mcp_tool_of_the_page_is_called(tmp_path):
    checker = json.dumps(str(ROOT / "tests/mcp_checker.py"))
    instead = {'"mcp-checker"': json.dumps(sys.executable), '["--stdio"]': f"[{checker}]"}
    bash = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    assert decided(tmp_path, "mcp_tool", instead, {}, "PreToolUse", **bash).note == "saw ls"


def test_the_program_of_the_page_works():
    exec(compile(PYTHON[1], "handlers.md", "exec"), {"__name__": "page"})
    assert len(PYTHON) == 2
