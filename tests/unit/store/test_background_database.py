"""Work that no caller waits for leaves capacity for calls that a caller waits for."""

import threading
import time
from pathlib import Path

import pytest

from snell.records import marks
from snell.store.background_database import SHORTEST_PAUSE, BackgroundDatabase
from snell.store.sqlite import SqliteDatabase


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "snell.db"


def busy_for(seconds: float, tx) -> None:
    marks.put(tx, "s", "long", seconds)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def test_others_get_as_long_a_turn_as_a_transaction_took(path: Path) -> None:
    database = BackgroundDatabase(SqliteDatabase(path))
    database.run(lambda tx: tx.rows("SELECT 1"))
    took = []
    for work in (lambda tx: busy_for(0.05, tx), lambda tx: marks.put(tx, "s", "n", 1)):
        begun = time.monotonic()
        database.run(work)
        took.append(time.monotonic() - begun)
    assert took[0] >= 0.1
    assert took[1] >= SHORTEST_PAUSE
    database.close()


def test_a_hurried_one_writes_while_another_program_has_much_to_write(path: Path) -> None:
    long, hurried = BackgroundDatabase(SqliteDatabase(path)), SqliteDatabase(path, low_latency=True)
    hurried.open()
    is_over = threading.Event()

    def write_on() -> None:
        while not is_over.is_set():
            long.run(lambda tx: busy_for(0.01, tx))

    thread = threading.Thread(target=write_on)
    thread.start()
    try:
        for number in range(100):
            hurried.run(lambda tx, number=number: marks.put(tx, "s", "n", number))
    finally:
        is_over.set()
        thread.join()
    assert hurried.run(lambda tx: marks.get(tx, "s", "n"), only_reads=True) == 99
    long.close()
    hurried.close()
