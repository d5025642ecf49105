"""What the daemon reads of a caller's environment."""

import json
import sys
from pathlib import Path

import pytest

from snell.daemon.request_handler import RequestHandler
from snell.daemon.wire import Request
from snell.runtime.app import Runtime
from snell.system.paths import Places


@pytest.mark.parametrize("name", ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"])
def test_an_event_that_starts_no_program_leaves_the_callers_environment_in_one_piece(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = f"HOME={tmp_path}\0PATH=/bin\0EDITOR=vi".encode()
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "prompt": "go on", "tool_response": {"stdout": ""}}
    payload = json.dumps({"hook_event_name": name, "session_id": "s", "cwd": str(tmp_path), **call}).encode()
    request = Request("1 0.1.0", "a" * 32, "/", ("--client", "claude-code"), environment, payload)
    where = Places(tmp_path / "config", tmp_path / "state", tmp_path / "run")
    taken_apart: list[str] = []
    take_apart = Request.variables

    def notice(self: Request) -> object:
        taken_apart.append(sys._getframe(1).f_code.co_qualname)
        return take_apart(self)

    monkeypatch.setattr(Request, "variables", notice)
    with Runtime.for_user({"HOME": str(tmp_path)}, where) as runtime:
        assert RequestHandler(runtime).serve(request, lambda _: None) is None
    assert taken_apart == []
