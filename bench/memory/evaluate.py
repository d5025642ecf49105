"""
How well memories are found again: mean reciprocal rank and recall at five, for each way of searching.

    python -m bench.memory.evaluate [--distractors 2000] [--model FOLDER]

With the folder of a MiniLM the same is asked with its vectors, too. Questions in `asked` were looked at while tuning;
those in `aside` were not. They use words of developers or everyday words, or are about developers' projects, over
memories of their own. Distractors are other memories of such a project, put together from parts, so that there is
something to be wrong about.
"""

import argparse
import random
import tempfile
import tomllib
from pathlib import Path

from msgspec.structs import replace

from snell.llm.embeddings import Embedder
from snell.llm.embeddings.minilm import model_in
from snell.memory.recall import ALPHA, DENSE_ALPHA, Question, recall
from snell.memory.remember import add_dense, remember, without_dense
from snell.memory.shortlist import shortlist_of
from snell.memory.types import Draft
from snell.model.protocols import Database, Transaction
from snell.store.sqlite import SqliteDatabase

HERE = Path(__file__).parent
SETS = {
    "questions.toml": {"asked": "other words, tuned on", "aside": "other words, kept aside", "exact": "an identifier"},
    "everyday.toml": {"asked": "everyday words, tuned on", "aside": "everyday words, kept aside"},
    "projects.toml": {"asked": "about projects, tuned on", "aside": "about projects, kept aside"},
    "services.toml": {"asked": "about services, looked at", "aside": "about services, kept aside"},
}
WAYS = {"words": 0.0, "vectors": 1.0, "both": ALPHA}
MODEL_WAYS = {"MiniLM": 1.0, "MiniLM and words": DENSE_ALPHA}


def main() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--distractors", type=int, default=1000)
    parser.add_argument("--model", type=Path)
    given = parser.parse_args()
    print("\n".join(report(given.distractors, model_in(given.model) if given.model else None)))


def report(distractors: int = 1000, model: Embedder | None = None) -> list[str]:
    """The figures as the rows of a table; always the same for the same program."""
    found = [row for name, kinds in SETS.items() for row in _figures(name, kinds, distractors, model)]
    return [f"| {kind} | {way} | {mrr:.2f} | {recall:.2f} |" for kind, way, mrr, recall in found]


def _figures(
    name: str, kinds: dict[str, str], distractors: int, model: Embedder | None
) -> list[tuple[str, str, float, float]]:
    rows = tomllib.loads((HERE / name).read_text(encoding="utf-8"))["memory"]
    with tempfile.TemporaryDirectory() as folder:
        database = SqliteDatabase(Path(folder, "state", "eval.db"))
        fill(database, rows, distractors)
        ways = WAYS.items()
        found = [(kinds[kind], way, *score(database, rows, kind, alpha)) for kind in kinds for way, alpha in ways]
        if model:
            embed(database, model)
            ways = MODEL_WAYS.items()
            asked = [(kind, way, alpha) for kind in kinds for way, alpha in ways]
            found += [(kinds[kind], way, *score(database, rows, kind, alpha, model)) for kind, way, alpha in asked]
        database.close()
    return found


def embed(database: Database, model: Embedder) -> None:
    unseen = database.run(lambda tx: without_dense(tx, model.name, 1_000_000))
    vectors = model.embed([text for _, text in unseen])
    pairs = [(id_, vector) for (id_, _), vector in zip(unseen, vectors, strict=True)]
    database.run(lambda tx: add_dense(tx, model.name, pairs))


def fill(database: Database, rows: list[dict[str, str]], distractors: int) -> None:
    texts = [row["text"] for row in rows] + made_up(distractors)

    def work(tx: Transaction) -> None:
        for text in texts:
            remember(tx, Draft(content=text, project="acme"), shortlist_of(database), similar=2.0, is_gated=False)

    database.run(work)


def made_up(number: int) -> list[str]:
    """Other memories of such a project, put together from parts."""
    chance = random.Random(7)
    made: set[str] = set()
    while len(made) < number:
        made.add(" ".join(chance.choice(part) for part in PARTS).format(number=chance.randint(2, 900)))
    return sorted(made)


PARTS = (
    ("We agreed that", "Note that", "The convention is that", "It turned out that", "Remember:", "In the end"),
    (
        "the report screen", "the parser for bank statements", "the admin console", "the geo importer",
        "module {number}",
        "the thumbnail worker", "the chat widget", "the test runner", "the permission table", "the cache of sessions",
        "the release script", "the mail template", "the login form", "the database of stock", "the job for invoices",
        "the android build", "the audit trail", "the secrets store", "the metrics collector", "the price calculator",
    ),
    (
        "needs {number} MB of memory", "waits for the lock of its neighbour", "is written in Rust",
        "must not be retried",
        "reads its configuration twice", "fails when the disk is full", "is deployed separately", "has no tests yet",
        "uses a queue with {number} slots", "was slow before the index", "keeps its state in a file", "logs too much",
        "breaks on empty input", "is owned by the platform team", "expects dates in ISO form", "caches for {number} s",
    ),
    (
        "because of a customer", "since version {number}", "until the migration is done", "so ask before changing it",
        "and nobody knows why", "as the tests show", "which surprised us", "due to a library", "on every platform",
        "in ticket {number}", "although it was planned otherwise", "after the incident",
    ),
)  # fmt: skip


def score(
    database: Database, rows: list[dict[str, str]], kind: str, alpha: float, model: Embedder | None = None
) -> tuple[float, float]:
    ranks = [_rank(database, row["text"], row[kind], alpha, model) for row in rows if kind in row]
    return sum(1 / rank for rank in ranks if rank) / len(ranks), sum(0 < rank <= 5 for rank in ranks) / len(ranks)


def _rank(database: Database, wanted: str, question: str, alpha: float, model: Embedder | None) -> int:
    asked = Question(text=question, project="acme", limit=20, alpha=alpha)
    if model:
        asked = replace(asked, dense=model.embed([question])[0], dense_model=model.name)
    lists = shortlist_of(database), shortlist_of(database, "dense_signature")
    found = database.run(lambda tx: recall(tx, asked, *lists))
    return next((number for number, each in enumerate(found, 1) if each.memory.content == wanted), 0)


if __name__ == "__main__":
    main()
