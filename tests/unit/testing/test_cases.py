"""Case files, read: what they hold, and what is wrong with them, with file and line."""

import pytest

from snell.testing import Case, CaseError, CaseEvent, Expectation, cases_in

MISSING_EXPECT = 'write the expected result: expect = "no_opinion", or { deny = "part of the reason" }'
MISSING_EVENT = 'write the event: event = { on = "PreToolUse", kind = "shell", command = "ls" }'
BEFORE = 'write before = [ { on = "UserPromptSubmit", prompt = "hi" } ]'
EXPECT = 'write "no_opinion", "deny" or { deny = "part of the reason" }'
EVENT = 'event = { on = "Stop" }\n'


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "x.cases.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_case_has_a_name_an_event_and_an_expectation(write):
    path = write(
        """
[[case]]
name   = "pytest becomes make test"
files  = { "Makefile" = "test:\\n\\tpytest", "src/a.py" = "" }
before = [ { on = "UserPromptSubmit", prompt = "hi" } ]
event  = { on = "PreToolUse", kind = "shell", command = "pytest" }
expect = { rewrite = { command = "make test" }, note = "Makefile", deny = ["one", "two"] }

[[case]]
name   = "a stop is left alone"
event.on = "Stop"
expect = "no_opinion"
"""
    )
    assert cases_in(path) == [
        Case(
            name="pytest becomes make test",
            files={"Makefile": "test:\n\tpytest", "src/a.py": ""},
            before=(CaseEvent("UserPromptSubmit", {"prompt": "hi"}),),
            event=CaseEvent("PreToolUse", {"tool_input": {"command": "pytest"}}, "Bash", "", "shell"),
            expect=Expectation("deny", ("one", "two"), rewrite={"command": "make test"}, texts={"note": ("Makefile",)}),
            file=str(path),
            line=2,
        ),
        Case(name="a stop is left alone", event=CaseEvent("Stop", {}), file=str(path), line=9),
    ]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "the file has no cases; start one with [[case]], then `name`, `event` and `expect`"),
        ("[[case]\n", 1, "this is not valid TOML: expected ']]' at the end of an array declaration; correct that line"),
        ("[[cases]]\nname = 'x'\n", 1, "unknown key `cases`; did you mean `case`?"),
        ("[case]\nname = 'x'\n", 1, "`case` must be a list of tables; start each case with [[case]]"),
        (
            "[[case]]\nevent = { on = 'Stop' }\nexpect = 'no_opinion'\n",
            1,
            'the case has no `name`; describe the case: name = "a force push is denied"',
        ),
        (
            "[[case]]\nname = 'x'\nevent = { on = 'Stop' }\n",
            1,
            "the case has no `expect`; " + MISSING_EXPECT,
        ),
        ("[[case]]\nname = 'x'\nexpects = 'deny'\n", 3, "`expects` is not a key of a case; did you mean `expect`?"),
        (
            "[[case]]\nname = 'x'\nevent = 'Stop'\nexpect = 'deny'\n",
            3,
            "`event` must be a table, not text; " + MISSING_EVENT,
        ),
        (
            "[[case]]\nname = 'x'\nexpect = 'deny'\n[case.event]\non = 'PreToolUse'\nkind = 'shel'\n",
            6,
            "unknown tool kind `shel`; did you mean `shell`?",
        ),
        (
            "[[case]]\nname = 'x'\nexpect = 'deny'\nevent = { on = 'Stopp' }\n",
            4,
            "unknown event `Stopp`; did you mean `Stop`?",
        ),
        (
            f"[[case]]\nname = 'x'\n{EVENT}before = {{ on = 'Stop' }}\nexpect = 'deny'\n",
            4,
            "`before` must be a list of events, not a table; " + BEFORE,
        ),
        (
            f"[[case]]\nname = 'x'\n{EVENT}expect = 'denied'\n",
            4,
            "`denied` cannot be expected; did you mean `deny`?",
        ),
        (
            f"[[case]]\nname = 'x'\n{EVENT}[case.expect]\nrewite = {{ command = 'x' }}\n",
            5,
            "`rewite` cannot be expected; did you mean `rewrite`?",
        ),
        (
            f"[[case]]\nname = 'x'\n{EVENT}[case.expect]\nask = 'x'\ndeny = 'y'\n",
            6,
            "a decision cannot be both ask and deny; keep one of them",
        ),
        (
            f"[[case]]\nname = 'x'\n{EVENT}expect = 3\n",
            4,
            "`expect` must be a word or a table, not a number; " + EXPECT,
        ),
        (
            f"[[case]]\nname = 'x'\n{EVENT}expect = 'deny'\nfiles = {{ '../x' = '' }}\n",
            5,
            "`../x` is outside the temporary project; use a relative path",
        ),
        (
            f"[[case]]\nname = 'x'\n{EVENT}expect = 'deny'\nfiles = {{ x = 3 }}\n",
            5,
            "the content of `x` must be text; put it in quotes",
        ),
    ],
)
def test_a_bad_case_file_is_explained_with_its_line(write, text, line, message):
    path = write(text)
    with pytest.raises(CaseError) as caught:
        cases_in(path)
    assert str(caught.value) == f"{path}:{line}: {message}"


def test_a_file_that_is_not_there_is_explained(tmp_path):
    with pytest.raises(CaseError) as caught:
        cases_in(tmp_path / "x.cases.toml")
    assert str(caught.value) == f"{tmp_path}/x.cases.toml: the file cannot be read: No such file or directory"


def test_a_folder_in_its_place_is_explained(tmp_path):
    with pytest.raises(CaseError) as caught:
        cases_in(tmp_path)
    assert str(caught.value) == f"{tmp_path}: the file is a directory, not a file; name a regular file"
