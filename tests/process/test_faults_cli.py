"""`snell test --faults` says what users of a hook see when something goes wrong."""

import json
import sys
from pathlib import Path

import pytest

from tests.process.author import README_CASES, README_HOOK, Author

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are stopped and limited as on Linux")
FRAGILE = """
from pathlib import Path

from snell import Deny, judges

@judges("PreToolUse", kind="shell"{options})
def fragile(event):
    command = event.payload["tool_input"]["command"]
    Path("{file}").write_text(command)
    return Deny("not that") if "bad" in command else None
"""
CASES = """
[[case]]
name = "it is refused"
event = { on = "PreToolUse", kind = "shell", command = "bad" }
expect = { deny = "not that" }
"""


@pytest.fixture
def author(tmp_path: Path) -> Author:
    return Author(tmp_path)


def faults_of(author: Author, name: str) -> tuple[int, dict[str, dict]]:
    code, out, err = author.snell("test", "--faults", "--json", f".snell/hooks/{name}.py")
    assert err == ""
    return code, {each["fault"]: each for each in json.loads(out)[f".snell/hooks/{name}.py"]}


def test_a_sound_hook_fails_on_no_input_and_its_verdict_is_lost_only_when_it_cannot_run(author: Author):
    author.write(".snell/hooks/no_force_push.py", README_HOOK)
    author.write(".snell/hooks/no_force_push.cases.toml", README_CASES)
    code, seen = faults_of(author, "no_force_push")
    refused = "the call is refused: force-push overwrites other people's work"
    assert code == 0, seen
    assert [name for name, each in seen.items() if each["sees"].startswith(refused)] == [
        *("no fault", "slow machine", "full disk"),
    ], seen
    assert [name for name, each in seen.items() if each["is_lost"]] == ["killed process", "time limit"]
    assert "the call goes on without this hook, and a warning says once a session" in seen["killed process"]["sees"]
    assert seen["slow machine"]["seconds"] >= 0.3


def test_a_fragile_hook_is_named_with_the_input_it_fails_on(author: Author):
    author.write(".snell/hooks/fragile.py", FRAGILE.format(options="", file=author.project / "last.txt"))
    author.write(".snell/hooks/fragile.cases.toml", CASES)
    code, seen = faults_of(author, "fragile")
    assert code == 1
    assert [name for name, each in seen.items() if each["is_failure"]] == ["missing fields", "other types"], seen
    assert "without `tool_input`" in seen["missing fields"]["sees"]
    assert "KeyError" in seen["missing fields"]["sees"]
    assert [name for name, each in seen.items() if each["is_lost"]] == ["killed process", "time limit", "full disk"]
    text = author.snell("test", "--faults", ".snell/hooks/fragile.py")[1]
    assert "FAIL  missing fields" in text
    assert 'on_failure="block"' in text


def test_a_hook_that_blocks_on_failure_refuses(author: Author):
    options, file = ', on_failure="block"', author.project / "last.txt"
    author.write(".snell/hooks/fragile.py", FRAGILE.format(options=options, file=file))
    author.write(".snell/hooks/fragile.cases.toml", CASES)
    _, seen = faults_of(author, "fragile")
    assert not any(each["is_lost"] for each in seen.values()), seen
    assert seen["time limit"]["sees"].startswith("the call is refused")


def test_a_command_hook_is_tried_too(author: Author):
    hook = '[[hooks]]\nevent = "PreToolUse"\nkinds = ["shell"]\ncommand = "cat >seen.json; exit 2"\n'
    author.write(".snell/snell.toml", hook)
    code, out, err = author.snell("test", "--faults", "--json", ".snell/snell.toml")
    assert (code, err) == (0, "")
    seen = {each["fault"]: each for each in json.loads(out)[".snell/snell.toml"]}
    assert seen["no fault"]["sees"].startswith("the call is refused")
    assert seen["slow machine"]["sees"].startswith("the call is refused")
    assert seen["killed process"]["is_lost"]
    assert seen["time limit"]["is_lost"]
