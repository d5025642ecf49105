"""What memories are searched with: is the table of words whole?"""

from collections.abc import Iterator

from snell.cli.health import Check, Visit
from snell.llm.embeddings.word_table import word_table


def checks(visit: Visit) -> Iterator[Check]:
    table = word_table()
    if table.problem:
        advice = "memories are found by their own words meanwhile; install Snell again"
        yield Check("memory", "warn", table.problem, advice)
    else:
        yield Check("memory", "ok", f"the table of words is whole, {len(table.stems):,} stems")
