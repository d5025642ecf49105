"""The known formats, in tables beside this file: `kind form form ...`, as `snell.kit.redact.notation` explains."""

from collections.abc import Iterator

from snell.kit.redact.formats import ai, cloud, code, families, money, shapes, talk, work

TABLES = (shapes.TABLE, code.TABLE, ai.TABLE, cloud.TABLE, money.TABLE, talk.TABLE, work.TABLE, families.TABLE)


def rows() -> Iterator[tuple[str, str]]:
    """A kind and one of its forms, as they are written."""
    for table in TABLES:
        for line in table.strip().splitlines():
            kind, *forms = line.split()
            for form in forms:
                yield kind, form
