"""Hooks in settings files: their matchers, their keys, where they come from and what turns them off."""

import itertools
import json
from pathlib import Path

import pytest

from tests.fork_server import run_snell
from tests.process.answers import answer, call, context_in, problems, record, verdict_of
from tests.process.machine import Machine

pytest_plugins = ("tests.process.machine_fixtures",)
NUMBERS = itertools.count()


def says(text: str, event: str = "PreToolUse", **keys: str) -> str:
    """Return an entry whose command adds a note."""
    note = json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})
    given = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return f"[[hooks]]\nevent = '{event}'\n{given}[hooks.command]\ncommand = '''echo '{note}' '''\n"


def told(machine: Machine, tool: str, **env: str) -> set[str]:
    given = {"tool_name": tool, "tool_input": {}, "tool_use_id": f"t{next(NUMBERS)}"}
    return set(context_in(answer(machine, "PreToolUse", env, **given)).split())


MATCHERS = {
    "Grape": {"Grape"},
    "Grape*": {"Grape", "Grapefruit"},
    "Grape| Plum ,,Fig": {"Grape", "Plum", "Fig"},
    "^Gr": {"Grape", "Grapefruit"},
    "e.*f": {"Grapefruit"},
    "Fig|^Plum$": {"Fig", "Plum", "Figs"},
    "": {"Grape", "grape", "Grapefruit", "Plum", "Fig", "Figs"},
    "*": {"Grape", "grape", "Grapefruit", "Plum", "Fig", "Figs"},
}


@pytest.mark.proves("S1-27", "S1-28", "S1-29", "S1-30", "S1-31", "S1-32", "S1-38", "S1-41")
def test_a_matcher_of_each_kind_fits_the_tools_that_it_should(machine: Machine):
    rules = [
        f"@informs('PreToolUse', matcher={matcher!r})\ndef hook_{number}():\n    return Note({str(number)!r})\n"
        for number, matcher in enumerate([*MATCHERS, None])
    ]
    machine.write("pack/rules.py", "from snell import Note, informs\n\n" + "\n".join(rules))
    settings = ('packs = ["pack"]\n', says("star", matcher="'Grape*'", matcher_type="'exact'"),
                says("exact", matcher="'Plum'", matcher_type="'exact'"),
                says("glob", matcher="'?i*s'", matcher_type="'wildcard'"),
                says("regex", matcher="'Fig'", matcher_type="'regex'"))  # fmt: skip
    machine.write("snell.toml", "\n".join(settings))
    tools = ("Grape", "grape", "Grapefruit", "Plum", "Fig", "Figs")
    assert told(machine, "plum") == {"6", "7", "8"}
    found = {tool: told(machine, tool) for tool in tools}
    named = {"Plum": {"exact"}, "Fig": {"regex"}, "Figs": {"regex", "glob"}}
    fitting = {tool: {str(n) for n, fits in enumerate(MATCHERS.values()) if tool in fits} | {"8"} for tool in tools}
    assert found == {tool: names | named.get(tool, set()) for tool, names in fitting.items()}


@pytest.mark.proves("S1-33", "S1-34", "S1-37", "S1-42", "S1-115", "S1-117", "S1-119")
def test_a_mistake_in_an_entry_is_named_with_its_place_and_the_others_run(machine: Machine):
    entries = {
        "a pattern that is none": says("x", matcher="'(('"),
        "no handler": "[[hooks]]\nevent = 'PreToolUse'\n",
        "two handlers": "[[hooks]]\nevent = 'PreToolUse'\ncommand = 'true'\n[hooks.webhook]\nurl = 'http://127.0.0.1'\n",
        "no event": "[[hooks]]\n[hooks.command]\ncommand = 'true'\n",
        "fine": says("fine"),
        "for a tool": says("tool", matcher="'Grape'"),
        "nothing to match": says("stop", "UserPromptSubmit", matcher="'x'"),
        "other keys": "[[hooks]]\nevent = 'Stop'\nname = 'web'\ntimeout_sec = 7\nonce = true\n"
        "[hooks.webhook]\nurl = 'http://127.0.0.1:9/'\nmethod = 'PUT'\nheaders = { A = 'b' }\n",
        "a shell": "[[hooks]]\nevent = 'Stop'\n"
        "[hooks.shell]\ncommand = 'true'\npass_context = true\nparse_result = true\n",
    }
    machine.write("snell.toml", "\n".join(entries.values()))
    found = [(problem["severity"], problem["line"], problem["message"]) for problem in problems(machine)]
    assert found == [
        ("error", 3, "`((` is not a regular expression: missing ) at position 2"),
        ("error", 7, "the hook has no handler"),
        ("error", 10, "the hook has two handlers: webhook and command"),
        ("error", 16, "the hook names no event"),
        ("warning", 33, "UserPromptSubmit has nothing to match, so the matcher is ignored"),
    ]
    hooks = json.loads(run_snell("settings", "--json", cwd=machine.project, env=machine.env())[1])["hooks"]
    (web,) = [hook for hook in hooks if hook["id"] == "web"]
    assert (web["event"], web["handler"], web["timeout"]) == ("Stop", "webhook", 7.0)
    assert told(machine, "Grape") == {"fine", "tool"}
    nameless = answer(machine, "PreToolUse", tool_input={})
    assert context_in(nameless).split() == ["fine"]
    assert context_in(answer(machine, "UserPromptSubmit", prompt="hi")) == "stop"
    machine.write("hooks.toml", "")
    machine.write("snell.toml", "[[hooks]\n")
    (problem,) = problems(machine)
    broken = (str(machine.config / "snell.toml"), 1, "error")
    assert (problem["file"], problem["line"], problem["severity"]) == broken
    assert told(machine, "Grape") == {"fine", "tool"}  # as it was when it could be read last
    machine.write("snell.toml", "# nothing\n")
    assert (told(machine, "Grape"), problems(machine)) == (set(), [])


@pytest.mark.proves("S1-36", "S1-38", "S1-39", "S1-40", "S1-43", "S1-96", "S1-97", "S1-114", "S1-116", "S1-161")
def test_the_keys_of_an_entry(machine: Machine):
    picky = 'grep -q tool-1 && { echo no >&2; exit 2; }; echo ran >> "$SNELL_HOME/picky"'
    machine.write("snell.toml", "\n".join([
        says("named", name="'my-rule'"),
        says("nameless"),
        says("once", once="true"),
        says("off", enabled="false"),
        says("of-a-group", group="'a'", status_message="'looking'"),
        says("slow", "Stop", timeout="300"),
        f"[[hooks]]\nevent = 'PreToolUse'\nname = 'picky'\nonce = true\n[hooks.command]\ncommand = '{picky}'\n",
    ]))  # fmt: skip
    machine.write("hooks.toml", says("from-hooks-toml"))
    usual = {"named", "nameless", "of-a-group", "from-hooks-toml"}
    assert verdict_of(answer(machine, "PreToolUse", tool_name="tool-1", tool_input={})) == "deny"
    assert [told(machine, f"tool-{number}") for number in (2, 3)] == [usual, usual]
    again = context_in(answer(machine, "PreToolUse", tool_name="Grape", tool_input={}, session_id="other"))
    assert set(again.split()) == usual | {"once"}
    assert (machine.home / "picky").read_text(encoding="utf-8").split() == ["ran"] * 2
    ran = {run["hook"]: run for each in record(machine)["rounds"] for run in each["runs"] if run["layer"] == "user"}
    made_up = [name for name in ran if name.startswith("PreToolUse-echo-")]
    assert sorted(ran) == sorted([*made_up, "my-rule", "picky"])
    (hint,) = problems(machine)
    assert (hint["severity"], hint["message"]) == ("hint", "`timeout` lets the agent wait 300 s for a command hook")
    hooks = json.loads(machine.snell("settings", "--json"))["hooks"]
    shown = {Path(hook["from"]).name: hook for hook in hooks if hook["layer"] == "user"}
    assert [(each["timeout"], each["enabled"]) for each in (shown["snell.toml:31"], shown["snell.toml:18"])] == [
        (300.0, True),
        (600.0, False),
    ]
    assert "hooks.toml:1" in shown
    machine.write("hooks.toml", says("from-hooks-toml", timeout="700"))
    machine.write("snell.toml", f"[hook_defaults]\ntimeout = 7\n{says('short')}{says('long', timeout='8')}")
    hooks = json.loads(machine.snell("settings", "--json"))["hooks"]
    assert [hook["timeout"] for hook in hooks if hook["layer"] == "user"] == [7.0, 8.0, 600.0]


@pytest.mark.proves("S1-103", "S1-104", "S1-105", "S1-110", "S1-112", "S1-139")
def test_hooks_run_by_scope_as_declared_and_say_where_they_come_from(machine: Machine, tmp_path: Path):
    env = {"SNELL_POLICY": str(write_everywhere(machine, tmp_path))}
    assert context_in(call(machine, "ls", env)).split() == ["policy", "plugin", "user-1", "user-2"]  # it is not trusted
    machine.snell("trust", "--hash", json.loads(machine.snell("trust", "--json"))["digest"])
    order = ["policy", "plugin", "user-1", "user-2", "project", "local"]
    assert context_in(call(machine, "pwd", env)).split() == order
    hooks = json.loads(machine.snell("settings", "--json", **env))["hooks"]
    layers = [hook["layer"] for hook in hooks if hook["event"] == "PreToolUse" and hook["handler"] == "command"]
    assert layers == ["policy", "plugin:lab", "user", "user", "project", "local"]


@pytest.mark.proves("S1-107", "S1-108", "S1-109", "S1-111", "S1-114")
def test_the_switches_turn_off_everything_but_the_policy(machine: Machine, tmp_path: Path):
    policy = write_everywhere(machine, tmp_path)
    own = (machine.config / "snell.toml").read_text(encoding="utf-8")
    env, status = {"SNELL_POLICY": str(policy)}, "status_line = { command = 'echo mine' }\n"
    found = {}
    for where, switch in (("user", ""), ("user", "disable_all_hooks"), ("user", "allow_managed_hooks_only"),
                          ("policy", "disable_all_hooks"), ("policy", "allow_managed_hooks_only")):  # fmt: skip
        line = f"{switch} = true\n" if switch else ""
        machine.write("snell.toml", status + (line if where == "user" else "") + own)
        policy.write_text((line if where == "policy" else "") + says("policy"), encoding="utf-8")
        shown = machine.snell("statusline", given=b'{"session_id": "s"}', **env).strip()
        found[where, switch] = told(machine, "Grape", **env), shown
    assert found == {
        ("user", ""): ({"policy", "plugin", "user-1", "user-2"}, "mine"),
        ("user", "disable_all_hooks"): ({"policy"}, ""),
        ("user", "allow_managed_hooks_only"): ({"policy"}, ""),
        ("policy", "disable_all_hooks"): (set(), ""),
        ("policy", "allow_managed_hooks_only"): ({"policy"}, ""),
    }


def write_everywhere(machine: Machine, folder: Path) -> Path:
    """Write a hook into every place that may have one; return the policy's file."""
    plugin, project = machine.config / "plugin", machine.project / ".snell"
    note = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "plugin"}})
    hooks = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": f"echo '{note}'"}]}]}}
    files = {
        folder / "policy.toml": says("policy"),
        plugin / ".claude-plugin/plugin.json": '{"name": "lab"}',
        plugin / "hooks/hooks.json": json.dumps(hooks),
        machine.config / "snell.toml": 'packs = ["plugin"]\n' + says("user-1") + says("user-2"),
        project / "snell.toml": says("project"),
        project / "snell.local.toml": says("local"),
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "policy.toml"
