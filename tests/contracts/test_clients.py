"""What every client promises, whatever it speaks."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import snell.clients
from snell.clients import ALIASES, CLIENTS, client_named
from snell.model.catalogue import CATALOGUE
from snell.model.decision import Change, Decision, Reason
from snell.model.effects import Allow, Ask, Defer, Deny, Effect, Env, Extra, Note, Rewrite, Stop, Tell, Verdict
from snell.model.errors import ClientError, PayloadError
from snell.model.events import Event, event_from
from snell.model.ports import Capabilities, Client, Reply
from tests.golden.reading import FOLDER, event_of, golden_files, name_of, raw_payload
from tests.helpers import decided, hook

every_client = pytest.mark.parametrize("name", sorted(CLIENTS))

# Events of the catalogue that no client sends, each with the reason why it is there all the same.
NO_CLIENT: Mapping[str, str] = {}


def test_folder_registry_and_golden_files_name_the_same_clients() -> None:
    modules = {path.stem for path in Path(snell.clients.__file__).parent.glob("*.py")} - {"__init__"}
    fixtures = {path.name for path in FOLDER.iterdir() if path.is_dir() and any(path.glob("*.json"))}
    assert modules == fixtures == set(CLIENTS)
    assert {path.rpartition(".")[2] for path in CLIENTS.values()} == modules
    assert set(ALIASES.values()) <= set(CLIENTS)
    assert not ALIASES.keys() & CLIENTS.keys()


@pytest.mark.proves("S1-14")
def test_every_event_of_the_catalogue_has_a_golden_payload_or_a_reason_for_having_none() -> None:
    seen = {event_of(path) for path in golden_files()}
    assert seen | NO_CLIENT.keys() == CATALOGUE.keys()
    assert not seen & NO_CLIENT.keys()
    assert all(NO_CLIENT.values())


@every_client
def test_a_client_has_what_the_house_asks_of_it(name: str) -> None:
    client = client_named(name)
    assert name == client.NAME
    assert isinstance(client.CAPABILITIES, Capabilities)


@pytest.mark.parametrize(
    ("given_name", "name"),
    [(alias, name) for alias, name in ALIASES.items()] + [("Claude-Code", "claude_code"), (" GENERIC ", "generic")],
)
def test_a_client_answers_to_its_aliases_in_any_letter_case(given_name: str, name: str) -> None:
    assert name == client_named(given_name).NAME


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("cluade", "no client `cluade`; did you mean `claude`?"),
        ("generik", "no client `generik`; did you mean `generic`?"),
        ("zzz", "no client `zzz`; known are claude_code, generic"),
        ("", "no client ``; known are claude_code, generic"),
    ],
)
def test_an_unknown_client_is_an_error_with_the_nearest_name(wrong: str, message: str) -> None:
    with pytest.raises(ClientError) as caught:
        client_named(wrong)
    assert str(caught.value) == message


@every_client
@pytest.mark.proves("S1-14")
def test_an_event_that_the_catalogue_lacks_passes_through(name: str) -> None:
    client = client_named(name)
    event = client.decode(b'{"hook_event_name": "MoonRise", "session_id": "s1", "phase": "full"}')
    assert event == event_from(
        {"hook_event_name": "MoonRise", "session_id": "s1", "phase": "full"}, "MoonRise", client.NAME
    )
    reply = client.encode(decided(event, hook("h", Deny("no"), on="MoonRise")))
    assert not refuses(reply)
    assert reply.exit_code == 0


@every_client
@pytest.mark.parametrize("payload", ["{}", '{"hook_event_name": null}', '{"hook_event_name": ""}', '{"event": 7}'])
def test_a_payload_without_an_event_name_is_refused(name: str, payload: str) -> None:
    with pytest.raises(PayloadError, match="hook_event_name"):
        client_named(name).decode(payload.encode())


# Drawn from a list, because inventing JSON takes longer than everything it is fed to.
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(None, True, 0, -1, 2**70, 1.5, float("nan"), float("inf"), "", "x", "\ud800", "a\0b\n", "{", "accept"),
        *([], [None], ["x"], [[]], {}, {"": None}, {"command": "ls"}, {"\ud800": [{"a": {}}]}, {"type": "setMode"}),
    ]
)
FIELDS = ("hook_event_name", "tool_name", "tool_input", "tool_response", "session_id", "cwd", "prompt", "source")


@st.composite
def mutated_payloads(draw: st.DrawFn) -> bytes:
    """A golden payload with fields replaced, dropped or added, and bytes changed, cut or inserted."""
    payload = json.loads(raw_payload(draw(st.sampled_from(golden_files()))))
    for field in draw(st.lists(st.sampled_from([*FIELDS, *payload]) | st.text(max_size=6), max_size=3)):
        if draw(st.booleans()):
            payload[field] = draw(ODD)
        else:
            payload.pop(field, None)
    raw = json.dumps(payload).encode("utf-8", "surrogatepass")
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(raw)))
        raw = raw[:at] + draw(st.binary(max_size=3)) + raw[at + draw(st.integers(0, 3)) :]
    return raw if draw(st.integers(0, 9)) else raw[: draw(st.integers(0, len(raw)))]


@settings(max_examples=500, deadline=None)
@given(mutated_payloads())
def test_no_payload_makes_decoding_raise_anything_but_a_payload_error(raw: bytes) -> None:
    for name in CLIENTS:
        try:
            event = client_named(name).decode(raw)
        except PayloadError:
            continue
        assert isinstance(event, Event)
        assert event.name
        assert event.client == name


TEXT = st.sampled_from(["", " ", "no", "{", '{"continue": true}', "\ud800", "\ufeff{}", "a\nb", "\0", "no such file"])
EXTRAS = sorted({extra for row in CATALOGUE.values() for extra in row.extras} | {"terminalSequence", "suppressOutput"})
EFFECTS: st.SearchStrategy[Effect] = st.one_of(
    st.builds(Allow, TEXT),
    st.builds(Ask, TEXT),
    st.builds(Defer, TEXT),
    st.builds(Deny, TEXT, TEXT),
    st.builds(Note, TEXT),
    st.builds(Tell, TEXT),
    st.builds(Stop, TEXT),
    st.builds(Env, st.dictionaries(TEXT, TEXT, max_size=2)),
    st.builds(Extra, st.sampled_from(EXTRAS), ODD),
    st.builds(Rewrite, ODD.filter(lambda value: value is not None)),
)


@every_client
def test_every_decision_can_be_put_into_a_reply(name: str) -> None:
    client = client_named(name)
    events = sample_events(client)

    @settings(max_examples=300, deadline=None)
    @given(st.sampled_from(events), st.lists(st.lists(EFFECTS, max_size=3), max_size=3))
    def holds(event: Event, answers: list[list[Effect]]) -> None:
        hooks = [hook(f"h{i}", tuple(effects), on=event.name) for i, effects in enumerate(answers)]
        decision = decided(event, *hooks)
        reply = client.encode(decision)
        well_formed(reply)
        if decision.verdict is Verdict.DENY:
            assert refuses(reply)

    holds()


@every_client
def test_a_decision_that_no_engine_would_make_can_be_put_into_a_reply_too(name: str) -> None:
    client = client_named(name)

    @settings(max_examples=200, deadline=None)
    @given(st.sampled_from(sample_events(client)), st.sampled_from(Verdict), TEXT, ODD)
    def holds(event: Event, verdict: Verdict, text: str, value: Any) -> None:
        said = Reason("h", text)
        decision = Decision(
            event=event.rewritten(value) if event.row.rewrites else event,
            verdict=verdict,
            reasons=(said,),
            notes=(said,),
            tells=(said,),
            stop=said,
            changes=(Change("h", event.rewritable, value),) if event.row.rewrites else (),
            extras=dict.fromkeys(EXTRAS, value),
            failures=(said,),
        )
        well_formed(client.encode(decision))

    holds()


DENIALS: dict[str, tuple[Effect, ...]] = {
    "with a reason": (Deny("not here", "elsewhere"),),
    "without a reason": (Deny(),),
    "with blanks for a reason": (Deny(" \n", "  "),),
    "that sounds like a missing file": (Deny("can't open file: no such file or directory"),),
    "that looks like JSON": (Deny('{"continue": true}'),),
    "with half a character": (Deny("\ud800"),),
    "beside an allow": (Deny("no"), Allow("yes")),
    "beside a note and a message": (Deny("no"), Note("n"), Tell("t")),
    "beside an unusable extra": (Deny("no"), *(Extra(extra, object()) for extra in EXTRAS)),
    "beside extras that say otherwise": (
        Deny("no"),
        Extra("action", "accept"),
        Extra("retry", True),
        Extra("worktreePath", "/home/dev/x"),
        Extra("updatedPermissions", []),
    ),
}


@every_client
@pytest.mark.parametrize("denial", DENIALS)
def test_a_deny_denies_on_every_event_that_can_be_denied(name: str, denial: str) -> None:
    client = client_named(name)
    for event in sample_events(client):
        if "deny" in event.row.can:
            reply = client.encode(decided(event, hook("guard", DENIALS[denial], on=event.name)))
            well_formed(reply)
            assert refuses(reply), (event.name, reply)


@every_client
@pytest.mark.parametrize("effect", [Ask("sure?"), Defer("later")])
def test_an_ask_or_a_defer_that_cannot_be_expressed_is_a_refusal(name: str, effect: Ask | Defer) -> None:
    client = client_named(name)
    for event in sample_events(client):
        if "deny" in event.row.can and type(effect).__name__.lower() not in event.row.can:
            bare = Decision(event=event, verdict=Verdict[type(effect).__name__.upper()], reasons=(Reason("h", "why"),))
            assert refuses(client.encode(decided(event, hook("guard", effect, on=event.name)))), event.name
            assert refuses(client.encode(bare)) or name == "generic", event.name


def sample_events(client: Client) -> list[Event]:
    """One event for each row of the catalogue: the client's own where it has one, else made from another's payload."""
    paths = {event_of(path): path for path in sorted(golden_files(), key=lambda path: path.parent.name == client.NAME)}
    assert all(name_of(path) for path in paths.values())
    return [client.decode(raw_payload(path)) for path in paths.values()]


def well_formed(reply: Reply) -> None:
    text = reply.stdout.decode()
    if text.startswith("{") and text.rstrip().endswith("}"):  # otherwise the client takes it for text
        assert isinstance(json.loads(text, parse_constant=no_constant), dict)
    assert reply.exit_code in (0, 2)
    if reply.exit_code == 2:
        assert reply.stderr.decode().strip()


def refuses(reply: Reply) -> bool:
    """Is there a form of refusal that some client honours, with its reason where it takes one?"""
    if reply.exit_code == 2:
        return bool(reply.stderr.strip())
    if not reply.stdout.startswith(b"{"):
        return False
    answer = json.loads(reply.stdout)
    specific = answer.get("hookSpecificOutput", {})
    dialog = specific.get("decision", {})
    return (
        (answer.get("decision") == "block" and bool(answer["reason"].strip()))
        or (specific.get("permissionDecision") == "deny" and bool(specific["permissionDecisionReason"].strip()))
        or (dialog.get("behavior") == "deny" and bool(dialog["message"].strip()))
        or specific.get("action") == "decline"
        or answer.get("verdict") == "deny"
    )


def no_constant(text: str) -> None:
    raise AssertionError(f"{text} is not JSON")


@every_client
@pytest.mark.parametrize("tool", [5, ["Bash"], {"name": "Bash"}, True])
def test_a_tool_whose_name_is_no_text_is_refused_since_no_matcher_could_find_it(name: str, tool: Any) -> None:
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/", "tool_name": tool, "tool_input": {}}
    with pytest.raises(PayloadError, match="tool_name"):
        client_named(name).decode(json.dumps(payload).encode())
