"""Patterns that are data: each can be compiled, each is used, and the code names none that is not there."""

import re
from pathlib import Path

import pytest

from snell.redact.pattern_file import PATTERNS, PatternFile, patterns_of

SOURCE = Path(__file__).resolve().parents[3] / "src" / "snell"
METHODS = {"expand", "tables", "words"}


@pytest.mark.parametrize("package", ["redact", "memory"])
def test_the_code_uses_exactly_the_patterns_of_its_package(package: str) -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in (SOURCE / package).glob("*.py"))
    patterns = patterns_of(package)
    assert set(re.findall(r"\bPATTERNS\.(\w+)", code)) - METHODS == set(patterns.tables["patterns"])
    assert [name for name in patterns.tables["patterns"] if not isinstance(getattr(patterns, name), re.Pattern)] == []


@pytest.mark.parametrize("package", ["redact", "memory"])
def test_every_fragment_is_used_and_every_list_has_words(package: str) -> None:
    tables = patterns_of(package).tables
    assert [name for name in tables["fragments"] if f"{{{name}}}" not in str(tables) + "{BEGIN}{ESCAPED}"] == []
    assert [name for name in tables["words"] if len(patterns_of(package).words(name)) < 2] == []


def test_a_pattern_may_be_on_several_lines_and_contain_fragments(tmp_path: Path) -> None:
    path = tmp_path / "patterns.toml"
    fragments = "[fragments]\nDIGIT = '[0-9]'\nNUMBER = '{DIGIT}{1,3}'\n"
    path.write_text(f"{fragments}[patterns]\nplace = '''\n  (?i)room {{NUMBER}}\n  |hall\\b'''\n")
    patterns = PatternFile(path)
    assert patterns.place.pattern == r"(?i)room [0-9]{1,3}|hall\b"
    with pytest.raises(AttributeError, match="there is no pattern `plaza`"):
        assert patterns.plaza


def test_an_escape_has_a_number_or_a_text_and_only_one_of_them() -> None:
    rows = PATTERNS.tables["escapes"]["rows"]
    assert [row for row in rows if ("base" in row) is not bool(re.search(r"\((?!\?)", row["rest"]))] == []
    assert [row for row in rows if "base" in row and "text" in row] == []
