"""
A chain of keyed hashes over decisions and tool calls, by which later changes are noticed.

Each link is made from everything before it, with a key that is not in the database. A decision is chained once, its
trace whenever something is added to it. A call is chained when it is first seen, for what never changes of it; as it is
whenever it is seen to be open; and once more when it has ended, with the sizes of its bodies and the claim it holds; an
ended call that changes again is not chained again. What retention takes away is chained too, so that it is not missed;
traces, bodies and claims may go when they are older than they are kept.

What is changed before it is chained, ten seconds at most, is not noticed.
"""

import hmac
from collections.abc import Iterator
from operator import attrgetter

import msgspec
from msgspec import Struct

from snell.model.ports import Transaction
from snell.work import claims, decisions, ledger
from snell.work.decisions import Row, Trace
from snell.work.ledger import Call
from snell.work.retention import DAY_MS, TRACE_DAYS

START = "0" * 64
MOST = 500  # records in one transaction
BODIES = "bodies before"  # what may be gone with its claims; the id of such an entry is a time

# Of a call that has begun, everything stays as it is but for this.
_PASSING = ("status", "updated_at", "finished_at", "duration_ms", "response_ref", "external_correlation_id",
            "error_code", "error_detail", "confirmed")  # fmt: skip
_lasting = attrgetter(*(name for name in ledger.FIELDS if name not in _PASSING))
_all = attrgetter(*ledger.FIELDS, "revision")
_encoder = msgspec.json.Encoder()


class Head(Struct, frozen=True):
    """Where the chain ends: how many links, the last of them, and how far it has seen the tables."""

    count: int = 0
    link: str = START
    decision: int = 0
    revision: int = 0
    trace: int = 0


class Entry(Struct, frozen=True):
    seq: int
    kind: str  # decision, trace, opened, open REVISION CLAIMED, ended SIZE SIZE CLAIM, expired KIND
    record_id: str
    digest: str
    link: str


def extend(tx: Transaction, key: bytes, head: Head | None = None, most: int = MOST) -> Head:
    """Chain what has come since; at most so many records at a time. Returns the new end."""
    head = head or read_head(tx, key)
    for row in decisions.after(tx, head.decision, most):
        head = _add(tx, key, head, "decision", row.id, digest_of_decision(key, row), decision=row.seq)
    for call in ledger.after(tx, head.revision, most):
        head = _add_call(tx, key, head, call)
    for trace in decisions.traces_after(tx, head.trace, most):
        head = _add(tx, key, head, "trace", trace.decision_id, digest_of_trace(key, trace))
        head = msgspec.structs.replace(head, trace=trace.seq)
    return _kept(tx, key, head)


def note_expired(tx: Transaction, key: bytes, kind: str, ids: list[str]) -> Head:
    """Chain that these records were taken away on purpose."""
    head = read_head(tx, key)
    for each in ids:
        head = _add(tx, key, head, f"expired {kind}", each, _mac(key, "expired", kind, each))
    return _kept(tx, key, head)


def read_head(tx: Transaction, key: bytes) -> Head:
    """The end of the chain as it was kept. What is kept beside it carries a hash of its own."""
    last = tx.rows("SELECT seq, link FROM audit_chain ORDER BY seq DESC LIMIT 1")
    kept = tx.rows("SELECT value FROM meta WHERE name = 'audit_head'")
    seen = _seen(kept[0][0] if kept else "", key) or _seen_by_entries(tx)
    count, link = (int(last[0][0]), str(last[0][1])) if last else (0, START)
    return Head(count, link, *seen)


def entries(tx: Transaction, after: int, limit: int) -> list[Entry]:
    sql = "SELECT seq, kind, record_id, digest, link FROM audit_chain WHERE seq > ? ORDER BY seq LIMIT ?"
    return [Entry(*row) for row in tx.rows(sql, after, limit)]


def link_of(key: bytes, before: str, seq: int, kind: str, record_id: str, digest: str) -> str:
    return _mac(key, before, str(seq), kind, record_id, digest)


def digest_of_decision(key: bytes, row: Row) -> str:
    return _mac(key, _encoder.encode([*decisions.values_of(row), row.seq]).decode())


def digest_of_trace(key: bytes, trace: Trace) -> str:
    return _mac(key, "trace", str(trace.seq), trace.decision_id, trace.body, trace.late)


def digest_of_call(key: bytes, call: Call, kind: str) -> str:
    values = _lasting(call) if kind == "opened" else _all(call)
    return _mac(key, kind, _encoder.encode(values).decode())


def _beside(tx: Transaction, key: bytes, call: Call) -> str:
    """What belongs to an ended call in other tables: the sizes of its bodies, and its claim if it succeeded."""
    bodies = (ledger.body(tx, ref) for ref in (call.request_ref, call.response_ref))
    sizes = (str(found[1]) if found else "-" for found in bodies)
    return " ".join((*sizes, _claim(tx, key, call)))


def _holds(tx: Transaction, call: Call) -> bool:
    held = claims.holder(tx, call.run_id, call.idempotency_key)
    return held is not None and held.tool_call_id == call.tool_call_id


def _claim(tx: Transaction, key: bytes, call: Call) -> str:
    held = claims.holder(tx, call.run_id, call.idempotency_key) if call.status == "succeeded" else None
    if held is None or held.tool_call_id != call.tool_call_id or held.status != "succeeded":
        return "-"
    return _mac(key, "claim", _encoder.encode(held).decode())[:16]


def _add_call(tx: Transaction, key: bytes, head: Head, call: Call) -> Head:
    found = tx.rows("SELECT kind FROM audit_chain WHERE record_id = ?", call.tool_call_id)
    kinds = {str(kind).partition(" ")[0] for (kind,) in found}
    if "opened" not in kinds:
        head = _add(tx, key, head, "opened", call.tool_call_id, digest_of_call(key, call, "opened"))
    if call.status in ledger.ENDED and "ended" not in kinds:
        kind = f"ended {_beside(tx, key, call)}"
        head = _add(tx, key, head, kind, call.tool_call_id, digest_of_call(key, call, "ended"))
    elif call.status not in ledger.ENDED:
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
    return Head(seq, link, decision or head.decision, head.revision, head.trace)


def _kept(tx: Transaction, key: bytes, head: Head) -> Head:
    at = (head.decision, head.revision, head.trace)
    seen = [*at, _mac(key, "seen", *map(str, at))]
    change = "ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    tx.do(f"INSERT INTO meta (name, value) VALUES ('audit_head', ?) {change}", msgspec.json.encode(seen).decode())
    return head


def _seen(kept: str, key: bytes) -> tuple[int, int, int] | None:
    """What was kept, if it is ours."""
    try:
        *at, mac = msgspec.json.decode(kept, type=tuple[int, int, int, str])
    except msgspec.MsgspecError:
        return None
    return (at[0], at[1], at[2]) if mac == _mac(key, "seen", *map(str, at)) else None


def _seen_by_entries(tx: Transaction) -> tuple[int, int, int]:
    """How far the chain has come, found out from what it holds."""
    found = [
        tx.rows(
            f"SELECT COALESCE(MAX(t.seq), 0) FROM {table} t"
            f" JOIN audit_chain a ON a.record_id = t.{id_} AND a.kind = '{kind}'"
        )
        for table, id_, kind in (("decisions", "id", "decision"), ("traces", "decision_id", "trace"))
    ]
    return int(found[0][0][0]), 0, int(found[1][0][0])


def _mac(key: bytes, *parts: str) -> str:
    # Each part with its length, so that no two rows of parts look alike.
    text = "".join([f"{len(part)}:{part}" for part in parts])
    return hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256").hex()


# Looking whether everything is as it was


class Anchor(Struct, frozen=True):
    """What the file beside the database says: after so many links the end was this."""

    count: int
    link: str


class Findings(Struct, frozen=True):
    """`integrity`: what was changed. `completeness`: what is gone. Both empty: everything is as it was."""

    integrity: tuple[str, ...] = ()
    completeness: tuple[str, ...] = ()
    links: int = 0
    decisions: int = 0
    calls: int = 0
    waiting: int = 0  # records that are not chained yet

    @property
    def is_good(self) -> bool:
        return not self.integrity and not self.completeness


def verify(tx: Transaction, key: bytes, anchors: list[Anchor], *, now: int = 0, page: int = 10_000) -> Findings:
    """Make every link again and compare every record with it."""
    kept_since = now - TRACE_DAYS * DAY_MS
    changed: list[str] = []
    missing: list[str] = []
    state = _Chain()
    for entry in _every(tx, page):
        state.follow(key, entry, changed, missing)
    _compare_anchors(state, anchors, changed, missing)
    seen = read_head(tx, key)
    count_decisions = _compare_decisions(tx, key, state, seen.decision, changed, missing, page)
    _compare_traces(tx, key, state, seen.trace, kept_since, changed, missing, page)
    kept_since = max(kept_since, *(int(id_) for kind, id_ in state.digests if kind == f"expired {BODIES}"), 0)
    count_calls, waiting_calls = _compare_calls(tx, key, state, seen.revision, kept_since, changed, missing, page)
    waiting = int(tx.rows("SELECT COUNT(*) FROM decisions WHERE seq > ?", seen.decision)[0][0]) + waiting_calls
    return Findings(tuple(changed), tuple(missing), state.last, count_decisions, count_calls, waiting)


class _Chain:
    """What the chain says, while it is followed from its beginning."""

    def __init__(self) -> None:
        self.last = 0
        self.link = START
        self.at: dict[int, str] = {0: START}
        self.digests: dict[tuple[str, str], str] = {}
        self.details: dict[tuple[str, str], str] = {}  # what the kind of an entry says beyond its first word

    def follow(self, key: bytes, entry: Entry, changed: list[str], missing: list[str]) -> None:
        if entry.seq != self.last + 1:
            missing.append(f"links {self.last + 1} to {entry.seq - 1} of the chain are gone")
            self.link = ""
        expected = link_of(key, self.link, entry.seq, entry.kind, entry.record_id, entry.digest)
        if self.link and expected != entry.link:
            changed.append(f"link {entry.seq} of the chain was changed")
        self.last, self.link = entry.seq, entry.link
        self.at[entry.seq] = entry.link
        kind, details = entry.kind, ""
        if kind.startswith(("open ", "ended ")):
            kind, _, details = kind.partition(" ")
            self.details[kind, entry.record_id] = details
        if (kind, entry.record_id) in self.digests and kind in ("decision", "opened", "ended"):
            changed.append(f"`{entry.record_id}` was chained twice")
        self.digests[kind, entry.record_id] = entry.digest


def _compare_anchors(state: _Chain, anchors: list[Anchor], changed: list[str], missing: list[str]) -> None:
    for anchor in anchors:
        if anchor.count > state.last:
            missing.append(f"the chain ends at link {state.last}, and it once had {anchor.count}")
            break
        if state.at.get(anchor.count) != anchor.link:
            changed.append(f"link {anchor.count} of the chain is not the one that was noted beside the database")
            break


def not_noted(links: int, anchors: list[Anchor]) -> tuple[str, ...]:
    """What is missing when the chain, which has so many links, goes on where the notes end."""
    newest = anchors[-1].count if anchors else 0
    if newest >= links:
        return ()
    return (f"the note beside the database ends at link {newest}, and the chain has {links}",)


def _compare_decisions(
    tx: Transaction, key: bytes, state: _Chain, seen: int, changed: list[str], missing: list[str], page: int
) -> int:
    count = last = 0
    found: set[str] = set()
    while rows := decisions.after(tx, last, page):
        for row in rows:
            digest = state.digests.get(("decision", row.id))
            found.add(row.id)
            if digest is None and row.seq <= seen:
                changed.append(f"decision `{row.id}` was put between others")
            elif digest is not None and digest != digest_of_decision(key, row):
                changed.append(f"decision `{row.id}` was changed")
        count, last = count + len(rows), rows[-1].seq
    _note_missing(key, state, "decision", found, missing)
    return count


def _compare_traces(
    tx: Transaction, key: bytes, state: _Chain, seen: int, since: int, changed: list[str], missing: list[str], page: int
) -> None:
    """What can be told about a decision; it goes before the decision does."""
    last, found = 0, set()
    while rows := decisions.traces_after(tx, last, page):
        for trace in rows:
            found.add(trace.decision_id)
            is_the_same = state.digests.get(("trace", trace.decision_id)) == digest_of_trace(key, trace)
            if trace.seq <= seen and not is_the_same:  # else something was added to it since
                changed.append(f"the trace of decision `{trace.decision_id}` was changed")
        last = rows[-1].seq
    gone = [id_ for kind, id_ in state.digests if kind == "trace" and id_ not in found]
    young = decisions.made_since(tx, since) if gone else set()
    missing += [f"the trace of decision `{id_}` is gone" for id_ in gone if id_ in young]


def _compare_calls(
    tx: Transaction, key: bytes, state: _Chain, seen: int, since: int, changed: list[str], missing: list[str], page: int
) -> tuple[int, int]:
    count = waiting = 0
    found: set[str] = set()
    last = -1
    beside = _Beside(tx, key, state, since)
    while calls := ledger.after(tx, last, page):
        for call in calls:
            found.add(call.tool_call_id)
            is_new = ("opened", call.tool_call_id) not in state.digests
            waiting += is_new
            if is_new and call.revision <= seen:
                changed.append(f"tool call `{call.tool_call_id}` was put between others")
            elif _differs(key, state, call, seen):
                changed.append(f"tool call `{call.tool_call_id}` was changed")
            elif not is_new:
                beside.compare(call, changed, missing)
        count, last = count + len(calls), calls[-1].revision
    _note_missing(key, state, "opened", found, missing)
    return count, waiting


def _differs(key: bytes, state: _Chain, call: Call, seen: int) -> bool:
    id_ = call.tool_call_id
    for kind in ("ended", "opened"):
        digest = state.digests.get((kind, id_))
        if digest is not None and digest != digest_of_call(key, call, kind):
            return True
    if ("ended", id_) in state.digests or ("opened", id_) not in state.digests:
        return False
    # It was open when it was last seen. Who changes it gives it another number, and changes more than that.
    last = int(state.details.get(("open", id_), "-1").partition(" ")[0])
    as_it_was = msgspec.structs.replace(call, revision=last)
    is_the_same = state.digests.get(("open", id_)) == digest_of_call(key, as_it_was, "open")
    return not is_the_same if call.revision <= seen else is_the_same


def _note_missing(key: bytes, state: _Chain, kind: str, found: set[str], missing: list[str]) -> None:
    noun = "decision" if kind == "decision" else "tool call"
    for chained, id_ in state.digests:
        if chained != kind or id_ in found:
            continue
        if state.digests.get((f"expired {kind}", id_)) != _mac(key, "expired", kind, id_):
            missing.append(f"{noun} `{id_}` is gone")


class _Beside:
    """
    What calls have in other tables. Inputs and outputs go by the hash of what they are; they and claims expire before
    the rows that name them.
    """

    def __init__(self, tx: Transaction, key: bytes, state: _Chain, since: int) -> None:
        self._tx, self._key, self._state, self._since = tx, key, state, since
        self._checked: set[str] = set()

    def compare(self, call: Call, changed: list[str], missing: list[str]) -> None:
        request, response, claim = (self._state.details.get(("ended", call.tool_call_id)) or "- - -").split(" ")
        may_be_gone = call.created_at < self._since
        for ref, size in ((call.request_ref, request), (call.response_ref, response)):
            if ref and ref not in self._checked:
                self._checked.add(ref)
                self._compare_body(call, ref, "-" if may_be_gone else size, changed, [] if may_be_gone else missing)
        if claim == "-" and self._state.details.get(("open", call.tool_call_id)) == f"{call.revision} claimed":
            # It may have passed to a call that was made later; then somebody holds it.
            if not may_be_gone and claims.holder(self._tx, call.run_id, call.idempotency_key) is None:
                missing.append(f"the claim of tool call `{call.tool_call_id}` is gone")
        elif claim != "-" and not may_be_gone and ("expired claim", call.tool_call_id) not in self._state.digests:
            now = _claim(self._tx, self._key, call)
            if now == "-":
                missing.append(f"the claim of tool call `{call.tool_call_id}` is gone")
            elif now != claim:
                changed.append(f"the claim of tool call `{call.tool_call_id}` was changed")

    def _compare_body(self, call: Call, ref: str, size: str, changed: list[str], missing: list[str]) -> None:
        found = ledger.body(self._tx, ref)
        if found is None:
            missing.append(f"what tool call `{call.tool_call_id}` was given or brought is gone")
        elif ledger.body_ref(found[0]) != ref or size not in ("-", str(found[1])):
            changed.append(f"what tool call `{call.tool_call_id}` was given or brought was changed")


def _every(tx: Transaction, page: int) -> Iterator[Entry]:
    last = 0
    while found := entries(tx, last, page):
        yield from found
        last = found[-1].seq
