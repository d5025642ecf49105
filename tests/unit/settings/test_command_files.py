"""Which local files and programs a command names."""

import os
from pathlib import Path

import pytest

from snell.handlers.command import Command
from snell.handlers.prompt import Prompt
from snell.model.hooks import PythonFile
from snell.settings.command_files import MOST_WORDS, files_named_by, outside_files
from tests.unit.settings.settings_files import write_file

ENV = {"HOME": "/nowhere/home", "PATH": "/usr/bin:/bin"}
FILES = (
    "a.sh",
    "b.py",
    "sub/c.sh",
    "pkg/__init__.py",
    "pkg/mod.py",
    "checks/1.sh",
    "checks/2.sh",
    "out.log",
    "with space.sh",
)


@pytest.fixture
def root(tmp_path) -> Path:
    for name in FILES:
        write_file(tmp_path / "root" / name, "")
    return (tmp_path / "root").resolve()


def files(command: str, root: Path, args: tuple[str, ...] | None = None, plugin_root: str = "") -> list[str]:
    found = files_named_by(Command(command, args, plugin_root=plugin_root), root, ENV).files
    return [os.path.relpath(path, root) for path in found]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("./a.sh", ["a.sh"]),
        ("sh a.sh", ["a.sh"]),
        ("a.sh", []),  # a bare program is looked up in PATH, not here
        ("python3 -u b.py --flag", ["b.py"]),
        ("python3 -m pkg.mod", ["pkg/mod.py"]),
        ("python3 -m pkg", ["pkg/__init__.py"]),
        ('"$CLAUDE_PROJECT_DIR"/sub/c.sh', ["sub/c.sh"]),
        ("${CLAUDE_PROJECT_DIR}/sub/c.sh x", ["sub/c.sh"]),
        ("${CLAUDE_PROJECT_DIR:-.}/sub/c.sh x", ["sub/c.sh"]),
        ("sh $(git rev-parse --show-toplevel)/sub/c.sh", ["sub/c.sh"]),
        ("sh $SOMEWHERE/sub/c.sh", ["sub/c.sh"]),
        ("sh -c './a.sh && sub/c.sh'", ["a.sh", "sub/c.sh"]),
        ("""bash -c "sh -c 'sh a.sh'" """, ["a.sh"]),
        ("true && ./a.sh; sub/c.sh | cat", ["a.sh", "sub/c.sh"]),
        ("true\n./a.sh", ["a.sh"]),
        ("(./a.sh)", ["a.sh"]),
        ("X=1 ./a.sh", ["a.sh"]),
        ("BASH_ENV=a.sh bash -c true", ["a.sh"]),
        ("tool --config=b.py", ["b.py"]),
        ("cd sub && ./c.sh", ["sub/c.sh"]),
        ("cat < b.py", ["b.py"]),
        ("echo x >> out.log", []),
        ("echo x >out.log 2>&1", []),
        ("./a.sh > out.log", ["a.sh"]),
        ("for f in checks/*.sh; do sh $f; done", ["checks/1.sh", "checks/2.sh"]),
        ("sh 'with space.sh'", ["with space.sh"]),
        ("sh with\\ space.sh", ["with space.sh"]),
        ("sh a.sh 'unbalanced", ["a.sh"]),
        ("cat /*/*/*/*", []),
        ("echo hello", []),
        ("", []),
    ],
)
def test_the_files_among_the_words_of_a_shell_command_are_found(root, command, expected):
    assert files(command, root) == expected


def test_the_words_of_an_exec_form_are_taken_as_they_are(root):
    assert files("${CLAUDE_PROJECT_DIR}/a.sh", root, ("b.py", "with space.sh")) == ["a.sh", "b.py", "with space.sh"]
    assert files("python3", root, ("-m", "pkg.mod")) == ["pkg/mod.py"]
    assert files("sh", root, ("-c", "sh sub/c.sh")) == ["sub/c.sh"]


def test_a_plugins_files_are_found_from_its_own_root(root):
    assert files("sh ${CLAUDE_PLUGIN_ROOT}/c.sh", root, plugin_root=str(root / "sub")) == ["sub/c.sh"]


def test_programs_are_real_paths_and_a_scripts_first_line_counts(root, tmp_path):
    real = write_file(tmp_path / "bin" / "real-interpreter", "")
    real.chmod(0o755)
    (tmp_path / "bin" / "run").symlink_to(real)
    write_file(root / "a.sh", "#!/usr/bin/env -S run -x\n")
    write_file(root / "b.py", f"#!{tmp_path}/bin/run\n")
    env = {**ENV, "PATH": str(tmp_path / "bin")}
    found = str(real.resolve())
    assert files_named_by(Command("run x"), root, env).programs == (found,)
    assert files_named_by(Command("unknown ./a.sh"), root, env).programs == (found,)
    assert files_named_by(Command("./b.py"), root, env).programs == (str(root / "b.py"), found)


def test_a_program_inside_the_project_is_pinned_by_its_bytes_too(root):
    tool = write_file(root / "bin" / "tool", "")
    tool.chmod(0o755)
    assert files_named_by(Command("tool"), root, {"PATH": str(root / "bin")}).files == (str(tool),)


def test_a_python_handler_names_its_file_and_a_question_names_none(root):
    assert files_named_by(PythonFile(str(root / "b.py"), "f"), root, ENV).files == (str(root / "b.py"),)
    assert files_named_by(Prompt("read ./a.sh"), root, ENV).files == ()


@pytest.mark.parametrize(
    "command", ["x " * (MOST_WORDS + 1), "sh a.sh " + "y\u00a0z\x0b " * 5, "'" * 50_001, "\\" * 30_000]
)
def test_no_command_is_too_strange_and_too_long_ones_are_said_to_be(root, command):
    found = files_named_by(Command(command), root, ENV)
    assert found.is_too_much == (len(command.split(" ")) > MOST_WORDS)


def test_a_word_that_means_another_file_elsewhere_is_a_stranger(root):
    write_file(root / "sub" / "b.py", "other")
    named = files_named_by(Command("python3 b.py"), root, ENV)
    assert outside_files(named, root, root) == []
    assert outside_files(named, root, root / "checks") == []
    assert outside_files(named, root, root / "sub") == ["b.py"]
