"""What a verification found."""

from msgspec import Struct


class Findings(Struct, frozen=True):
    """`integrity`: what was changed. `completeness`: what is missing. Both empty: nothing was tampered with."""

    integrity: tuple[str, ...] = ()
    completeness: tuple[str, ...] = ()
    links: int = 0
    decisions: int = 0
    calls: int = 0
    memories: int = 0
    interrupted: tuple[str, ...] = ()  # work of a killed process that the next one will complete
    waiting: int = 0  # records that are not chained yet
    unsealed: int = 0  # records of an earlier version that have no seal yet
    earlier: int = 0  # links of earlier versions: only their order and number are checked
    since: int = 0  # when everything before was verified, in milliseconds since 1970; 0: all was verified now
    before: int = 0  # the links that were verified then, and not again

    @property
    def is_good(self) -> bool:
        return not self.integrity and not self.completeness
