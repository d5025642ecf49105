"""
Errors, as a tree:

    SnellError
    +- SettingsError      a settings file is invalid
    +- PatternError       a matcher that is not a usable pattern
    +- PayloadError       a client sent something that is not an event
    +- HookError          a hook's declaration or answer is wrong
    +- TrustError         an approval that cannot be given or read
    +- StoreError         state that cannot be read or written
    |  +- StoreBusyError     another program is writing now
    |  +- RefusedRowError    the server refuses a row
    +- ClientError        a client that is not known or cannot be served
    +- SetupError         a client's configuration that cannot be changed

Each carries an id, what it is about (`where`) and what to do (`advice`). `str(error)` is one line for the user.
"""


class SnellError(Exception):
    """A mistake or a condition that a user can correct."""

    id = "snell"

    def __init__(self, message: str, *, where: str = "", advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.advice = advice

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}; {self.advice}" if self.advice else text


class SettingsError(SnellError):
    """A settings file is invalid."""

    id = "settings"


class PatternError(SnellError):
    """A matcher that is not a usable pattern."""

    id = "pattern"


class PayloadError(SnellError):
    """A client sent something that is not an event."""

    id = "payload"


class PayloadTooLargeError(PayloadError):
    """A payload is larger, or has more parts, than Snell reads."""

    id = "payload-too-large"


class HookError(SnellError):
    """A hook's declaration or answer is wrong."""

    id = "hook"


class TrustError(SnellError):
    """An approval that cannot be given or read."""

    id = "trust"


class StoreError(SnellError):
    """State that cannot be read or written."""

    id = "store"


class StoreBusyError(StoreError):
    """Another program is writing there now; a moment later it may work."""


class RefusedRowError(StoreError):
    """The server refuses a row; to send it again is of no use."""

    id = "store.refused"


class ClientError(SnellError):
    """A client that is not known or cannot be served."""

    id = "client"


class SetupError(SnellError):
    """A client's configuration that cannot be changed."""

    id = "setup"
