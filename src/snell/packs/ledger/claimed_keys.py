"""Which key a call of this process was claimed under: its own, or one with a nonce."""

from snell.packs.ledger.call_description import NamedCall

KEPT = 4_096
_held: dict[str, str] = {}  # the oldest first


def hold(which: NamedCall, key: str) -> str:
    """Remember a key; returns another one that this call was claimed under before, if it was."""
    before = _held.get(which.call_id, key)
    _held[which.call_id] = key
    if len(_held) > KEPT:
        del _held[next(iter(_held))]
    return before if before != key else ""


def key_held(which: NamedCall) -> str:
    """After a restart it is the plain one, or the row of the call says it."""
    return _held.get(which.call_id, which.key)
