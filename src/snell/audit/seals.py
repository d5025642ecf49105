"""Compare rows with their seals, and tables with their tallies."""

from collections.abc import Iterator, Mapping
from typing import Any

from snell.audit.progress import Progress
from snell.audit.verified_point import read_tallies
from snell.model.protocols import Transaction
from snell.model.tables import DAMAGED, get_meta
from snell.records import audit_chain, row_seals
from snell.records.row_seals import TABLES, TALLIED, WITHOUT_ROWID, number_of

SHOWN = 80  # characters of an id
# How a row is named: what it is, and the columns of its id.
_NAMES = {
    "decisions": ("decision", "id"),
    "traces": ("the trace of decision", "decision_id"),
    "tool_calls": ("tool call", "tool_call_id"),
    "tool_claims": ("the claim of tool call", "tool_call_id"),
    "tool_receipts": ("the receipt of tool call", "tool_call_id"),
    "memories": ("memory", "id"),
    "memory_keys": ("the key of memory", "memory_id"),
    "meta": ("the value in `meta`", "name"),
    "runs": ("run", "run_id"),
    "run_steps": ("the step of run", "run_id"),
    "checkpoints": ("the checkpoint of run", "run_id"),
    "run_replays": ("the replay of run", "run_id"),
}
NEEDED = ("schema", "audit_head")  # the names that `meta` has once there is a chain


class SealCheck:
    """What is wrong with the seals; `ends` are the ends of the chain that they name."""

    def __init__(self, tx: Transaction, key: bytes, page: int, step: Progress) -> None:
        self._tx, self._key, self._page, self._step = tx, key, page, step
        self._must_be_sealed = audit_chain.are_rows_sealed(tx)
        self.forged: list[str] = []  # rows without a valid seal
        self.changed: list[str] = []
        self.missing: list[str] = []
        self.ends: dict[tuple[int, str], str] = {}
        self.unsealed = 0

    def check(self, after: Mapping[str, int], tallies: Mapping[str, str]) -> None:
        """Check the rows after these numbers, and the tables whose tallies are not these."""
        if self._tx.dialect != "sqlite" or not row_seals.columns(self._tx.rows, "decisions"):
            return
        kept = read_tallies(self._tx)
        for table in TABLES:
            tally = kept.get(table, b"")
            if not (table in tallies and tallies[table] == tally.hex()):
                self._check_table(table, after.get(table, 0), tally)
        if damage := get_meta(self._tx, DAMAGED):
            self.changed.append(f"`meta` was damaged by another program, and repaired: {damage}")
        if self._must_be_sealed:
            known = {str(name) for (name,) in self._tx.rows("SELECT name FROM meta")}
            self.missing += [f"the value in `meta` `{name}` is missing" for name in NEEDED if name not in known]

    def _check_table(self, table: str, after: int, tally: bytes) -> None:
        names = row_seals.columns(self._tx.rows, table)
        noun, id_ = _NAMES[table]
        at = names.index(id_)
        rows = total = 0
        for seal, *values in self._rows(table, names, after):
            rows, total = rows + 1, total + number_of(seal)
            if row_seals.is_sealed(self._key, table, tuple(values), seal):
                self.ends.setdefault(row_seals.end_in_seal(seal), _name(noun, values[at]))
            elif seal == b"" and not self._must_be_sealed:
                self.unsealed += 1
            else:
                self.forged.append(_name(noun, values[at]))
        if table in TALLIED and self._must_be_sealed:
            self._compare_tally(table, row_seals.read_tally(self._key, table, tally), (rows, total % (1 << 128)))

    def _compare_tally(self, table: str, kept: tuple[int, int] | None, found: tuple[int, int]) -> None:
        if kept is None:
            self.changed.append(f"the tally of `{table}` was changed or is missing")
        elif kept[0] > found[0]:
            self.missing.append(f"`{table}` has {found[0]:,} rows, but had {kept[0]:,}: some were deleted")
        elif kept != found:
            self.changed.append(f"rows of `{table}` were added or exchanged by another program")

    def _rows(self, table: str, names: list[str], after: int) -> Iterator[tuple[Any, ...]]:
        """Yield seal and values of the rows of a table after a number, in pages."""
        number = "revision" if after and table == "tool_calls" else "rowid"
        select = f"SELECT {{}}seal, {', '.join(names)} FROM {table}"
        if table in WITHOUT_ROWID:
            yield from self._tx.rows(select.format(""))
            return
        last: Any = after or -(2**63)
        while found := self._tx.rows(
            f"{select.format(f'{number}, ')} WHERE {number} > ? ORDER BY {number} LIMIT ?", last, self._page
        ):
            yield from (row[1:] for row in found)
            self._step(len(found))
            last = found[-1][0]


def _name(noun: str, id_: object) -> str:
    return f"{noun} `{''.join(char if char.isprintable() else '?' for char in f'{id_!s:.{SHOWN}}')}`"
