"""Open the user's database to read it, with the decisions that are not in it yet."""

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

from snell.cli.progress import Progress
from snell.cli.terminal import visible
from snell.model.protocols import Database
from snell.operations.journal import wait_for_traces
from snell.runtime.app import database_of
from snell.runtime.database_journal import StoreJournal
from snell.system.paths import Places


@contextmanager
def read_journal(where: Places) -> Iterator[tuple[Database, StoreJournal]]:
    """Yield the database with all that was answered, and its journal; stderr says which decisions cannot be shown."""
    with closing(database_of(where)) as database:
        journal = StoreJournal(database)
        with Progress("reading decisions that are not in the database yet"):
            journal.take_in()
            wait_for_traces(database)
        if journal.unread:
            print(f"snell: {visible(journal.unread)}", file=sys.stderr)
        yield database, journal
