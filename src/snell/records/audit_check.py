"""Compare decisions and tool calls with the audit chain, and report changes and gaps."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from snell.model.protocols import Transaction
from snell.records import claims, decisions, ledger
from snell.records.audit_chain import (
    BODIES,
    FORM,
    SEGMENT,
    START,
    Entry,
    claim_digest,
    digest_of_call,
    digest_of_decision,
    digest_of_segment,
    digest_of_trace,
    entries,
    form_of_segment,
    link_of,
    mac_of,
    read_head,
)
from snell.records.ledger import Call
from snell.records.malformed_rows import find_malformed_rows
from snell.records.retention import DAY_MS, TRACE_DAYS


class Anchor(Struct, frozen=True):
    """A line of the anchor file beside the database: the last link when the chain had `count` links."""

    count: int
    link: str


class Findings(Struct, frozen=True):
    """`integrity`: what was changed. `completeness`: what is missing. Both empty: nothing was tampered with."""

    integrity: tuple[str, ...] = ()
    completeness: tuple[str, ...] = ()
    links: int = 0
    decisions: int = 0
    calls: int = 0
    interrupted: tuple[str, ...] = ()  # work of a killed process that the next one will complete
    waiting: int = 0  # records that are not chained yet
    earlier: int = 0  # links of earlier versions: only their order and number are checked

    @property
    def is_good(self) -> bool:
        return not self.integrity and not self.completeness


def verify(tx: Transaction, key: bytes, anchors: list[Anchor], *, now: int = 0, page: int = 10_000) -> Findings:
    """Compute every link again and compare every record with it."""
    kept_since = now - TRACE_DAYS * DAY_MS
    changed: list[str] = []
    missing: list[str] = []
    malformed = find_malformed_rows(tx)
    changed += map(str, malformed)
    state = _Chain({(each.table, each.number if each.table == "audit_chain" else each.id) for each in malformed})
    for entry in _all_entries(tx, page):
        if ("audit_chain", entry.seq) not in state.malformed:
            state.follow(key, entry, changed, missing)
    _compare_anchors(state, anchors, changed, missing)
    if state.last and state.form != FORM:
        made, calls = (int(tx.rows(f"SELECT COUNT(*) FROM {table}")[0][0]) for table in ("decisions", "tool_calls"))
        return Findings(
            tuple(changed), tuple(missing), state.last, made, calls, waiting=made + calls, earlier=state.last
        )
    seen = read_head(tx, key)
    count_decisions = _compare_decisions(tx, key, state, seen.decision, changed, missing, page)
    _compare_traces(tx, key, state, seen.trace, kept_since, changed, missing, page)
    gone = (id_ for kind, id_ in state.digests if kind == f"expired {BODIES}")
    kept_since = max(kept_since, *(int(id_) for id_ in gone if id_.isdecimal()), 0)
    count_calls, waiting_calls = _compare_calls(tx, key, state, seen.revision, kept_since, changed, missing, page)
    # The claim of a chained call that is missing is not foreign; the missing call is reported already.
    foreign = (
        id_ for id_ in claims.claims_without_owner(tx) if ledger.find(tx, id_) or ("opened", id_) not in state.digests
    )
    changed += [f"a claim for tool call `{id_}` was inserted" for id_ in foreign]
    waiting = int(tx.rows("SELECT COUNT(*) FROM decisions WHERE seq > ?", seen.decision)[0][0]) + waiting_calls
    earlier = max(0, seen.since - 1)
    return Findings(
        tuple(changed), tuple(missing), state.last, count_decisions, count_calls, waiting=waiting, earlier=earlier
    )


class _Chain:
    """The contents of the chain, collected from its first link on."""

    def __init__(self, malformed: set[tuple[str, Any]]) -> None:
        self.malformed = malformed  # rows that cannot be compared, by table and id
        self.last = 0
        self.link = START
        self.at: dict[int, str] = {0: START}
        self.digests: dict[tuple[str, str], str] = {}
        self.details: dict[tuple[str, str], str] = {}  # the kind of an entry after its first word
        self.form = ""

    def follow(self, key: bytes, entry: Entry, changed: list[str], missing: list[str]) -> None:
        if entry.seq != self.last + 1:
            missing.append(f"links {self.last + 1} to {entry.seq - 1} of the chain are missing")
            self.link = ""
        expected = link_of(key, self.link, entry.seq, entry.kind, entry.record_id, entry.digest)
        if self.link and expected != entry.link:
            changed.append(f"link {entry.seq} of the chain was changed")
        self.last, self.link = entry.seq, entry.link
        self.at[entry.seq] = entry.link
        if entry.record_id == SEGMENT:
            self._begin_segment(key, entry, changed)
            return
        kind, details = entry.kind, ""
        if kind.startswith(("open ", "ended ")):
            kind, _, details = kind.partition(" ")
            self.details[kind, entry.record_id] = details
        if (kind, entry.record_id) in self.digests and kind in ("decision", "opened", "ended"):
            changed.append(f"`{entry.record_id}` was chained twice")
        self.digests[kind, entry.record_id] = entry.digest

    def _begin_segment(self, key: bytes, entry: Entry, changed: list[str]) -> None:
        """Begin a segment; it chains all remaining records again, so the digests of earlier segments are not needed."""
        if digest_of_segment(key, entry.kind) != entry.digest:
            changed.append(f"link {entry.seq} of the chain was changed")
        self.form = form_of_segment(entry.kind)
        gone = f"expired {BODIES}"
        self.digests = {at: digest for at, digest in self.digests.items() if at[0] == gone}
        self.details = {}


def _compare_anchors(state: _Chain, anchors: list[Anchor], changed: list[str], missing: list[str]) -> None:
    for anchor in anchors:
        if anchor.count > state.last:
            missing.append(f"the chain ends at link {state.last}, but it had {anchor.count} before")
            break
        if state.at.get(anchor.count) != anchor.link:
            changed.append(f"link {anchor.count} of the chain differs from the anchor file beside the database")
            break


def missing_anchors(links: int, anchors: list[Anchor]) -> tuple[str, ...]:
    """Return a message if the chain has more links than the anchors say."""
    newest = anchors[-1].count if anchors else 0
    if newest >= links:
        return ()
    return (f"the anchor file beside the database ends at link {newest}, but the chain has {links}",)


def _compare_decisions(
    tx: Transaction, key: bytes, state: _Chain, seen: int, changed: list[str], missing: list[str], page: int
) -> int:
    count = last = 0
    found: set[str] = set()
    while rows := decisions.rows_after(tx, last, page):
        for row in rows:
            digest = state.digests.get(("decision", row.id))
            found.add(row.id)
            if digest is None and row.seq <= seen:
                changed.append(f"decision `{row.id}` was inserted between others")
            elif digest is not None and digest != digest_of_decision(key, row):
                changed.append(f"decision `{row.id}` was changed")
        count, last = count + len(rows), rows[-1].seq
    _note_missing(key, state, "decision", found, missing)
    return count


def _compare_traces(
    tx: Transaction, key: bytes, state: _Chain, seen: int, since: int, changed: list[str], missing: list[str], page: int
) -> None:
    """Compare traces; they expire before their decisions."""
    last, found = 0, set()
    while rows := decisions.traces_after(tx, last, page):
        for trace in rows:
            found.add(trace.decision_id)
            is_the_same = state.digests.get(("trace", trace.decision_id)) == digest_of_trace(key, trace)
            if trace.seq <= seen and not is_the_same:  # else something was added to it later
                changed.append(f"the trace of decision `{trace.decision_id}` was changed")
        last = rows[-1].seq
    gone = [id_ for kind, id_ in state.digests if kind == "trace" and id_ not in found]
    young = decisions.made_since(tx, since) if gone else set()
    missing += [f"the trace of decision `{id_}` is missing" for id_ in gone if id_ in young]


def _compare_calls(
    tx: Transaction, key: bytes, state: _Chain, seen: int, since: int, changed: list[str], missing: list[str], page: int
) -> tuple[int, int]:
    count = waiting = 0
    found: set[str] = set()
    last = -1
    related = _RelatedRows(tx, key, state, since)
    while calls := ledger.calls_after(tx, last, page):
        for call in calls:
            found.add(call.tool_call_id)
            if ("tool_calls", call.tool_call_id) in state.malformed:
                continue
            is_new = ("opened", call.tool_call_id) not in state.digests
            waiting += is_new
            if is_new and call.revision <= seen:
                changed.append(f"tool call `{call.tool_call_id}` was inserted between others")
            elif _differs(key, state, call, seen):
                changed.append(f"tool call `{call.tool_call_id}` was changed")
            elif not is_new:
                related.compare(call, changed, missing)
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
    # It was open when it was chained last. A regular change gives it a new revision and changes other fields too.
    last = state.details.get(("open", id_), "").partition(" ")[0]
    as_it_was = msgspec.structs.replace(call, revision=int(last) if last.isdecimal() else -1)
    is_the_same = state.digests.get(("open", id_)) == digest_of_call(key, as_it_was, "open")
    return not is_the_same if call.revision <= seen else is_the_same


def _note_missing(key: bytes, state: _Chain, kind: str, found: set[str], missing: list[str]) -> None:
    noun = "decision" if kind == "decision" else "tool call"
    for chained, id_ in state.digests:
        if chained != kind or id_ in found:
            continue
        if state.digests.get((f"expired {kind}", id_)) != mac_of(key, "expired", kind, id_):
            missing.append(f"{noun} `{id_}` is missing")


class _RelatedRows:
    """Compare the bodies and claims of calls. They expire before their call; a body's key is the hash of its text."""

    def __init__(self, tx: Transaction, key: bytes, state: _Chain, since: int) -> None:
        self._tx, self._key, self._state, self._since = tx, key, state, since
        self._checked: set[str] = set()

    def compare(self, call: Call, changed: list[str], missing: list[str]) -> None:
        details = self._state.details.get(("ended", call.tool_call_id)) or ""
        request, response, claim = f"{details} - - -".split()[:3]
        may_be_gone = call.created_at < self._since
        for ref, size in ((call.request_ref, request), (call.response_ref, response)):
            if ref and ref not in self._checked:
                self._checked.add(ref)
                self._compare_body(call, ref, "-" if may_be_gone else size, changed, [] if may_be_gone else missing)
        if claim == "-":
            self._compare_without_claim(call, changed, [] if may_be_gone else missing)
        elif not may_be_gone and ("expired claim", call.tool_call_id) not in self._state.digests:
            self._compare_claim(call, claim, changed, missing)

    def _compare_without_claim(self, call: Call, changed: list[str], missing: list[str]) -> None:
        """Compare the claim of a call that held none when it ended, or that has not ended."""
        has_ended = ("ended", call.tool_call_id) in self._state.digests
        if has_ended and claim_digest(self._tx, self._key, call) != "-":
            changed.append(f"a claim for tool call `{call.tool_call_id}` was inserted")
        elif (
            self._state.details.get(("open", call.tool_call_id)) == f"{call.revision} claimed"
            # A later call may have taken it over; then that one holds it.
            and claims.holder(self._tx, call.run_id, call.idempotency_key) is None
        ):
            missing.append(f"the claim of tool call `{call.tool_call_id}` is missing")

    def _compare_claim(self, call: Call, chained: str, changed: list[str], missing: list[str]) -> None:
        now = claim_digest(self._tx, self._key, call)
        if now == "-":
            missing.append(f"the claim of tool call `{call.tool_call_id}` is missing")
        elif now != chained:
            changed.append(f"the claim of tool call `{call.tool_call_id}` was changed")

    def _compare_body(self, call: Call, ref: str, size: str, changed: list[str], missing: list[str]) -> None:
        found = ledger.body(self._tx, ref)
        if found is None:
            missing.append(f"an input or output of tool call `{call.tool_call_id}` is missing")
        elif ledger.body_ref(found[0]) != ref or size not in ("-", str(found[1])):
            changed.append(f"an input or output of tool call `{call.tool_call_id}` was changed")


def _all_entries(tx: Transaction, page: int) -> Iterator[Entry]:
    last = 0
    while found := entries(tx, last, page):
        yield from found
        last = found[-1].seq
