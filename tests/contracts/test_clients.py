"""What every client promises, whatever its capabilities are."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import snell.clients
from snell.clients import ALIASES, CLIENTS, client_named, client_names
from snell.model.catalogue import CATALOGUE
from snell.model.decision import Change, Decision, Reason
from snell.model.effects import Allow, Ask, Defer, Deny, Effect, Env, Extra, Note, Rewrite, Stop, Tell, Verdict
from snell.model.errors import ClientError, PayloadError
from snell.model.events import Event, event_from
from snell.model.protocols import Capabilities, tier_of
from tests.case_counts import IS_NIGHTLY, cases
from tests.contracts.client_replies import WITH_HOOKS, WITHOUT_TABLE, can_deny, refuses, sample_events, well_formed
from tests.golden.reading import (
    FOLDER,
    decision_when,
    event_fields,
    event_in,
    event_of,
    golden,
    golden_files,
    raw_payload,
)
from tests.helpers import decide_event, hook

KNOWN = ", ".join(name.replace("_", "-") for name in client_names())
every_client = pytest.mark.parametrize("name", sorted(CLIENTS))
every_caller = pytest.mark.parametrize("name", WITH_HOOKS)

# Events of the catalogue that no client sends, each with the reason why it is there all the same.
NO_CLIENT: Mapping[str, str] = {}


def test_folder_registry_and_golden_files_name_the_same_clients() -> None:
    folder = Path(snell.clients.__file__).parent
    tables = {path.stem for path in folder.glob("*.toml")}
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    fixtures = {path.name for path in FOLDER.iterdir() if path.is_dir() and any(path.glob("*.json"))}
    assert tables | set(WITHOUT_TABLE) == set(CLIENTS)
    assert modules <= set(CLIENTS)
    assert fixtures == set(WITH_HOOKS)
    assert not ALIASES.keys() & CLIENTS.keys()
    assert len(ALIASES) == sum(map(len, CLIENTS.values()))  # no two clients share an alias


@pytest.mark.proves("S1-14")
def test_every_event_of_the_catalogue_has_a_golden_payload_or_a_reason_for_having_none() -> None:
    seen = {event_of(path) for path in golden_files()}
    assert seen | NO_CLIENT.keys() >= CATALOGUE.keys()
    assert not seen & NO_CLIENT.keys()
    assert all(NO_CLIENT.values())


@every_caller
def test_every_event_that_a_client_is_known_to_report_has_a_golden_payload(name: str) -> None:
    """Every row of its table and every event that set-up registers, under the client's own name of it."""
    table = client_named(name).table
    rows = {*table.events, *table.answers} if table else set(CATALOGUE) if name == "claude_code" else set()
    form = client_named(name).install.form
    shares = form.called_as if form and form.called_as else name  # whose hook file it reads, with events that it lacks
    files = [*golden_files(name), *golden_files(shares)]
    seen = {own for path in files for own in (event_of(path), _own_name(path), golden(path).get("called_as"))}
    assert {*rows, *client_named(name).install.events} - seen == set()


def _own_name(path: Path) -> str:
    event = event_in(path)
    return str(event.payload.get("native", {}).get("event", event.name))


@every_client
def test_a_client_has_everything_that_the_registry_expects(name: str) -> None:
    client = client_named(name)
    assert name == client.name
    assert client.title
    assert isinstance(client.capabilities, Capabilities)
    assert all(quirk.text and quirk.source for quirk in client.quirks)
    assert tier_of(client.capabilities) in (1, 2, 3)
    assert name == client.install.name
    assert bool(client.install.form) == (client.capabilities.hooks and name != "generic")


@pytest.mark.proves("S4-01", "S4-02", "S4-03", "S4-24")
def test_the_tiers_are_those_that_the_capabilities_make() -> None:
    tiers: dict[int, list[str]] = {1: [], 2: [], 3: []}
    for name in sorted(CLIENTS):
        tiers[tier_of(client_named(name).capabilities)].append(name)
    required = {  # a new client may be added to any of them
        1: "claude_code codex copilot droid generic grok qwen vscode_copilot",
        2: "antigravity augment cline crush cursor gemini goose kimi kiro opencode pi windsurf",
        3: "jetbrains_ai roo warp zed",
    }
    assert [name for tier, names in required.items() for name in names.split() if name not in tiers[tier]] == []
    assert tier_of(Capabilities(plugin=True)) == 2  # a plugin translates, whatever it calls the events


@pytest.mark.parametrize(
    ("given_name", "name"),
    [*ALIASES.items(), ("Claude-Code", "claude_code"), (" GENERIC ", "generic"), ("vs code", "vscode_copilot")],
)
@pytest.mark.proves("S4-25")
def test_a_client_answers_to_its_aliases_in_any_letter_case(given_name: str, name: str) -> None:
    assert name == client_named(given_name).name


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("cluade", "unknown client `cluade`; did you mean `claude-code`?"),
        ("generik", "unknown client `generik`; did you mean `generic`?"),
        ("zzz", f"unknown client `zzz`; known clients: {KNOWN}"),
        ("", f"unknown client ``; known clients: {KNOWN}"),
    ],
)
@pytest.mark.proves("S4-26")
def test_an_unknown_client_is_an_error_with_the_nearest_name(wrong: str, message: str) -> None:
    with pytest.raises(ClientError) as caught:
        client_named(wrong)
    assert str(caught.value) == message


@every_caller
@pytest.mark.proves("S1-14")
def test_an_event_that_the_catalogue_lacks_passes_through(name: str) -> None:
    client = client_named(name)
    event = client.decode(b'{"hook_event_name": "MoonRise", "session_id": "s1", "phase": "full"}')
    assert replace(event, takes_notes=True) == event_from(
        {"hook_event_name": "MoonRise", "session_id": "s1", "phase": "full"}, "MoonRise", client.name
    )
    reply = client.encode(decide_event(event, hook("h", Deny("no"), on="MoonRise")))
    assert not refuses(reply)
    assert reply.exit_code == 0


@every_caller
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


@settings(max_examples=cases(100, 400), deadline=None)
@given(mutated_payloads(), st.sampled_from(WITH_HOOKS), st.sampled_from(["", "PreToolUse", "beforeShellExecution"]))
def test_no_payload_makes_decoding_raise_anything_but_a_payload_error(raw: bytes, name: str, called_as: str) -> None:
    try:
        event = client_named(name).decode(raw, called_as)
    except PayloadError:
        return
    assert isinstance(event, Event)
    assert event.name
    assert event.client == name
    well_formed(client_named(name).encode(Decision(event=event, verdict=Verdict.DENY)))


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


@every_caller
def test_every_decision_can_be_put_into_a_reply(name: str) -> None:
    client = client_named(name)
    events = sample_events(client)

    @settings(max_examples=cases(60, 300) if name in WITHOUT_TABLE else cases(20, 60), deadline=None)
    @given(st.sampled_from(events), st.lists(st.lists(EFFECTS, max_size=3), max_size=3))
    def holds(event: Event, answers: list[list[Effect]]) -> None:
        hooks = [hook(f"h{i}", tuple(effects), on=event.name) for i, effects in enumerate(answers)]
        decision = decide_event(event, *hooks)
        reply = client.encode(decision)
        well_formed(reply)
        if decision.verdict is Verdict.DENY and (client.name in WITHOUT_TABLE or can_deny(client, event)):
            assert refuses(reply) or decision.stop

    holds()


@every_caller
def test_a_decision_that_no_engine_would_make_can_be_put_into_a_reply_too(name: str) -> None:
    client = client_named(name)

    @settings(max_examples=cases(40, 200) if name in WITHOUT_TABLE else cases(20, 60), deadline=None)
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


@every_caller
@pytest.mark.parametrize("denial", DENIALS)
def test_a_deny_denies_on_every_event_that_can_be_denied(name: str, denial: str) -> None:
    client = client_named(name)
    for event in sample_events(client):
        if "deny" in event.row.can:
            reply = client.encode(decide_event(event, hook("guard", DENIALS[denial], on=event.name)))
            well_formed(reply)
            # Where nothing can be refused, the model or the log gets to know why it should have been.
            assert refuses(reply) if can_deny(client, event) else reply.stdout + reply.stderr, (event.name, reply)


@every_caller
@pytest.mark.parametrize("effect", [Ask("sure?"), Defer("later")])
def test_an_ask_or_a_defer_that_cannot_be_expressed_is_a_refusal(name: str, effect: Ask | Defer) -> None:
    client = client_named(name)
    for event in sample_events(client):
        if "deny" in event.row.can and type(effect).__name__.lower() not in event.row.can and can_deny(client, event):
            bare = Decision(event=event, verdict=Verdict[type(effect).__name__.upper()], reasons=(Reason("h", "why"),))
            assert refuses(client.encode(decide_event(event, hook("guard", effect, on=event.name)))), event.name
            assert refuses(client.encode(bare)) or name == "generic", event.name


@every_caller
@pytest.mark.parametrize("tool", [5, ["Bash"], {"name": "Bash"}, True])
def test_a_tool_whose_name_is_no_text_is_refused_since_no_matcher_could_find_it(name: str, tool: Any) -> None:
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/", "tool_name": tool, "tool_input": {}}
    with pytest.raises(PayloadError, match="tool_name"):
        client_named(name).decode(json.dumps(payload).encode())


def _odd(payload: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The payload with each field, and each field of its objects, turned into something else."""
    for key, value in payload.items():
        for other in (None, [], {}, 3, "", True):
            yield {**payload, key: other}
        if isinstance(value, dict):
            yield from ({**payload, key: inner} for inner in _odd(value))


@every_caller
def test_a_field_of_any_other_type_never_stops_an_answer(name: str) -> None:
    client = client_named(name)
    for path in golden_files(name):
        for number, odd in enumerate(_odd(golden(path)["payload"])):
            try:
                event = client.decode(json.dumps(odd).encode(), golden(path).get("called_as", ""))
            except PayloadError:
                continue  # it names no event, or no tool: said, and answered as such
            replies = golden(path)["replies"]
            for reply in replies if IS_NIGHTLY else (replies[number % len(replies)],):
                client.encode(decision_when(event, reply["when"]))


@every_caller
def test_fields_of_a_newer_version_are_kept_and_change_nothing_else(name: str) -> None:
    for path in golden_files(name):
        newer = {**golden(path)["payload"], "zz_new": {"a": [1]}, "zzOther": None}
        event = client_named(name).decode(json.dumps(newer).encode(), golden(path).get("called_as", ""))
        assert (event.payload["zz_new"], event.payload["zzOther"]) == ({"a": [1]}, None)
        assert event_fields(event) == event_fields(event_in(path))
