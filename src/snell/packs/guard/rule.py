"""What a rule is, and what it finds."""

from __future__ import annotations

from msgspec import Struct

DENY, ASK = "deny", "ask"


class Finding(Struct, frozen=True):
    """One reason to deny a command, or to ask about it."""

    rule: str
    verdict: str
    why: str
    instead: str = ""
    secret: str = ""  # the secret that the command would print or copy


class Rule(Struct, frozen=True):
    """A rule of the guard; its cases are in `<name>.toml` beside it."""

    name: str
    family: str
    instead: str
    about: str = ""  # the documentation of a rule without a file of its own

    def deny(self, why: str, secret: str = "") -> Finding:
        return Finding(self.name, DENY, why, self.instead, secret)

    def ask(self, why: str, secret: str = "") -> Finding:
        return Finding(self.name, ASK, why, self.instead, secret)
