"""Ids from outside, as the ledger uses them: a call is called `SESSION/NUMBER`."""

import hashlib
import re

_SAFE = re.compile(r"[\w.:@ -]{1,128}", re.ASCII)


def safe(text: str) -> str:
    """An id from outside, or, when it is not one, something short that stands for it."""
    if not text or _SAFE.fullmatch(text):
        return text
    return "#" + hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()
