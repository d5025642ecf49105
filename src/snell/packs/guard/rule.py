"""What a rule is: its name, what it says, and the function that looks at one step."""

from __future__ import annotations

from msgspec import Struct

DENY, ASK = "deny", "ask"


class Finding(Struct, frozen=True):
    rule: str
    verdict: str
    why: str
    instead: str = ""


class Rule(Struct, frozen=True):
    """`flagged` and `fine` are cases: commands that the rule stops, and look-alikes that it lets pass."""

    name: str
    family: str
    instead: str
    flagged: tuple[str, ...] = ()
    fine: tuple[str, ...] = ()
    about: str = ""  # of a rule without a file of its own

    def deny(self, why: str) -> Finding:
        return Finding(self.name, DENY, why, self.instead)

    def ask(self, why: str) -> Finding:
        return Finding(self.name, ASK, why, self.instead)
