"""The key of a call: known answers, and what plays no part in it."""

import hashlib
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snell.records.idempotency import DEEPEST, Identity, args_hash, identity_of, key_of, normalise, scope_of


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.proves("S3-40")
def test_the_key_is_a_sha256_over_run_namespace_tool_arguments_and_scope():
    hashed = args_hash({"b": 1, "a": [True, None, "é"]})
    assert hashed == sha('{"a":[true,null,"é"],"b":1}')
    assert hashed == "17c8c6f7f948ee1c9b93b1bc35f6edc29cbaf3022bff7d076d1c4831dd8a44a2"
    tool = Identity("send_email", "mcp", "mcp__mail__send_email")
    assert key_of("run-1", tool, "h", "s") == sha("run-1|mcp|send_email|h|s")
    assert key_of("run-1", tool, "h", "s") == "7181587842ce310cf43657596aeb9c7b76a0b09c0b653a2c032cf00f64c08231"
    assert key_of("run-1", tool, "h", "s", "call-7") == sha("run-1|mcp|send_email|h|s|call-7")


@pytest.mark.parametrize(
    ("tool", "name", "namespace"),
    [
        ("mcp__mail__send_email", "send_email", "mcp"),
        ("mcp__kit__multi__part", "part", "mcp"),
        ("Bash", "Bash", "claude_code"),
        ("Task", "Task", "claude_code"),
        ("GMAIL_SEND_EMAIL", "GMAIL_SEND_EMAIL", "composio"),
        ("mcp__", "mcp__", "composio"),
    ],
)
def test_a_tool_has_a_name_and_a_namespace(tool: str, name: str, namespace: str):
    assert identity_of(tool) == Identity(name, namespace, tool)


@pytest.mark.proves("S3-41")
def test_sets_tuples_and_request_ids_play_no_part():
    tags = [f"tag {number}" for number in range(10, 30)]
    one = {"to": ("a", "b"), "tags": set(tags), "inner": [{"client_request_id": 1, "v": 2}], "idempotency_key": "k"}
    other = {"inner": [{"v": 2, "idempotency_key": 3}], "tags": tags, "to": ["a", "b"]}
    assert args_hash(one) == args_hash(other)
    assert args_hash({"v": 1}) != args_hash({"v": "1"})
    assert args_hash({"v": [1, 2]}) != args_hash({"v": [2, 1]})


def test_what_a_batch_says_about_itself_plays_no_part():
    calls = {"tools": [{"tool_slug": "A"}]}
    told = {**calls, "session_id": "x", "thought": "hm", "current_step": 1, "sync_response_to_workbench": True}
    assert args_hash(told, "COMPOSIO_MULTI_EXECUTE_TOOL") == args_hash(calls, "COMPOSIO_MULTI_EXECUTE_TOOL")
    assert args_hash(told, "other") != args_hash(calls, "other")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)


@given(JSON, st.randoms(use_true_random=False))
def test_the_order_of_keys_plays_no_part(value: Any, chance: random.Random):
    assert args_hash(shuffled(value, chance)) == args_hash(value)


@given(JSON)
def test_what_is_normalised_stays_as_it_is(value: Any):
    assert normalise(normalise(value)) == normalise(value)


@given(JSON, st.sampled_from(["idempotency_key", "client_request_id"]), JSON)
def test_a_request_id_at_any_depth_plays_no_part(value: Any, name: str, id_: Any):
    assert args_hash(with_everywhere(value, name, id_)) == args_hash(with_everywhere(value, name, None))


@given(JSON, JSON)
def test_different_arguments_have_different_hashes(one: Any, other: Any):
    assert (args_hash(one) == args_hash(other)) == (repr(normalise(one)) == repr(normalise(other)))


def test_bytes_odd_values_and_half_surrogates_have_a_hash_and_what_is_too_deep_has_none():
    assert len(args_hash({"b": b"\xff", "o": object, "s": "\ud800", 1: float("inf")})) == 64
    deep: Any = {"idempotency_key": 1}
    for _ in range(DEEPEST + 2):
        deep = [deep]
    with pytest.raises(ValueError, match="nest deeper"):
        args_hash(deep)


@pytest.mark.proves("S3-42")
@pytest.mark.parametrize(
    ("tool", "arguments", "scope"),
    [
        ("GMAIL_SEND_EMAIL", {"recipient_email": "a@b.c", "subject": "Hi", "body": "x"}, "a@b.c:Hi:"),
        ("send_email", {"to": ["a", "b"], "subject": "Hi", "attachment": {"s3key": "k"}}, '["a","b"]:Hi:{"s3key":"k"}'),
        ("upload_to_composio", {"path": "/a.pdf", "toolkit_slug": "gmail"}, "/a.pdf:gmail"),
        ("mcp__files__upload", {"file_path": "/a.pdf", "destination": "s3://b/a.pdf"}, "/a.pdf:s3://b/a.pdf"),
        ("mcp__files__upload", {"source": "/a.pdf", "bucket": "b", "folder_id": "f"}, "/a.pdf:b"),
        ("core_memory_append", {"content": "likes tea", "label": "x"}, sha("likes tea")),
        ("anything", {"x": 1}, "HASH"),
        ("anything", None, "HASH"),
    ],
)
def test_what_makes_two_calls_the_same_deed(tool: str, arguments: Any, scope: str):
    assert scope_of(tool, arguments, "HASH") == scope


def shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        pairs = [(key, shuffled(each, chance)) for key, each in value.items()]
        chance.shuffle(pairs)
        return dict(pairs)
    return [shuffled(each, chance) for each in value] if isinstance(value, list) else value


def with_everywhere(value: Any, name: str, id_: Any) -> Any:
    if isinstance(value, dict):
        return {**{key: with_everywhere(each, name, id_) for key, each in value.items()}, name: id_}
    return [with_everywhere(each, name, id_) for each in value] if isinstance(value, list) else value
