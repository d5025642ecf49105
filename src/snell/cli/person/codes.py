"""
One-time codes by which a person lets one command run that Snell would refuse where it runs.

A code lives for five minutes, works once, and after five wrong tries none works any more. The file has only salted
hashes. A code is for the request that was refused last and shown to the person, or, if there was none, for any one.
"""

import hashlib
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from snell.settings.pause import steady_clock
from snell.system.files import file_lock, struct_or_none, write_atomically
from snell.system.paths import make_private

FILE = "codes.json"
LIFE = 300.0  # seconds
REQUEST_LIFE = 900.0
MOST_WRONG = 5
MOST_CODES = 10
LARGEST = 100_000
LONGEST = 2_000  # characters of each part of a request
ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"


class Request(Struct, frozen=True):
    """What a command wanted to do."""

    command: str
    folder: str
    subject: str = ""  # exactly what it would change

    def shorten(self) -> "Request":
        """Return the request with parts of a bounded length."""
        return Request(*(each[:LONGEST] for each in (self.command, self.folder, self.subject)))


class Moment(Struct, frozen=True):
    """A time by the wall clock and by one that cannot be set, so that setting a clock cannot lengthen a life."""

    wall: float
    steady: float

    @classmethod
    def now(cls) -> "Moment":
        return cls(time.time(), steady_clock())

    def is_within(self, seconds: float) -> bool:
        return all(0 <= each < seconds for each in (time.time() - self.wall, steady_clock() - self.steady))


class Code(Struct, frozen=True):
    salt: str
    digest: str
    made: Moment
    request: Request | None = None  # None: for any


class Codes(Struct, frozen=True):
    codes: tuple[Code, ...] = ()
    wrong: int = 0
    refused: Request | None = None
    refused_at: Moment | None = None


def issue(state: Path, request: Request | None = None) -> str:
    """Make a code, store its hash and return it."""
    letters = "".join(secrets.choice(ALPHABET) for _ in range(8))
    salt = secrets.token_hex(16)
    code = Code(salt, _digest(letters, salt), Moment.now(), request)
    with _edit_codes(state) as now:
        alive = [each for each in now[0].codes if each.made.is_within(LIFE)][-MOST_CODES + 1 :]
        now[0] = Codes((*alive, code))
    return f"{letters[:4]}-{letters[4:]}"


def accept(state: Path, code: str, request: Request) -> bool:
    """Return whether the code is good for this request, and use it up; a wrong one counts against all."""
    letters = code.replace("-", "").replace(" ", "").upper()
    with _edit_codes(state) as now:
        codes = [each for each in now[0].codes if each.made.is_within(LIFE)]
        asked = [each for each in codes if each.request in (None, request.shorten())]
        good = [each for each in asked if secrets.compare_digest(each.digest, _digest(letters, each.salt))]
        if good:
            now[0] = replace(now[0], codes=tuple(each for each in codes if each not in good), refused=None)
        else:
            wrong = now[0].wrong + 1
            now[0] = replace(now[0], codes=tuple(codes) if wrong < MOST_WRONG else (), wrong=wrong)
    return bool(good)


def remember_refusal(state: Path, request: Request) -> None:
    """Store what was refused, so that `snell code` can show it."""
    with _edit_codes(state) as now:
        now[0] = replace(now[0], refused=request.shorten(), refused_at=Moment.now())


def last_refusal(state: Path) -> Request | None:
    """Return the request that was refused last, unless that is long ago."""
    found = struct_or_none(state / FILE, Codes, LARGEST)
    is_new = found and found.refused_at and found.refused_at.is_within(REQUEST_LIFE)
    return found.refused if found and is_new else None


@contextmanager
def _edit_codes(state: Path) -> Iterator[list[Codes]]:
    """Yield the stored codes in a list of one, and write what the caller has put there."""
    make_private(state)
    path = state / FILE
    with file_lock(path.with_name("codes.lock")):
        now = [struct_or_none(path, Codes, LARGEST) or Codes()]
        yield now
        write_atomically(path, msgspec.json.encode(now[0]) + b"\n")


def _digest(letters: str, salt: str) -> str:
    """Return a hash that is slow to compute: there are only 10^12 codes."""
    return hashlib.scrypt(letters.encode("utf-8", "replace"), salt=salt.encode("ascii"), n=2**14, r=8, p=1).hex()
