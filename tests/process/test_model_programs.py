"""Model hooks that ask a coding agent of the user's, when there is no key."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from snell.handlers.agent import Agent
from snell.handlers.prompt import Prompt
from snell.llm.cli_program import INSIDE
from snell.model.context import Context, HandlerSettings, ModelSettings, Progress
from snell.model.decision import Failure, Outcome
from snell.model.effects import Deny
from snell.model.hooks import Hook, Scope
from snell.runtime.app import Runtime
from tests.handler_helpers import outcome_of
from tests.helpers import call

CODEX_OFF = (
    *("hooks", "apps", "plugins", "multi_agent", "goals", "tool_suggest"),
    *("shell_tool", "unified_exec", "view_image"),
)
RECORDS = """#!/bin/sh
cat > "$0.stdin"
printf '%s\\n' "$@" > "$0.words"
printf '%s' "$SNELL_INSIDE_MODEL_HOOK" > "$0.marker"
printf '%s' "$PWD" > "$0.folder"
"""


VERDICT = '{"ok": false, "reason": "no tests"}'


def install_program(folder: Path, name: str, script: str) -> Path:
    path = folder / name
    path.write_text(RECORDS + script, encoding="utf-8")
    path.chmod(0o755)
    return path


def context(folder: Path, **model) -> Context:
    env = {"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(folder)}
    return Context(env=env, project_dir=str(folder), settings=HandlerSettings(ModelSettings(**model)))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "claude",
            ["-p", "--output-format", "text", "--no-session-persistence", "--settings", '{"disableAllHooks": true}',
             "--setting-sources", "user", "--strict-mcp-config", "--tools", ""],
        ),
        (
            "codex",
            ["exec", "--skip-git-repo-check", "--sandbox", "read-only", "--color", "never",
             "-c", "approval_policy=never", "-c", "project_doc_max_bytes=0", "-c", 'web_search="disabled"',
             *(word for name in CODEX_OFF for word in ("-c", f"features.{name}=false")), "-"],
        ),
        (
            "gemini",
            ["--approval-mode", "default", "--extensions", "none", "--allowed-mcp-server-names", "none",
             "-p", "answer the question on stdin"],
        ),
    ],
)  # fmt: skip
def test_the_program_that_is_installed_is_asked_without_hooks_and_with_a_mark(tmp_path, name, words):
    program = install_program(tmp_path, name, """echo 'Here: {"ok": false, "reason": "no"}'\n""")
    outcome = outcome_of(Prompt("Is $ARGUMENTS fine?", continue_on_block=True), context=context(tmp_path))
    assert outcome == Outcome((Deny("no"),))
    said = program.with_name(f"{name}.words").read_text(encoding="utf-8").split("\n")[:-1]
    assert said == words
    where = program.with_name(f"{name}.folder").read_text(encoding="utf-8")
    assert where != str(tmp_path)  # the project has no say in how it is judged
    assert '"tool_name":"Bash"' in program.with_name(f"{name}.stdin").read_text(encoding="utf-8")
    assert program.with_name(f"{name}.marker").read_text(encoding="utf-8") == "1"


def test_the_settings_choose_the_program_and_the_model(tmp_path):
    for name in ("claude", "codex"):
        install_program(tmp_path, name, """echo '{"ok": true}'\n""")
    outcome = outcome_of(Prompt("?", model="big"), context=context(tmp_path, api="cli", cli="codex"))
    words = (tmp_path / "codex.words").read_text(encoding="utf-8").split("\n")
    assert (outcome, words[-4:-1], (tmp_path / "claude.words").exists()) == (Outcome(), ["--model", "big", "-"], False)


@pytest.mark.proves("S1-57", "S1-59")
@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
def test_an_agent_hook_asks_a_program_again_and_again_and_reads_for_it(tmp_path, name):
    project = tmp_path / "project"
    project.mkdir()
    (project / "in.txt").write_text("INSIDE", encoding="utf-8")
    (tmp_path / "out.txt").write_text("OUTSIDE", encoding="utf-8")
    (project / "link.txt").symlink_to(tmp_path / "out.txt")
    talk = tmp_path / "talk.jsonl"
    talk.write_text('{"said": "WORDS"}\n', encoding="utf-8")
    wanted = ["in.txt", "../out.txt", "link.txt", str(tmp_path / "out.txt"), str(talk)]
    calls = "".join(json.dumps({"tool": "Read", "input": {"file_path": path}}) for path in wanted)
    asks = f"grep -q 'What call-1 gives' $0.stdin && echo 'So: {VERDICT}' || echo 'I look. {calls}'\n"
    program = install_program(tmp_path, name, asks)
    told: list[Progress] = []
    given = replace(context(tmp_path), project_dir=str(project), progress=told.append)
    outcome = outcome_of(Agent("Check"), call(cwd=str(project), transcript_path=str(talk)), context=given)
    assert (outcome, [each.status_message for each in told if each.stage == "running"]) == (
        Outcome((Deny("no tests"),)),
        [f"turn 1: {', '.join(['Read'] * 5)}"],
    )
    shown = program.with_name(f"{name}.stdin").read_text(encoding="utf-8")
    assert ("INSIDE" in shown, "WORDS" in shown, "OUTSIDE" in shown) == (True, True, False)
    assert shown.count("is outside of the project") == 3
    assert program.with_name(f"{name}.folder").read_text(encoding="utf-8") != str(project)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("claude", ["--tools", ""]),
        ("codex", ["--disable", "shell_tool", "--disable", "unified_exec", "--disable", "view_image"]),
        ("gemini", ["--admin-policy"]),
    ],
)
def test_a_program_that_answers_for_an_agent_has_no_tools_of_its_own(tmp_path, name, words):
    program = install_program(tmp_path, name, f"cat *.toml > $0.policy 2>/dev/null; echo '{VERDICT}'\n")
    assert outcome_of(Agent("Check"), context=context(tmp_path)) == Outcome((Deny("no tests"),))
    said = program.with_name(f"{name}.words").read_text(encoding="utf-8").split("\n")
    assert words in [said[at : at + len(words)] for at in range(len(said))]
    policy = program.with_name(f"{name}.policy").read_text(encoding="utf-8")
    assert policy.split("\n")[1:3] == (['toolName = "*"', 'decision = "deny"'] if name == "gemini" else [])


@pytest.mark.parametrize("variable", ["HOME", "CODEX_HOME"])
def test_codex_is_asked_without_the_servers_that_its_user_has(tmp_path, variable):
    program = install_program(tmp_path, "codex", f"echo '{VERDICT}'\n")
    folder = tmp_path / ("elsewhere" if variable == "CODEX_HOME" else ".codex")
    folder.mkdir()
    config = folder / "config.toml"
    config.write_text("[mcp_servers.mail]\ncommand = 'm'\n[mcp_servers.disk-1]\ncommand = 'd'\n", encoding="utf-8")
    given = context(tmp_path)
    given = replace(given, env={**given.env, "CODEX_HOME": str(folder)}) if variable == "CODEX_HOME" else given
    assert outcome_of(Agent("Check"), context=given).failure is None
    words = program.with_name("codex.words").read_text(encoding="utf-8").split("\n")
    off = [word for word in words if word.startswith("mcp_servers")]
    assert off == ["mcp_servers.mail.enabled=false", "mcp_servers.disk-1.enabled=false"]
    config.write_text("[mcp_servers.'a.b']\ncommand = 'm'\n", encoding="utf-8")
    why = "the MCP server `a.b` of codex cannot be left out of a model hook; rename it"
    assert outcome_of(Agent("Check"), context=given) == Outcome(failure=Failure("launch", why))


def test_a_key_is_preferred_to_a_program(tmp_path):
    install_program(tmp_path, "claude", """echo '{"ok": true}'\n""")
    given = context(tmp_path)
    env = {**given.env, "OPENAI_API_KEY": "k"}
    settings = HandlerSettings(ModelSettings(url="http://127.0.0.1:1/v1"))
    outcome = outcome_of(Prompt("?"), context=Context(env=env, settings=settings))
    assert (outcome.failure.kind, (tmp_path / "claude.words").exists()) == ("launch", False)


@pytest.mark.parametrize(
    ("script", "kind"),
    [("echo broken >&2; exit 3\n", "crash"), ("exec sleep 60\n", "timeout"), ("echo I cannot say\n", "output")],
)
def test_a_program_in_trouble_is_a_failure(tmp_path, script, kind):
    install_program(tmp_path, "claude", script)
    outcome = outcome_of(Prompt("?"), context=context(tmp_path), timeout=1.0 if kind == "timeout" else 30.0)
    assert (outcome.effects, outcome.failure.kind) == ((), kind)


@pytest.mark.parametrize("handler", [Prompt("?"), Agent("?")])
def test_inside_of_such_a_program_no_model_is_asked_and_that_is_no_approval(tmp_path, handler):
    install_program(tmp_path, "claude", """echo '{"ok": true}'\n""")
    env = {"PATH": str(tmp_path), INSIDE: "1"}
    why = "not run: this event comes from a program that is answering a model hook"
    assert outcome_of(handler, context=Context(env=env)) == Outcome(failure=Failure("launch", why))
    hooks = [
        Hook(id=scope.name, event="PreToolUse", handler=handler, scope=scope) for scope in (Scope.POLICY, Scope.SESSION)
    ]
    verdicts = [str(Runtime.embed(hook, env=env).decide(call()).verdict) for hook in hooks]
    assert (verdicts, (tmp_path / "claude.words").exists()) == (["deny", "no_opinion"], False)


def test_what_such_programs_use_is_counted_too(tmp_path):
    install_program(tmp_path, "claude", """echo '{"ok": true}'\n""")
    given = context(tmp_path)
    settings = HandlerSettings(ModelSettings(max_session_tokens=10), state=str(tmp_path / "state"))
    outcomes = [outcome_of(Prompt("?"), context=Context(env=given.env, settings=settings)) for _ in range(2)]
    usage = json.loads((tmp_path / "state/model-usage.json").read_text(encoding="utf-8"))
    assert ([each.failure is None for each in outcomes], usage["sessions"]["s1"] > 10) == ([True, False], True)
