"""
A chain of keyed hashes over decisions and tool calls, by which later changes are noticed.

Each link is made from everything before it, with a key that is not in the database. A decision is chained once, its
trace whenever something is added to it. A call is chained when it is first seen, for what never changes of it; as it is
whenever it is seen to be open or abandoned; and once more when it has ended, with the sizes of its bodies and the claim
it holds; an ended call that changes again is not chained again. What retention takes away is chained too, so that it is
not missed; traces, bodies and claims may go when they are older than they are kept.

A chain has segments. One that was made by a version which knew other fields of a record cannot be compared with the
records any more, only its links can; so a version that finds such a chain begins a segment of its own, says so in a
link, and chains everything that is there anew.

What is changed before it is chained, ten seconds at most, is not noticed.
"""

import hashlib
import hmac
from operator import attrgetter

import msgspec
from msgspec import Struct

from snell.model.protocols import Transaction
from snell.records import claims, decisions, ledger
from snell.records.decisions import Row, Trace
from snell.records.ledger import Call

START = "0" * 64
MOST = 500  # records in one transaction
_IS_NUMBER = "seq BETWEEN 1 AND 9223372036854775807"  # to SQLite every text is larger, and it takes texts
BODIES = "bodies before"  # what may be gone with its claims; the id of such an entry is a time

# Of a call that has begun, everything stays as it is but for this.
_PASSING = ("status", "updated_at", "finished_at", "duration_ms", "response_ref", "external_correlation_id",
            "error_code", "error_detail", "confirmed")  # fmt: skip
_lasting = attrgetter(*(name for name in ledger.FIELDS if name not in _PASSING))
_all = attrgetter(*ledger.FIELDS, "revision")
_encoder = msgspec.json.Encoder()

SEGMENT = "segment"  # the id of the entries with which segments begin
METHOD = 3  # to be raised whenever a digest is made in another way
# What digests are made of. Another version's is another text, and then what it chained is not compared by us.
FORM = hashlib.sha256(
    _encoder.encode([METHOD, decisions.FIELDS, ledger.FIELDS, _PASSING, claims.Claim.__struct_fields__])
).hexdigest()[:16]


class Head(Struct, frozen=True):
    """Where the chain ends: how many links, the last of them, and how far it has seen the tables."""

    count: int = 0
    link: str = START
    decision: int = 0
    revision: int = 0
    trace: int = 0
    form: str = ""  # of its last segment; empty before there were segments
    since: int = 0  # the link with which that begins


class Entry(Struct, frozen=True):
    seq: int
    kind: str  # decision, trace, opened, open REVISION CLAIMED, ended SIZE SIZE CLAIM, expired KIND, segment FORM WHY
    record_id: str
    digest: str
    link: str


def extend(tx: Transaction, key: bytes, head: Head | None = None, most: int = MOST) -> Head:
    """Chain what has come since; at most so many records at a time. Returns the new end."""
    head = head or read_head(tx, key)
    if head.form != FORM:
        head = _begin_segment(tx, key, head)
    for row in decisions.rows_after(tx, head.decision, most):
        head = _add(tx, key, head, "decision", row.id, digest_of_decision(key, row), decision=row.seq)
    for call in ledger.calls_after(tx, head.revision, most):
        if call.tool_call_id and isinstance(call.revision, int):  # else it is not ours, and `audit_rows` says so
            head = _add_call(tx, key, head, call)
    for trace in decisions.traces_after(tx, head.trace, most):
        head = _add(tx, key, head, "trace", trace.decision_id, digest_of_trace(key, trace))
        head = msgspec.structs.replace(head, trace=trace.seq)
    return _kept(tx, key, head)


def note_expired(tx: Transaction, key: bytes, kind: str, ids: list[str]) -> Head:
    """Chain that these records were taken away on purpose."""
    head = read_head(tx, key)
    for each in ids:
        head = _add(tx, key, head, f"expired {kind}", each, mac_of(key, "expired", kind, each))
    return _kept(tx, key, head)


def read_head(tx: Transaction, key: bytes) -> Head:
    """The end of the chain as it was kept. What is kept beside it carries a hash of its own."""
    last = tx.rows(f"SELECT seq, link FROM audit_chain WHERE {_IS_NUMBER} ORDER BY seq DESC LIMIT 1")
    count, link = (int(last[0][0]), str(last[0][1])) if last else (0, START)
    segments = f"SELECT seq, kind FROM audit_chain WHERE record_id = ? AND {_IS_NUMBER}"
    began = tx.rows(f"{segments} ORDER BY seq DESC LIMIT 1", SEGMENT)
    since, form = (int(began[0][0]), form_in(str(began[0][1]))) if began else (0, "")
    kept = tx.rows("SELECT value FROM meta WHERE name = 'audit_head'")
    seen = _seen(kept[0][0] if kept else "", key, since) or _seen_by_entries(tx, since)
    return Head(count, link, *seen, form, since)


def entries(tx: Transaction, after: int, limit: int) -> list[Entry]:
    sql = "SELECT seq, kind, record_id, digest, link FROM audit_chain WHERE seq > ? ORDER BY seq LIMIT ?"
    return [Entry(*row) for row in tx.rows(sql, after, limit)]


def link_of(key: bytes, before: str, seq: int, kind: str, record_id: str, digest: str) -> str:
    return mac_of(key, before, str(seq), kind, record_id, digest)


def form_in(kind: str) -> str:
    """What the entry with which a segment begins says of it."""
    return kind.partition(" ")[2].partition(" ")[0]


def digest_of_segment(key: bytes, kind: str) -> str:
    return mac_of(key, SEGMENT, kind)


def digest_of_decision(key: bytes, row: Row) -> str:
    return mac_of(key, _encoder.encode([*decisions.values_of(row), row.seq]).decode())


def digest_of_trace(key: bytes, trace: Trace) -> str:
    return mac_of(key, "trace", str(trace.seq), trace.decision_id, trace.body, trace.late)


def digest_of_call(key: bytes, call: Call, kind: str) -> str:
    values = _lasting(call) if kind == "opened" else _all(call)
    return mac_of(key, kind, _encoder.encode(values).decode())


def _begin_segment(tx: Transaction, key: bytes, head: Head) -> Head:
    """Everything that is there is chained again from here on, in our own way."""
    why = "another version made the chain so far" if head.count else "the chain begins"
    kind = f"{SEGMENT} {FORM} {why}"
    head = _add(tx, key, head, kind, SEGMENT, digest_of_segment(key, kind))
    return Head(head.count, head.link, form=FORM, since=head.count)


def _beside(tx: Transaction, key: bytes, call: Call) -> str:
    """What belongs to an ended call in other tables: the sizes of its bodies, and its claim if it succeeded."""
    bodies = (ledger.body(tx, ref) for ref in (call.request_ref, call.response_ref))
    sizes = (str(found[1]) if found else "-" for found in bodies)
    return " ".join((*sizes, claim_mark(tx, key, call)))


def _holds(tx: Transaction, call: Call) -> bool:
    held = claims.holder(tx, call.run_id, call.idempotency_key)
    return held is not None and held.tool_call_id == call.tool_call_id


def claim_mark(tx: Transaction, key: bytes, call: Call) -> str:
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
        kind = f"ended {_beside(tx, key, call)}"
        head = _add(tx, key, head, kind, call.tool_call_id, digest_of_call(key, call, "ended"))
    elif call.status not in ledger.SETTLED:
        kind = f"open {call.revision} {'claimed' if _holds(tx, call) else '-'}"
        head = _add(tx, key, head, kind, call.tool_call_id, digest_of_call(key, call, "open"))
    return msgspec.structs.replace(head, revision=max(head.revision, call.revision))


def _add(tx: Transaction, key: bytes, head: Head, kind: str, id_: str, digest: str, decision: int = 0) -> Head:
    seq = head.count + 1
    link = link_of(key, head.link, seq, kind, id_, digest)
    tx.do(
        "INSERT INTO audit_chain (seq, kind, record_id, digest, link) VALUES (?, ?, ?, ?, ?)",
        seq,
        kind,
        id_,
        digest,
        link,
    )
    return msgspec.structs.replace(head, count=seq, link=link, decision=decision or head.decision)


def _kept(tx: Transaction, key: bytes, head: Head) -> Head:
    at = (head.decision, head.revision, head.trace, head.since)
    seen = [*at, mac_of(key, "seen", *map(str, at))]
    change = "ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    tx.do(f"INSERT INTO meta (name, value) VALUES ('audit_head', ?) {change}", msgspec.json.encode(seen).decode())
    return head


def _seen(kept: str, key: bytes, since: int) -> tuple[int, int, int] | None:
    """What was kept, if it is ours, and of this segment."""
    try:
        *at, mac = msgspec.json.decode(kept, type=tuple[int, int, int, int, str])
    except msgspec.MsgspecError:
        return None
    is_ours = mac == mac_of(key, "seen", *map(str, at)) and at[3] == since
    return (at[0], at[1], at[2]) if is_ours else None


def _seen_by_entries(tx: Transaction, since: int) -> tuple[int, int, int]:
    """How far the chain has come, found out from what its last segment holds."""
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
    # Each part with its length, so that no two rows of parts look alike.
    text = "".join([f"{len(part)}:{part}" for part in parts])
    return hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256").hex()
