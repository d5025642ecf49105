"""What a described client gets is what was decided, or something stricter; never less."""

import pytest

from snell.clients import CLIENTS, client_named
from snell.model.catalogue import NEVER_BLOCKED_BY_FAILURE
from snell.model.decision import Decision
from snell.model.effects import Ask, Rewrite
from snell.model.errors import PayloadError
from snell.model.events import event_from
from snell.model.protocols import Reply
from tests.contracts.client_replies import WITH_HOOKS, WITHOUT_TABLE, asks, refuses, sample_events
from tests.helpers import decide_event, hook

described = pytest.mark.parametrize("name", [name for name in WITH_HOOKS if name not in WITHOUT_TABLE])


@described
def test_an_ask_is_asked_or_refused_and_never_dropped(name: str) -> None:
    client = client_named(name)
    for event in sample_events(client):
        if event.name == "PreToolUse":
            reply = client.encode(decide_event(event, hook("guard", Ask("sure?"))))
            assert asks(reply) or refuses(reply), reply
            assert not (asks(reply) and not client.capabilities.ask)


@described
def test_a_rewrite_is_taken_or_the_call_is_refused_and_shown(name: str) -> None:
    client = client_named(name)
    for event in sample_events(client):
        if event.name == "PreToolUse" and event.kind == "shell":
            changed = {**event.tool_input, "command": "echo changed"}
            reply = client.encode(decide_event(event, hook("rewriter", Rewrite(changed))))
            assert b"echo changed" in reply.stdout + reply.stderr
            is_free = client.table and event.payload.get("permission_mode") in client.table.free_modes
            assert refuses(reply) or client.capabilities.rewrite or is_free


@described
def test_nothing_to_say_is_not_an_approval(name: str) -> None:
    client = client_named(name)
    for event in sample_events(client):
        silent = client.encode(Decision(event=event))
        assert (silent.stderr, silent.exit_code) == (b"", 0)
        is_antigravity = name == "antigravity" and event.name == "PreToolUse"  # there `ask` means its own rules
        assert (
            silent.stdout == b'{"decision":"ask"}'
            if is_antigravity
            else silent.stdout in (b"", b"{}", b'{"continue":true}')
        )


@described
def test_a_failure_of_ours_is_no_opinion_unless_a_guard_blocks_when_it_fails(name: str) -> None:
    client = client_named(name)
    for event in sample_events(client):
        own = event.payload.get("native", {}).get("event", event.name)
        open_, closed = (client.encode_failure(own, "snell: broken", blocks=blocks) for blocks in (False, True))
        silent = client.encode(Decision(event=event))
        assert (open_.stdout, open_.exit_code) == (silent.stdout, silent.exit_code)
        assert b"broken" in open_.stderr
        if event.name == "PreToolUse":
            assert refuses(closed)
        if event.name in NEVER_BLOCKED_BY_FAILURE:
            assert closed == open_


@pytest.mark.parametrize("name", WITH_HOOKS)
def test_a_failure_of_ours_before_we_know_the_event_is_answered_too(name: str) -> None:
    client = client_named(name)
    assert not refuses(client.encode_failure("", "snell: broken", blocks=False))
    assert refuses(client.encode_failure("", "snell: broken", blocks=True))


@pytest.mark.parametrize("name", sorted(set(CLIENTS) - set(WITH_HOOKS)))
def test_a_client_without_hooks_says_so_when_a_caller_uses_its_name(name: str) -> None:
    client = client_named(name)
    with pytest.raises(PayloadError, match="has no hooks"):
        client.decode(b'{"hook_event_name": "Stop"}')
    assert client.encode(Decision(event=event_from({}, "Stop"))) == Reply()
    assert client.encode_failure("", "x", blocks=False) == Reply(stderr=b"x")
