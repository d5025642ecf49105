"""Who keeps the audit chain of a house, if it is one that has files."""

from typing import TYPE_CHECKING

from snell.machine.paths import Places
from snell.model.ports import Database

if TYPE_CHECKING:
    from snell.runtime.audit import Auditor


def auditor_of(database: Database | None, where: Places | None) -> "Auditor | None":
    if database is None or where is None:
        return None
    from snell.runtime.audit import Auditor  # an embedded house does without, and need not load it

    return Auditor(database, where.state)
