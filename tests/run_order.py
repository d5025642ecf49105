"""
Order the tests for a run in several processes: what takes long comes first, so that no worker ends alone.

Each worker begins with an equal, consecutive part of the list, and one that is done takes over the end of the longest
remaining part. So each part begins with files of long tests and ends with short tests, which are easy to share.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby, islice

import pytest

SHORT = ("tests/unit/", "tests/golden/", "tests/test_plain_language.py")
DECLARED_LONG = "timeout"  # the mark of a test that may take longer than others

File = list[pytest.Item]


def order_for(workers: int, items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return all tests as `--dist worksteal` should cut them into parts; among equals, the order stays random."""
    files = [list(group) for _, group in groupby(items, lambda item: item.nodeid.partition("::")[0])]
    short = iter([item for file in files if _is_short(file) for item in file])
    parts = _deal_files(workers, sorted((file for file in files if not _is_short(file)), key=_is_not_declared_long))
    for number, part in enumerate(parts):
        size = (len(items) + number) // workers  # as xdist divides them: the larger parts last
        part.extend(islice(short, max(size - len(part), 0)))
    return [item for part in parts for item in part] + list(short)


def _deal_files(workers: int, files: Iterable[File]) -> list[File]:
    """Return one part for each worker; a file stays in one piece, so that its fixtures are made once."""
    parts: list[File] = [[] for _ in range(workers)]
    for file in files:
        min(parts, key=len).extend(file)
    return parts


def _is_short(file: File) -> bool:
    return file[0].nodeid.startswith(SHORT) and _is_not_declared_long(file)


def _is_not_declared_long(file: File) -> bool:
    return not any(item.get_closest_marker(DECLARED_LONG) for item in file)
