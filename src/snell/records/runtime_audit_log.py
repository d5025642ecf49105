"""Who keeps the audit chain of a house, if it is one that has files."""

from typing import TYPE_CHECKING

from snell.model.protocols import Database
from snell.system.paths import Places

if TYPE_CHECKING:
    from snell.records.audit_log import AuditLog


def runtime_audit_log(database: Database | None, where: Places | None) -> "AuditLog | None":
    if database is None or where is None:
        return None
    from snell.records.audit_log import AuditLog  # an embedded house does without, and need not load it

    return AuditLog(database, where.state)
