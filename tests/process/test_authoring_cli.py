"""What a hook author does first: write, test, read what went wrong. Through the real command line."""

import json

import pytest

from snell.cli.commands.test import ADVICE
from tests.process.author import README_CASES, README_HOOK, Author


@pytest.fixture
def author(tmp_path):
    return Author(tmp_path)


def test_the_hook_of_the_readme_is_written_and_tested(author):
    author.write(".snell/hooks/no_force_push.py", README_HOOK)
    author.write(".snell/hooks/no_force_push.cases.toml", README_CASES)
    assert author.snell("test") == (0, "2 passed, 0 failed\n", "")


def test_a_new_hook_is_tested_trusted_and_seen_at_work_as_it_says(author):
    author.snell("new", "hook", "no_force_push")
    assert author.snell("test") == (0, "2 passed, 0 failed\n", "")
    digest = json.loads(author.snell("trust", "--list", "--json")[1])["digest"]
    assert author.snell("trust", "--hash", digest)[0] == 0
    code, out, err = author.snell("fire", "PreToolUse", "--command", "example --now")
    reason = "no_force_push: the command `example` is a placeholder"
    assert (code, out.splitlines()[0], err) == (0, f"deny: {reason}. Instead: write what to do instead here", "")


def test_a_new_hook_passes_its_cases_at_once_and_says_what_to_do_next(author):
    code, out, err = author.snell("new", "hook", "no_force_push")
    assert (code, out.splitlines(), err) == (
        0,
        [
            "wrote .snell/hooks/no_force_push.py",
            "wrote .snell/hooks/no_force_push.cases.toml",
            "next:",
            "  snell test .snell/hooks/no_force_push.py         # run its cases",
            "  snell trust                                      # approve it, so that it runs",
            "  snell fire PreToolUse --command 'example --now'  # try it",
        ],
        "",
    )
    assert author.snell("test", ".snell/hooks/no_force_push.py") == (0, "2 passed, 0 failed\n", "")


def test_a_new_hook_belongs_to_the_project_wherever_in_it_one_stands(author):
    (author.project / "src").mkdir()
    assert author.snell("new", "hook", "x", cwd="src")[1].splitlines()[0] == "wrote ../.snell/hooks/x.py"
    assert author.snell("test", cwd="src") == (0, "2 passed, 0 failed\n", "")


def test_a_new_pack_passes_its_cases_and_takes_further_hooks(author):
    code, out, _ = author.snell("new", "pack", "tidy")
    assert (code, out.splitlines()) == (
        0,
        [
            "wrote tidy/pack.toml",
            "wrote tidy/first_hook.py",
            "wrote tidy/first_hook.cases.toml",
            "next:",
            "  snell test tidy                  # run its cases",
            "  snell new hook NAME --pack tidy  # add another hook",
            f"to enable the pack in every project, write at the top of {author.home}/config/snell.toml:",
            f'  packs = ["{author.project}/tidy"]',
        ],
    )
    assert author.snell("new", "hook", "no_env", "--pack", "tidy", "--kind", "read", "--role", "rewrites")[0] == 0
    assert author.snell("test", "tidy") == (0, "4 passed, 0 failed\n", "")
    assert author.snell("test", "tidy/pack.toml") == (0, "4 passed, 0 failed\n", "")


def test_nothing_is_ever_overwritten(author):
    author.snell("new", "hook", "x")
    author.snell("new", "pack", "tidy")
    assert author.snell("new", "hook", "x") == (
        1,
        "",
        "snell: `.snell/hooks/x.py` already exists; choose another name, or remove it first\n",
    )
    assert author.snell("new", "pack", "tidy") == (
        1,
        "",
        "snell: `tidy` already exists; add to it with `snell new hook NAME --pack tidy`\n",
    )


def test_a_name_that_python_cannot_have_is_refused(author):
    assert author.snell("new", "hook", "no-push") == (
        1,
        "",
        "snell: `no-push` cannot be the name of a function; did you mean `no_push`?\n",
    )
    assert author.snell("new", "pack", "no-push")[2] == (
        "snell: `no-push` cannot be the name of a pack; did you mean `no_push`?\n"
    )


def test_a_failing_case_says_what_was_expected_and_what_happened(author):
    author.write("no_force_push.py", README_HOOK)
    author.write(
        "no_force_push.cases.toml",
        """\
[[case]]
name   = "the reason is about mice"
event  = { on = "PreToolUse", kind = "shell", command = "git push --force" }
expect = { deny = "mice" }

[[case]]
name   = "a status is refused"
event  = { on = "PreToolUse", kind = "shell", command = "git status" }
expect = "deny"

[[case]]
name   = "an edit is refused"
event  = { on = "PreToolUse", kind = "edit", path = "a.py" }
expect = "deny"
""",
    )
    reason = "force-push overwrites other people's work. Instead: use --force-with-lease on your own branch"
    not_run, why_not = "`no_force_push/no_force_push` did not run", "it is for shell calls, this is edit"
    code, out, err = author.snell("test", "no_force_push.py")
    assert (code, [line.partition(".cases.toml:")[2] or line for line in out.splitlines()], err) == (
        1,
        [
            f"1  the reason is about mice: the reason of the deny does not contain `mice`: `{reason}`",
            "6  a status is refused: expected deny, got no_opinion (`no_force_push/no_force_push` had no opinion)",
            f"11  an edit is refused: expected deny, got no_opinion ({not_run}: {why_not})",
            "0 passed, 3 failed",
        ],
        "",
    )
    assert out.startswith("FAIL  no_force_push.cases.toml:1  ")
    code, out, _ = author.snell("test", "no_force_push.py", "-v", "-k", "STATUS")
    assert code == 1
    assert "judges and informers, together" in out
    assert out.endswith("0 passed, 1 failed\n")


def test_a_hook_that_breaks_fails_its_case_with_file_and_line(author):
    author.write("x.py", "from snell import judges\n@judges('Stop')\ndef x():\n    return 1 / 0\n")
    author.write("x.cases.toml", "[[case]]\nname = 'a'\nevent = { on = 'Stop' }\nexpect = 'no_opinion'\n")
    what = "unexpected failure: `x/x: x.py:4: ZeroDivisionError: division by zero`"
    assert author.snell("test", "x.py") == (1, f"FAIL  x.cases.toml:1  a: {what}\n0 passed, 1 failed\n", "")


@pytest.mark.parametrize(
    ("source", "cases", "told"),
    [
        ("def x(:\n", "[[case]]\nname = 'a'\nevent = { on = 'Stop' }\nexpect = 'deny'\n", "x.py:1: SyntaxError"),
        ("", "[[case]]\nname = 'a'\nevent = { on = 'Stop' }\nexpect = 'deny'\n", "x.py:1: the file declares no hook"),
        ("", "[[case]]\nname = 'a'\nevent = { on = 'Stopp' }\nexpect = 'deny'\n", "x.cases.toml:3: unknown event"),
    ],
)
def test_a_file_that_cannot_be_used_fails_and_the_others_still_run(author, source, cases, told):
    author.write("x.py", source)
    author.write("x.cases.toml", cases)
    author.write("no_force_push.py", README_HOOK)
    author.write("no_force_push.cases.toml", README_CASES)
    code, out, err = author.snell("test", ".")
    first, last = out.splitlines()
    assert (code, err, last) == (1, "", "2 passed, 1 failed")
    assert first.startswith(f"FAIL  {told}")


def test_a_hook_that_could_not_be_entered_is_named_once_beside_the_cases_that_fail_for_it(author):
    author.write("x.py", "from snell import judges\n@judges('PreToolUse', matcher='Bash(')\ndef x(): ...\n")
    case = "[[case]]\nname = '{}'\nevent = {{ on = 'PreToolUse', kind = 'shell', command = 'ls' }}\nexpect = 'deny'\n"
    author.write("x.cases.toml", case.format("a") + case.format("b"))
    code, out, _ = author.snell("test", "x.py")
    problem = "`Bash(` is not a regular expression: missing ) at position 5; "
    advice = r"escape special characters with a backslash, such as `\("
    failed = "expected deny, got no_opinion (no hook reacts to PreToolUse)"
    assert (code, out.splitlines()) == (
        1,
        [
            f"FAIL  x.cases.toml:1  a: {failed}",
            f"      x.py:2: hook `x/x`: {problem}{advice}`",
            f"FAIL  x.cases.toml:5  b: {failed}",
            "0 passed, 2 failed",
        ],
    )


def test_a_case_has_a_project_of_its_own_and_an_earlier_life(author):
    author.write(
        "make.py",
        """\
from pathlib import Path
from snell import Note, Rewrite, informs, rewrites

@rewrites("PreToolUse", kind="shell")
def make(call, cwd):
    if call.command == "pytest" and Path(cwd, "Makefile").exists():
        return Rewrite(command="make test")

@informs("UserPromptSubmit", once=True)
def hello():
    return Note("hello")
""",
    )
    author.write(
        "make.cases.toml",
        """\
[[case]]
name   = "with a Makefile"
files  = { "Makefile" = "test:" }
event  = { on = "PreToolUse", kind = "shell", command = "pytest" }
expect = { rewrite = { command = "make test" } }

[[case]]
name   = "without one"
event  = { on = "PreToolUse", kind = "shell", command = "pytest" }
expect = "no_opinion"

[[case]]
name   = "the first prompt"
event  = { on = "UserPromptSubmit", prompt = "a" }
expect = { note = "hello" }

[[case]]
name   = "the second prompt"
before = [ { on = "UserPromptSubmit", prompt = "a" } ]
event  = { on = "UserPromptSubmit", prompt = "b" }
expect = "no_opinion"
""",
    )
    assert author.snell("test", "make.py") == (0, "4 passed, 0 failed\n", "")


def test_command_hooks_of_a_settings_file_are_tested_where_their_scripts_are(author):
    author.write(
        ".snell/snell.toml",
        """\
[[hooks]]
event = "PreToolUse"
matcher = "Bash"
[hooks.command]
command = 'sh "$CLAUDE_PROJECT_DIR"/.snell/no_rm.sh'

[[hooks]]
event = "Stop"
[hooks.python]
file = "hooks/done.py"
function = "done"
""",
    )
    author.write(".snell/no_rm.sh", "if grep -q 'rm -rf'; then echo 'no deleting' >&2; exit 2; fi\n")
    author.write(
        ".snell/hooks/done.py", "from snell import Tell, judges\n@judges('Stop')\ndef done():\n    return Tell('bye')\n"
    )
    author.write(
        ".snell/snell.cases.toml",
        """\
[[case]]
name   = "deleting is refused"
event  = { on = "PreToolUse", kind = "shell", command = "rm -rf /" }
expect = { deny = "no deleting" }

[[case]]
name   = "also in another folder"
files  = { "a" = "" }
event  = { on = "PreToolUse", kind = "shell", command = "rm -rf /" }
expect = { deny = "no deleting" }

[[case]]
name   = "looking is fine"
event  = { on = "PreToolUse", kind = "shell", command = "ls" }
expect = "no_opinion"

[[case]]
name   = "the end"
event  = { on = "Stop" }
expect = { tell = "bye" }
""",
    )
    assert author.snell("test", ".snell/snell.toml") == (0, "4 passed, 0 failed\n", "")
    without = "loaded, but without cases: .snell/hooks/done.py\n"
    assert author.snell("test") == (0, f"{without}4 passed, 0 failed\n", "")


def test_a_settings_file_with_a_mistake_is_explained(author):
    author.write("snell.toml", '[[hooks]]\nevent = "PreTool"\ncommand = "true"\n')
    author.write("snell.cases.toml", "[[case]]\nname = 'a'\nevent = { on = 'Stop' }\nexpect = 'deny'\n")
    what = "snell.toml:2: `PreTool` is not an event; did you mean `PreToolUse`?"
    assert author.snell("test", "snell.toml") == (1, f"FAIL  {what}\n0 passed, 1 failed\n", "")


def test_only_the_hooks_beside_the_cases_count(author):
    author.write("no_force_push.py", README_HOOK)
    author.write("no_force_push.cases.toml", README_CASES)
    author.write(".snell/snell.toml", '[[hooks]]\nevent = "PreToolUse"\ncommand = "exit 2"\n')
    user = author.home / "config" / "snell.toml"
    user.parent.mkdir(parents=True)
    user.write_text('[[hooks]]\nevent = "PreToolUse"\ncommand = "exit 2"\n', encoding="utf-8")
    assert author.snell("test", "no_force_push.py") == (0, "2 passed, 0 failed\n", "")


def test_results_can_be_read_by_a_program(author):
    author.write("no_force_push.py", README_HOOK)
    author.write("no_force_push.cases.toml", README_CASES)
    code, out, err = author.snell("test", ".", "--json", "-k", "plain")
    assert (code, json.loads(out), err) == (
        0,
        {
            "passed": 1,
            "failed": 0,
            "errors": [],
            "cases": [
                {
                    "file": "no_force_push.cases.toml",
                    "line": 6,
                    "name": "a plain push is left alone",
                    "passed": True,
                    "happened": "no_opinion",
                    "differences": [],
                    "hint": "",
                    "problems": [],
                }
            ],
            "without_cases": [],
        },
        "",
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            (".",),
            f"no cases were found in `.`; {ADVICE}",
        ),
        (("none",), "`none` does not exist; name a case file, a hook, a settings file or a folder"),
    ],
)
def test_no_cases_is_a_failure_with_advice(author, words, told):
    author.write("lonely.py", README_HOOK)
    assert author.snell("test", *words) == (1, "", f"snell: {told}\n")


def test_a_filter_that_leaves_nothing_is_a_failure(author):
    author.write("no_force_push.py", README_HOOK)
    author.write("no_force_push.cases.toml", README_CASES)
    assert author.snell("test", ".", "-k", "mice") == (
        1,
        "",
        "snell: no case has `mice` in its name; run all cases without `-k`\n",
    )
