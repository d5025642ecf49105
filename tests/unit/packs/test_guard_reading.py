"""Our reader sees every command word that shfmt, a grammar of its own, sees."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from snell.packs.guard.shell.grammar import read
from snell.packs.guard.shell.source_text import Budget
from snell.packs.guard.shell.tree import Simple
from tests.case_counts import cases

FOLDER = Path(__file__).parent / "guard_corpus"
SHFMT = shutil.which("shfmt", path=str(Path(sys.executable).parent)) or shutil.which("shfmt")


def _lines() -> list[str]:
    texts = [
        line.partition("\t")[2]
        for file in sorted(FOLDER.glob("*.txt"))
        for line in file.read_text("utf-8").splitlines()
    ]
    return [text.replace("\\n", "\n") if "<<" in text else text for text in texts]


@pytest.mark.skipif(SHFMT is None, reason="shfmt is not installed")
def test_every_plain_command_word_that_shfmt_finds_is_found():
    differing = [line for line in _lines()[:: cases(5, 1)] if not _by_shfmt(line) <= _by_us(line)]
    assert differing == []


def _by_shfmt(line: str) -> set[str]:
    ran = subprocess.run([str(SHFMT), "--to-json"], input=line, capture_output=True, text=True, timeout=30, check=False)
    return set(_called(json.loads(ran.stdout))) if ran.returncode == 0 else set()


def _called(node: Any) -> list[str]:
    if isinstance(node, list):
        return [name for each in node for name in _called(each)]
    if not isinstance(node, dict):
        return []
    names = [name for value in node.values() for name in _called(value)]
    if node.get("Type") == "CallExpr" and node.get("Args"):
        parts = node["Args"][0]["Parts"]
        if len(parts) == 1 and parts[0]["Type"] == "Lit" and "\\" not in parts[0]["Value"]:
            names.append(parts[0]["Value"])
    return names


def _by_us(line: str) -> set[str]:
    return set(_simple_words(read(line, Budget())))


def _simple_words(node: Any) -> list[str]:
    if isinstance(node, Simple) and node.words and node.words[0].plain is not None:
        own = [node.words[0].plain]
    else:
        own = []
    if isinstance(node, tuple | list):
        return [name for each in node for name in _simple_words(each)]
    fields = getattr(node, "__struct_fields__", ())
    return own + [name for field in fields for name in _simple_words(getattr(node, field))]
