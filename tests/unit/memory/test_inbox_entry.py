"""The file that waits in the inbox: what it has to be, and what becomes of it."""

import msgspec
import pytest

from snell.memory.inbox_entry import InboxEntry, decode_entry, draft_of, encode_entry
from snell.memory.types import Draft, NotRememberedError

GOOD = {
    "version": 1,
    "content": "We decided to use uv",
    "source_hook": "PostToolUse",
    "timestamp": "2026-01-02T03:04:05Z",
    "project_root_dir": "/srv/shop",
    "suggested_namespace": "decisions",
    "suggested_tags": ["bash", "decision"],
    "suggested_importance": 0.8,
    "signal_tier": 1,
    "signal_patterns_matched": ["decision"],
    "context": {"tool_name": "Bash"},
    "client": "cursor",
}


def test_a_capture_becomes_a_draft() -> None:
    assert draft_of(decode_entry(msgspec.json.encode(GOOD)), "shop") == Draft(
        content="We decided to use uv",
        namespace="decisions",
        project="shop",
        tags=("bash", "decision"),
        importance=0.8,
        metadata={"tool_name": "Bash", "client": "cursor", "patterns": ["decision"]},
        source="PostToolUse",
        signal=0.8,
        at=1767323045000,
    )


def test_an_importance_is_brought_inside_its_bounds_when_it_is_written() -> None:
    waiting = InboxEntry(content="x", source_hook="Stop", timestamp="", suggested_importance=7.0)
    assert decode_entry(encode_entry(waiting)).suggested_importance == 1.0


@pytest.mark.proves("S4-86")
@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"version": "1"},
        {"content": "  "},
        {"content": None},
        {"content": "x" * 100_001},
        {"suggested_importance": 1.01},
        {"suggested_importance": "high"},
        {"signal_tier": 4},
        {"suggested_tags": ["a", 1]},
        {"signal_patterns_matched": "decision"},
        {"context": []},
        {"context": {"a": "x" * 66_000}},
        {"context": {"a": [[[[[[[[[[[1]]]]]]]]]]]}},
        {"suggested_namespace": "../x"},
        {"suggested_namespace": "1x"},
        {"suggested_namespace": "x" * 64},
        {"project_root_dir": "/" + "x" * 1_024},
        {"project_root_dir": "/a\0b"},
        {"project_root_dir": "\\\\server\\share"},
        {"project_root_dir": "C:\\nul"},
        {"project_root_dir": "/a/COM1.txt"},
    ],
    ids=str,
)
def test_a_capture_that_cannot_be_believed_is_refused(change: dict) -> None:
    with pytest.raises(NotRememberedError):
        decode_entry(msgspec.json.encode({**GOOD, **change}))


@pytest.mark.parametrize(
    "data", [b"", b"{", b"null", b"[]", b"\xff\xfe", b'{"version":1}', b"[" * 100_000, b"x" * 1_048_577]
)
def test_what_is_not_a_capture_is_refused(data: bytes) -> None:
    with pytest.raises(NotRememberedError):
        decode_entry(data)
