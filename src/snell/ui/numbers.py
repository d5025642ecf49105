"""Numbers in the address of a page, which a user may have typed."""

from snell.ui.site import Query

LARGEST = 2**62


def number_in(query: Query, name: str) -> int:
    """Return a number of the query; 0 if it is none, or none that a row can have."""
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 and int(text) < LARGEST else 0
