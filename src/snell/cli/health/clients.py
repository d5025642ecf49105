"""The clients on this machine: whether each is set up and up to date, and what it cannot do."""

from collections.abc import Iterator
from typing import cast

from snell.cli.health import Check, Installation, Status
from snell.setup.status import client_checks


def checks(installation: Installation) -> Iterator[Check]:
    """Yield one line per client on this machine, and one per problem with it."""
    for name, status, detail, advice in client_checks(installation.env, installation.cwd):
        yield Check(name, cast(Status, status), detail, advice)
