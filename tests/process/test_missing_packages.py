"""A hook whose package is not installed: told when hooks are loaded, with the command that installs it here."""

import json
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from tests.loopback import Answer, serving
from tests.process.bare_environment import Environment
from tests.process.machine import Machine

WEBHOOK = '[[hooks]]\nname = "board"\nevent = "PreToolUse"\n{}\n[hooks.webhook]\nurl = "{}"\n'
PROMPT = '[[hooks]]\nname = "ask"\nevent = "PreToolUse"\n{}\n[hooks.prompt]\nprompt = "may it?"\n'
AGENT = '[[hooks]]\nname = "look"\nevent = "PreToolUse"\n{}\n[hooks.agent]\nprompt = "may it?"\n'
MCP = (
    '[mcp_servers.checker]\ncommand = "mcp-checker"\n'
    '[[hooks]]\nname = "check"\nevent = "PreToolUse"\n{}\n[hooks.mcp_tool]\nserver = "checker"\ntool = "check"\n'
)
MODEL = '[model]\napi = "anthropic"\n'
NOWHERE = "https://board.example/check"
KINDS = {
    "webhook": ("http", "httpx2<3,>=2.16", "board", lambda more: WEBHOOK.format(more, NOWHERE)),
    "prompt": ("http", "httpx2<3,>=2.16", "ask", lambda more: MODEL + PROMPT.format(more)),
    "agent": ("http", "httpx2<3,>=2.16", "look", lambda more: MODEL + AGENT.format(more)),
    "mcp_tool": ("mcp", "mcp<3,>=2.3", "check", MCP.format),
}


@pytest.fixture(scope="module")
def bare(tmp_path_factory) -> Environment:
    return Environment(tmp_path_factory.mktemp("bare") / "environment")


class Place(Machine):
    """A person's home, with the programs of one environment."""

    def __init__(self, folder: Path, environment: Environment) -> None:
        super().__init__(folder)
        self.environment = environment
        self.hook_program = environment.hook

    def snell(self, *words: str, **env: str) -> tuple[int, str, str]:
        return self.environment.snell(*words, cwd=self.project, env=self.env(**env))

    def told_at_start(self, **env: str) -> str:
        code, out, _ = self.hook({"hook_event_name": "SessionStart", "source": "startup"}, **env)
        assert code == 0
        return json.loads(out).get("systemMessage", "") if out else ""

    def answer(self, **env: str) -> tuple[str, str]:
        """The verdict on a tool call, and its reason."""
        code, out, _ = self.hook(**env)
        assert code == 0
        told = json.loads(out).get("hookSpecificOutput", {}) if out else {}
        return told.get("permissionDecision", ""), told.get("permissionDecisionReason", "")


@pytest.fixture
def place(tmp_path, bare):
    place = Place(tmp_path, bare)
    yield place
    place.stop()


def command_for(environment: Environment, requirement: str) -> str:
    return f"python3 -m pip --python {environment.python} install '{requirement}'"


@pytest.mark.parametrize("kind", KINDS)
def test_a_hook_whose_package_is_missing_is_an_error_when_it_is_loaded(place, kind):
    extra, requirement, name, settings = KINDS[kind]
    place.write("snell.toml", settings(""))
    line = settings("").splitlines().index("[[hooks]]") + 1
    wrong = f"hook `{name}` ({place.config}/snell.toml:{line}) cannot run: the `{extra}` extra is not installed"
    advice = f"run `{command_for(place.environment, requirement)}`"
    code, out, _ = place.snell("settings")
    assert (code, f"  {wrong}; {advice}" in out.splitlines()) == (1, True)
    code, out, _ = place.snell("settings", "--json")
    assert (code, [each["message"] for each in json.loads(out)["problems"]]) == (1, [f"{wrong}; {advice}"])
    code, out, _ = place.snell("doctor", "--json")
    check = {"name": "hooks", "status": "fail", "detail": wrong, "advice": advice}
    assert (code, check in json.loads(out)["checks"]) == (1, True)
    assert f"snell: {wrong}; {advice}" in place.told_at_start()


@pytest.mark.parametrize(
    ("on_failure", "verdict"), [("", ""), ('on_failure = "ask"', "ask"), ('on_failure = "block"', "deny")]
)
@pytest.mark.parametrize("kind", KINDS)
def test_on_an_event_its_failure_policy_counts(place, kind, on_failure, verdict):
    extra, requirement, _, settings = KINDS[kind]
    place.write("snell.toml", settings(on_failure))
    found, reason = place.answer()
    assert found == verdict
    if verdict:
        assert f"the `{extra}` extra is not installed" in reason
        assert command_for(place.environment, requirement) in reason


def test_without_the_daemon_it_is_told_as_well(place):
    place.write("snell.toml", WEBHOOK.format('on_failure = "block"', NOWHERE))
    (place.home / "run").write_text("no daemon can be started here", encoding="utf-8")
    assert "the `http` extra is not installed" in place.told_at_start()
    assert place.answer()[0] == "deny"
    (place.home / "run").unlink()


@pytest.mark.parametrize(
    ("settings", "env", "is_told"),
    [
        (PROMPT.format(""), {}, False),  # a program is asked, if there is one
        (PROMPT.format(""), {"ANTHROPIC_API_KEY": "k"}, True),
        ('[model]\napi = "cli"\n' + PROMPT.format(""), {"ANTHROPIC_API_KEY": "k"}, False),
        ('[model]\nurl = "http://localhost:1/v1"\n' + AGENT.format(""), {}, True),
        (WEBHOOK.format("enabled = false", NOWHERE), {}, False),
        ("disable_all_hooks = true\n" + WEBHOOK.format("", NOWHERE), {}, False),
        ('[[hooks]]\nname = "plain"\nevent = "Stop"\ncommand = "true"\n', {}, False),
    ],
    ids=["program", "key", "cli", "url", "not enabled", "switched off", "command"],
)
def test_only_a_hook_that_would_run_and_needs_the_package_is_told_of(place, settings, env, is_told):
    place.write("snell.toml", settings)
    wrong = "the `http` extra is not installed"
    assert (wrong in place.told_at_start(**env)) is is_told
    assert (wrong in place.snell("doctor", "--all", **env)[1]) is is_told
    assert (wrong in place.snell("settings", **env)[1]) is is_told


def test_several_hooks_are_told_of_in_one_line_and_before_other_problems(place):
    wrong = "".join(f'[[hooks]]\nname = "w{n}"\nevent = "Nothing"\ncommand = "true"\n' for n in range(5))
    place.write(
        "snell.toml", wrong + WEBHOOK.format("", NOWHERE) + PROMPT.format("").replace("PreToolUse", "Stop") + MODEL
    )
    first, *_ = place.told_at_start().splitlines()
    file = f"{place.config}/snell.toml"
    assert first.startswith(f"snell: hooks `board` ({file}:21), `ask` ({file}:27) cannot run: the `http` extra is not")


RECEIPT = """
[tool]
requirements = [
  { name = "snell", extras = ["tui"], directory = "/src/snell" },
  { name = "numpy", specifier = ">=2" },
]
"""
RECEIPTS = {
    "pipx_metadata.json": ("{}", "pipx inject environment 'httpx2<3,>=2.16'"),
    "uv-receipt.toml": (
        RECEIPT,
        "uv tool install --with 'numpy>=2' --with 'httpx2<3,>=2.16' '/src/snell[tui]'",
    ),
    "uv-receipt.toml, editable": (
        '[tool]\nrequirements = [{ name = "snell", editable = "/src/snell" }]\n',
        "uv tool install --with 'httpx2<3,>=2.16' --editable /src/snell",
    ),
    "uv-receipt.toml, from a place that is not known here": (
        '[tool]\nrequirements = [{ name = "snell", git = "https://code.example/snell" }]\n',
        "python3 -m pip --python {python} install 'httpx2<3,>=2.16'",
    ),
    "uv-receipt.toml, unreadable": ("[", "python3 -m pip --python {python} install 'httpx2<3,>=2.16'"),
}


@pytest.mark.parametrize("receipt", RECEIPTS)
def test_the_command_fits_the_program_that_made_the_environment(place, receipt):
    text, command = RECEIPTS[receipt]
    place.write("snell.toml", WEBHOOK.format("", NOWHERE))
    file = place.environment.folder / receipt.partition(",")[0]
    file.write_text(text, encoding="utf-8")
    try:
        out = place.snell("settings")[1]
    finally:
        file.unlink()
    assert f"; run `{command.format(python=place.environment.python)}`" in out


def test_once_the_package_is_installed_the_running_daemon_runs_the_hook(tmp_path, bare):
    shutil.copytree(bare.folder, tmp_path / "environment", symlinks=True)
    own = object.__new__(Environment)
    own.folder = tmp_path / "environment"
    (own.packages,) = own.folder.glob("lib/python*/site-packages")
    place = Place(tmp_path, own)
    with serving(Answer({"decision": "block", "reason": "not today"})) as server:
        place.write("snell.toml", WEBHOOK.format("", server.url))
        try:
            assert "the `http` extra is not installed" in place.told_at_start()
            assert place.answer() == ("", "")
            daemon = place.pid
            own.add_with_dependencies("httpx2")
            assert place.told_at_start() == ""
            assert place.answer() == ("deny", "not today")
            assert place.pid == daemon
        finally:
            place.signal(signal.SIGTERM)


def test_this_environment_has_no_hook_that_cannot_run(tmp_path):
    """Where the packages are installed, nothing is said."""
    machine = Machine(tmp_path)
    machine.write("snell.toml", MODEL + "".join(KINDS[kind][3]("").replace(MODEL, "") for kind in KINDS))
    done = os.spawnve(os.P_WAIT, sys.executable, [sys.executable, "-m", "snell", "settings"], machine.env())
    assert done == 0


def test_parquet_says_how_to_install_what_it_needs(bare: Environment, tmp_path: Path) -> None:
    place = Place(tmp_path, bare)
    target = tmp_path / "out.parquet"
    for words in (("memory", "export", str(target)), ("ledger", "export", "--as", "parquet", "--to", str(target))):
        code, _, err = place.snell(*words)
        assert (code, target.exists()) == (1, False)
        assert "the `parquet` extra is not installed; run `" in err
        assert "install 'pyarrow>=21'`, or " in err
    place.stop()
