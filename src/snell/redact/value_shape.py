"""Judge what a value looks like: random, made of words, or a placeholder."""

from functools import lru_cache
from itertools import pairwise
from math import log2

from snell.redact.foreign_names import names
from snell.redact.pattern_file import PATTERNS

PLACEHOLDER = "[redacted:"


@lru_cache(maxsize=4_096)
def is_blank(value: str) -> bool:
    """Whether it is a reference, a mask, a placeholder or a documentation example: no real secret."""
    if not any(map(str.isalnum, value)):
        return True
    if PATTERNS.reference.match(value) or is_mask(value):
        return True
    if PATTERNS.sample.search(value) or PATTERNS.sample.match(value.rstrip("!?)]}.,;:`")):
        return True
    return bool(names().fullmatch(value)) or (len(value) >= 12 and entropy(value[:256]) < 2.0)  # `password: Passwort`


def is_mask(value: str) -> bool:
    """Whether it consists of hardly more than one character: `xxxxxxxx`, `********`, `0000-0000`."""
    body = value.strip("-_. ")
    if len(body) < 3:
        return False
    return len(set(body.lower())) <= (1 if len(body) < 5 else 2 if len(body) < 12 else 3) or "xxxxx" in body.lower()


def is_sample_of(body: str) -> bool:
    """Whether the part of a known format that should be random is not."""
    if "EXAMPLE" in body or is_mask(body) or PATTERNS.name_of_program.fullmatch(body):
        return True
    return len(body) >= 16 and entropy(body) < (2.0 if body.isdigit() else 2.3 if len(body) < 20 else 2.6)


def is_random(value: str, least: int = 12) -> bool:
    """Whether it was not written by hand: long enough, letters among digits, and hardly any repetition."""
    if len(value) < least or not PATTERNS.key_like.fullmatch(value):
        return False
    digits = sum(map(str.isdigit, value))
    if digits == len(value):
        return len(value) >= 14
    if not digits:
        return len(value) >= 20 and changes(value) >= len(value) // 5 and not _is_words(value)
    is_base32 = len(value) >= 16 and value.isupper() and value.isalnum()
    if PATTERNS.named_like.fullmatch(value) and not is_base32:  # release-2024-05, linux-x64-node20, SalesResults-1.2
        return False
    return entropy(value) >= (2.6 if len(value) < 16 else 3.0)


def _is_words(value: str) -> bool:
    """Whether it is words, perhaps written together: `noDeleteOnFetchRejection`."""
    parts = PATTERNS.camel_case.findall(value)
    return is_wordy(value) or (len(parts) <= len(value) // 4 and "".join(parts) == value)


def is_jumbled(value: str) -> bool:
    """Whether upper and lower case alternate as in no name: `blQTxMSKzZks`, but not `parseJSONFromURL`."""
    return (
        len(value) >= 10 and changes(value) * 3 >= len(value) and "".join(PATTERNS.camel_case.findall(value)) != value
    )


def is_wordy(value: str) -> bool:
    """Whether it is words and what joins them: `my-secret-name`, `Some text`, `app.tokens.refresh`."""
    return bool(PATTERNS.only_words.fullmatch(value))


@lru_cache(maxsize=4_096)
def is_invented(value: str, *, strict: bool = False) -> bool:
    """Whether a person made it up, such as `Lem0nade_Stand`; `strict` wants more than `bluewhale-77-kitchen`."""
    if not 6 <= len(value) <= 64 or is_blank(value) or is_fingerprint(value):
        return False
    if PATTERNS.no_invention.search(value) or PATTERNS.object_before.match(value):
        return False
    if strict and PATTERNS.header_case.match(value):
        return False
    if PATTERNS.invention.search(value):
        return True
    return not strict and bool(PATTERNS.perhaps_invention.search(value) or is_jumbled(value) or is_random(value, 8))


def is_fingerprint(value: str) -> bool:
    """Whether it is a hash or an id: 40 hex digits under a plain name are far more often a commit than a key."""
    return bool(PATTERNS.fingerprint.fullmatch(value))


def changes(value: str) -> int:
    """Count how often upper and lower case alternate: often in a key, rarely in a name."""
    return sum(1 for a, b in pairwise(value) if a.isupper() != b.isupper())


def entropy(value: str) -> float:
    """Return the bits per character."""
    size = len(value)
    return -sum(n / size * log2(n / size) for n in (value.count(each) for each in set(value))) if size else 0.0
