"""SHA-256 over canonical JSON, so that equal definitions have equal digests whatever file they stand in."""

import hashlib
import json
from typing import Any


def digest_of(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def short_digest(value: Any) -> str:
    """Enough to tell the hooks of one person apart."""
    return digest_of(value)[:8]


def digest_of_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
