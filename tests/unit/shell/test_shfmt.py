"""Our reader finds every command that shfmt, a grammar of its own, finds, and in the same place."""

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from snell.shell.reader import CommandLine, read
from tests.case_counts import cases
from tests.unit.shell.random_lines import random_line

CORPUS = Path(__file__).parents[1] / "packs" / "guard_corpus"
SHFMT = shutil.which("shfmt", path=str(Path(sys.executable).parent)) or shutil.which("shfmt")
BATCH = 64
LINES = 2_000

pytestmark = pytest.mark.skipif(SHFMT is None, reason="shfmt is not installed")


class Found(NamedTuple):
    """A command whose name is written out, and where in its line it starts."""

    start: int
    name: str


def test_generated_lines_are_read_as_shfmt_reads_them():
    rng = random.Random(20_260_801)
    lines = [random_line(rng) for _ in range(cases(LINES, 10 * LINES))]
    compared, sure = 0, 0
    for line, expected in by_shfmt(lines):
        reading = read(line)
        compared += 1
        sure += reading.understood
        assert missing(expected, reading) == [], line
        if reading.understood:
            assert sorted(found.name for found in expected) == names(reading), line
    assert (compared >= 0.95 * len(lines), sure >= 0.85 * compared) == (True, True), (compared, sure)


def test_no_command_of_the_corpora_is_lost_silently():
    texts = [
        line.partition("\t")[2]
        for file in sorted(CORPUS.glob("*.txt"))
        for line in file.read_text("utf-8").splitlines()
    ]
    lines = [text.replace("\\n", "\n") if "<<" in text else text for text in texts if text.isascii()]
    lost = {line: missing(expected, read(line)) for line, expected in by_shfmt(lines)}
    assert {line: found for line, found in lost.items() if found} == {}


def missing(expected: list[Found], reading: CommandLine) -> list[Found]:
    """What shfmt finds and we do not, by place where we know the place; nothing where we admit that."""
    layers = [layer for command in reading.commands for layer in command.layers if layer.words]
    placed = {(layer.start + layer.spans[0][0], layer.words[0]) for layer in layers if not layer.embedded}
    decoded = {layer.words[0] for layer in layers if layer.embedded}
    unseen = [found for found in expected if found not in placed and found.name not in decoded]
    return unseen if reading.understood else [found for found in unseen if found.name not in {n for _s, n in placed}]


def names(reading: CommandLine) -> list[str]:
    """The names that only the generator of lines gives to commands."""
    found = (layer.words[0] for command in reading.commands for layer in command.layers if layer.words)
    return sorted(name for name in found if name[:1] == "c" and name[1:].isdigit())


def by_shfmt(lines: Sequence[str]) -> Iterator[tuple[str, list[Found]]]:
    """Each line that shfmt accepts, with its commands. It gets many lines at once, and halves where it refuses one."""
    for at in range(0, len(lines), BATCH):
        yield from _batch(lines[at : at + BATCH])


def _batch(lines: Sequence[str]) -> Iterator[tuple[str, list[Found]]]:
    text = "".join(line + "\n" for line in lines)
    ran = subprocess.run([str(SHFMT), "--to-json"], input=text, capture_output=True, text=True, timeout=60, check=False)
    if ran.returncode:
        if len(lines) > 1:
            yield from _batch(lines[: len(lines) // 2])
            yield from _batch(lines[len(lines) // 2 :])
        return
    called = sorted(_called(json.loads(ran.stdout)))
    start = 0
    for line in lines:
        end = start + len(line) + 1
        yield line, [Found(each.start - start, each.name) for each in called if start <= each.start < end]
        start = end


def _called(node: Any) -> Iterator[Found]:
    if isinstance(node, list):
        for each in node:
            yield from _called(each)
    if not isinstance(node, dict):
        return
    for value in node.values():
        yield from _called(value)
    if node.get("Type") == "CallExpr" and node.get("Args"):
        word = node["Args"][0]
        if all(part["Type"] == "Lit" and "\\" not in part["Value"] for part in word["Parts"]):
            yield Found(word["Pos"]["Offset"], "".join(part["Value"] for part in word["Parts"]))
