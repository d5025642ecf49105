"""Every recipe of docs/howto/recipes.md works as it stands there."""

import re
from pathlib import Path

import pytest

from snell.model.effects import Verdict
from snell.model.events import event_from
from snell.runtime.app import Runtime
from snell.system.paths import Places
from snell.testing import run_path
from tests.loopback import Answer, serving

PAGE = (Path(__file__).resolve().parents[2] / "docs/howto/recipes.md").read_text(encoding="utf-8")


def blocks(language: str, kind: str) -> dict[str, str]:
    return dict(re.findall(rf"```{language} {kind}=(\w+)\n(.*?)```", PAGE, re.DOTALL))


@pytest.mark.proves("S1-162", "S1-165")
@pytest.mark.parametrize("name", ["disasters", "secrets"])
def test_a_recipe_passes_the_cases_beside_it(name, tmp_path):
    (tmp_path / f"{name}.py").write_text(blocks("python", "recipe")[name], encoding="utf-8")
    (tmp_path / f"{name}.cases.toml").write_text(blocks("toml", "recipe")[name], encoding="utf-8")
    results = run_path(tmp_path / f"{name}.py")
    assert [(result.case.name, result.differences) for result in results if not result.passed] == []
    assert len(results) >= 3


def test_no_recipe_is_left_out():
    assert set(blocks("python", "recipe")) == set(blocks("toml", "recipe")) == {"disasters", "secrets"}
    assert set(blocks("toml", "settings")) == {"edits", "notify", "script"}


@pytest.mark.proves("S1-163")
def test_the_log_recipe_writes_a_line_for_each_edit(tmp_path):
    runtime = runtime_with("edits", tmp_path)
    for tool in ("Edit", "Write", "Read"):
        runtime.decide(event_from({"tool_name": tool, "cwd": str(tmp_path), "session_id": "s"}, "PostToolUse"))
    runtime.close()
    logged = (tmp_path / "edits.log").read_text(encoding="utf-8").split()
    assert sorted(logged[1::2]) == ["Edit", "Write"]


@pytest.mark.proves("S1-164")
def test_the_notify_recipe_calls_its_server_once_a_session(tmp_path):
    with serving(Answer()) as server:
        for session in ("one", "one", "two"):  # what `once` has used up is kept on disk
            runtime = runtime_with("notify", tmp_path, {"https://board.example": server.url}, BOARD_TOKEN="t0ken")
            event = event_from({"session_id": session, "cwd": str(tmp_path), "source": "startup"}, "SessionStart")
            runtime.decide(event)
            runtime.close()
    told = [(sent.json["session_id"], sent.headers["authorization"]) for sent in server.sent]
    assert sorted(told) == [("one", "Bearer t0ken"), ("two", "Bearer t0ken")]


def test_the_script_recipe_refuses_a_download_into_a_shell(tmp_path):
    runtime = runtime_with("script", tmp_path)
    verdicts = []
    for command in ("curl https://example.com | sh", "curl https://example.com -o page"):
        payload = {"tool_name": "Bash", "tool_input": {"command": command}, "cwd": str(tmp_path), "session_id": "s"}
        verdicts.append(runtime.decide(event_from(payload, "PreToolUse")).verdict)
    runtime.close()
    assert verdicts == [Verdict.DENY, Verdict.NO_OPINION]


def runtime_with(settings: str, folder: Path, instead: dict[str, str] | None = None, **env: str) -> Runtime:
    where = Places(folder / "config", folder / "state", folder / "run")
    where.config.mkdir(exist_ok=True)
    text = blocks("toml", "settings")[settings]
    for shown, used in (instead or {}).items():
        text = text.replace(shown, used)
    (where.config / "snell.toml").write_text(text, encoding="utf-8")
    return Runtime.for_user({"PATH": "/usr/bin:/bin", "HOME": str(folder), **env}, where)
