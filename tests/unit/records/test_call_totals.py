"""Statistics of the ledger by tool, over all calls: the stored sums and the rows that they do not cover."""

import random
from collections import defaultdict
from pathlib import Path

import apsw
import pytest

from snell.model.protocols import Transaction
from snell.records import ledger
from snell.records.call_totals import ToolStats, read_stats
from snell.records.ledger import Call, End
from snell.store.sqlite import SqliteDatabase
from tests.seeds import draw_seed

TOOLS = ("Bash", "Read", "mcp__mail__send")
ENDS = ("succeeded", "failed", "denied", "abandoned_on_resume")


@pytest.fixture
def database(tmp_path: Path):
    made = SqliteDatabase(tmp_path / "state" / "snell.db")
    yield made
    made.close()


def call(number: int) -> Call:
    return Call(
        tool_call_id=f"s/t{number}",
        session_id="s",
        raw_tool_name=TOOLS[number % 3],
        idempotency_key=f"k{number}",
        status="running",
    )


def counted(database: SqliteDatabase) -> list[ToolStats]:
    """Count the rows one by one."""
    found: dict[str, list[int]] = defaultdict(lambda: [0] * 5)
    for tool, status, duration in database.run(
        lambda tx: tx.rows("SELECT raw_tool_name, status, duration_ms FROM tool_calls"), only_reads=True
    ):
        sums = found[tool]
        sums[:] = [
            sums[0] + 1,
            sums[1] + (status == "failed"),
            sums[2] + (status == "denied"),
            sums[3] + duration,
            max(sums[4], duration),
        ]
    stats = (ToolStats(tool, *sums) for tool, sums in found.items())
    return sorted(stats, key=lambda each: (-each.calls, each.tool))


@pytest.mark.parametrize("round_", range(5))
def test_the_sums_are_those_of_the_rows_whatever_happened_between_two_readings(database: SqliteDatabase, round_: int):
    chance = random.Random(f"call totals {draw_seed()} {round_}")
    for turn in range(30):
        numbers = range(turn * 20, turn * 20 + chance.randrange(20))

        def work(tx: Transaction, numbers: range = numbers) -> None:
            for number in numbers:
                ledger.begin(tx, call(number))
            for number in chance.sample(range(600), 60):  # also calls of earlier turns, also a second end
                if ledger.find(tx, f"s/t{number}"):
                    end = End(status=chance.choice(ENDS), at=1, duration_ms=chance.randrange(500))
                    ledger.finish(tx, call(number), end)
            if chance.random() < 0.1:
                tx.do("DELETE FROM tool_calls WHERE revision < ?", chance.randrange(300))

        database.run(work)
        assert read_stats(database, step=16) == counted(database)
    assert database.run(lambda tx: tx.rows("SELECT 1 FROM call_totals"))  # the sums were used


def test_a_locked_store_is_read_without_new_sums(database: SqliteDatabase):
    database.run(lambda tx: [ledger.finish(tx, call(number), End(status="succeeded", at=1)) for number in range(40)])
    other = apsw.Connection(str(database.path))
    other.execute("BEGIN IMMEDIATE")
    assert read_stats(database, step=16) == counted(database)
    other.execute("ROLLBACK")
