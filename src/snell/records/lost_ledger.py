"""
A ledger that was lost. A new database knows nothing of the calls of the old one, so what looks new may have been done.

Until a person has looked, the side effects of runs that may have begun before are refused; a run that began since has
nothing to repeat.
"""

from pathlib import Path

from snell.model.meta_table import put_meta
from snell.model.protocols import Transaction
from snell.work import runs

LOST = "ledger_lost"
NOTED_BESIDE = "audit.anchor"  # the file beside a database that says how far its audit chain goes
_BEGUN = "ledger_begun_since/"


def missing(path: Path) -> str:
    """What is noted beside a database outlives it, so a new one that finds such a note is not the first."""
    noted = path.with_name(NOTED_BESIDE)
    was_here = noted.is_file() and noted.stat().st_size > 0
    return f"`{path}`: was removed or emptied; what it held is gone" if was_here else ""


def note(tx: Transaction, what: str) -> None:
    """This database takes the place of one that is lost."""
    put_meta(tx, LOST, what)


def lost_ledger(tx: Transaction) -> str:
    """What was lost, as long as nobody has looked; else nothing."""
    found = tx.rows("SELECT value FROM meta WHERE name = ?", LOST)
    return str(found[0][0]) if found else ""


def begin_since(tx: Transaction, run_id: str) -> None:
    """A run begins after the loss."""
    put_meta(tx, f"{_BEGUN}{run_id}", "")


def concerns(tx: Transaction, run_id: str) -> str:
    """What was lost, if this run may have begun before."""
    what = lost_ledger(tx)
    if not what or runs.find(tx, run_id) or tx.rows("SELECT 1 FROM meta WHERE name = ?", f"{_BEGUN}{run_id}"):
        return ""
    return what


def accept(tx: Transaction) -> bool:
    """A person has looked; returns whether there was something to look at."""
    was_lost = tx.do("DELETE FROM meta WHERE name = ?", LOST) == 1
    tx.do("DELETE FROM meta WHERE name LIKE ?", f"{_BEGUN}%")
    return was_lost
