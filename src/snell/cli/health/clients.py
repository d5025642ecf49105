"""The clients on this machine: set up, current, half-installed, and what each cannot do."""

from collections.abc import Iterator
from typing import cast

from snell.cli.health import Check, Status, Visit
from snell.setup.status import client_checks


def checks(visit: Visit) -> Iterator[Check]:
    """One line per client that is here, and one for each thing that is odd about it."""
    for name, status, detail, advice in client_checks(visit.env, visit.cwd):
        yield Check(name, cast(Status, status), detail, advice)
