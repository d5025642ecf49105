"""Words that stand for another one when something is searched for: by the groups written by hand, and by the table."""

from functools import lru_cache

from snell.llm.embeddings.concepts import related_words
from snell.llm.embeddings.word_table import word_table

OTHER = 0.5  # how much a word of the same group counts, and any other one at most
BY_TABLE = 0.8  # how much a word counts that means the very same by the table


@lru_cache(maxsize=20_000)
def synonyms(term: str) -> dict[str, float]:
    """The other words, each with how much it counts for this one."""
    near = {other: min(OTHER, BY_TABLE * cosine) for other, cosine in word_table().nearest(term).items()}
    return near | dict.fromkeys(related_words(term), OTHER)
