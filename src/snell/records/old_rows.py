"""Seal the rows that earlier versions wrote, a few at a time; they are trusted as they are found."""

from snell.model.protocols import Transaction
from snell.model.tables import blanks
from snell.records import audit_chain, row_seals

FIRST = -(2**63)


class OldRows:
    """`step` seals some rows; it remembers how far it came."""

    def __init__(self) -> None:
        self._tables = list(row_seals.TABLES)
        self._last = FIRST
        self.is_done = False

    def step(self, tx: Transaction, key: bytes, most: int) -> bool:
        """Seal at most so many rows; returns whether there is more to do. At the end, chain that all have a seal."""
        has_seals = tx.dialect == "sqlite" and row_seals.columns(tx.rows, "decisions")
        self.is_done = not has_seals or audit_chain.are_rows_sealed(tx)
        if self.is_done:
            return False
        while self._tables:
            if self._seal_some(tx, self._tables[0], most):
                return True
            del self._tables[0]
            self._last = FIRST
        for table in filter(lambda each: row_seals.columns(tx.rows, each), row_seals.TALLIED):
            seals = [row_seals.number_of(seal) for (seal,) in tx.rows(f"SELECT seal FROM {table}")]
            tally = row_seals.tally_of(key, table, len(seals), sum(seals))
            tx.do("INSERT OR REPLACE INTO row_tallies (name, tally) VALUES (?, ?)", table, tally)
        audit_chain.note_sealed(tx, key)
        return False

    def _seal_some(self, tx: Transaction, table: str, most: int) -> int:
        """Return the number of rows that were looked at. A value that is written again gets its seal by the trigger."""
        *_, same = row_seals.columns(tx.rows, table) or [""]
        if not same:
            return 0  # the table was removed, which `snell audit verify` reports
        if table in row_seals.WITHOUT_ROWID:
            return tx.do(f"UPDATE {table} SET {same} = {same} WHERE seal = x''")
        found = tx.rows(f"SELECT rowid FROM {table} WHERE rowid > ? ORDER BY rowid LIMIT ?", self._last, most)
        ids = [int(number) for (number,) in found]
        if ids:
            self._last = ids[-1]
            tx.do(f"UPDATE {table} SET {same} = {same} WHERE seal = x'' AND rowid IN ({blanks(ids)})", *ids)
        return len(ids)
