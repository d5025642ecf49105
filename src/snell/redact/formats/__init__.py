"""The known formats, in tables beside this file: `kind form form ...`, as `snell.redact.format_notation` explains."""

from collections.abc import Iterator

from snell.redact.formats import ai, cloud, developer_tools, families, messaging, office, payments, standards

TABLES = (
    standards.TABLE,
    developer_tools.TABLE,
    ai.TABLE,
    cloud.TABLE,
    payments.TABLE,
    messaging.TABLE,
    office.TABLE,
    families.TABLE,
)


def rows() -> Iterator[tuple[str, str]]:
    """A kind and one of its forms, as they are written."""
    for table in TABLES:
        for line in table.strip().splitlines():
            kind, *forms = line.split()
            for form in forms:
                yield kind, form
