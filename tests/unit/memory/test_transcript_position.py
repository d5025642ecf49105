"""What is new in a transcript: whole lines, from where the last look ended."""

import json
import os
from pathlib import Path

import pytest

from snell.memory.transcript_position import (
    Message,
    Position,
    agent_message,
    is_session,
    is_transcript,
    keep_position,
    position,
)
from snell.system.transcripts import lines_since


def lines(path: Path, offset: int = 0, **most) -> list[tuple[bytes, int]]:
    return list(lines_since(str(path), offset, **most))


@pytest.mark.proves("S4-65", "S4-68")
def test_only_whole_lines_after_the_offset_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"one\ntwo\nthr")
    assert lines(path) == [(b"one\n", 4), (b"two\n", 8)]
    with path.open("ab") as file:
        file.write(b"ee\nfour\n")
    assert lines(path, 8) == [(b"three\n", 14), (b"four\n", 19)]
    assert lines(path, 19) == []


@pytest.mark.proves("S4-67")
def test_a_file_that_became_shorter_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"one\n")
    assert lines(path, 999) == [(b"one\n", 4)]


@pytest.mark.proves("S4-69")
def test_a_line_over_a_megabyte_is_passed_over_once_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"x" * 3_000_000 + b"\nnext\n")
    assert lines(path) == [(b"", 3_000_001), (b"next\n", 3_000_006)]
    path.write_bytes(b"x" * 3_000_000)
    assert lines(path) == []
    path.write_bytes(b"x" * 1_000_000 + b"\n")
    assert [len(line) for line, _ in lines(path)] == [1_000_001]


@pytest.mark.proves("S4-72")
def test_what_does_not_fit_into_one_look_is_there_the_next_time(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"aaaa\n" * 10)
    first = lines(path, most=12)
    assert [len(first), first[-1][1]] == [3, 15]
    assert len(lines(path, 15)) == 7


@pytest.mark.proves("S4-66", "S4-102")
def test_the_position_is_kept_for_each_session_and_damage_means_the_beginning(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    assert position(folder, "s") == Position()
    keep_position(folder, "s", 42, 0.0, ("a",))
    assert position(folder, "s") == Position(42, "1970-01-01T00:00:00Z", ("a",))
    os.link(folder / "s.json", tmp_path / "as it was")  # another file takes the place of this one, which stays whole
    keep_position(folder, "s", 43, 0.0, ("a",))
    assert b":42," in (tmp_path / "as it was").read_bytes()
    assert position(folder, "other") == Position()
    assert os.listdir(folder) == ["s.json"]
    for damage in (b"", b"{", b'{"last_offset": -1}', b'{"last_offset": "x"}'):
        (folder / "s.json").write_bytes(damage)
        assert position(folder, "s") == Position()


@pytest.mark.proves("S4-77", "S4-96")
@pytest.mark.parametrize(
    "name", ["", "..", "a/b", "a\\b", "a.b", "x" * 129, "a\0", "con", "NUL", "com1", "ü", "a b", "a\n"]
)
def test_a_session_id_that_is_no_file_name_is_refused(name: str) -> None:
    assert not is_session(name)
    assert is_session("0aB-_9" + "x" * 100)


@pytest.mark.proves("S4-77", "S4-96")
def test_only_a_regular_file_by_its_plain_path_is_a_transcript(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # a relative path names it there
    good = tmp_path / "t.jsonl"
    good.write_bytes(b"")
    (tmp_path / "x").mkdir()
    (tmp_path / "link.jsonl").symlink_to(good)
    os.mkfifo(tmp_path / "pipe.jsonl")
    bad = [
        "",
        "t.jsonl",
        f"{tmp_path}/x/../t.jsonl",
        str(tmp_path),
        str(tmp_path / "link.jsonl"),
        f"{good}\0",
        "/nowhere",
    ]
    assert is_transcript(str(good))
    assert not any(map(is_transcript, [*bad, str(tmp_path / "pipe.jsonl")]))


def line(**row) -> bytes:
    return json.dumps(row).encode()


@pytest.mark.proves("S4-70", "S4-71", "S4-103")
@pytest.mark.parametrize(
    ("client", "row", "message"),
    [
        (
            "claude-code",
            {
                "type": "assistant",
                "uuid": "u",
                "message": {
                    "content": [
                        {"type": "text", "text": " a "},
                        {"type": "tool_use", "input": {}},
                        {"type": "text", "text": ""},
                        {"type": "thinking", "text": "hm"},
                        {"type": "text", "text": "b"},
                    ]
                },
            },
            Message("u", "a\n\nb"),
        ),
        ("claude-code", {"type": "assistant", "isSidechain": True, "message": {"content": [{"text": "a"}]}}, None),
        ("claude-code", {"type": "user", "message": {"role": "assistant", "content": "a"}}, None),
        ("claude-code", {"type": "assistant", "message": {"content": "plain"}}, Message("", "plain")),
        ("claude-code", {"type": "assistant", "message": None}, None),
        ("cursor", {"role": "assistant", "message": {"content": [{"type": "text", "text": "a"}]}}, Message("", "a")),
        (
            "codex",
            {
                "type": "response_item",
                "payload": {
                    "type": "message",
                    "role": "assistant",
                    "id": "m",
                    "content": [{"type": "output_text", "text": "a"}],
                },
            },
            Message("m", "a"),
        ),
        ("codex", {"type": "event_msg", "payload": {"type": "agent_message", "message": "output_text"}}, None),
        ("gemini", {"type": "gemini", "id": "7", "content": "a"}, Message("7", "a")),
        (
            "qwen",
            {"type": "assistant", "uuid": "u", "message": {"parts": [{"text": "a"}, {"text": "b"}]}},
            Message("u", "a\n\nb"),
        ),
        ("copilot", {"type": "assistant.message", "id": "i", "data": {"content": "a"}}, Message("i", "a")),
        (
            "droid",
            {"type": "message", "id": "i", "message": {"role": "assistant", "content": [{"text": "a"}]}},
            Message("i", "a"),
        ),
        ("pi", {"type": "message", "id": "i", "message": {"role": "user", "content": [{"text": "assistant"}]}}, None),
    ],
)
def test_each_client_writes_down_what_its_agent_said_in_its_own_way(
    client: str, row: dict, message: Message | None
) -> None:
    assert agent_message(line(**row), client) == message


@pytest.mark.parametrize("data", [b"", b'"assistant"', b'{"type": "assistant"', b'\xff"assistant"', b'["assistant"]'])
def test_a_line_that_is_something_else_says_nothing(data: bytes) -> None:
    assert agent_message(data, "claude-code") is None
