"""The key of the audit: a file beside the database that only its owner can read."""

import os
from pathlib import Path

from snell.model.errors import StoreError
from snell.system.files import FileError, file_lock, read_capped, write_atomically
from snell.system.paths import make_private

KEY_FILE = "audit.key"
KEY_BYTES = 32
LARGEST_KEY = 1_000


def read_key(folder: Path) -> bytes:
    """Return the key; empty if there is none. INVARIANT: an incomplete key counts as none and is never used."""
    path = folder / KEY_FILE
    try:
        key = bytes.fromhex(read_capped(path, LARGEST_KEY, follow_links=False).decode().strip())
    except FileNotFoundError:
        return b""
    except (OSError, ValueError, FileError) as error:
        raise StoreError(f"the audit key cannot be read: {error}", where=f"`{path}`") from None
    return key if len(key) >= KEY_BYTES else b""


def make_key(folder: Path) -> bytes:
    """Write a new key and return it, or the one that another process has written meanwhile."""
    make_private(folder)
    path = folder / KEY_FILE
    with file_lock(path.with_name(f"{path.name}.lock")):
        if not read_key(folder):
            write_atomically(path, os.urandom(KEY_BYTES).hex().encode())
        return read_key(folder)
