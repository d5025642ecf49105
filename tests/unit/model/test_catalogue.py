"""The catalogue: every event of the client, by any spelling."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import snell
from snell.model.catalogue import CATALOGUE, UNKNOWN, can_be_refused, canonical, nearest, row_of
from snell.model.decision import Failure, Outcome
from snell.model.effects import EFFECT_TYPES, Deny, Note, Verdict
from tests.golden.reading import event_in, golden_files
from tests.helpers import decide_event, event, hook, policy, summary_of
from tests.person import as_person

RECORDED = golden_files("claude_code")
CRASH = Failure("crash", "it broke")
EFFECTS = {kind.__name__.lower() for kind in EFFECT_TYPES} - {"extra"}


@pytest.mark.proves("S1-14")
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_what_a_row_says_about_the_payload_is_true_of_what_the_client_sent(path: Path) -> None:
    on = event_in(path)
    assert on.name in CATALOGUE
    assert not on.row.matches or on.row.matches in on.payload
    assert not on.row.rewrites or on.row.rewrites in on.payload


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_row_agrees_with_itself(name: str) -> None:
    row = CATALOGUE[name]
    assert row.name == name
    assert row.can <= EFFECTS
    assert bool(row.rewrites) == ("rewrite" in row.can)
    assert row.text_is in ("", *(("note",) if "note" in row.can else ()), *row.extras)
    assert not row.takes_held_notes or "note" in row.can
    assert not row.fails_open or "deny" in row.can  # else no failure could block
    assert not row.ends_turn or row.fails_open


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_failed_check_refuses_only_what_can_be_refused_in_time(name: str) -> None:
    row = CATALOGUE[name]
    denied = decide_event(event(name), policy("p", Deny("no"), on=name)).verdict is Verdict.DENY
    failed = decide_event(event(name), policy("p", Outcome(failure=CRASH), on=name)).verdict is Verdict.DENY
    assert (denied, failed) == ("deny" in row.can, "deny" in row.can and not row.fails_open)
    assert can_be_refused(name) == (failed and not row.is_too_late)


@pytest.mark.proves("S1-13")
@pytest.mark.parametrize("name", CATALOGUE)
def test_an_event_may_be_spelled_in_four_ways(name: str) -> None:
    words = "".join(f"_{char.lower()}" if char.isupper() else char for char in name).lstrip("_")
    spellings = (name, words, words.replace("_", "-"), name[0].lower() + name[1:], name.lower(), words.upper())
    assert {canonical(each) for each in spellings} == {name}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("AgentStop", "Stop"),
        ("agent_stop", "Stop"),
        ("UserPrompt", "UserPromptSubmit"),
        ("user-prompt", "UserPromptSubmit"),
    ],
)
def test_names_of_other_systems_are_understood(name: str, meant: str) -> None:
    assert canonical(name) == meant


@pytest.mark.proves("S1-154")
@pytest.mark.parametrize("name", ["FromTomorrow", "", "StatusLine", "status_line", "FileSuggestion", "Pre Tool Use"])
def test_an_unknown_name_stays_as_it_is_and_has_the_row_for_unknown_events(name: str) -> None:
    assert (canonical(name), row_of(name)) == (name, UNKNOWN)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("PreToolUes", "PreToolUse"),
        ("pre_tol_use", "PreToolUse"),
        ("PostToolFailure", "PostToolUseFailure"),
        ("SessonStart", "SessionStart"),
        ("SubAgentStopp", "SubagentStop"),
        ("zzz", ""),
        ("", ""),
    ],
)
def test_the_nearest_name_is_offered_for_a_misspelt_one(name: str, meant: str) -> None:
    assert nearest(name) == meant


def test_the_nearest_name_may_be_looked_for_elsewhere() -> None:
    assert (nearest("shel", ("shell", "edit")), nearest("qqq", ("shell", "edit"))) == ("shell", "")


NEW_ROW = """
    "PreDeploy": "matches=target can=deny,rewrite,tell rewrites=plan aliases=BeforeRollout",
"""
USE_NEW_ROW = """
import sys
from snell import Deny, Rewrite, judges, rewrites
from snell.cli.checks.match import check_row
from snell.model.catalogue import can_be_refused, canonical
from snell.runtime.app import Runtime
from snell.settings.json_schema import json_schema

sys.path.insert(0, sys.argv[1])
import generate

@rewrites("pre_deploy")
def shorten(event):
    return Rewrite({"steps": 2})

@judges("PreDeploy", matcher="production|staging")
def not_now(event):
    return Deny("not on Fridays")

with Runtime.embed(shorten, not_now) as runtime:
    for target in ("production", "test"):
        decision = runtime.fire("BeforeRollout", target=target, plan={})
        print(decision.event.name, decision.verdict, decision.event.payload["plan"], decision.reason)
print(canonical("pre-deploy"), can_be_refused("PreDeploy"))
print([check_row({"pattern": "stag*", "value": name, "event": "PreDeploy"})["match"] for name in ("staging", "test")])
print("PreDeploy" in str(json_schema()), "| `PreDeploy` | `target` |" in generate.events())
"""


def python_with_new_row(folder: Path) -> Callable[..., str]:
    """Return a function that runs Python in a project, with a copy of the source that has the new row."""
    root = Path(snell.__file__).parents[2]
    for name in ("src", "docs"):
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    catalogue = folder / "src/snell/model/catalogue.py"
    before, start, after = catalogue.read_text(encoding="utf-8").partition("_ROWS = {\n")
    catalogue.write_text(f"{before}{start}{NEW_ROW}{after}", encoding="utf-8")
    (folder / "project").mkdir()

    env = {"PYTHONPATH": str(folder / "src"), "HOME": str(folder / "home")}

    def run(*arguments: str, stdin: str = "") -> str:
        words = as_person(arguments[2:], env) if arguments[0] == "-m" else arguments[2:]
        done = subprocess.run(
            [sys.executable, *arguments[:2], *words],
            env=env,
            cwd=folder / "project",
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        return done.stdout

    return run


@pytest.mark.proves("S1-14")
def test_one_more_row_is_all_that_a_new_event_needs(tmp_path: Path) -> None:
    python = python_with_new_row(tmp_path)
    assert python("-c", USE_NEW_ROW, str(tmp_path / "docs")).splitlines() == [
        "PreDeploy deny {'steps': 2} not on Fridays",
        "PreDeploy no_opinion {'steps': 2} ",
        "PreDeploy True",
        "[True, False]",
        "True True",
    ]


@pytest.mark.proves("S1-14")
def test_one_more_row_is_all_that_the_commands_need_for_a_new_event(tmp_path: Path) -> None:
    run_snell = partial(python_with_new_row(tmp_path), "-m", "snell")
    run_snell("new", "hook", "careful", "--event", "pre_deploy")
    run_snell("new", "hook", "smaller", "--event", "PreDeploy", "--role", "rewrites")
    assert run_snell("test", ".snell/hooks") == "4 passed, 0 failed\n"
    run_snell("trust", "--hash", json.loads(run_snell("trust", "--json"))["digest"])
    fired = run_snell("fire", "PreDeploy", "--set", "target=example").splitlines()
    payload = {"hook_event_name": "PreDeploy", "session_id": "s", "cwd": str(tmp_path / "project"), "plan": "all"}
    denied, other = (
        run_snell("hook", "--client", "claude-code", stdin=json.dumps({**payload, "target": target}))
        for target in ("example", "other")
    )
    reason = "careful: the example is only an example. Instead: write what to do instead here"
    assert fired[0] == f"deny, rewritten: {reason}"
    assert json.loads(denied) == {"decision": "block", "reason": reason}
    assert other == ""
    assert "PreDeploy" in json.loads(run_snell("setup", "claude-code", "--print", "--json"))["hooks"]["hooks"]


@pytest.mark.proves("S1-14")
def test_an_event_from_tomorrow_reaches_its_hooks_without_a_row() -> None:
    decision = decide_event(
        event("FromTomorrow", new_field=1), hook("a", lambda on: Note(str(on.payload["new_field"])), on="FromTomorrow")
    )
    assert summary_of(decision) == {"verdict": "no_opinion", "notes": [("a", "1")]}
