"""
Errors. Each carries an id, what it is about (`where`) and what to do (`advice`). `str(error)` is one line for the user.
"""

import errno

DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class SnellError(Exception):
    """A mistake or a condition that a user can correct."""

    id = "snell"

    def __init_subclass__(cls, *, id: str = "") -> None:  # noqa: A002 - the name of the attribute
        cls.id = id or cls.id

    def __init__(self, message: str, *, where: str = "", advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.advice = advice

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}; {self.advice}" if self.advice else text


def file_error(error: OSError, path: object = "") -> SnellError:
    """Return an error of the operating system about a file as one with advice; not all of them name the file."""
    is_full = error.errno in DISK_FULL
    advice = "free some space" if is_full else "check that it exists, and its permissions"
    return SnellError(error.strerror or str(error), where=str(error.filename or path), advice=advice)


class SettingsError(SnellError, id="settings"):
    """A settings file is invalid."""


class PatternError(SnellError, id="pattern"):
    """A matcher that is not a usable pattern."""


class PayloadError(SnellError, id="payload"):
    """A client sent something that is not an event."""


class UnjudgedPayloadError(PayloadError, id="payload-unjudged"):
    """A payload is an event, but too large or too odd to be judged; the user is asked."""


class HookError(SnellError, id="hook"):
    """A hook's declaration or answer is wrong."""


class TrustError(SnellError, id="trust"):
    """An approval that cannot be given or read."""


class StoreError(SnellError, id="store"):
    """State that cannot be read or written."""


class StoreBusyError(StoreError):
    """Another program is writing there now; a moment later it may work."""


class StoreReadOnlyError(StoreError):
    """The store can be read, perhaps, but not written."""


class RefusedRowError(StoreError, id="store.refused"):
    """The server refuses a row; to send it again is of no use."""


class ClientError(SnellError, id="client"):
    """A client that is not known or cannot be served."""


class SetupError(SnellError, id="setup"):
    """A client's configuration that cannot be changed."""
