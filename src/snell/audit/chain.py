"""Follow the audit chain: compute every link again, and collect what the links say about the records."""

from snell.audit.malformed_rows import MalformedRow
from snell.audit.verified_point import VerifiedPoint
from snell.model.protocols import Transaction
from snell.records import audit_chain
from snell.records.audit_anchors import Anchor
from snell.records.audit_chain import mac_of

EXPIRED_BEFORE = [f"expired {kind}" for kind in (audit_chain.BODIES, audit_chain.TRACES)]


class Chain:
    """The contents of the chain after the last verified point, and what is wrong with it."""

    def __init__(self, key: bytes, malformed: list[MalformedRow], point: VerifiedPoint) -> None:
        self.key = key
        self.changed = [str(each) for each in malformed]
        self.missing: list[str] = []
        # Rows that cannot be compared, by table and id.
        self.malformed = {(each.table, each.number if each.table == "audit_chain" else each.id) for each in malformed}
        self.start = self.last = point.links
        self.link = point.link
        self.at: dict[int, str] = {self.last: self.link}
        self.digests: dict[tuple[str, str], str] = {}
        self.details: dict[tuple[str, str], str] = {}  # the kind of an entry after its first word
        self.form = point.form if point.links else ""

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
            self.digests = {at: digest for at, digest in self.digests.items() if at[0] in EXPIRED_BEFORE}
            self.details = {}
            return
        kind = self._remember(entry)
        if kind is None:
            self.changed.append(f"`{entry.record_id}` was chained twice")

    def _remember(self, entry: audit_chain.Entry) -> str | None:
        """Keep what a link says; returns None if the same was said before, and must not be said twice."""
        kind, details = entry.kind, ""
        if kind.startswith(("open ", "ended ")):
            kind, _, details = kind.partition(" ")
            self.details[kind, entry.record_id] = details
        is_twice = (kind, entry.record_id) in self.digests and kind in ("decision", "opened", "ended")
        self.digests[kind, entry.record_id] = entry.digest
        return None if is_twice else kind

    def read_earlier(self, tx: Transaction, record_id: str) -> None:
        """Add what the links before the verified point say about a record that changed since."""
        if self.start and ("opened", record_id) not in self.digests:
            newer = {at: digest for at, digest in self.digests.items() if at[1] == record_id} if self.digests else {}
            details = {at: self.details[at] for at in newer if at in self.details}
            for entry in audit_chain.entries_of(tx, record_id, self.start):
                self._remember(entry)
            self.digests.update(newer)
            self.details.update(details)

    def read_expired(self, tx: Transaction) -> None:
        """Add the deletions of bodies and traces before the verified point."""
        for kind in EXPIRED_BEFORE if self.start else ():
            for (before,) in tx.rows("SELECT record_id FROM audit_chain WHERE kind = ? AND seq <= ?", kind, self.start):
                self.digests.setdefault((kind, str(before)), "")

    def compare_anchors(self, anchors: list[Anchor]) -> None:
        for anchor in anchors:
            if anchor.count > self.last:
                self.missing.append(f"the chain ends at link {self.last}, but it had {anchor.count} before")
                break
            if anchor.count >= self.start and self.at.get(anchor.count) != anchor.link:
                differs = f"link {anchor.count} of the chain differs from the anchor file beside the database"
                self.changed.append(differs)
                break

    def compare_ends(self, tx: Transaction, ends: dict[tuple[int, str], str]) -> None:
        """Compare the ends of the chain that seals name: records outlive a chain that was removed or replaced."""
        for (count, link), record in sorted(ends.items()):
            found = self.at.get(count) or next((str(row[0]) for row in tx.rows(_LINK, count)), "") if count else link
            if not found.startswith(link):
                self.missing.append(f"{record} was written when the chain had {count} links, which are gone now")

    def note_missing(self, kind: str, noun: str, found: set[str]) -> None:
        """Report chained records that are neither found nor chained as expired."""
        for chained, id_ in self.digests:
            if chained != kind or id_ in found:
                continue
            if self.digests.get((f"expired {kind}", id_)) != mac_of(self.key, "expired", kind, id_):
                self.missing.append(f"{noun} `{id_}` is missing")


_LINK = "SELECT link FROM audit_chain WHERE seq = ?"
