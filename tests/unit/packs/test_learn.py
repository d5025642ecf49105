"""The report of a session: from what was recorded, without secrets, and never in a session's way."""

import errno
import os
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from snell.model.context import HandlerSettings, ModelSettings
from snell.runtime.app import Runtime, database_of
from snell.runtime.database_journal import StoreJournal
from snell.settings.packs import pack_hooks
from snell.system.paths import Places
from tests.model_server import Line, ModelServer, model


@pytest.fixture
def runtime(tmp_path: Path) -> Any:
    database = database_of(Places(tmp_path / "config", tmp_path / "state", tmp_path / "run"))
    hooks = pack_hooks("learn", {"folder": str(tmp_path / "reports")})
    with Runtime.embed(*hooks, journal=StoreJournal(database), database=database) as made:
        yield made


def reports(folder: Path) -> list[Path]:
    return sorted((folder / "reports").glob("*.md"))


@pytest.mark.proves("S0-05", "S0-58", "S0-59", "S0-60", "S0-61", "S0-62")
def test_the_end_of_a_session_leaves_a_report_of_what_happened(runtime: Runtime, tmp_path: Path):
    secret = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    runtime.fire("UserPromptSubmit", session_id="s", prompt=f"use {secret} to push")
    for number in range(3):
        call = {"tool_name": "Bash", "tool_input": {"command": "git push now"}, "tool_use_id": f"t{number}"}
        runtime.fire("PreToolUse", session_id="s", **call)
    runtime.fire("PreToolUse", session_id="other", tool_name="Read", tool_input={"file_path": "/elsewhere"})
    end = runtime.fire("SessionEnd", session_id="s", cwd="/some/where", reason="exit")
    (path,) = reports(tmp_path)
    assert re.fullmatch(r"\d{8}-\d{6}-SessionEnd\.md", path.name)
    assert [each.text for each in end.tells] == [f"flow report: {path}"]
    text = path.read_text(encoding="utf-8")
    for expected in ("- event: SessionEnd", "- session: s", "- working directory: /some/where", "- 3 x Bash",
                     "- 3 x git push", "## Questions", "Hand this to @learn"):  # fmt: skip
        assert expected in text
    assert secret not in text
    assert "to push" in text
    assert "elsewhere" not in text
    for _ in range(9):  # several in one second
        told = runtime.fire("SessionEnd", reason="exit").tells[0].text
    assert len(reports(tmp_path)) == 10
    last = Path(told.removeprefix("flow report: ")).read_text(encoding="utf-8")
    assert ("- session: unknown" in last, "- working directory: unknown" in last) == (True, True)


def test_a_report_has_the_errors_as_the_tools_told_them_and_the_time_of_each_prompt(runtime: Runtime, tmp_path: Path):
    secret = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    shell = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "make"}}
    runtime.fire("UserPromptSubmit", session_id="s", prompt="make it work")
    runtime.fire("PostToolUseFailure", **shell, error=f"make: *** [all] Error 2\ntoken {secret}")
    runtime.fire("PostToolUseFailure", **shell, error={"message": "killed"})
    runtime.fire("PostToolUse", **shell, tool_response={"stdout": "", "stderr": "ld: no such library", "exit_code": 1})
    runtime.fire("PostToolUse", **shell, tool_response={"stdout": "fine", "stderr": "a warning", "exit_code": 0})
    runtime.fire("SessionEnd", session_id="s", reason="exit")
    text = reports(tmp_path)[0].read_text(encoding="utf-8")
    errors = text.partition("## Errors\n\n")[2].partition("\n\n")[0].splitlines()
    assert [line[:41] for line in errors] == [
        "- Bash: make: *** [all] Error 2 token [re",
        "- Bash: killed",
        "- Bash: exit code 1: ld: no such library",
    ]
    assert secret not in text
    assert "- 0 min: make it work" in text


def learning(folder: Path, server: ModelServer | None, **settings: Any) -> Runtime:
    given = {"api": "anthropic", "url": server.url} if server else {"api": "anthropic", "url": "http://127.0.0.1:9"}
    hooks = pack_hooks("learn", {"folder": str(folder / "reports"), "patterns": "model"})
    handlers = HandlerSettings(model=ModelSettings(**given, **settings))
    return Runtime.embed(*hooks, settings=handlers, env={"ANTHROPIC_API_KEY": "k"})


def test_a_model_adds_the_patterns_it_sees_after_the_report_is_written(tmp_path: Path):
    secret = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    with model([Line(f"- tests came late; {secret}")]) as server, learning(tmp_path, server) as runtime:
        end = runtime.fire("SessionEnd", session_id="s", reason="exit", cwd="/some/where")
    (path,) = reports(tmp_path)
    assert [each.text for each in end.tells] == [f"flow report: {path}"]
    (asked,) = server.asked
    assert "- working directory: /some/where" in str(asked["messages"]).replace("\\\\n", "\n")
    told = path.read_text(encoding="utf-8").partition("## Patterns\n\n")[2]
    assert told.startswith("Written by a model from the report above")
    assert "- tests came late; [redacted:" in told


@pytest.mark.parametrize("in_batch", [True, False])
def test_a_model_that_cannot_be_asked_is_named_in_the_report(tmp_path: Path, in_batch: bool):
    with learning(tmp_path, None, in_batch=in_batch) as runtime:
        runtime.contexts.base = replace(runtime.contexts.base, is_interactive=in_batch)
        decision = runtime.fire("PreCompact", session_id="s", trigger="auto")
    assert decision.failures == ()
    told = reports(tmp_path)[0].read_text(encoding="utf-8").partition("## Patterns\n\n")[2]
    assert told.startswith("No model has analysed this: ")
    assert ("`in_batch = true`" in told) is not in_batch


def test_without_that_option_no_model_is_asked(runtime: Runtime, tmp_path: Path):
    runtime.fire("SessionEnd", session_id="s", reason="exit")
    runtime.executor.close()
    assert "## Patterns" not in reports(tmp_path)[0].read_text(encoding="utf-8")


@pytest.mark.proves("S0-58")
def test_two_reports_in_one_second_are_two_files(runtime: Runtime, tmp_path: Path):
    for _ in range(3):
        runtime.fire("PreCompact", session_id="s", trigger="auto")
    assert len(reports(tmp_path)) == 3


@pytest.mark.proves("S0-63")
def test_a_report_that_cannot_be_written_disturbs_no_session(tmp_path: Path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with Runtime.embed(*pack_hooks("learn", {"folder": str(tmp_path / "file" / "x")})) as runtime:
        decision = runtime.fire("SessionEnd", reason="exit")
    assert (decision.tells, decision.failures) == ((), ())


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.ENOSPC])
@pytest.mark.proves("S0-63")
def test_neither_a_missing_permission_nor_a_full_disk_disturbs_a_session(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
):
    def refuse(path: Path, **_: object) -> None:
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    for event in ("PreCompact", "SessionEnd"):
        decision = runtime.fire(event, session_id="s", trigger="auto", reason="exit")
        assert (decision.tells, decision.failures) == ((), ())
    assert reports(tmp_path) == []


@pytest.mark.proves("S0-64")
def test_the_time_limit_is_ten_seconds():
    assert {hook.timeout for hook in pack_hooks("learn")} == {10.0}
    later = [hook for hook in pack_hooks("learn", {"patterns": "model"}) if hook.timeout != 10.0]
    assert {hook.role for hook in later} == {"watches"}  # no caller waits for the model
