"""Every recipe of docs/howto/recipes.md works as it stands there."""

import json
import re
from pathlib import Path

import pytest

from snell.model.effects import Verdict
from snell.model.events import event_from
from snell.runtime.app import Runtime
from snell.system.paths import Places
from snell.testing import run_path
from tests.loopback import Answer, serving
from tests.process.answers import answer, record
from tests.process.machine import Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)

PAGE = (Path(__file__).resolve().parents[2] / "docs/howto/recipes.md").read_text(encoding="utf-8")


def blocks(language: str, kind: str) -> dict[str, str]:
    return dict(re.findall(rf"```{language} {kind}=(\w+)\n(.*?)```", PAGE, re.DOTALL))


# What a recipe refuses beside its own cases.
MORE = {
    "disasters": [
        {"kind": "shell", "command": line} for line in ("rm -fr /", "rm -r ./a /*", "sudo rm a", ":(){:|:&};:")
    ],
    "secrets": [
        {"kind": "write", "path": ".env", "content": "A=1"},
        {"kind": "edit", "path": "/srv/app/.env", "old": "a", "new": "b"},
        {"kind": "write", "path": "credentials.json", "content": "{}"},
    ],
}


def more_cases(name: str) -> str:
    lists = (", ".join(f"{key} = {json.dumps(value)}" for key, value in each.items()) for each in MORE.get(name, ()))
    written = (f'event = {{ on = "PreToolUse", {fields} }}\nexpect = "deny"\n' for fields in lists)
    return "".join(f'\n[[case]]\nname = "more {number}"\n{each}' for number, each in enumerate(written))


@pytest.mark.proves("S1-162", "S1-165")
@pytest.mark.parametrize("name", ["disasters", "no_secret_in_code", "secrets", "thrift"])
def test_a_recipe_passes_the_cases_beside_it(name, tmp_path):
    (tmp_path / f"{name}.py").write_text(blocks("python", "recipe")[name], encoding="utf-8")
    cases = blocks("toml", "recipe")[name] + more_cases(name)
    (tmp_path / f"{name}.cases.toml").write_text(cases, encoding="utf-8")
    results = run_path(tmp_path / f"{name}.py")
    assert [(result.case.name, result.differences) for result in results if not result.passed] == []
    assert len(results) >= 3


def test_no_recipe_is_left_out():
    assert (
        set(blocks("python", "recipe"))
        == set(blocks("toml", "recipe"))
        == {"disasters", "no_secret_in_code", "secrets", "thrift"}
    )
    assert set(blocks("toml", "settings")) == {"edits", "notify", "script"}


@pytest.mark.proves("S1-163")
def test_the_log_recipe_writes_a_line_for_each_edit(machine: Machine):
    machine.write("snell.toml", blocks("toml", "settings")["edits"])
    for tool in ("Edit", "Write", "Read"):
        answer(machine, "PostToolUse", tool_name=tool, tool_input={}, tool_response="")
    log = machine.project / "edits.log"
    wait_until(lambda: log.exists() and len(log.read_text(encoding="utf-8").splitlines()) == 2)  # after the replies
    assert sorted(log.read_text(encoding="utf-8").split()[1::2]) == ["Edit", "Write"]


@pytest.mark.proves("S1-164")
def test_the_notify_recipe_calls_its_server_once_a_session(machine: Machine):
    with serving(Answer()) as server:
        machine.write("snell.toml", blocks("toml", "settings")["notify"].replace("https://board.example", server.url))
        for session in ("one", "one", "two"):  # what `once` has used up is kept on disk
            answer(machine, "SessionStart", {"BOARD_TOKEN": "t0ken"}, session_id=session, source="startup")
            record(machine)  # what follows the reply has begun, and the end of the daemon waits for it
            machine.stop()
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
