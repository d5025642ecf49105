"""The scopes of a session's marks."""


def persistent_scope(session_id: str) -> str:
    """
    Marks that still count when an ended session is resumed: limits, and what a person set.

    `session:ID` is for everything else, and is forgotten when the session ends.
    """
    return f"lasting:{session_id}"
