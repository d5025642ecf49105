"""Names and sentences follow the rules of scripts/plain_language.toml."""

import ast
import subprocess
from pathlib import Path

import pytest

from scripts.plain_language import ROOT, checked_files, functions_in, problems_in


def files() -> list[Path]:
    try:
        return checked_files()
    except subprocess.CalledProcessError:  # this tree is not a git checkout
        return []


@pytest.mark.parametrize("path", files(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_names_and_sentences_are_plain(path: Path) -> None:
    assert problems_in(path) == []


def test_a_function_inside_another_has_a_plain_name_too() -> None:
    source = "class A:\n    def run(self):\n        if self:\n            def told(): ...\n"
    assert [node.name for node, _ in functions_in(ast.parse(source))] == ["run", "told"]
    assert [is_public for _, is_public in functions_in(ast.parse(source))] == [True, False]
