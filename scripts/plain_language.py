"""
Find names and sentences that a newcomer could not understand: python3 scripts/plain_language.py [PATH ...].

Three rules are checked. No sentence or name uses a banned word (`scripts/plain_language.toml` lists them, with what to
write instead, and the files that may contain one as data). No function, also none inside another, has a bare participle
such as `placed` for a name. Every module of a package has a docstring, and no docstring of a module or of a public
function begins with a question.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RULES = Path(__file__).with_suffix(".toml")
CHECKED = (
    "src",
    "docs",
    "bench",
    "scripts",
    "dev.py",
    "hatch_build.py",
    "native",
    "README.md",
    "AGENTS.md",
    "tests",
)
ENDINGS = {".py", ".md", ".toml", ".c", ".js", ".ts", ".sql"}

Function = ast.FunctionDef | ast.AsyncFunctionDef

_WORD = re.compile(r"[A-Za-z]+")
_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])")


def main(paths: list[str]) -> int:
    found = [line for path in checked_files(paths) for line in problems_in(path)]
    print("\n".join(found) or "no problem found")
    return 1 if found else 0


def checked_files(paths: Iterable[str] = ()) -> list[Path]:
    """Return the files of this project that the rules hold for, or those of them below `paths`."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--", *(list(paths) or CHECKED)], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    files = [ROOT / name for name in names.split("\0") if name]
    return [file for file in files if file.suffix in ENDINGS and file.is_file() and file != RULES]


def problems_in(path: Path) -> list[str]:
    """Return what is wrong in one file, each with its line."""
    rules, name = _rules(), path.relative_to(ROOT).as_posix()
    text = path.read_text(encoding="utf-8")
    found = list(_banned_words(text, rules, name))
    if path.suffix == ".py" and name.startswith("src/"):
        tree = ast.parse(text)
        found += [*_participles(tree, rules, name), *_docstrings(tree, name)]
    return [f"{name}:{line}: {problem}" for line, problem in sorted(found)]


def _rules(cache: dict[str, Any] = {}) -> dict[str, Any]:  # noqa: B006 - the cache is the point
    if not cache:
        cache.update(tomllib.loads(RULES.read_text(encoding="utf-8")))
    return cache


def _banned_words(text: str, rules: dict[str, Any], name: str) -> Iterator[tuple[int, str]]:
    allowed = {word for row in rules["allow"] if re.fullmatch(row["file"], name) for word in row["words"]}
    banned = {word: row for word, row in rules["banned"].items() if word not in allowed}
    for number, line in enumerate(text.splitlines(), 1):
        words = {part.lower() for word in _WORD.findall(line) for part in _HUMPS.split(word)}
        for word in sorted(words & banned.keys()):
            yield number, f"`{word}`: write {banned[word]}"


def _participles(tree: ast.Module, rules: dict[str, Any], name: str) -> Iterator[tuple[int, str]]:
    for node, _ in _functions(tree):
        is_hook = any(_decorator(each) in rules["hook_decorators"] for each in node.decorator_list)
        is_property = any("property" in _decorator(each) for each in node.decorator_list)
        word = node.name.lstrip("_")
        if is_hook or is_property or word in rules["verbs"]:
            continue
        if word in rules["participles"] or re.fullmatch(r"[a-z]+ed", word):
            yield node.lineno, f"function `{node.name}` is a bare participle: write a verb, or the noun that it returns"


def _docstrings(tree: ast.Module, name: str) -> Iterator[tuple[int, str]]:
    nodes: list[tuple[ast.AST, int]] = [
        (tree, 1),
        *((node, node.lineno) for node, is_public in _functions(tree) if is_public),
    ]
    for node, line in nodes:
        first = (ast.get_docstring(node) or "").split("\n")[0]  # type: ignore[arg-type] # modules and functions only
        if not first and isinstance(node, ast.Module) and tree.body:
            yield line, "the module has no docstring"
        if first.endswith("?"):
            yield line, "the docstring begins with a question: say what it does or returns"


def _functions(tree: ast.Module) -> Iterator[tuple[Function, bool]]:
    """Yield functions, methods and functions inside them, each with whether other modules may call it."""
    yield from _functions_below(tree, is_public=True)


def _functions_below(parent: ast.AST, *, is_public: bool) -> Iterator[tuple[Function, bool]]:
    for node in ast.iter_child_nodes(parent):
        is_open = is_public and not (getattr(node, "name", "") or "").startswith("_")
        if isinstance(node, Function):
            yield node, is_open
        yield from _functions_below(node, is_public=is_open and not isinstance(node, Function))


def _decorator(node: ast.expr) -> str:
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
