"""Turns the record of a decision into the JSON text that the journal keeps, without its secrets."""

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from snell.model.errors import StoreError
from snell.model.protocols import Database, Transaction
from snell.model.tables import get_meta, put_meta
from snell.records.decisions import Record
from snell.system.json_output import json_bytes, json_value

QUIET_BYTES = 300_000  # of rounds without an effect, remembered in the form in which they are written
TIMED = 512  # runs that are remembered without their time, and parts of records without secrets
LONGEST_KNOWN = 4_000  # bytes of such a part
LONGEST_TEXT = 65_536
LONGEST_BODY = 1_000_000

# Fields of every record that hold no free text.
PLAIN_FIELDS = ("id", "client", "event", "session_id", "tool", "kind", "verdict")
_VALUES = ("value", "changes")  # fields that hold what a tool was given
SIDES = ("before", "after")  # of a change
NOT_REDACTED = "the details could not be redacted, so they were not kept"

Redactor = Callable[[Any], Any]


def redact_for_storage(value: Any) -> Any:
    from snell.redact import redact_data  # slow to import, and not needed before the first reply

    return redact_data(value, LONGEST_TEXT)


class TraceEncoder:
    def __init__(self, database: Database, redactor: Redactor) -> None:
        self._database = database
        self._redactor = redactor
        self._hash_key = b""
        self._quiet: dict[int, tuple[Record, msgspec.Raw]] = {}
        self._quiet_bytes = 0
        self._known: set[bytes] = set()  # parts of records that have no secret
        self._timed: dict[tuple[Any, ...], bytes] = {}  # runs that took a while, as written, up to their time

    def encode(self, record: Record) -> str:
        """Return a record as it is kept; only its plain fields where it is too long or cannot be redacted."""
        clean = self._without_secrets(record)
        rounds = [self._round(each) for each in record.get("rounds", ())] if clean else []
        body = b""
        if clean and all(rounds):
            body = b'%b,"rounds":[%b]}' % (clean[:-1], b",".join(filter(None, rounds))) if rounds else clean
        if body and len(body) <= LONGEST_BODY:
            return body.decode()
        why = f"the details took {len(body):,} bytes, so they were not kept" if body else NOT_REDACTED
        kept = {name: str(record[name]) for name in PLAIN_FIELDS if name in record}
        return msgspec.json.encode(redact_for_storage({**kept, "problems": [why]})).decode()

    def _without_secrets(self, record: Record) -> bytes:
        """Return all but the rounds as JSON, without secrets. Events of a session differ in little but their values."""
        parts: tuple[Record, Record] = ({}, {})
        for name, value in record.items():
            if name not in ("id", "rounds"):  # the id is our own, and every one is new
                parts[name in _VALUES][name] = value
        rest, values = map(self._clean_json, parts)
        if not rest or not values:
            return b""
        if "changes" in record:
            values = self._with_hashes(msgspec.json.decode(values), record["changes"])
        fields = (b'"id":' + msgspec.json.encode(record["id"]), rest[1:-1], values[1:-1])
        return b"{%b}" % b",".join(filter(None, fields))

    def _with_hashes(self, clean: Record, changes: Sequence[Record]) -> bytes:
        """Return values as JSON, with hashes of those before and after each change, which identify redacted ones."""
        clean["changes"] = [
            {**kept, **{f"{name}_hash": self.hash(msgspec.json.encode(json_value(change[name]))) for name in SIDES}}
            for kept, change in zip(clean["changes"], changes, strict=True)
        ]
        return msgspec.json.encode(clean)

    def redact(self, record: Record) -> Record | None:
        """Return the record without secrets; None when that cannot be made sure."""
        clean = self._clean_json(record)
        return msgspec.json.decode(clean, type=dict[str, Any]) if clean else None

    def _clean_json(self, record: Record) -> bytes:
        """Return the record as JSON without secrets; empty when that cannot be made sure. A clean one is remembered."""
        try:
            written = json_bytes(record)
            if written in self._known:
                return written
            clean = msgspec.json.encode(self._redactor(json_value(record)))
            if clean == written and len(written) <= LONGEST_KNOWN:
                if len(self._known) >= TIMED:
                    self._known.clear()
                self._known.add(written)
        except Exception:  # noqa: BLE001 whatever fails here, what was not redacted must not be written
            return b""
        return clean

    def hash(self, data: bytes) -> str:
        """Return a keyed hash, so that a reader of the rows cannot try out what the data may have been."""
        if not data:
            return ""
        if not self._hash_key:
            try:
                self._hash_key = self._database.run(_hash_key)
            except StoreError:
                self._hash_key = os.urandom(32)
        return hashlib.blake2b(data, key=self._hash_key, digest_size=16).hexdigest()

    def _round(self, each: Record) -> msgspec.Raw | None:
        """Return a round as JSON; one without effects is always the same object, so it is encoded once and cached."""
        known = self._quiet.get(id(each))
        if known and known[0] is each:
            return known[1]
        runs = [self._run(run) for run in each["runs"]]
        if not all(runs):
            return None
        written = msgspec.Raw(msgspec.json.encode({"pass": each["pass"], "runs": runs}))
        is_quiet = all(_has_only_a_time(run) and not run["ms"] for run in each["runs"])
        return self._remember(each, written) if is_quiet else written

    def _run(self, run: Record) -> msgspec.Raw | None:
        if _has_only_a_time(run):
            return self._timed_run(run)
        clean = self._clean_json(run)
        return msgspec.Raw(clean) if clean else None

    def _timed_run(self, run: Record) -> msgspec.Raw | None:
        """Return a run without effects as JSON: all but its time is the same for every run of this hook."""
        rest = run.copy()
        ms = rest.pop("ms")
        key = tuple(rest.values())
        if (begun := self._timed.get(key)) is None:
            clean = self._clean_json(rest)
            if not clean:
                return None
            if len(self._timed) >= TIMED:
                self._timed.clear()
            begun = self._timed[key] = clean[:-1]
        return msgspec.Raw(b'%b,"ms":%b}' % (begun, msgspec.json.encode(ms)))

    def _remember(self, about: Record, written: msgspec.Raw) -> msgspec.Raw:
        if self._quiet_bytes > QUIET_BYTES:
            self._quiet.clear()
            self._quiet_bytes = 0
        self._quiet[id(about)] = (about, written)
        self._quiet_bytes += memoryview(written).nbytes
        return written


def _has_only_a_time(run: Record) -> bool:
    return isinstance(run.get("ms"), float) and run.keys().isdisjoint(_EFFECTS)


_EFFECTS = ("effects", "failure", "remarks")


def _hash_key(tx: Transaction) -> bytes:
    with suppress(ValueError):  # another program damaged it
        if key := bytes.fromhex(get_meta(tx, "hash_key")):
            return key
    put_meta(tx, "hash_key", os.urandom(32).hex())
    return bytes.fromhex(get_meta(tx, "hash_key"))
