"""Databases and clouds that a short program empties or takes down, as the commands that would do the same."""

import re
from collections.abc import Callable, Iterator

from snell.system.lazy_regex import lazy_regex

_S = r"«(\d+)»"
_STATEMENT = lazy_regex(
    rf"(?:\.|->|::)\$?(?:execute(?:many|script|_sql|RawUnsafe|Raw)?|exec_driver_sql|query(?:RawUnsafe|Raw)?|raw|run|"
    rf"exec(?:_query)?|Exec(?:Context)?|unsafe|prepare|statement|unprepared|sql|executeUpdate)\s*\(?\s*"
    rf"(?:\w+\s*,\s*)?(?:(?:[\w.]*\btext|sql\.SQL)\(\s*)?{_S}"
    rf"|\b(?:mysqli_query|pg_query|mysql_query|sqlite_query)\(\s*\$?\w+\s*,\s*{_S}|\bsql\s*{_S}"
)
_CHANGES = lazy_regex(r"\s*(?:drop|truncate|delete|update|alter)\b", re.IGNORECASE)
_EMPTIES = lazy_regex(
    r"(?:\.|->|::)(?:flushall|flushdb|flushAll|flushDb|FlushAll|FlushDB|drop_database|dropDatabase|drop_all|dropAll"
    r"|dropSchema|drop_collection|dropCollection|deleteDatabase|dropAllTables|dropAllSchemas)\s*\("
    r"|\b[A-Z]\w*(?:\.|::)(?:unscoped\.)?(?:delete_all|destroy_all|truncate)\b(?!\s*\(\s*[^)\s])"
    r"|\.objects\.all\(\)\.(?:delete|_raw_delete)\("
    r"|\.(?:deleteMany|delete_many|remove)\(\s*(?:\{\s*(?:where\s*:\s*\{\s*\}\s*)?\})?\s*\)"
    r"|::table\([^)]*\)->(?:truncate|delete)\(\s*\)"
)
_CLOUDS = lazy_regex(
    r"\b(?:boto3|botocore|google\.cloud|googleapiclient|azure\.\w+|kubernetes|aws-sdk|digitalocean|"
    r"from_env\(\)|AWS\.\w+)|@aws-sdk|@google-cloud|@azure/|@kubernetes|firebase-admin|stripe"
)
_TAKES_DOWN = lazy_regex(
    r"(?:\.|\bnew )((?:[dD]elete|[tT]erminate|[dD]estroy|[pP]urge|[dD]eregister|begin_delete)\w*)\s*\("
)
_REQUEST = lazy_regex(rf"\b(?:requests|httpx|axios|session|client|http)\.delete\(\s*{_S}")
_MEMORY = lazy_regex(r"^:memory:$|mode=memory|sqlite://$|sqlite:///:memory:")


def service_commands(masked: str, strings: list[str], at: Callable[[str], str]) -> Iterator[tuple[str, ...]]:
    """Commands with the same effect."""
    if not any(_MEMORY.search(text) for text in strings):  # such a database is gone when the program ends
        for found in _STATEMENT.finditer(masked) if any(map(_CHANGES.match, strings)) else ():
            text = at(next(group for group in found.groups() if group))
            if _CHANGES.match(text):
                yield "psql", "-c", text
        for found in _EMPTIES.finditer(masked):
            yield "dropdb", found[0].strip("( ")
    for found in _REQUEST.finditer(masked) if ".delete(" in masked else ():
        yield "curl", "-X", "DELETE", at(found[1])
    if _CLOUDS.search(masked) or any(_CLOUDS.match(text) for text in strings):
        for found in _TAKES_DOWN.finditer(masked):
            verb = re.sub(r"(?<=[a-z])(?=[A-Z])|_", "-", found[1]).lower()
            yield "aws", verb.removeprefix("begin-")
