"""What the user approved is what a project's command hook runs, and ordinary scripts do not notice how."""

import json
import os
import re
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from tests.faults.counts import times
from tests.process.machine import Machine

pytest_plugins = ("tests.process.machine_fixtures",)

PROMPT = {"hook_event_name": "UserPromptSubmit", "prompt": "hi"}
BESIDE = {
    "lib.sh": 'greet() { echo "hello $1"; }\n',
    "helper.py": 'NAME = "helper"\n',
    "package/__init__.py": "from package.part import PART\n",
    "package/part.py": 'PART = "part"\n',
    "data.json": '{"rule": "no"}\n',
    "more/deep.sh": "echo deep\n",
    "log.txt": "first\n",
}
# Name of the script, its text, and the command that runs it; each prints one line.
SCRIPTS = {
    "dirname.sh": ('. "$(dirname "$0")/lib.sh"; greet dirname\n', "sh hooks/dirname.sh"),
    "source.bash": ('source "${BASH_SOURCE[0]%/*}/lib.sh"; greet bash\n', "bash hooks/source.bash"),
    "cd.bash": ('cd "$(dirname "${BASH_SOURCE[0]}")" && . ./lib.sh && greet cd\n', "bash ./hooks/cd.bash"),
    "shebang.sh": ("#!/bin/sh\necho shebang $(basename $0)\n", "./hooks/shebang.sh"),
    "env.sh": ("#!/usr/bin/env bash\necho env ${#BASH_SOURCE[@]}\n", '"$CLAUDE_PROJECT_DIR"/hooks/env.sh'),
    "option.sh": ("#!/bin/bash -e\ntrue\necho option $-\n", "${CLAUDE_PROJECT_DIR}/hooks/option.sh"),
    "arguments.sh": ('echo "$# $1 $2"\n', 'sh hooks/arguments.sh "a b" c'),
    "stdin.sh": ("head -c 1; echo\n", "cat | sh hooks/stdin.sh"),
    "deep.sh": ('sh "$(dirname "$0")/more/deep.sh"\n', "sh hooks/deep.sh"),
    "above.sh": ('ls "$(dirname "$0")/.." | grep -c hooks\n', "sh hooks/above.sh"),
    "append.sh": ('echo x >> "$(dirname "$0")/log.txt"; echo appended\n', "sh hooks/append.sh"),
    "here.sh": ("cat <<END\nhere $((1 + 1))\nEND\n", "cd hooks && sh here.sh"),
    "both.sh": ("echo both\n", "test -f hooks/data.json && sh hooks/both.sh || echo missing"),
    "import.py": ("import helper\nprint('import', helper.NAME)\n", "python3 hooks/import.py"),
    "package.py": ("from package import PART\nprint('package', PART)\n", "python3 ./hooks/package.py"),
    "file.py": (
        "import json, pathlib\nprint(json.loads((pathlib.Path(__file__).parent / 'data.json').read_text())['rule'])\n",
        'python3 "$CLAUDE_PROJECT_DIR/hooks/file.py"',
    ),
    "resolve.py": (
        "import pathlib\nprint((pathlib.Path(__file__).resolve().parents[1] / 'hooks/lib.sh').exists())\n",
        "python3 -u hooks/resolve.py",
    ),
    "path.py": (
        "import os, sys\nprint('lib.sh' in os.listdir(sys.path[0]), os.path.basename(sys.argv[0]))\n",
        "/usr/bin/env python3 hooks/path.py",
    ),
    "module.py": ("print('module', __name__)\n", "python3 -m hooks.module"),
    "python.sh": ("#!/usr/bin/env python3\nimport helper\nprint('python', helper.NAME)\n", "./hooks/python.sh"),
}


@pytest.fixture
def scripts(machine: Machine) -> Path:
    folder = machine.project / "hooks"
    for name, text in {**BESIDE, **{name: text for name, (text, _) in SCRIPTS.items()}}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


def approve(machine: Machine, commands: dict[str, str]) -> None:
    """Declare one hook for each command, and approve them as their user."""
    rows = [
        f"[[hooks]]\nname = {json.dumps(name)}\nevent = 'UserPromptSubmit'\ncommand = {json.dumps(command)}\n"
        for name, command in commands.items()
    ]
    (machine.project / ".snell").mkdir()
    (machine.project / ".snell" / "snell.toml").write_text("".join(rows), encoding="utf-8")
    machine.snell("trust", "--hash", json.loads(machine.snell("trust", "--json"))["digest"])


def told(machine: Machine) -> str:
    code, out, _ = machine.hook(PROMPT)
    assert code == 0
    return json.loads(out).get("hookSpecificOutput", {}).get("additionalContext", "") if out else ""


def run_without_snell(machine: Machine, command: str) -> str:
    env = {**machine.env(), "CLAUDE_PROJECT_DIR": str(machine.project), "PYTHONDONTWRITEBYTECODE": "1"}
    given = json.dumps(PROMPT)
    words = ["/bin/sh", "-c", command]
    done = subprocess.run(
        words, input=given, env=env, cwd=machine.project, capture_output=True, text=True, timeout=60, check=False
    )
    return done.stdout.strip() or done.stderr


def test_ordinary_scripts_work_as_before(machine: Machine, scripts: Path) -> None:
    commands = {name: command for name, (_, command) in SCRIPTS.items()}
    expected = {name: run_without_snell(machine, command) for name, command in commands.items()}
    approve(machine, commands)
    found = told(machine)
    assert {name: text for name, text in expected.items() if text not in found} == {}, found
    lines = (scripts / "log.txt").read_text(encoding="utf-8").splitlines()
    assert lines == ["first", "x", "x"]  # once without Snell, once with it
    # Compiled files are written beside the copies; `python3 -m` names no file, so its module runs where it is.
    assert {path.name.partition(".")[0] for path in scripts.rglob("*.pyc")} <= {"module"}


def test_a_file_that_a_script_makes_beside_itself_is_beside_the_original(machine: Machine, scripts: Path) -> None:
    (scripts / "make.sh").write_text('echo made > "$(dirname "$0")/made.txt"; echo done\n', encoding="utf-8")
    approve(machine, {"make": "sh hooks/make.sh"})
    assert "done" in told(machine)
    assert (scripts / "made.txt").read_text(encoding="utf-8") == "made\n"


def test_a_file_that_is_added_beside_the_script_later_is_found(machine: Machine, scripts: Path) -> None:
    (scripts / "list.sh").write_text('cat "$(dirname "$0")"/later.* 2>/dev/null; echo listed\n', encoding="utf-8")
    approve(machine, {"list": "sh hooks/list.sh"})
    assert "later" not in told(machine)
    (scripts / "later.txt").write_text("later\n", encoding="utf-8")
    assert "later" in told(machine)
    (scripts / "later.txt").unlink()
    assert "later" not in told(machine)


@times("events", 60, 1000)
@pytest.mark.parametrize("manner", ["write", "rename", "folder", "sourced"])
def test_bytes_that_replace_an_approved_script_never_run(
    machine: Machine, scripts: Path, manner: str, events: int
) -> None:
    good, evil, ran = "echo approved\n", 'touch "$CLAUDE_PROJECT_DIR/ran"\n', machine.project / "ran"
    (scripts / "script.sh").write_text(good, encoding="utf-8")
    (scripts / "sources.sh").write_text('. "$(dirname "$0")/script.sh"\n', encoding="utf-8")
    approve(machine, {"script": "sh hooks/sources.sh" if manner == "sourced" else "sh hooks/script.sh"})
    assert "approved" in told(machine)
    is_over = threading.Event()

    def swap() -> None:
        while not is_over.is_set():
            for text in (evil, good):
                replace_script(scripts, text, manner)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        answers = [told(machine) for _ in range(events)]
    finally:
        is_over.set()
        swapping.join()
    assert not ran.exists()
    assert all(not text or "approved" in text for text in answers)


def replace_script(folder: Path, text: str, manner: str) -> None:
    script = folder / "script.sh"
    if manner == "write":
        script.write_text(text, encoding="utf-8")
    elif manner in ("rename", "sourced"):
        (folder / "next").write_text(text, encoding="utf-8")
        os.rename(folder / "next", script)
    else:
        other = folder.with_name("other")
        shutil.rmtree(other, ignore_errors=True)
        other.mkdir()
        (other / "script.sh").write_text(text, encoding="utf-8")
        gone = folder.with_name("gone")
        shutil.rmtree(gone, ignore_errors=True)
        os.rename(folder, gone)
        os.rename(other, folder)


def test_a_module_that_replaces_an_approved_one_never_runs(machine: Machine, scripts: Path) -> None:
    """Python prefers a compiled file, which a stranger can write too."""
    approve(machine, {"import": "python3 hooks/import.py"})
    assert "import helper" in told(machine)
    compiled = scripts / "__pycache__"
    shutil.rmtree(compiled, ignore_errors=True)
    (scripts / "helper.py").write_text('NAME = "strange"\n', encoding="utf-8")
    assert "strange" not in told(machine)
    stranger = ["python3", "-c", "import py_compile; py_compile.compile('helper.py', doraise=True)"]
    subprocess.run(stranger, cwd=scripts, check=True, timeout=60, env=machine.env())
    (scripts / "helper.py").write_text(BESIDE["helper.py"], encoding="utf-8")
    strange = next(compiled.glob("helper.*.pyc"))
    data = bytearray(strange.read_bytes())
    found = os.stat(scripts / "helper.py")
    data[8:16] = int(found.st_mtime).to_bytes(4, "little") + found.st_size.to_bytes(4, "little")
    strange.write_bytes(data)
    assert "strange" not in told(machine)


# What an interpreter would run instead of an approved file, or of a module of its own that one imports.
PREFERRED = {
    "json.py": "python3 hooks/a.py",
    "signal.py": "python3 hooks/a.py",  # which `subprocess` imports
    "json/__init__.py": "python3 hooks/a.py",
    "helper/__init__.py": "python3 hooks/a.py",
    "package/part/__init__.py": "python3 hooks/a.py",
    "helper.so": "python3 hooks/a.py",
    "b": "node hooks/a.js",
}


@pytest.mark.parametrize("name", PREFERRED)
def test_what_is_added_beside_an_approved_script_does_not_run_instead(
    machine: Machine, scripts: Path, name: str
) -> None:
    if PREFERRED[name].startswith("node") and not shutil.which("node"):
        pytest.skip("node is not installed")
    texts = {
        "a.py": (
            "import json, subprocess\nimport helper\nfrom package import part\n"
            "print('approved', helper.NAME, part.PART)\n"
        ),
        "a.js": "console.log('approved', require('./b').name)\n",
        "b.js": "exports.name = 'b'\n",
    }
    for each, text in texts.items():
        (scripts / each).write_text(text, encoding="utf-8")
    approve(machine, {"script": PREFERRED[name]})
    before = told(machine)
    assert "approved" in before
    (scripts / name).parent.mkdir(exist_ok=True)
    evil = "exports.name = 'evil'\n" if name == "b" else "NAME = PART = 'evil'\nprint(NAME)\n"
    (scripts / name).write_text(evil, encoding="utf-8")
    assert told(machine) == before
    # Read anew, it is found to belong to the script, or still does not run.
    machine.snell("daemon", "stop")
    assert told(machine) in ("", before)


def test_a_script_that_was_replaced_is_named_with_what_to_do(machine: Machine, scripts: Path) -> None:
    (scripts / "script.sh").write_text("echo approved\n", encoding="utf-8")
    approve(machine, {"script": "sh hooks/script.sh"})
    (scripts / "script.sh").write_text("echo other\n", encoding="utf-8")
    assert told(machine) == ""
    shown = machine.snell("settings")
    assert "changed since it was approved" in " ".join(shown.split())
    assert "snell trust" in shown


def test_an_approval_covers_the_target_and_script_that_run_and_no_other(machine: Machine) -> None:
    make, package = machine.project / "Makefile", machine.project / "package.json"
    makefile = "WORD = one\nlint: names\n\t@echo lint $(WORD)\nnames:\n\t@echo names\nother:\n\t@echo other\n"
    scripts = {"check": "echo check; npm run more", "more": "echo more", "other": "echo other"}
    make.write_text(makefile, encoding="utf-8")
    package.write_text(json.dumps({"version": "1", "scripts": scripts}), encoding="utf-8")
    approve(machine, {"make": "make -s lint", "npm": "npm run check"})

    def inactive() -> set[str]:
        told = machine.snell("settings", "--json")
        return {name for name in ("make", "npm") if re.search(rf"hook `\S*\b{name}` has no effect", told)}

    assert inactive() == set()
    make.write_text(makefile.replace("echo other", "echo another"), encoding="utf-8")
    package.write_text(json.dumps({"version": "2", "scripts": {**scripts, "other": "x"}}), encoding="utf-8")
    assert inactive() == set()
    make.write_text(makefile.replace("echo names", "echo changed"), encoding="utf-8")
    package.write_text(json.dumps({"scripts": {**scripts, "more": "echo changed"}}), encoding="utf-8")
    assert inactive() == {"make", "npm"}
    make.write_text(makefile.replace("one", "two"), encoding="utf-8")
    assert inactive() == {"make", "npm"}


def test_an_approval_covers_the_target_of_another_folder(machine: Machine) -> None:
    sub = machine.project / "sub"
    sub.mkdir()
    commands = {"make": "make -C sub lint", "moved": "cd sub && make lint", "npm": "npm --prefix sub run check"}

    def write(word: str) -> None:
        (sub / "Makefile").write_text(f"lint:\n\t@echo {word}\n", encoding="utf-8")
        (sub / "package.json").write_text(json.dumps({"scripts": {"check": f"echo {word}"}}), encoding="utf-8")

    def inactive() -> set[str]:
        told = machine.snell("settings", "--json")
        return {name for name in commands if re.search(rf"hook `\S*\b{name}` has no effect", told)}

    write("one")
    approve(machine, commands)
    assert inactive() == set()
    write("two")
    assert inactive() == set(commands)


@pytest.mark.parametrize(
    ("command", "name", "text"),
    [
        ("make -s lint", "tools/x.sh", "echo other\n"),
        ("make -s lint", "tools/y.sh", "echo other\n"),
        ("make -s lint", "GNUmakefile", "lint:\n\t@echo other\n"),
        ("npm run -s check", "tools/x.sh", "echo other\n"),
        ("npm run -s check", ".npmrc", "script-shell=./other\n"),
    ],
)
def test_an_approval_covers_what_a_target_or_script_runs(machine: Machine, command: str, name: str, text: str) -> None:
    files = {
        "Makefile": "Y := $(shell sh tools/y.sh)\nlint:\n\t@sh tools/x.sh $(Y)\n",
        "package.json": json.dumps({"scripts": {"check": "npm run -s more", "more": "sh tools/x.sh"}}),
        "tools/x.sh": "echo one\n",
        "tools/y.sh": "echo two\n",
    }
    (machine.project / "tools").mkdir()
    for each, content in files.items():
        (machine.project / each).write_text(content, encoding="utf-8")
    approve(machine, {"hook": command})
    assert "one" in told(machine)
    (machine.project / name).write_text(text, encoding="utf-8")
    assert "has no effect" in machine.snell("settings", "--json")
    assert "other" not in told(machine)


def test_a_review_names_what_the_approval_does_not_cover(machine: Machine, scripts: Path) -> None:
    (scripts / "far.py").write_text("import json, yaml\n", encoding="utf-8")
    (scripts / "far.sh").write_text('. "$SOME_FOLDER/$name"\n. "$HERE/lib.sh"\n', encoding="utf-8")
    (machine.project / ".snell").mkdir()
    rows = "".join(
        f"[[hooks]]\nevent = 'Stop'\ncommand = '{command}'\n" for command in ("python3 hooks/far.py", "sh hooks/far.sh")
    )
    (machine.project / ".snell" / "snell.toml").write_text(rows, encoding="utf-8")
    found = json.loads(machine.snell("trust", "--json"))["items"]
    assert [each["not_pinned"] for each in found] == [
        ["modules that are added beside it", "module yaml"],
        ["$SOME_FOLDER/$name"],
    ]
    assert "hooks/lib.sh" in found[1]["pins"]
    shown = machine.snell("trust", "--list")
    assert "not covered by the approval: modules that are added beside it, module yaml" in shown


@pytest.mark.parametrize(
    ("command", "files", "pinned", "not_pinned"),
    [
        (
            "python3 hooks/a.py",
            {"hooks/a.py": "import subprocess\nsubprocess.run(['sh', 'hooks/x.sh'])\n", "hooks/x.sh": "echo one\n"},
            "hooks/x.sh",
            ["modules that are added beside it", "what it loads or runs by `subprocess`"],
        ),
        *(
            ("sh hooks/a.sh", {"hooks/a.sh": f'. "{place}/b.sh"\n', "hooks/b.sh": "echo one\n"}, "hooks/b.sh", [])
            for place in ('$(dirname "$0")', '$(cd "$(dirname "$0")" && pwd)', '`dirname "$0"`', "${X:-$(pwd)}/hooks")
        ),
        (
            "perl hooks/a.pl",
            {"hooks/a.pl": "require './hooks/b.pl';\n", "hooks/b.pl": "print 'one';\n"},
            "hooks/b.pl",
            [],
        ),
        (
            "npm run -s check",
            {"package.json": '{"scripts": {"check": "lint-it"}}'},
            "check: lint-it",
            ["programs in `node_modules/.bin`"],
        ),
        (
            "make -s lint",
            {"Makefile": "include mk/*.mk\nlint:\n\t@$(MAKE) -C sub it\n"},
            "Makefile",
            ["Makefiles that the target calls", "files that it includes by a pattern or variable"],
        ),
    ],
)
def test_a_review_names_code_in_strings_and_what_is_found_at_run_time(
    machine: Machine, command: str, files: dict[str, str], pinned: str, not_pinned: list[str]
) -> None:
    for name, text in {**files, ".snell/snell.toml": f"[[hooks]]\nevent = 'Stop'\ncommand = '{command}'\n"}.items():
        (machine.project / name).parent.mkdir(exist_ok=True)
        (machine.project / name).write_text(text, encoding="utf-8")
    (item,) = json.loads(machine.snell("trust", "--json"))["items"]
    assert item["not_pinned"] == not_pinned
    assert pinned in str(item)
