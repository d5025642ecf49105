"""Who keeps the audit chain of a house, if it is one that has files."""

from typing import TYPE_CHECKING

from snell.model.protocols import Database
from snell.system.paths import Places

if TYPE_CHECKING:
    from snell.records.audit_log import Auditor


def auditor_of(database: Database | None, where: Places | None) -> "Auditor | None":
    if database is None or where is None:
        return None
    from snell.records.audit_log import Auditor  # an embedded house does without, and need not load it

    return Auditor(database, where.state)
