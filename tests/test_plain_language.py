"""Names and sentences follow the rules of scripts/plain_language.toml."""

import subprocess
from pathlib import Path

import pytest

from scripts.plain_language import ROOT, checked_files, problems_in


def files() -> list[Path]:
    try:
        return checked_files()
    except subprocess.CalledProcessError:  # this tree is not a git checkout
        return []


@pytest.mark.parametrize("path", files(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_names_and_sentences_are_plain(path: Path) -> None:
    assert problems_in(path) == []
