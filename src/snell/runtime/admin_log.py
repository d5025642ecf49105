"""Records what a user did to Snell itself, beside the decisions."""

import os
from contextlib import suppress

from snell.model.errors import StoreError
from snell.runtime.app import database_of
from snell.runtime.context import new_id
from snell.runtime.database_journal import StoreJournal
from snell.system.paths import Places


def record_admin_action(where: Places, event: str, text: str, session_id: str = "") -> str:
    """Add an action to the journal; returns the error that kept it from being recorded."""
    record = {"id": new_id(), "client": "person", "event": event, "verdict": "no_opinion", "merge": [text]}
    if session_id:
        record["session_id"] = session_id
    with suppress(OSError):
        record["cwd"] = os.getcwd()
    database = database_of(where)
    journal = StoreJournal(database)
    try:
        journal.record(record)
    except StoreError as error:
        return str(error)
    finally:
        database.close()
    return journal.problem
