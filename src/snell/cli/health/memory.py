"""The word table that memories are searched with."""

from collections.abc import Iterator

from snell.cli.health import Check, Installation
from snell.llm.embeddings.word_table import word_table


def checks(installation: Installation) -> Iterator[Check]:
    table = word_table()
    if table.problem:
        advice = "until then memories are found only by exact words; install Snell again"
        yield Check("memory", "warn", table.problem, advice)
    else:
        yield Check("memory", "ok", f"word table OK ({len(table.stems):,} stems)")
