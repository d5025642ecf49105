"""What a stored decision or tool call was about, in one line: the command, path, URL or start of the prompt."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import msgspec

from snell.engine.explain import shorten
from snell.model.catalogue import row_of
from snell.model.events import as_table
from snell.model.protocols import Transaction
from snell.records import decisions, ledger
from snell.records.decisions import Row
from snell.system.json_input import json_or_none

LONGEST = 100  # characters
# The field of an input that says most about a call, in this order; what is stored has no secrets in it.
_TELLING = (
    *("command", "cmd", "sql", "statement", "url", "pattern", "query", "file_path", "notebook_path", "path", "skill"),
    *("prompt", "description"),
)


class About(msgspec.Struct, frozen=True):
    call: str = ""
    project: str = ""
    cwd: str = ""
    record: Mapping[str, Any] = {}

    def fields(self) -> dict[str, str]:
        return {"call": self.call, "project": self.project, "cwd": self.cwd}


def about(tx: Transaction, row: Row, body: str | None = None) -> About:
    """
    Return what a decision was about, from its trace, or from the ledger if the event is not the call itself.

    `body` is that of the trace, if the caller has read it already.
    """
    if body is None:
        trace = decisions.trace(tx, row.id)
        body = trace.body if trace else ""
    record = as_table(json_or_none(body))
    says_call = row_of(row.event).rewrites in ("tool_input", "prompt")
    call = ledger.find(tx, f"{row.session_id}/{ledger.safe_id(row.tool_use_id)}") if row.tool_use_id else None
    value = record.get("value") if says_call else call and _body_of(ledger.body(tx, call.request_ref))
    cwd = str(record.get("cwd", ""))
    return About(summary(value), PurePath(cwd).name, cwd, record)


def summary(value: Any) -> str:
    """Return the telling part of a tool's input or of a prompt on one line."""
    given = value if isinstance(value, Mapping) else {}
    telling = next((each for name in _TELLING if isinstance(each := given.get(name), str) and each), value)
    return shorten(telling, LONGEST) if telling else ""


def about_call(tx: Transaction, call: ledger.Call) -> dict[str, str]:
    """Return what a call in the ledger was, and where; empty where its input or its decision is not kept any more."""
    known = about(tx, Row(id=call.decision_id, at=0)).fields()
    return {**known, "call": summary(_body_of(ledger.body(tx, call.request_ref)))}


def decode_stored(text: str) -> Any:
    """Return the value of a JSON text; one that was cut or damaged, or is no JSON, is returned as it is."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


def _body_of(body: tuple[str, int] | None) -> Any:
    return decode_stored(body[0]) if body else None
