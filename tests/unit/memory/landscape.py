"""Some memories about a few topics, as points."""

from snell.llm.embeddings.static_vectors import vector_of
from snell.memory.types import Memory
from snell.memory.vector_space import Space

TEXTS = {
    "db1": "We decided to use PostgreSQL for the orders database because SQLite locked under load",
    "db2": "The orders table of the database needs an index on customer_id",
    "db3": "PostgreSQL connection pool size is 20; more connections made the database slower",
    "db4": "Use a transaction for every change to the orders table in PostgreSQL",
    "ci1": "The CI pipeline runs the tests on every push",
    "ci2": "The CI pipeline fails when coverage of the tests falls below 85 percent",
    "ci3": "Flaky tests in the CI pipeline are quarantined for a week",
    "ci4": "Run the slow integration tests in the CI pipeline at night",
    "tea": "Ana's birthday is on the third of May",
}
MEMORIES = {each: Memory(id=each, content=text, importance=0.5) for each, text in TEXTS.items()}


def space(texts: dict[str, str] | None = None) -> Space:
    return Space({each: vector_of(text) for each, text in (TEXTS if texts is None else texts).items()})
