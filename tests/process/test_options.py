"""Options as people mistype them, and `snell check --json`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("words", "beginning"),
    [
        (("check", "command", "ls", "--jso"), "--jso"),
        (("check", "match", "Bash", "Bash", "--eve", "PreToolUse"), "--eve"),
        (("test", "--verb"), "--verb"),
        (("log", "--js"), "--js"),
        (("setup", "--uninst"), "--uninst"),
        (("--vers",), "--vers"),
    ],
)
def test_the_beginning_of_an_option_is_not_the_option(snell, words, beginning):
    code, out, err = snell(*words)
    assert (code, out) == (1, "")
    assert beginning in err


AS_IT_IS_ANYWAY = """
disable_all_hooks = false
allow_managed_hooks_only = false
import_claude = false
packs = ["pack"]
[[hooks]]
event = "PreToolUse"
once = false
async = false
cloud = false
[hooks.shell]
command = "true"
pass_context = false
parse_result = false
"""


def test_a_value_that_is_the_default_and_an_empty_module_are_no_complaints(snell, tmp_path):
    snell.settings(AS_IT_IS_ANYWAY)
    pack = tmp_path / "home/config/pack"
    pack.mkdir()
    (pack / "pack.toml").write_text('name = "p"\n', encoding="utf-8")
    for name in (pack / "__init__.py", tmp_path / "project/.snell/hooks/__init__.py"):
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_bytes(b"")
    code, out, _ = snell("settings", "--json")
    assert (code, json.loads(out)["problems"]) == (0, [])
    snell.settings("allow_managed_hooks_only = true\n")
    assert "has no effect" not in snell("settings")[1]


def test_a_model_program_that_snell_cannot_ask_is_refused_at_load_with_those_it_can(snell):
    snell.settings('[model]\ncli = "ollama"\n')
    assert "`model.cli` cannot be `ollama`; use one of claude, codex, gemini" in snell("settings")[1]


SKILL = "---\nname: pdf-report\ndescription: Use when making a PDF report\n---\nSteps.\n"
ANSWERS = [
    (
        ("command", "rm -rf /", "--cwd", "/w", "--home", "/h"),
        0,
        {"verdict": "deny", "findings": [{"rule": "delete-tree", "why": "it deletes the whole disk: `/`"}]},
    ),
    (("command", "ls"), 0, {"verdict": "allow", "findings": []}),
    (("match", "Edit|Write", "Write"), 0, {"match": True}),
    (("match", "compact", "startup", "--event", "SessionStart"), 1, {"match": False}),
    (("nudge", "hello"), 0, {"route": None}),
    (("redirect", "ls"), 0, {"command": None, "why": None}),
    (("secrets", "hello"), 0, {"redacted": "hello", "findings": [], "skip": False}),
    (("signal", "hello"), 1, {"tier": 3, "score": 0.0, "types": []}),
    (("skill", "hello"), 0, {"skills": [], "ranking": []}),
]


@pytest.mark.parametrize(("words", "code", "answer"), ANSWERS, ids=[" ".join(row[0][:2]) for row in ANSWERS])
def test_check_answers_with_one_json_object(snell, words, code, answer):
    done, out, err = snell("check", *words, "--json")
    told = json.loads(out)
    if words[0] == "redirect":
        answer = {**answer, "why": told["why"]}
    assert (done, told, err) == (code, answer, "")
    assert snell("check", *words)[0] == code


def test_check_answers_in_json_about_this_folder(snell):
    (snell.project / "uv.lock").write_text("", encoding="utf-8")
    (snell.project / "pyproject.toml").write_text(
        '[project]\nname = "p"\ndependencies = ["pytest"]\n', encoding="utf-8"
    )
    skills = snell.project / "skills/pdf-report"
    skills.mkdir(parents=True)
    (skills / "SKILL.md").write_text(SKILL, encoding="utf-8")
    shown = snell("check", "redirect", "pytest -x")[1].splitlines()[0]
    assert json.loads(snell("check", "redirect", "pytest -x", "--json")[1])["command"] == shown != "pytest -x"
    found = json.loads(snell("check", "skill", "make a PDF report", "--folder", "skills", "--json")[1])
    assert found["skills"] == ["pdf-report"]


def test_bytes_that_are_no_text_get_an_answer_in_json_too(snell):
    code, out, err = snell("check", "secrets", b"password=\xff\xfehunter2hunter2", "--json")
    assert (code in (0, 1), isinstance(json.loads(out), dict), err) == (True, True, "")


def test_check_reads_a_text_from_stdin_for_json_too(snell):
    code, out, _ = snell("check", "secrets", "--json", given=b"DB_PASSWORD=hunter2hunter2 make")
    assert (code, [each["type"] for each in json.loads(out)["findings"]]) == (1, ["password"])


@pytest.mark.parametrize(
    "words",
    [
        ("command", "--json"),
        ("match", "Bash", "--json"),
        ("match", "Bash(", "x", "--json"),
        ("command", "ls", "--json", "--jsonl"),
        ("command", "ls", "--jsonl"),
        ("match", "--event", "Stop", "--jsonl"),
    ],
    ids=" ".join,
)
def test_check_never_answers_a_question_that_it_cannot_read_with_silence(snell, words):
    code, out, err = snell("check", *words)
    assert (code, out) == (1, "")
    assert err.startswith("snell: ")


@pytest.mark.parametrize(
    "words",
    [
        ("requirements", "--jso"),
        ("requirements", "--josn"),
        ("docs", "--chek"),
        ("bench", "no_such_measure"),
        ("tset",),
    ],
    ids=" ".join,
)
def test_dev_py_refuses_words_that_no_part_of_it_knows(words):
    done = subprocess.run(
        [sys.executable, "dev.py", *words], cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert words[-1] in done.stderr
