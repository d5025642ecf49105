"""Which key a call of this process was claimed under: its own, or one with a nonce."""

from collections import OrderedDict

from snell.packs.ledger.describing import Named

KEPT = 4_096
_held: OrderedDict[str, str] = OrderedDict()


def hold(which: Named, key: str) -> str:
    """Remember a key; returns another one that this call was claimed under before, if it was."""
    before = _held.pop(which.call_id, "")
    _held[which.call_id] = key
    while len(_held) > KEPT:
        _held.popitem(last=False)
    return before if before != key else ""


def key_held(which: Named) -> str:
    """After a restart it is the plain one, or the row of the call says it."""
    return _held.get(which.call_id, which.key)
