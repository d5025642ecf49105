"""Compare decisions and tool calls with the audit chain, and report changes and gaps."""

from collections.abc import Callable, Iterator

import msgspec
from msgspec import Struct

from snell.model.protocols import T, Transaction
from snell.records import audit_chain, claims, decisions, ledger
from snell.records.audit_chain import mac_of
from snell.records.ledger import Call
from snell.records.malformed_rows import MalformedRow, find_malformed_rows
from snell.records.retention import DAY_MS, TRACE_DAYS

_BODIES_EXPIRED = f"expired {audit_chain.BODIES}"


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
    chain = _Chain(key, find_malformed_rows(tx))
    for entry in _all(tx, audit_chain.entries, page):
        if ("audit_chain", entry.seq) not in chain.malformed:
            chain.follow(entry)
    chain.compare_anchors(anchors)
    if chain.last and chain.form != audit_chain.FORM:
        made, calls = (int(tx.rows(f"SELECT COUNT(*) FROM {table}")[0][0]) for table in ("decisions", "tool_calls"))
        return chain.findings(made, calls, waiting=made + calls, earlier=chain.last)
    seen = audit_chain.read_head(tx, key)
    records = _Records(tx, chain, now - TRACE_DAYS * DAY_MS, page)
    made = records.compare_decisions(seen.decision)
    records.compare_traces(seen.trace)
    calls, waiting = records.compare_calls(seen.revision)
    records.compare_owners()
    waiting += int(tx.rows("SELECT COUNT(*) FROM decisions WHERE seq > ?", seen.decision)[0][0])
    return chain.findings(made, calls, waiting=waiting, earlier=max(0, seen.since - 1))


def missing_anchors(links: int, anchors: list[Anchor]) -> tuple[str, ...]:
    """Return a message if the chain has more links than the anchors say."""
    newest = anchors[-1].count if anchors else 0
    if newest >= links:
        return ()
    return (f"the anchor file beside the database ends at link {newest}, but the chain has {links}",)


class _Chain:
    """The contents of the chain, collected from its first link on, and what is wrong with it."""

    def __init__(self, key: bytes, malformed: list[MalformedRow]) -> None:
        self.key = key
        self.changed = [str(each) for each in malformed]
        self.missing: list[str] = []
        # Rows that cannot be compared, by table and id.
        self.malformed = {(each.table, each.number if each.table == "audit_chain" else each.id) for each in malformed}
        self.last = 0
        self.link = audit_chain.START
        self.at: dict[int, str] = {0: audit_chain.START}
        self.digests: dict[tuple[str, str], str] = {}
        self.details: dict[tuple[str, str], str] = {}  # the kind of an entry after its first word
        self.form = ""

    def follow(self, entry: audit_chain.Entry) -> None:
        if entry.seq != self.last + 1:
            self.missing.append(f"links {self.last + 1} to {entry.seq - 1} of the chain are missing")
            self.link = ""
        expected = mac_of(self.key, self.link, str(entry.seq), entry.kind, entry.record_id, entry.digest)
        if self.link and expected != entry.link:
            self.changed.append(f"link {entry.seq} of the chain was changed")
        self.last, self.link = entry.seq, entry.link
        self.at[entry.seq] = entry.link
        if entry.record_id == audit_chain.SEGMENT:
            # A segment chains all remaining records again, so the digests of earlier ones are not needed.
            if mac_of(self.key, audit_chain.SEGMENT, entry.kind) != entry.digest:
                self.changed.append(f"link {entry.seq} of the chain was changed")
            self.form = audit_chain.form_of_segment(entry.kind)
            self.digests = {at: digest for at, digest in self.digests.items() if at[0] == _BODIES_EXPIRED}
            self.details = {}
            return
        kind, details = entry.kind, ""
        if kind.startswith(("open ", "ended ")):
            kind, _, details = kind.partition(" ")
            self.details[kind, entry.record_id] = details
        if (kind, entry.record_id) in self.digests and kind in ("decision", "opened", "ended"):
            self.changed.append(f"`{entry.record_id}` was chained twice")
        self.digests[kind, entry.record_id] = entry.digest

    def compare_anchors(self, anchors: list[Anchor]) -> None:
        for anchor in anchors:
            if anchor.count > self.last:
                self.missing.append(f"the chain ends at link {self.last}, but it had {anchor.count} before")
                break
            if self.at.get(anchor.count) != anchor.link:
                differs = f"link {anchor.count} of the chain differs from the anchor file beside the database"
                self.changed.append(differs)
                break

    def note_missing(self, kind: str, noun: str, found: set[str]) -> None:
        """Report chained records that are neither found nor chained as expired."""
        for chained, id_ in self.digests:
            if chained != kind or id_ in found:
                continue
            if self.digests.get((f"expired {kind}", id_)) != mac_of(self.key, "expired", kind, id_):
                self.missing.append(f"{noun} `{id_}` is missing")

    def findings(self, made: int, calls: int, *, waiting: int, earlier: int) -> Findings:
        found = (tuple(self.changed), tuple(self.missing), self.last, made, calls)
        return Findings(*found, waiting=waiting, earlier=earlier)


class _Records:
    """
    Compare records with the chain.

    Traces expire before their decisions, bodies and claims before their calls; `since` is the time after which they
    must be there. The key of a body is the hash of its text.
    """

    def __init__(self, tx: Transaction, chain: _Chain, since: int, page: int) -> None:
        self._tx, self._chain, self._page, self._key = tx, chain, page, chain.key
        self._traces_since = since
        gone = (id_ for kind, id_ in chain.digests if kind == _BODIES_EXPIRED)
        self._bodies_since = max(since, *(int(id_) for id_ in gone if id_.isdecimal()), 0)
        self._checked: set[str] = set()

    def compare_decisions(self, seen: int) -> int:
        """Compare decisions, of which those up to `seen` are chained; returns their number."""
        found: set[str] = set()
        for row in _all(self._tx, decisions.rows_after, self._page):
            digest = self._chain.digests.get(("decision", row.id))
            found.add(row.id)
            if digest is None and row.seq <= seen:
                self._chain.changed.append(f"decision `{row.id}` was inserted between others")
            elif digest is not None and digest != audit_chain.digest_of_decision(self._key, row):
                self._chain.changed.append(f"decision `{row.id}` was changed")
        self._chain.note_missing("decision", "decision", found)
        return len(found)

    def compare_traces(self, seen: int) -> None:
        found: set[str] = set()
        for trace in _all(self._tx, decisions.traces_after, self._page):
            found.add(trace.decision_id)
            digest = self._chain.digests.get(("trace", trace.decision_id))
            # After `seen` something was added later.
            if trace.seq <= seen and digest != audit_chain.digest_of_trace(self._key, trace):
                self._chain.changed.append(f"the trace of decision `{trace.decision_id}` was changed")
        gone = [id_ for kind, id_ in self._chain.digests if kind == "trace" and id_ not in found]
        young = decisions.made_since(self._tx, self._traces_since) if gone else set()
        self._chain.missing += [f"the trace of decision `{id_}` is missing" for id_ in gone if id_ in young]

    def compare_calls(self, seen: int) -> tuple[int, int]:
        """Compare tool calls with their bodies and claims; returns how many there are, and how many wait."""
        waiting = 0
        found: set[str] = set()
        for call in _all(self._tx, ledger.calls_after, self._page, "revision", -1):
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
        return len(found), waiting

    def compare_owners(self) -> None:
        """Report claims that no call made. The claim of a chained call that is missing is not foreign."""
        for id_ in claims.claims_without_owner(self._tx):
            if ledger.find(self._tx, id_) or ("opened", id_) not in self._chain.digests:
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
