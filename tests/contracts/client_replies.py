"""Events of a client to try its answers on, and what an answer means, whichever client it is for."""

import json

from snell.clients import CLIENTS, client_named
from snell.model.events import Event
from snell.model.protocols import Client, Reply
from tests.golden.reading import event_in, event_of, golden_files, name_of, raw_payload

WITH_HOOKS = sorted(name for name in CLIENTS if client_named(name).capabilities.hooks)
WITHOUT_TABLE = ("claude_code", "generic")  # they know every event of the catalogue


def can_deny(client: Client, event: Event) -> bool:
    """Whether the client has a way to be refused here."""
    if client.name in WITHOUT_TABLE:
        return True
    answers = client.table.answers
    own = event.payload.get("native", {}).get("event", event.name)
    row = answers.get(own) or answers.get(event.name)
    return bool(row and row.deny)


def sample_events(client: Client) -> list[Event]:
    """
    A described client's own golden events. For those that know every event, one for each row of the catalogue: their
    own where they have one, else made from another's payload.
    """
    if client.name not in WITHOUT_TABLE:
        return [event_in(path) for path in golden_files(client.name)]
    known = [path for path in golden_files() if path.parent.name in WITHOUT_TABLE]
    paths = {event_of(path): path for path in sorted(known, key=lambda path: path.parent.name == client.name)}
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
    refusals = (
        (answer.get("decision") in ("block", "deny", "continue"), answer.get("reason")),
        (specific.get("permissionDecision") == "deny", specific.get("permissionDecisionReason")),
        (specific.get("decision") == "block", specific.get("reason")),
        (
            isinstance(dialog, dict) and dialog.get("behavior") == "deny",
            isinstance(dialog, dict) and dialog.get("message"),
        ),
        (answer.get("behavior") == "deny", answer.get("message")),
        (answer.get("permissionDecision") == "deny", answer.get("permissionDecisionReason")),
        (answer.get("permission") == "deny", answer.get("agent_message")),
        (answer.get("continue") is False, answer.get("user_message") or answer.get("stopReason")),
        (answer.get("cancel") is True, answer.get("errorMessage")),
        ("followup_message" in answer, answer.get("followup_message")),
        (isinstance(answer.get("deny"), str), answer.get("deny")),
        (specific.get("action") == "decline", "declined"),
        (answer.get("verdict") == "deny", "denied"),
    )
    return any(is_one and reason and reason.strip() for is_one, reason in refusals)


def asks(reply: Reply) -> bool:
    answer = json.loads(reply.stdout) if reply.stdout.startswith(b"{") else {}
    specific = answer.get("hookSpecificOutput", {})
    said = (answer.get("decision"), answer.get("permissionDecision"), specific.get("permissionDecision"))
    return "ask" in said or "force_ask" in said


def no_constant(text: str) -> None:
    raise AssertionError(f"{text} is not JSON")
