"""Show what the nudges pack would add to a prompt."""

from snell.packs.nudges.prompts import keyword_for, parts_for
from snell.settings.check_rows import Row, options_of_pack, text_in


def check_row(row: Row) -> Row:
    """Find the route for the prompt of one row."""
    return {"route": keyword_for(text_in(row, "prompt", ""), options_of_pack("nudges")) or None}


def lines(row: Row, _answer: Row) -> list[str]:
    """Return what would be added to the prompt."""
    return ["\n\n".join(parts_for(row["prompt"], options_of_pack("nudges"))) or "no route matches: nothing is added"]
