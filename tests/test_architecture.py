"""The rules of the source that a program can check: layers, sizes, cost of the import, and forbidden texts."""

import ast
import functools
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PYTHON_FOLDERS = ("src", "scripts", "tests", "bench", "docs")
FILE_LIMIT, FUNCTION_LIMIT = 400, 60
LONG_FILE, MOST_LONG_FILES = 350, 3
MOST_COMPLEX_FUNCTIONS = 10

# `import snell` may load these and nothing else: a hook pays for what it uses, not for what there is.
LOADED_BY_IMPORT_SNELL = ["snell"]

TOUCHES_THE_OUTSIDE = {"__import__", "breakpoint", "compile", "eval", "exec", "input", "open", "print"}

# Where a pause is the subject of the test. Programs in strings, such as slow hooks, are not looked at.
MAY_SLEEP = {
    "tests/delaying_proxy.py": "a slow network",
    "tests/mcp_checker.py": "a slow tool",
    "tests/process/test_shim.py": "a daemon that works longer than the client would wait for a silent one",
    "tests/process/work_agent.py": "an agent that does nothing; it runs without the folder of the tests",
    "tests/faults/store_children.py": "a period between checkpoints",
    "tests/faults/fault_table.py": "how long a fault lasts, and a load between two of them",
}

# In two halves, so that this file does not contain them.
UNSPEAKABLE = tuple(
    (first + second).encode()
    for first, second in (
        ("/ro", "ot/"),
        (".pyenv", "/"),
        ("pypi", ".org"),
        ("pythonhosted", ".org"),
        ("npmjs", ".org"),
        ("yarnpkg", ".com"),
        ("crates", ".io"),
    )
)

SUPPRESSION = re.compile(r"(noqa(:\s*[A-Z]+\d+(\s*,\s*[A-Z]+\d+)*)?|type:\s*ignore(\[[\w\-, ]*\])?|pragma:\s*no\s*\w+)")


def test_imports_point_down_and_never_sideways():
    lint = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-logo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert lint.returncode == 0, lint.stdout + lint.stderr


def test_model_and_engine_call_nothing_that_touches_the_outside():
    found = [
        f"{relative(path)}:{node.lineno} calls {node.func.id}"
        for package in ("model", "engine")
        for path in sorted((ROOT / "src" / "snell" / package).rglob("*.py"))
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TOUCHES_THE_OUTSIDE
    ]
    assert found == []


def test_no_file_and_no_function_outgrows_its_limit_without_a_reason():
    allowed = allowances()
    assert [
        f"{what} has {lines} lines, at most {allowed.get(what, limit)} are allowed"
        for what, lines, limit in sizes()
        if lines > allowed.get(what, limit)
    ] == []


def test_few_files_come_near_the_limit():
    source = [path for path in python_files() if path.is_relative_to(ROOT / "src")]
    long = [relative(path) for path in source if len(path.read_text(encoding="utf-8").splitlines()) > LONG_FILE]
    assert len(long) <= MOST_LONG_FILES, long


def test_every_size_allowance_is_still_needed():
    outgrown = {what for what, lines, limit in sizes() if lines > limit}
    assert sorted(allowances().keys() - outgrown) == []


def test_importing_snell_loads_nothing_but_snell():
    program = "import sys; before = set(sys.modules); import snell; print(*sorted(set(sys.modules) - before))"
    fresh = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert fresh.stdout.split() == LOADED_BY_IMPORT_SNELL


def test_no_file_names_a_private_path_or_a_package_host():
    found = [
        f"{relative(path)} contains {word.decode()}"
        for path in repository_files()
        for word in UNSPEAKABLE
        if word in path.read_bytes()
    ]
    assert found == []


def test_tests_wait_for_events_and_not_for_a_time():
    found = {
        relative(path)
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Attribute) and node.attr == "sleep" and ast.unparse(node) == "time.sleep"
    }
    assert found == MAY_SLEEP.keys(), "tests wait with `tests/waiting.py`"


def test_every_suppression_carries_its_reason():
    found = [
        f"{relative(path)}:{line} {comment}"
        for path in python_files()
        for line, comment in comments(path)
        if SUPPRESSION.search(comment) and not re.search(r"[a-z]{2}", SUPPRESSION.sub("", comment))
    ]
    assert found == []


def test_few_functions_are_complex_and_each_has_its_reason():
    found = [
        f"{relative(path)}:{line} {comment}"
        for path in python_files()
        for line, comment in comments(path)
        if re.search(r"noqa:.*\bC901\b", comment)
    ]
    assert [each for each in found if not re.search(r"C901 - \w+ \w+", each)] == []
    assert len(found) <= MOST_COMPLEX_FUNCTIONS, "\n".join(found)
    ignored = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    assert [files for files, rules in ignored["per-file-ignores"].items() if "C901" in rules] == []


def python_files() -> list[Path]:
    return [
        ROOT / "dev.py",
        *sorted(path for folder in PYTHON_FOLDERS for path in (ROOT / folder).rglob("*.py")),
    ]


def repository_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True
    )
    if listed.returncode != 0:
        pytest.skip("this tree is not a git checkout, so there is no list of its files")
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


@functools.cache
def sizes() -> list[tuple[str, int, int]]:
    """Return name, number of lines and limit of every file and every function."""
    found = []
    for path in python_files():
        found.append((relative(path), len(path.read_text(encoding="utf-8").splitlines()), FILE_LIMIT))
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                found.append((f"{relative(path)}::{node.name}", lines, FUNCTION_LIMIT))
    return found


def allowances() -> dict[str, int]:
    text = (ROOT / "tests" / "size_allowances.toml").read_text(encoding="utf-8")
    rows = tomllib.loads(text).get("allow", [])
    assert all(row.keys() == {"what", "lines", "reason"} and row["reason"] for row in rows)
    return {row["what"]: row["lines"] for row in rows}


def comments(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text(encoding="utf-8")
    if not SUPPRESSION.search(text):
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
