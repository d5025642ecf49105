"""What is nested too deeply is judged, recorded and never rewritten."""

import json
from pathlib import Path
from typing import Any

import pytest

from snell.clients import client_named
from snell.model.effects import Rewrite, Verdict
from snell.model.events import Event
from snell.runtime.app import Runtime
from snell.sdk.decorators import rewrites
from snell.settings.packs import pack_hooks
from tests.ledger_client import MAIL, LedgerClient


def deep(levels: int) -> Any:
    return json.loads("[" * levels + '"x"' + "]" * levels)


def heard(name: str, **fields: Any) -> Event:
    payload = json.dumps({"hook_event_name": name, "session_id": "s", "cwd": "/", "tool_use_id": "t", **fields})
    return client_named("claude-code").decode(payload.encode())


@pytest.mark.parametrize("where", ["extra", "tool_input"])
@pytest.mark.parametrize("levels", [101, 150, 900])
def test_a_deep_field_hides_nothing_from_a_guard(where: str, levels: int):
    given: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}
    if where == "extra":
        given["extra"] = deep(levels)
    else:
        given["tool_input"]["more"] = deep(levels)
    with Runtime.embed(*pack_hooks("guard")) as runtime:
        assert runtime.decide(heard("PreToolUse", **given)).verdict is Verdict.DENY


def test_an_input_that_was_cut_is_not_rewritten():
    @rewrites("PreToolUse")
    def other(event: Event) -> Rewrite:
        return Rewrite({**event.tool_input, "a": 2})

    with Runtime.embed(other) as runtime:
        plain = runtime.decide(heard("PreToolUse", tool_name="T", tool_input={"a": 1, "b": deep(50)}))
        cut = runtime.decide(heard("PreToolUse", tool_name="T", tool_input={"a": 1, "b": deep(200)}))
    assert (bool(plain.changes), bool(cut.changes)) == (True, False)
    assert "the hook saw the deeper ones only as text" in cut.failures[0].text


def test_a_deep_result_has_its_receipt(tmp_path: Path):
    ledger_client = LedgerClient(tmp_path)
    letter = {"to": "a@example.com", "subject": "s", "body": "b"}
    assert (
        ledger_client.runtime.decide(heard("PreToolUse", tool_name=MAIL, tool_input=letter)).verdict
        is Verdict.NO_OPINION
    )
    ledger_client.runtime.decide(heard("PostToolUse", tool_name=MAIL, tool_input=letter, tool_response=deep(150)))
    ledger_client.runtime.executor.close()
    again = ledger_client.before("t2", given=letter)
    assert (again.verdict, "succeeded" in again.reasons[0].text) == (Verdict.DENY, True)
    ledger_client.close()
