"""
Extend the audit chain: keyed hashes over decisions and tool calls that reveal later changes.

Each link is a hash over all links before it, with a key that is not in the database. A decision is chained once, its
trace whenever something is added to it. A call is chained when it is first seen, without its mutable fields; each time
it is seen to be open or abandoned; and once more when it has ended, with the sizes of its bodies and the claim it
holds. An ended call that changes again is not chained again. Deletions by retention are chained too, so that they are
not reported as missing; traces, bodies and claims may be missing once they are older than their retention.

A chain has segments. A segment of a version with other fields cannot be compared with the records, only its links can
be checked; so a version that finds such a chain begins its own segment and chains all records again.

Each row has a seal of its own (`row_seals.py`), so a change before it is chained is noticed too; that a row was deleted
within the ten seconds before it is chained is not.
"""

import hashlib
import os
from functools import lru_cache
from operator import attrgetter

import msgspec
from msgspec import Struct

from snell.model.protocols import Transaction
from snell.model.tables import DAMAGED, Table, get_meta, put_meta
from snell.records import claims, decisions, ledger
from snell.records.decisions import Row, Trace
from snell.records.ledger import Call

START = "0" * 64
MOST = 500  # records in one transaction
_IS_NUMBER = "seq BETWEEN 1 AND 9223372036854775807"  # SQLite accepts texts here, and every text is larger
# The id of such an entry is the time before which bodies and claims, or traces, are deleted.
BODIES, TRACES = "bodies before", "traces before"

# The fields of a call that change after it has begun.
_MUTABLE = ("status", "updated_at", "finished_at", "duration_ms", "response_ref", "external_correlation_id",
            "error_code", "error_detail", "confirmed")  # fmt: skip
_immutable_values = attrgetter(*(name for name in ledger.FIELDS if name not in _MUTABLE))
_all_values = attrgetter(*ledger.FIELDS, "revision")
_encoder = msgspec.json.Encoder()

SEGMENT = "segment"  # the id of the entry that begins a segment
SEALED = "sealed rows"  # the id of the entry from which on every row must have a seal
METHOD = 3  # increase it whenever a digest is computed in another way
# Identifies the fields in digests. A segment with another form was written by another version and is not compared.
_FORM = [METHOD, decisions.FIELDS, ledger.FIELDS, _MUTABLE, claims.Claim.__struct_fields__]
FORM = hashlib.sha256(_encoder.encode(_FORM)).hexdigest()[:16]


class Head(Struct, frozen=True):
    """The end of the chain: the number of links, the last link, and the last chained row of each table."""

    count: int = 0
    link: str = START
    decision: int = 0
    revision: int = 0
    trace: int = 0
    form: str = ""  # of the last segment; empty in chains without segments
    since: int = 0  # the first link of that segment


class Entry(Struct, frozen=True):
    seq: int
    kind: str  # decision, trace, opened, open REVISION CLAIMED, ended SIZE SIZE CLAIM, expired KIND, segment FORM WHY
    record_id: str
    digest: str
    link: str


_ENTRIES = Table("audit_chain", Entry)
_INSERT, entries = _ENTRIES.insert(), _ENTRIES.after


def entries_of(tx: Transaction, record_id: str, up_to: int) -> list[Entry]:
    """Return the links about a record, of the last segment, up to a number."""
    since = "(SELECT COALESCE(MAX(seq), 0) FROM audit_chain WHERE record_id = ?)"
    where = f"WHERE record_id = ? AND seq <= ? AND seq > {since} ORDER BY seq"
    return _ENTRIES.read(tx, where, record_id, up_to, SEGMENT)


def extend(tx: Transaction, key: bytes, most: int = MOST) -> Head:
    """Chain new records, at most `most` of each table, and return the new end."""
    head = read_head(tx, key)
    note_end(tx, head)
    if head.form == FORM and _stored_positions(get_meta(tx, "audit_head"), key, head.since) is None:
        put_meta(tx, DAMAGED, "its value `audit_head` was changed or removed")
    if head.form != FORM:
        # A segment of this version begins; all records are chained again. A chain that replaces another one differs.
        why = "another version made the chain so far" if head.count else f"the chain begins {os.urandom(4).hex()}"
        kind = f"{SEGMENT} {FORM} {why}"
        head = _add(tx, key, head, kind, SEGMENT, mac_of(key, SEGMENT, kind))
        head = Head(head.count, head.link, form=FORM, since=head.count)
    for row in decisions.rows_after(tx, head.decision, most):
        head = _add(tx, key, head, "decision", row.id, digest_of_decision(key, row), decision=row.seq)
    for call in ledger.calls_after(tx, head.revision, most):
        if call.tool_call_id and isinstance(call.revision, int):  # else Snell did not write it: see `malformed_rows`
            head = _add_call(tx, key, head, call)
    for trace in decisions.traces_after(tx, head.trace, most):
        head = _add(tx, key, head, "trace", trace.decision_id, digest_of_trace(key, trace))
        head = msgspec.structs.replace(head, trace=trace.seq)
    return _store_head(tx, key, head)


def note_end(tx: Transaction, head: Head) -> None:
    """Let the seals of later rows name this end of the chain; it must be committed."""
    if head.count and (seals := getattr(tx, "seals", None)):
        seals.note_chain(head.count, head.link)


def note_sealed(tx: Transaction, key: bytes) -> None:
    """Chain that every row has a seal."""
    _store_head(tx, key, _add(tx, key, read_head(tx, key), "sealed", SEALED, mac_of(key, "sealed")))


def has_links(tx: Transaction) -> bool:
    return bool(tx.rows("SELECT 1 FROM audit_chain LIMIT 1"))


def are_rows_sealed(tx: Transaction) -> bool:
    return bool(tx.rows("SELECT 1 FROM audit_chain WHERE record_id = ? AND kind = 'sealed' LIMIT 1", SEALED))


def note_expired(tx: Transaction, key: bytes, kind: str, ids: list[str]) -> Head:
    """Chain that these records were deleted on purpose."""
    head = read_head(tx, key)
    for each in ids:
        head = _add(tx, key, head, f"expired {kind}", each, mac_of(key, "expired", kind, each))
    return _store_head(tx, key, head)


def read_head(tx: Transaction, key: bytes) -> Head:
    """Return the stored end of the chain. The stored positions carry a hash of their own."""
    last = tx.rows(f"SELECT seq, link FROM audit_chain WHERE {_IS_NUMBER} ORDER BY seq DESC LIMIT 1")
    count, link = (int(last[0][0]), str(last[0][1])) if last else (0, START)
    segments = f"SELECT seq, kind FROM audit_chain WHERE record_id = ? AND {_IS_NUMBER}"
    began = tx.rows(f"{segments} ORDER BY seq DESC LIMIT 1", SEGMENT)
    since, form = (int(began[0][0]), form_of_segment(str(began[0][1]))) if began else (0, "")
    seen = _stored_positions(get_meta(tx, "audit_head"), key, since) or _positions_from_entries(tx, since)
    return Head(count, link, *seen, form, since)


def form_of_segment(kind: str) -> str:
    """Return the form of a segment from the kind of its first entry."""
    return kind.partition(" ")[2].partition(" ")[0]


def digest_of_decision(key: bytes, row: Row) -> str:
    return mac_of(key, _encoder.encode([*decisions.values_of(row), row.seq]).decode())


def digest_of_trace(key: bytes, trace: Trace) -> str:
    return mac_of(key, "trace", str(trace.seq), trace.decision_id, trace.body, trace.late)


def digest_of_call(key: bytes, call: Call, kind: str) -> str:
    values = _immutable_values(call) if kind == "opened" else _all_values(call)
    return mac_of(key, kind, _encoder.encode(values).decode())


def claim_digest(tx: Transaction, key: bytes, call: Call) -> str:
    held = claims.holder(tx, call.run_id, call.idempotency_key) if call.status == "succeeded" else None
    if held is None or held.tool_call_id != call.tool_call_id or held.status != "succeeded":
        return "-"
    return mac_of(key, "claim", _encoder.encode(held).decode())[:16]


def _add_call(tx: Transaction, key: bytes, head: Head, call: Call) -> Head:
    found = tx.rows("SELECT kind FROM audit_chain WHERE record_id = ? AND seq > ?", call.tool_call_id, head.since)
    kinds = {str(kind).partition(" ")[0] for (kind,) in found}
    if "opened" not in kinds:
        head = _add(tx, key, head, "opened", call.tool_call_id, digest_of_call(key, call, "opened"))
    if call.status in ledger.SETTLED and "ended" not in kinds:
        bodies = (ledger.body(tx, ref) for ref in (call.request_ref, call.response_ref))
        sizes = (str(found[1]) if found else "-" for found in bodies)
        kind = " ".join(("ended", *sizes, claim_digest(tx, key, call)))
        head = _add(tx, key, head, kind, call.tool_call_id, digest_of_call(key, call, "ended"))
    elif call.status not in ledger.SETTLED:
        held = claims.holder(tx, call.run_id, call.idempotency_key)
        is_held = held is not None and held.tool_call_id == call.tool_call_id
        kind = f"open {call.revision} {'claimed' if is_held else '-'}"
        head = _add(tx, key, head, kind, call.tool_call_id, digest_of_call(key, call, "open"))
    return msgspec.structs.replace(head, revision=max(head.revision, call.revision))


def _add(tx: Transaction, key: bytes, head: Head, kind: str, id_: str, digest: str, decision: int = 0) -> Head:
    seq = head.count + 1
    link = mac_of(key, head.link, str(seq), kind, id_, digest)
    tx.do(_INSERT, seq, kind, id_, digest, link)
    return msgspec.structs.replace(head, count=seq, link=link, decision=decision or head.decision)


def _store_head(tx: Transaction, key: bytes, head: Head) -> Head:
    at = (head.decision, head.revision, head.trace, head.since)
    seen = [*at, mac_of(key, "seen", *map(str, at))]
    put_meta(tx, "audit_head", msgspec.json.encode(seen).decode())
    return head


def _stored_positions(kept: str, key: bytes, since: int) -> tuple[int, int, int] | None:
    """Return the stored positions if their hash is valid and they belong to this segment."""
    try:
        *at, mac = msgspec.json.decode(kept, type=tuple[int, int, int, int, str])
    except msgspec.MsgspecError:
        return None
    is_ours = mac == mac_of(key, "seen", *map(str, at)) and at[3] == since
    return (at[0], at[1], at[2]) if is_ours else None


def _positions_from_entries(tx: Transaction, since: int) -> tuple[int, int, int]:
    """Find the last chained rows from the entries of the last segment."""
    found = [
        tx.rows(
            f"SELECT COALESCE(MAX(t.seq), 0) FROM {table} t"
            f" JOIN audit_chain a ON a.record_id = t.{id_} AND a.kind = '{kind}' AND a.seq > ?",
            since,
        )
        for table, id_, kind in (("decisions", "id", "decision"), ("traces", "decision_id", "trace"))
    ]
    return int(found[0][0][0]), 0, int(found[1][0][0])


def mac_of(key: bytes, *parts: str) -> str:
    # Each part has its length before it, so that two different lists of parts never give the same text.
    text = "".join([f"{len(part)}:{part}" for part in parts])
    inner, outer = (each.copy() for each in _begun_hmac(key))
    inner.update(text.encode("utf-8", "surrogatepass"))
    outer.update(inner.digest())
    return outer.hexdigest()


@lru_cache(maxsize=4)
def _begun_hmac(key: bytes) -> "tuple[hashlib._Hash, hashlib._Hash]":
    """Return both hashes of HMAC-SHA256 with this key in them: thousands of MACs begin with the same."""
    padded = (key if len(key) <= 64 else hashlib.sha256(key).digest()).ljust(64, b"\0")
    inner, outer = (hashlib.sha256(bytes(each ^ pad for each in padded)) for pad in (0x36, 0x5C))
    return inner, outer
