"""
Find candidates for the memories nearest to a vector, by comparing signatures of all of them.

Differing bits are counted with numpy if it is installed, else with Python integers, with the same result. The
candidates are then compared by their vectors. The list is only a hint: every row on it is read again, so a deleted one
does no harm. A server with pgvector finds them itself.
"""

import heapq
import sys
from collections import defaultdict
from typing import Any
from weakref import WeakKeyDictionary

from snell.llm.embeddings.static_vectors import numpy_with_bits, signature_of, significant_bits
from snell.memory import pgvector
from snell.memory.types import ANY
from snell.model.protocols import Database, Transaction
from snell.model.tables import get_meta

MANY = 5_000  # signatures for which loading numpy is worthwhile
OVERLAP = 1_000  # rows that are read again, since rows of several writers may appear out of order

_Key = tuple[str, str, int]  # project, namespace, length of the signature


class _Part:
    """The signatures of one namespace of one project."""

    def __init__(self) -> None:
        self.seqs: list[int] = []
        self.bits = bytearray()
        self.numbers: list[int] = []  # the same, as far as it was needed without numpy

    def add(self, seq: int, signature: bytes) -> None:
        self.seqs.append(seq)
        self.bits += signature

    def near(self, wanted: bytes, mask: bytes, most: int, numpy: Any) -> list[tuple[int, int]]:
        """Return distance and `seq`, the nearest first."""
        found = self._by_numpy(numpy, wanted, mask, most) if numpy else self._by_numbers(wanted, mask, most)
        return [(distance, self.seqs[at]) for distance, at in found]

    def _by_numpy(self, np: Any, wanted: bytes, mask: bytes, most: int) -> list[tuple[int, int]]:
        kind = np.uint64 if len(wanted) % 8 == 0 else np.uint8
        table = np.frombuffer(self.bits, dtype=kind).reshape(len(self.seqs), -1)
        ours, informative = np.frombuffer(wanted, dtype=kind), np.frombuffer(mask, dtype=kind)
        distances = np.zeros(len(self.seqs), dtype=np.uint16)
        for at in range(table.shape[1]):  # column by column: summing along short rows takes several times as long
            distances += np.bitwise_count((table[:, at] ^ ours[at]) & informative[at])
        if len(distances) <= most:
            best = np.arange(len(distances))
        else:  # also those with the same distance as the last: of these the first are used, as without numpy
            best = np.flatnonzero(distances <= np.partition(distances, most - 1)[most - 1])
        return sorted((int(distances[at]), int(at)) for at in best)[:most]

    def _by_numbers(self, wanted: bytes, mask: bytes, most: int) -> list[tuple[int, int]]:
        width = len(wanted)
        for at in range(len(self.numbers) * width, len(self.bits), width):
            self.numbers.append(int.from_bytes(self.bits[at : at + width], "big"))
        ours, informative = int.from_bytes(wanted, "big"), int.from_bytes(mask, "big")
        distances = [((each ^ ours) & informative).bit_count() for each in self.numbers]
        return heapq.nsmallest(most, zip(distances, range(len(distances)), strict=True))


class Shortlist:
    """Signatures of all memories, kept up to date by reading the new rows."""

    def __init__(self, column: str = "signature") -> None:
        self._column = column
        self.clear()

    def clear(self) -> None:
        """Forget everything; for when the transaction in which it was read failed."""
        self._parts: dict[_Key, _Part] = defaultdict(_Part)
        self._last = 0
        self._recent: set[int] = set()
        self._generation = ""

    def near(self, tx: Transaction, vector: bytes, *, project: str, namespace: str = "", most: int) -> list[int]:
        """Return the `seq` of at most `most` memories with the signatures nearest to the vector's, nearest first."""
        if tx.vectors:
            return pgvector.nearest(tx, self._column, vector, project=project, namespace=namespace, most=most)
        self._refresh(tx)
        wanted, mask = signature_of(vector), significant_bits(vector)
        found: list[tuple[int, int]] = []
        number = sum(len(part.seqs) for part in self._parts.values())
        numpy = numpy_with_bits() if number >= MANY or "numpy" in sys.modules else None
        for (its_project, its_namespace, width), part in self._parts.items():
            if project in (ANY, its_project) and namespace in ("", its_namespace) and width == len(wanted):
                found += part.near(wanted, mask, most, numpy)
        return [seq for _, seq in heapq.nsmallest(most, found)]

    def _refresh(self, tx: Transaction) -> None:
        current = generation(tx)
        if current != self._generation:
            self.clear()
            self._generation = current
        overlap = 0 if tx.dialect == "sqlite" else OVERLAP
        columns = f"seq, project, namespace, {self._column}"
        sql = f"SELECT {columns} FROM memories WHERE seq > ? AND {self._column} IS NOT NULL ORDER BY seq"
        for seq, project, namespace, signature in tx.rows(sql, self._last - overlap):
            if seq not in self._recent:
                self._parts[(project, namespace, len(signature))].add(seq, bytes(signature))
                self._last = max(self._last, seq)
                if overlap:
                    self._recent.add(seq)
        self._recent = {seq for seq in self._recent if seq > self._last - overlap}


def shortlist_of(database: Database, column: str = "signature") -> Shortlist:
    """Return the list of a database, one for as long as the database is used."""
    lists = _LISTS.setdefault(database, {})
    return lists.setdefault(column, Shortlist(column))


_LISTS: WeakKeyDictionary[Database, dict[str, Shortlist]] = WeakKeyDictionary()


def bump(tx: Transaction) -> None:
    """Tell all lists that rows which they know have changed."""
    sql = "INSERT INTO meta (name, value) VALUES ('memory_generation', '1')"
    tx.do(f"{sql} ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(meta.value AS INTEGER) + 1 AS TEXT)")


def generation(tx: Transaction) -> str:
    """Return a value that changes with each `bump`."""
    return get_meta(tx, "memory_generation") or "0"
