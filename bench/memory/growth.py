"""
How long recall takes as memories grow: CPU time, the middle of some questions, in a warm process.

    python bench/memory/growth.py [--memories 100000]
"""

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

from bench.memory.evaluate import made_up
from snell.memory.recall import Question, recall
from snell.memory.remember import remember
from snell.memory.shortlist import shortlist_of
from snell.memory.types import Draft
from snell.model.protocols import Transaction
from snell.store.sqlite import SqliteDatabase

QUESTIONS = {
    "rare word": "what about ticket identifier 77123",
    "usual words": "why does the geo importer fail when the disk is full",
    "stop words": "what is the and of it",
    "one frequent word": "memory",
    "long prompt": "please look at the login form and the release script and the cache of sessions " * 20,
}


def main() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--memories", type=int, default=100_000)
    number = parser.parse_args().memories
    chance = random.Random(5)
    with tempfile.TemporaryDirectory() as folder:
        database = SqliteDatabase(Path(folder, "state", "growth.db"))
        parts = made_up(min(number, 5_000))
        begun = time.process_time()
        for start in range(0, number, 2_000):
            texts = [f"{chance.choice(parts)} item{each}" for each in range(start, min(start + 2_000, number))]
            database.run(lambda tx, texts=texts: keep(tx, texts, database))  # type: ignore[misc]  # bound at once
        print(f"{number} stored in {time.process_time() - begun:.1f} s")
        for name, text in QUESTIONS.items():
            print(f"{name:18} {measured(database, text):6.1f} ms")
        database.close()


def keep(tx: Transaction, texts: list[str], database: SqliteDatabase) -> None:
    for text in texts:
        remember(tx, Draft(content=text, project="acme"), shortlist_of(database), similar=2.0, is_gated=False)


def measured(database: SqliteDatabase, text: str) -> float:
    question = Question(text=text, project="acme")
    times = []
    for _ in range(7):
        begun = time.process_time()
        database.run(lambda tx: recall(tx, question, shortlist_of(database)))
        times.append(1000 * (time.process_time() - begun))
    return statistics.median(times)


if __name__ == "__main__":
    main()
