"""`snell test` and `snell trust` name every mistake in a hook's file, with file and line, also without a case file."""

import json

import pytest

GOOD = 'from snell import Deny, judges\n\n@judges("PreToolUse")\ndef fine(call):\n    return Deny("no")\n'
CASES = '[[case]]\nname = "a"\nevent = { on = "PreToolUse", kind = "shell", command = "x" }\nexpect = { deny = "no" }\n'
BAD = """\
from snell import Deny, Note, informs, judges

@judges("PreToolUze", timout=3)
def first(call, promt):
    return None

@informs("PreToolUse")
def second(call):
    if call.command:
        return Deny("not from here")

def third(call):
    return Deny("without a decorator")

@judges("PreToolUse")
def fourth(call):
    return True
"""
MISTAKES = {
    3: "there is no event `PreToolUze`; did you mean `PreToolUse`?",
    10: "@informs cannot return Deny; use @judges",
    12: 'it returns Deny, but has no decorator; write @judges("PreToolUse")',
    17: "it returns bool, which is not an effect",
}


@pytest.fixture
def project(snell):
    folder = snell.project / ".snell/hooks"
    folder.mkdir(parents=True)
    (folder / "good.py").write_text(GOOD, encoding="utf-8")
    (folder / "good.cases.toml").write_text(CASES, encoding="utf-8")
    return folder


def test_a_hook_without_cases_is_loaded(snell, project):
    (project / "more.py").write_text(GOOD, encoding="utf-8")
    for words in ((), (str(project / "more.py"), str(project / "good.py")), (str(project.parent),)):
        code, out, err = snell("test", *words)
        assert (code, err, out.splitlines()[-1]) == (0, "", "1 passed, 0 failed")
        assert "loaded, but without cases: " in out
        assert "more.py" in out
        assert "good.py" not in out
    found = json.loads(snell("test", "--json")[1])
    assert (found["passed"], found["failed"], found["without_cases"]) == (1, 0, [".snell/hooks/more.py"])


def test_every_mistake_of_a_file_is_named_at_once(snell, project):
    (project / "bad.py").write_text(BAD, encoding="utf-8")
    code, out, _ = snell("test")
    assert (code, out.splitlines()[-1]) == (1, f"1 passed, {len(MISTAKES)} failed")
    for line, text in MISTAKES.items():
        assert f"FAIL  .snell/hooks/bad.py:{line}: hook `" in out
        assert text in out
    assert "@judges has no option `timout`; did you mean `timeout`?" in out
    assert "unknown argument `promt`; did you mean `prompt`?" in out
    assert len(json.loads(snell("test", "--json")[1])["errors"]) == len(MISTAKES)


def test_a_settings_file_that_is_malformed_fails_the_run(snell, project):
    (project.parent / "snell.toml").write_text('[[hooks]]\nevent = "PreToolUze"\ncommand = "true"\n', encoding="utf-8")
    code, out, _ = snell("test")
    assert (code, out.splitlines()[-1]) == (1, "1 passed, 1 failed")
    assert "FAIL  .snell/snell.toml:2: " in out
    (project.parent / "snell.toml").write_text("[[hooks\n", encoding="utf-8")
    assert "FAIL  .snell/snell.toml:1: " in snell("test")[1]


def test_a_file_with_a_case_file_that_does_not_load_is_reported_once(snell, project):
    (project / "good.py").write_text("def (:\n", encoding="utf-8")
    code, out, _ = snell("test")
    assert (code, out.count("FAIL"), "good.py:1" in out) == (1, 1, True)


def test_outside_a_project_the_hooks_of_the_user_are_tested(snell, tmp_path):
    folder = tmp_path / "home/config/hooks"
    folder.mkdir(parents=True)
    (folder / "good.py").write_text(GOOD, encoding="utf-8")
    (folder / "good.cases.toml").write_text(CASES, encoding="utf-8")
    assert snell("test")[1].splitlines()[-1] == "1 passed, 0 failed"
    (folder / "bad.py").write_text("import nothing_of_that_name\n", encoding="utf-8")
    code, out, _ = snell("test")
    assert (code, "bad.py:1: ModuleNotFoundError" in out) == (1, True)


def test_trust_says_which_hooks_cannot_work_without_running_them(snell, project, tmp_path):
    (project / "bad.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n{BAD}", encoding="utf-8")
    (project / "worse.py").write_text("def (:\n", encoding="utf-8")
    _, out, _ = snell("trust", "--list")
    assert "cannot work: .snell/hooks/bad.py:11: hook `second`: @informs cannot return Deny; use @judges" in out
    assert "cannot work: .snell/hooks/worse.py:1: SyntaxError" in out
    assert out.count("cannot work") == len(MISTAKES)  # three of the file that can be read, one of the other
    assert not (tmp_path / "ran").exists()
