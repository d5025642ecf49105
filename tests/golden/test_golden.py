"""Every golden file, both ways: payload to event, decision to reply. Whole objects are compared."""

from pathlib import Path

import pytest

from snell.clients import client_named
from snell.model.catalogue import canonical
from tests.golden.reading import (
    decision_when,
    event_fields,
    event_in,
    event_of,
    golden,
    golden_files,
    name_of,
    reply_fields,
)

every_file = pytest.mark.parametrize("path", golden_files(), ids=name_of)


@every_file
@pytest.mark.proves("S1-21")
def test_a_payload_becomes_the_event_that_the_file_shows(path: Path) -> None:
    event = event_in(path)
    expected = dict(golden(path)["event"])
    assert event.payload == expected.pop("payload", golden(path)["payload"])
    assert event_fields(event) == expected


@every_file
def test_a_decision_becomes_the_reply_that_the_file_holds(path: Path) -> None:
    client = client_named(path.parent.name)
    event = event_in(path)
    replies = [
        {"when": reply["when"], **reply_fields(client.encode(decision_when(event, reply["when"])))}
        for reply in golden(path)["replies"]
    ]
    assert replies == golden(path)["replies"]


@every_file
def test_a_file_says_where_it_comes_from_and_is_named_after_its_event(path: Path) -> None:
    content = golden(path)
    assert content.keys() - {"called_as"} == {"source", "payload", "event", "replies"}
    assert content["source"].keys() == {"client", "seen"}
    assert all(content["source"].values())
    assert content["event"]["name"] == event_of(path) == canonical(event_of(path))
    assert content["replies"][0]["when"] == "no_opinion"
