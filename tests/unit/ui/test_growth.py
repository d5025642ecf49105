"""A page takes about as long in a store of a million rows as in one of ten thousand."""

import statistics
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from snell.model.protocols import Transaction
from snell.records.ledger import Call
from snell.store.sqlite import SqliteDatabase
from snell.system.paths import places
from snell.ui.pages import ledger, now, sessions
from snell.ui.site import Site
from snell.ui.store import ReadOnlyStore

MOST = 1.5  # times as long
ROUNDS = 15
_NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
_ID, _SESSION = "printf('%012d', i)", "'session-' || (i / 40)"
_CALL = {name: "0" if kind is int else "''" for name, kind in Call.__annotations__.items()} | {
    **dict.fromkeys(("created_at", "updated_at", "started_at", "finished_at"), "i * 1000"),
    **dict.fromkeys(("tool_call_id", "decision_id"), _ID),
    "session_id": _SESSION,
    "revision": "i",
    "duration_ms": "5",
    "raw_tool_name": "'Bash'",
    "status": "CASE i % 50 WHEN 0 THEN 'denied' ELSE 'succeeded' END",
    "intent": "'[]'",
    "confirmed": "'[]'",
}
_FILL = (
    (
        f"INSERT INTO decisions (seq, id, at, session_id, client, event, tool, tool_use_id, request_key, verdict, ms,"
        f" rewritten, failures, payload_hash, reply_hash, in_ledger) {_NUMBERS} SELECT i, {_ID}, i * 1000, {_SESSION},"
        " 'claude_code', 'PreToolUse', 'Bash', '', '', CASE i % 50 WHEN 0 THEN 'deny' ELSE 'no_opinion' END,"
        " 0.4, 0, 0, '', '', 1 FROM n"
    ),
    (
        f"INSERT INTO traces (seq, decision_id, body, late) {_NUMBERS} SELECT i, {_ID},"
        """ '{"cwd":"/project","value":{"command":"make ' || i || '"},"reasons":[]}', '[]' FROM n"""
    ),
    f"INSERT INTO tool_calls ({', '.join(_CALL)}) {_NUMBERS} SELECT {', '.join(_CALL.values())} FROM n",
)
PAGES: dict[str, Callable[[Site], Any]] = {
    "now": lambda site: now.show(site, {}),
    "denied": lambda site: now.show(site, {"verdict": "deny"}),
    "filter without a match": lambda site: now.show(site, {"text": "no such text", "project": "/project"}),
    "older": lambda site: now.show(site, {"before": "9000"}),
    "sessions": lambda site: sessions.show(site, {}),
    "one session": lambda site: sessions.show_one(site, {"id": "session-200"}),
    "ledger": lambda site: ledger.show(site, {}),
    "failed calls": lambda site: ledger.show(site, {"status": "failed"}),
}


def site_with(folder: Path, rows: int) -> Site:
    env = {"SNELL_HOME": str(folder), "HOME": str(folder)}
    where = places(env)
    database = SqliteDatabase(where.state / "snell.db")

    def fill(tx: Transaction) -> None:
        for statement in _FILL:
            tx.do(statement, rows)

    database.run(fill)
    database.close()
    with closing(apsw.Connection(str(where.state / "snell.db"))) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # a page in the log is slower to read
    return Site(where, env, ReadOnlyStore(where.state / "snell.db"), True)


def seconds(page: Callable[[Site], Any], site: Site) -> float:
    """Return the processor time of a page: other work on the machine does not count."""
    began = time.process_time()
    page(site)
    return time.process_time() - began


@pytest.mark.nightly
@pytest.mark.alone
@pytest.mark.timeout(900)
def test_a_page_of_a_million_rows_takes_at_most_half_as_long_again(tmp_path: Path, figure: Callable[..., None]):
    few, many = site_with(tmp_path / "few", 10_000), site_with(tmp_path / "many", 1_000_000)
    ratios = {}
    for name, page in PAGES.items():
        page(few), page(many)
        pairs = [(seconds(page, few), seconds(page, many)) for _ in range(ROUNDS)]
        ratios[name] = round(statistics.median(b for _, b in pairs) / statistics.median(a for a, _ in pairs), 2)
    figure(ratios=ratios)
    assert max(ratios.values()) <= MOST, ratios
