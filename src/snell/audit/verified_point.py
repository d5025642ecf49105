"""
The last verified point: a file beside the database that says up to where nothing was wrong.

The next verification begins there. Its MAC is made with the key of the audit; a file that was changed counts as none,
and then everything is verified.
"""

import contextlib
from pathlib import Path

import msgspec
from msgspec import Struct

from snell.model.protocols import Transaction
from snell.records.audit_chain import FORM, START, Head, mac_of
from snell.system.files import FileError, read_capped, write_atomically

POINT_FILE = "audit.verified"
FULL_AFTER_MS = 7 * 86_400_000  # after a week everything is verified again
_LARGEST = 100_000


class VerifiedPoint(Struct, frozen=True):
    at: int = 0  # milliseconds since 1970
    full_at: int = 0  # when everything was verified
    links: int = 0
    link: str = START
    decision: int = 0
    trace: int = 0
    revision: int = 0
    form: str = FORM
    tallies: dict[str, str] = {}
    mac: str = ""

    def with_mac(self, key: bytes) -> "VerifiedPoint":
        text = msgspec.json.encode(msgspec.structs.replace(self, mac="")).decode()
        return msgspec.structs.replace(self, mac=mac_of(key, "verified", text))


NOTHING = VerifiedPoint()


def read_point(folder: Path, key: bytes, now: int) -> VerifiedPoint:
    """Return the point from which to verify: the beginning, if there is none, or all is due again."""
    with contextlib.suppress(OSError, FileError, msgspec.MsgspecError):
        data = read_capped(folder / POINT_FILE, _LARGEST, follow_links=False)
        point = msgspec.json.decode(data, type=VerifiedPoint)
        is_recent = 0 <= now - point.full_at < FULL_AFTER_MS
        if point == point.with_mac(key) and point.form == FORM and is_recent:
            return point
    return NOTHING


def write_point(folder: Path, key: bytes, point: VerifiedPoint) -> None:
    with contextlib.suppress(OSError, FileError):  # then the next verification does more
        write_atomically(folder / POINT_FILE, msgspec.json.encode(point.with_mac(key)))


def point_at(tx: Transaction, head: Head, before: VerifiedPoint, now: int) -> VerifiedPoint:
    """Return the point for records up to this end of the chain."""
    return VerifiedPoint(
        at=now,
        full_at=before.full_at or now,
        links=head.count,
        link=head.link,
        decision=head.decision,
        trace=head.trace,
        revision=head.revision,
        tallies={name: tally.hex() for name, tally in read_tallies(tx).items()},
    )


def read_tallies(tx: Transaction) -> dict[str, bytes]:
    """Return the tallies by the names of their tables, without what is none."""
    found = tx.rows("SELECT name, tally FROM row_tallies") if tx.dialect == "sqlite" else []
    return {str(name): tally for name, tally in found if isinstance(tally, bytes)}
