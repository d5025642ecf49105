"""Compare decisions, tool calls and memories with their seals and with the audit chain; report changes and gaps."""

from collections.abc import Callable, Iterator

import msgspec

from snell.audit.chain import EXPIRED_BEFORE, Chain
from snell.audit.findings import Findings
from snell.audit.malformed_rows import find_malformed_rows
from snell.audit.progress import Progress, no_progress
from snell.audit.seals import SealCheck
from snell.audit.verified_point import NOTHING, VerifiedPoint
from snell.model.protocols import T, Transaction
from snell.records import audit_chain, claims, decisions, ledger
from snell.records.audit_anchors import Anchor
from snell.records.ledger import Call
from snell.records.retention import DAY_MS, TRACE_DAYS


def verify(
    tx: Transaction,
    key: bytes,
    anchors: list[Anchor],
    *,
    now: int = 0,
    point: VerifiedPoint = NOTHING,
    step: Progress = no_progress,
    page: int = 10_000,
) -> Findings:
    """Compute every link after the point again, and compare every record that was written or changed after it."""
    chain = Chain(key, find_malformed_rows(tx), point)
    for entry in _all(tx, audit_chain.entries, page, last=point.links):
        if ("audit_chain", entry.seq) not in chain.malformed:
            chain.follow(entry)
            step(1)
    chain.compare_anchors(anchors)
    seals = SealCheck(tx, key, page, step)
    seals.check({"decisions": point.decision, "traces": point.trace, "tool_calls": point.revision}, point.tallies)
    chain.compare_ends(tx, seals.ends)
    seen = audit_chain.read_head(tx, key)
    is_earlier = bool(chain.last) and chain.form != audit_chain.FORM
    if is_earlier:
        waiting = _count(tx, "decisions") + _count(tx, "tool_calls")
    else:
        waiting = _Records(tx, chain, now - TRACE_DAYS * DAY_MS, page, step).compare(seen, point)
    reported = {text.rpartition(" was ")[0] for text in chain.changed}  # a row that differs from its link as well
    forged = [f"{row} was written or changed by another program" for row in seals.forged if row not in reported]
    return Findings(
        (*chain.changed, *forged, *seals.changed),
        (*chain.missing, *seals.missing),
        chain.last,
        decisions=_count(tx, "decisions"),
        calls=_count(tx, "tool_calls"),
        memories=_count(tx, "memories"),
        waiting=waiting,
        unsealed=seals.unsealed,
        earlier=chain.last if is_earlier else max(0, seen.since - 1),
        since=point.at,
        before=point.links,
    )


def missing_anchors(links: int, anchors: list[Anchor]) -> tuple[str, ...]:
    """Return a message if the chain has more links than the anchors say."""
    newest = anchors[-1].count if anchors else 0
    if newest >= links:
        return ()
    return (f"the anchor file beside the database ends at link {newest}, but the chain has {links}",)


def count_rows(tx: Transaction, point: VerifiedPoint) -> int:
    """Return about how many rows a verification after this point reads."""
    links = _count(tx, "audit_chain") - point.links
    newer = sum(
        int(tx.rows(f"SELECT COUNT(*) FROM {table} WHERE {number} > ?", after)[0][0])
        for table, number, after in (
            ("decisions", "seq", point.decision),
            ("traces", "seq", point.trace),
            ("tool_calls", "revision", point.revision),
        )
    )
    return links + 2 * newer + _count(tx, "memories")


def _count(tx: Transaction, table: str) -> int:
    return int(tx.rows(f"SELECT COUNT(*) FROM {table}")[0][0])


class _Records:
    """
    Compare records with the chain.

    Traces expire before their decisions, bodies and claims before their calls; `since` is the time after which they
    must be there. The key of a body is the hash of its text.
    """

    def __init__(self, tx: Transaction, chain: Chain, since: int, page: int, step: Progress) -> None:
        self._tx, self._chain, self._page, self._key, self._step = tx, chain, page, chain.key, step
        chain.read_expired(tx)
        self._bodies_since, self._traces_since = (
            max(since, *(int(id_) for each, id_ in chain.digests if each == kind and id_.isdecimal()), 0)
            for kind in EXPIRED_BEFORE
        )
        self._checked: set[str] = set()

    def compare(self, seen: audit_chain.Head, point: VerifiedPoint) -> int:
        """Compare what came after the point; up to `seen` it is chained. Returns how many are not chained yet."""
        self.compare_decisions(seen.decision, point.decision)
        self.compare_traces(seen.trace, point.trace)
        waiting = self.compare_calls(seen.revision, point.revision)
        self.compare_owners()
        return waiting + int(self._tx.rows("SELECT COUNT(*) FROM decisions WHERE seq > ?", seen.decision)[0][0])

    def compare_decisions(self, seen: int, after: int) -> None:
        """Compare decisions after a number; those up to `seen` are chained."""
        found: set[str] = set()
        for row in _all(self._tx, decisions.rows_after, self._page, last=after):
            self._step(1)
            digest = self._chain.digests.get(("decision", row.id))
            found.add(row.id)
            if digest is None and row.seq <= seen:
                self._chain.changed.append(f"decision `{row.id}` was inserted between others")
            elif digest is not None and digest != audit_chain.digest_of_decision(self._key, row):
                self._chain.changed.append(f"decision `{row.id}` was changed")
        self._chain.note_missing("decision", "decision", found)

    def compare_traces(self, seen: int, after: int) -> None:
        found: set[str] = set()
        for trace in _all(self._tx, decisions.traces_after, self._page, last=after):
            self._step(1)
            found.add(trace.decision_id)
            digest = self._chain.digests.get(("trace", trace.decision_id))
            # After `seen` something was added later.
            if trace.seq <= seen and digest != audit_chain.digest_of_trace(self._key, trace):
                self._chain.changed.append(f"the trace of decision `{trace.decision_id}` was changed")
        gone = [id_ for kind, id_ in self._chain.digests if kind == "trace" and id_ not in found]
        young = decisions.made_since(self._tx, self._traces_since) if gone else set()
        self._chain.missing += [f"the trace of decision `{id_}` is missing" for id_ in gone if id_ in young]

    def compare_calls(self, seen: int, after: int) -> int:
        """Compare tool calls with their bodies and claims; returns how many wait."""
        waiting = 0
        found: set[str] = set()
        for call in _all(self._tx, ledger.calls_after, self._page, "revision", after or -1):
            self._step(1)
            self._chain.read_earlier(self._tx, call.tool_call_id)
            found.add(call.tool_call_id)
            if ("tool_calls", call.tool_call_id) in self._chain.malformed:
                continue
            is_new = ("opened", call.tool_call_id) not in self._chain.digests
            waiting += is_new
            if is_new and call.revision <= seen:
                self._chain.changed.append(f"tool call `{call.tool_call_id}` was inserted between others")
            elif self._differs(call, seen):
                self._chain.changed.append(f"tool call `{call.tool_call_id}` was changed")
            elif not is_new:
                self._compare_related_rows(call)
        self._chain.note_missing("opened", "tool call", found)
        return waiting

    def compare_owners(self) -> None:
        """Report claims that no call made. The claim of a chained call that is missing is not foreign."""
        for id_ in claims.claims_without_owner(self._tx):
            if ledger.find(self._tx, id_) or not ledger.is_chained(self._tx, id_):
                self._chain.changed.append(f"a claim for tool call `{id_}` was inserted")

    def _differs(self, call: Call, seen: int) -> bool:
        digests, id_ = self._chain.digests, call.tool_call_id
        for kind in ("ended", "opened"):
            digest = digests.get((kind, id_))
            if digest is not None and digest != audit_chain.digest_of_call(self._key, call, kind):
                return True
        if ("ended", id_) in digests or ("opened", id_) not in digests:
            return False
        # It was open when it was chained last. A regular change gives it a new revision and changes other fields too.
        last = self._chain.details.get(("open", id_), "").partition(" ")[0]
        as_it_was = msgspec.structs.replace(call, revision=int(last) if last.isdecimal() else -1)
        is_the_same = digests.get(("open", id_)) == audit_chain.digest_of_call(self._key, as_it_was, "open")
        return not is_the_same if call.revision <= seen else is_the_same

    def _compare_related_rows(self, call: Call) -> None:
        details = self._chain.details.get(("ended", call.tool_call_id)) or ""
        request, response, claim = f"{details} - - -".split()[:3]
        may_be_gone = call.created_at < self._bodies_since
        missing = [] if may_be_gone else self._chain.missing
        for ref, size in ((call.request_ref, request), (call.response_ref, response)):
            if ref and ref not in self._checked:
                self._checked.add(ref)
                self._compare_body(call, ref, "-" if may_be_gone else size, missing)
        if claim == "-":
            self._compare_without_claim(call, missing)
        elif not may_be_gone and ("expired claim", call.tool_call_id) not in self._chain.digests:
            now = audit_chain.claim_digest(self._tx, self._key, call)
            if now == "-":
                self._chain.missing.append(f"the claim of tool call `{call.tool_call_id}` is missing")
            elif now != claim:
                self._chain.changed.append(f"the claim of tool call `{call.tool_call_id}` was changed")

    def _compare_without_claim(self, call: Call, missing: list[str]) -> None:
        """Compare the claim of a call that held none when it ended, or that has not ended."""
        id_ = call.tool_call_id
        if ("ended", id_) in self._chain.digests and audit_chain.claim_digest(self._tx, self._key, call) != "-":
            self._chain.changed.append(f"a claim for tool call `{id_}` was inserted")
        elif (
            self._chain.details.get(("open", id_)) == f"{call.revision} claimed"
            # A later call may have taken it over; then that one holds it.
            and claims.holder(self._tx, call.run_id, call.idempotency_key) is None
        ):
            missing.append(f"the claim of tool call `{id_}` is missing")

    def _compare_body(self, call: Call, ref: str, size: str, missing: list[str]) -> None:
        found = ledger.body(self._tx, ref)
        if found is None:
            missing.append(f"an input or output of tool call `{call.tool_call_id}` is missing")
        elif ledger.body_ref(found[0]) != ref or size not in ("-", str(found[1])):
            self._chain.changed.append(f"an input or output of tool call `{call.tool_call_id}` was changed")


def _all(
    tx: Transaction, read: Callable[[Transaction, int, int], list[T]], page: int, number: str = "seq", last: int = 0
) -> Iterator[T]:
    """Return all rows, read in pages after the number of the last one."""
    while found := read(tx, last, page):
        yield from found
        last = getattr(found[-1], number)
