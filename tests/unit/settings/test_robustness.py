"""Whatever is in a file, reading it ends, raises nothing, and says where it hurts."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snell.model.hooks import Scope
from snell.settings.parse import parse
from snell.settings.parse_types import Parsed, ParseState
from snell.settings.skill_hooks import parse_front_matter
from snell.settings.unreadable_policy import failing_hooks
from tests.case_counts import cases
from tests.unit.settings.test_file_layouts import CLIENT_JSON, SEED_TOML
from tests.unit.settings.test_front_matter import SKILL
from tests.unit.settings.test_read_toml import EVERYTHING

VALID = {
    "a.toml": [SEED_TOML.encode("utf-8"), EVERYTHING.encode("utf-8")],
    "a.json": [CLIENT_JSON.encode("utf-8")],
    "SKILL.md": [SKILL.encode("utf-8")],
}
PIECES = [
    b"[[hooks]]\n", b"event = ", b'"PreToolUse"', b"hooks", b"[hooks.shell]", b"command", b"{", b"}", b"[", b"]", b'"',
    b"'", b'"""', b"'''", b"=", b":", b",", b".", b"\n", b"---\n", b"- ", b"  ", b"#", b"\\", b"\0", b"\xff", b"1",
    b"-1", b"nan", b"1e999", b"true", b"null", b"timeout", b"matcher", b"&a", b"*a", b"!!x", b"|", b"\r\n", b"\t",
    "\u2028\ud7ff".encode(),
]  # fmt: skip


def read(data: bytes, file: str) -> Parsed:
    if file.endswith(".md"):
        return parse_front_matter(data, Path(file))
    return parse(data, ParseState(file, layer="policy", scope=Scope.POLICY))


def check(found: Parsed, file: str) -> None:
    assert all(each.file == file and each.line >= 1 and each.message for each in found.problems)
    assert all(each.hook.source.line >= 1 and each.hook.source.file == file for each in found.declared)
    assert all(fault.reason for fault in found.faults)
    assert all(hook.handler.kind == "broken" for hook in failing_hooks(found.faults, file))
    # An entry that was left out without a word would be a guard that is missing unseen.
    assert not found.faults or found.problems


@pytest.mark.parametrize("file", VALID)
@settings(max_examples=cases(30, 150), deadline=None)
@given(data=st.binary(max_size=200))
def test_random_bytes_never_raise(file, data):
    check(read(data, file), file)


@pytest.mark.parametrize("file", VALID)
@settings(max_examples=cases(30, 150), deadline=None)
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=40))
def test_random_pieces_of_the_syntax_never_raise(file, pieces):
    check(read(b"".join(pieces), file), file)
    check(read(b"---\n" + b"".join(pieces) + b"\n---\n", "SKILL.md"), "SKILL.md")


@pytest.mark.parametrize("file", VALID)
@settings(max_examples=cases(60, 300), deadline=None)
@given(data=st.data())
def test_mutated_files_never_raise(file, data):
    text = bytearray(data.draw(st.sampled_from(VALID[file])))
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 12))
        text[place : place + length] = data.draw(st.sampled_from(PIECES) | st.binary(max_size=3))
    check(read(bytes(text), file), file)


@pytest.mark.parametrize(
    ("file", "data"),
    [
        ("a.toml", b"x = " + b"[" * 50_000),
        ("a.toml", b"x = " + b"{a=" * 50_000),
        ("a.toml", b"a." * 500_000 + b"a = 1"),
        ("a.toml", b"x = {" + b"a . " * 500_000 + b"}"),
        ("a.toml", b"[" * 500_000),
        ("a.toml", b'x = "' + b"\\" * 500_000),
        ("a.toml", b'x = """' + b'"\\"' * 300_000 + b'"""'),
        ("a.toml", b"[[hooks]]\n" * 50_000),
        ("a.toml", b'[[hooks]]\nevent = "Stop"\ncommand = "x"\n' + b"".join(b"k%d = 1\n" % n for n in range(30_000))),
        ("a.json", b"[" * 500_000),
        ("a.json", b'{"a":' * 500_000),
        ("a.json", b'{"hooks": [' + b"1," * 90_000 + b"1]}"),
        ("a.json", b'"' + b"\\u00e9" * 500_000 + b'"'),
        ("a.json", b"-" * 1_000_000),
        ("SKILL.md", b"---\na: " + b"[" * 100_000 + b"\n---\n"),
        ("SKILL.md", b"---\n" + b"- " * 100_000 + b"\n---\n"),
        ("SKILL.md", b"---\n" * 50_000),
        ("SKILL.md", b"---\n" + b"? " * 20_000 + b"\n---\n"),
    ],
)
@pytest.mark.timeout(60)
def test_files_built_to_stall_or_to_overflow_are_read_to_an_end(file, data):
    check(read(data, file), file)
