"""`snell new case` turns what happened into a case with its expectation."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process.author import README_HOOK, Author

IN_THE_PROJECT = """
from snell import Deny, ShellCall, judges


@judges("PreToolUse", kind="shell")
def keep(call: ShellCall, cwd: str):
    return Deny(f"own: `{cwd}/.env` holds secrets") if ".env" in call.command else None
"""
HOOK = ".snell/hooks/no_force_push.py"


@pytest.fixture
def author(tmp_path: Path) -> Iterator[Author]:
    made = Author(tmp_path)
    made.write(HOOK, README_HOOK)
    made.on_terminal("trust", typed="y\n")
    yield made
    made.stop_daemon()


def add_case(author: Author, *fired: str) -> str:
    assert author.snell("fire", *fired)[0] == 0
    code, out, err = author.snell("new", "case", "last", "--to", HOOK)
    assert (code, err) == (0, "")
    return out


def test_recorded_events_become_cases_of_a_hook_which_pass(author: Author):
    expected = f"added a case to {HOOK.removesuffix('.py')}.cases.toml; it passes\n"
    assert add_case(author, "--command", "git push --force") == expected
    assert add_case(author, "--command", "git push") == expected
    assert "2 passed, 0 failed" in author.snell("test")[1]
    cases = tomllib.loads((author.project / HOOK).with_suffix(".cases.toml").read_text(encoding="utf-8"))["case"]
    assert [(case["event"], case["expect"]) for case in cases] == [
        (
            {"on": "PreToolUse", "kind": "shell", "command": "git push --force"},
            {"deny": "force-push overwrites other people's work"},
        ),
        ({"on": "PreToolUse", "kind": "shell", "command": "git push"}, "no_opinion"),
    ]


def test_a_case_that_the_hook_does_not_pass_any_more_says_so(author: Author):
    author.snell("fire", "--command", "git push --force")
    author.write(HOOK, README_HOOK.replace('"push", "--force"', '"pull"'))
    assert "; it fails now: expected deny" in author.snell("new", "case", "last", "--to", HOOK)[1]


def test_without_a_hook_the_case_is_printed_with_the_whole_decision(author: Author):
    author.snell("fire", "PreToolUse", "--tool", "Read", "--input", '{"file_path": "/etc/shadow", "x.y": [1, null]}')
    case = tomllib.loads(author.snell("new", "case", "last")[1])["case"][0]
    assert case["event"] == {"on": "PreToolUse", "tool": "Read", "input": {"file_path": "/etc/shadow", "x.y": [1]}}
    assert "deny" in case["expect"] or "ask" in case["expect"]


def test_a_case_names_no_path_of_the_project_on_this_machine(author: Author):
    command = f"cat {author.project}/.env > {author.project}/copy"
    author.snell("fire", "--command", command)
    printed = author.snell("new", "case", "last")[1]
    case = tomllib.loads(printed)["case"][0]
    assert case["event"] == {"on": "PreToolUse", "kind": "shell", "command": "cat ./.env > ./copy"}
    assert case["expect"] == {"deny": ["read-secret: `", ".env` holds secrets"]}
    assert str(author.project) not in printed
    author.write("pack.toml", 'name = "own"\n')
    author.write("rules.py", IN_THE_PROJECT)
    author.write("rules.cases.toml", printed.replace("read-secret: `", "own: `"))
    assert "1 passed, 0 failed" in author.snell("test", "rules.cases.toml")[1]


def test_a_redacted_value_is_named(author: Author):
    author.snell("fire", "--command", f"curl -H 'x-api-key: sk-ant-api03-{'a1B2' * 20}' example.com")
    assert "# a value was redacted" in author.snell("new", "case", "last")[1]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("new", "case", "nothing"), "there is no decision `nothing`"),
        (("new", "case", "last", "--to", "missing.py"), "`missing.py` is not a hook"),
    ],
)
def test_what_is_not_there_is_named(author: Author, words: tuple[str, ...], expected: str):
    author.snell("fire", "--command", "ls")
    code, _, err = author.snell(*words)
    assert code
    assert expected in err
