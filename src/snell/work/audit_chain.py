"""
A chain of keyed hashes over decisions and tool calls, by which later changes are noticed.

Each link is made from everything before it, with a key that is not in the database. A decision is chained once. A call
is chained when it is first seen, for what never changes of it, and once more when it has ended; an ended call that
changes again is not chained again. What retention takes away is chained too, so that it is not missed.

What is changed before it is chained, ten seconds at most, is not noticed.
"""

import hmac
from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import Struct

from snell.model.ports import Transaction
from snell.work import decisions, ledger
from snell.work.decisions import Row
from snell.work.ledger import Call

START = "0" * 64
MOST = 500  # records in one transaction

# Of a call that has begun, this stays as it is.
_lasting = attrgetter(
    "tool_call_id", "run_id", "created_at", "raw_tool_name", "tool_name", "tool_namespace", "normalized_args_hash",
    "idempotency_key", "session_id", "client",
)  # fmt: skip
_all = attrgetter(*ledger.FIELDS, "revision")
_encoder = msgspec.json.Encoder()


class Head(Struct, frozen=True):
    """Where the chain ends: how many links, the last of them, and how far it has seen both tables."""

    count: int = 0
    link: str = START
    decision: int = 0
    revision: int = 0


class Entry(Struct, frozen=True):
    seq: int
    kind: str  # decision, opened, ended, expired, head
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
    return Head(count, link, int(seen[0]), int(seen[1]))


def entries(tx: Transaction, after: int, limit: int) -> list[Entry]:
    sql = "SELECT seq, kind, record_id, digest, link FROM audit_chain WHERE seq > ? ORDER BY seq LIMIT ?"
    return [Entry(*row) for row in tx.rows(sql, after, limit)]


def link_of(key: bytes, before: str, seq: int, kind: str, record_id: str, digest: str) -> str:
    return _mac(key, before, str(seq), kind, record_id, digest)


def digest_of_decision(key: bytes, row: Row) -> str:
    return _mac(key, _encoder.encode([*decisions.values_of(row), row.seq]).decode())


def digest_of_call(key: bytes, call: Call, kind: str) -> str:
    values = _lasting(call) if kind == "opened" else _all(call)
    return _mac(key, kind, _encoder.encode(values).decode())


def _add_call(tx: Transaction, key: bytes, head: Head, call: Call) -> Head:
    kinds = {kind for (kind,) in tx.rows("SELECT kind FROM audit_chain WHERE record_id = ?", call.tool_call_id)}
    if "opened" not in kinds:
        head = _add(tx, key, head, "opened", call.tool_call_id, digest_of_call(key, call, "opened"))
    if call.status in ledger.ENDED and "ended" not in kinds:
        head = _add(tx, key, head, "ended", call.tool_call_id, digest_of_call(key, call, "ended"))
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
    return Head(seq, link, decision or head.decision, head.revision)


def _kept(tx: Transaction, key: bytes, head: Head) -> Head:
    seen = [head.decision, head.revision, _mac(key, "seen", str(head.decision), str(head.revision))]
    change = "ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    tx.do(f"INSERT INTO meta (name, value) VALUES ('audit_head', ?) {change}", msgspec.json.encode(seen).decode())
    return head


def _seen(kept: str, key: bytes) -> list[Any] | None:
    """What was kept, if it is ours."""
    try:
        decision, revision, mac = msgspec.json.decode(kept, type=tuple[int, int, str])
    except msgspec.MsgspecError:
        return None
    return [decision, revision] if mac == _mac(key, "seen", str(decision), str(revision)) else None


def _seen_by_entries(tx: Transaction) -> list[Any]:
    """How far the chain has come, found out from what it holds."""
    found = tx.rows(
        "SELECT COALESCE(MAX(d.seq), 0) FROM decisions d"
        " JOIN audit_chain a ON a.record_id = d.id AND a.kind = 'decision'"
    )
    return [int(found[0][0]), 0]


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


def verify(tx: Transaction, key: bytes, anchors: list[Anchor], *, page: int = 10_000) -> Findings:
    """Make every link again and compare every record with it."""
    changed: list[str] = []
    missing: list[str] = []
    state = _Chain()
    for entry in _every(tx, page):
        state.follow(key, entry, changed, missing)
    _compare_anchors(state, anchors, changed, missing)
    seen = read_head(tx, key)
    count_decisions = _compare_decisions(tx, key, state, seen.decision, changed, missing, page)
    count_calls, waiting_calls = _compare_calls(tx, key, state, seen.revision, changed, missing, page)
    waiting = int(tx.rows("SELECT COUNT(*) FROM decisions WHERE seq > ?", seen.decision)[0][0]) + waiting_calls
    return Findings(tuple(changed), tuple(missing), state.last, count_decisions, count_calls, waiting)


class _Chain:
    """What the chain says, while it is followed from its beginning."""

    def __init__(self) -> None:
        self.last = 0
        self.link = START
        self.at: dict[int, str] = {0: START}
        self.digests: dict[tuple[str, str], str] = {}

    def follow(self, key: bytes, entry: Entry, changed: list[str], missing: list[str]) -> None:
        if entry.seq != self.last + 1:
            missing.append(f"links {self.last + 1} to {entry.seq - 1} of the chain are gone")
            self.link = ""
        expected = link_of(key, self.link, entry.seq, entry.kind, entry.record_id, entry.digest)
        if self.link and expected != entry.link:
            changed.append(f"link {entry.seq} of the chain was changed")
        self.last, self.link = entry.seq, entry.link
        self.at[entry.seq] = entry.link
        if (entry.kind, entry.record_id) in self.digests and entry.kind in ("decision", "opened", "ended"):
            changed.append(f"`{entry.record_id}` was chained twice")
        self.digests[entry.kind, entry.record_id] = entry.digest


def _compare_anchors(state: _Chain, anchors: list[Anchor], changed: list[str], missing: list[str]) -> None:
    for anchor in anchors:
        if anchor.count > state.last:
            missing.append(f"the chain ends at link {state.last}, and it once had {anchor.count}")
            break
        if state.at.get(anchor.count) != anchor.link:
            changed.append(f"link {anchor.count} of the chain is not the one that was noted beside the database")
            break
    newest = anchors[-1].count if anchors else 0
    if newest < state.last:
        missing.append(f"the note beside the database ends at link {newest}, and the chain has {state.last}")


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


def _compare_calls(
    tx: Transaction, key: bytes, state: _Chain, seen: int, changed: list[str], missing: list[str], page: int
) -> tuple[int, int]:
    count = waiting = 0
    found: set[str] = set()
    last = -1
    bodies = _Bodies(tx)
    while calls := ledger.after(tx, last, page):
        for call in calls:
            found.add(call.tool_call_id)
            is_new = ("opened", call.tool_call_id) not in state.digests
            waiting += is_new
            if is_new and call.revision <= seen:
                changed.append(f"tool call `{call.tool_call_id}` was put between others")
            elif _differs(key, state.digests, call):
                changed.append(f"tool call `{call.tool_call_id}` was changed")
            elif ("ended", call.tool_call_id) in state.digests:
                changed += bodies.changed(call)
        count, last = count + len(calls), calls[-1].revision
    _note_missing(key, state, "opened", found, missing)
    return count, waiting


def _differs(key: bytes, digests: Mapping[tuple[str, str], str], call: Call) -> bool:
    for kind in ("ended", "opened"):
        digest = digests.get((kind, call.tool_call_id))
        if digest is not None and digest != digest_of_call(key, call, kind):
            return True
    return False


def _note_missing(key: bytes, state: _Chain, kind: str, found: set[str], missing: list[str]) -> None:
    noun = "decision" if kind == "decision" else "tool call"
    for chained, id_ in state.digests:
        if chained != kind or id_ in found:
            continue
        if state.digests.get((f"expired {kind}", id_)) != _mac(key, "expired", kind, id_):
            missing.append(f"{noun} `{id_}` is gone")


class _Bodies:
    """Inputs and outputs go by the hash of what they are. They expire before the rows that name them."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._checked: set[str] = set()

    def changed(self, call: Call) -> Iterator[str]:
        for ref in (call.request_ref, call.response_ref):
            if not ref or ref in self._checked:
                continue
            self._checked.add(ref)
            found = ledger.body(self._tx, ref)
            if found and ledger.body_ref(found[0]) != ref:
                yield f"what tool call `{call.tool_call_id}` was given or brought was changed"


def _every(tx: Transaction, page: int) -> Iterator[Entry]:
    last = 0
    while found := entries(tx, last, page):
        yield from found
        last = found[-1].seq
