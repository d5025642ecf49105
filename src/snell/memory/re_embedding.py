"""
Offline vectors that an earlier Snell made, or one without its table of words, are made anew from the text.

A few at a time, so that nobody waits; then `bump` tells whoever keeps a list of signatures. Until all are done both
kinds are compared: they have the places of words and letters in common, and words are searched for as ever.
"""

from snell.llm.embeddings.static_vectors import earlier_makes, make, signature_of, vector_of
from snell.model.protocols import Transaction

AT_ONCE = 25  # very long ones take tens of milliseconds each, and others may wait to write


def re_embed(tx: Transaction, limit: int = AT_ONCE) -> int:
    """Make so many vectors anew; returns how many there were to make. What knows more than this Snell stays."""
    earlier, ours = earlier_makes(), make()
    marks = ", ".join("?" for _ in earlier)
    found = tx.rows(f"SELECT seq, content FROM memories WHERE vector_make IN ({marks}) LIMIT ?", *earlier, limit)
    for seq, content in found:
        vector = vector_of(str(content))
        sql = "UPDATE memories SET vector = ?, signature = ?, vector_make = ? WHERE seq = ?"
        tx.do(sql, vector, signature_of(vector), ours, seq)
    return len(found)
