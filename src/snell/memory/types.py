"""The types of the package: a memory, a draft, and the result of storing or searching one."""

import hashlib
import unicodedata
from typing import Any, Literal

from msgspec import Struct

from snell.model.errors import SnellError

ANY = "*"  # in place of a project: all of them
LONGEST = 100_000  # characters of one memory

Status = Literal["stored", "rejected_exact", "rejected_similar", "potential_duplicate", "rejected_quality"]


class NotRememberedError(SnellError):
    """A text that cannot be stored or found as requested."""

    id = "memory"


class Memory(Struct, frozen=True, kw_only=True):
    """One remembered text. Times are milliseconds since 1970; an empty project is none."""

    id: str
    content: str
    namespace: str = "default"
    project: str = ""
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    metadata: dict[str, Any] = {}
    source: str = ""  # `remember`, `import`, or the hook that captured it
    agent: str = ""
    created_at: int = 0
    updated_at: int = 0
    accessed_at: int = 0
    accesses: int = 0


class Draft(Struct, frozen=True, kw_only=True):
    """A text to be remembered. It is already redacted: no later step looks for secrets."""

    content: str
    namespace: str = "default"
    project: str = ""
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    metadata: dict[str, Any] = {}
    source: str = "remember"
    agent: str = ""
    idempotency_key: str = ""
    signal: float = 0.0  # how strong the signal in the text is, 0 to 1
    at: int = 0  # when it was stated; now, if that is unknown


def as_draft(memory: Memory, **changes: Any) -> Draft:
    """Return the draft that stores this memory again, with some fields changed."""
    shared = {name: getattr(memory, name) for name in Draft.__struct_fields__ if name in Memory.__struct_fields__}
    return Draft(**{**shared, **changes})


class StoreResult(Struct, frozen=True, kw_only=True):
    """The result of storing a draft."""

    status: Status
    id: str = ""  # of the memory with this text: the new one, or the existing one
    similarity: float = 0.0  # to the existing memory
    quality: float = 1.0
    importance: float = 0.0
    supersedes: str = ""  # the older memory that this one corrects

    @property
    def is_stored(self) -> bool:
        return self.status == "stored"


class Hit(Struct, frozen=True):
    """A memory that answers a question, and how well, 0 to 1."""

    memory: Memory
    similarity: float
    by: str = ""  # which search found it: words, meaning, both


def content_hash(content: str) -> str:
    """Return a hash that is the same for texts that differ in case and outer white space only."""
    return hashlib.sha256(unicodedata.normalize("NFC", content).strip().lower().encode()).hexdigest()
