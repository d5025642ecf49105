"""
Record that the ledger was lost, and which runs that concerns.

A new database does not know the calls of the lost one, so a call that looks new may have been made before. Until the
user acknowledges the loss, side effects of runs that may have begun before it are refused; later runs have nothing to
repeat.
"""

from pathlib import Path

from snell.model.protocols import Transaction
from snell.model.tables import get_meta, put_meta
from snell.work import runs

LOST = "ledger_lost"
ANCHOR_FILE = "audit.anchor"  # the file beside a database with the length of its audit chain
_BEGUN = "ledger_begun_since/"


def find_loss(path: Path) -> str:
    """Return what happened to an earlier database at this path; empty if there was none."""
    anchors = path.with_name(ANCHOR_FILE)  # this file outlives the database
    was_here = anchors.is_file() and anchors.stat().st_size > 0
    return f"`{path}`: was removed or emptied; its rows are lost" if was_here else ""


def record_loss(tx: Transaction, what: str) -> None:
    """Store that this database replaces a lost one."""
    put_meta(tx, LOST, what)


def lost_ledger(tx: Transaction) -> str:
    """Return what was lost; empty once the user has acknowledged it."""
    return get_meta(tx, LOST)


def record_new_run(tx: Transaction, run_id: str) -> None:
    """Store that a run began after the loss."""
    put_meta(tx, f"{_BEGUN}{run_id}", "")


def loss_for_run(tx: Transaction, run_id: str) -> str:
    """Return what was lost, if this run may have begun before the loss; else an empty text."""
    what = lost_ledger(tx)
    if not what or runs.find(tx, run_id) or tx.rows("SELECT 1 FROM meta WHERE name = ?", f"{_BEGUN}{run_id}"):
        return ""
    return what


def acknowledge_loss(tx: Transaction) -> bool:
    """Delete the record of a loss; returns whether there was one."""
    was_lost = tx.do("DELETE FROM meta WHERE name = ?", LOST) == 1
    tx.do("DELETE FROM meta WHERE name LIKE ?", f"{_BEGUN}%")
    return was_lost
