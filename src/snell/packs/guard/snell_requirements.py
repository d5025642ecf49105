"""Look up the packages that Snell needs, and check whether a requirement would change one."""

import re
from functools import lru_cache

from snell.system.lazy_regex import lazy_regex

_NAME = lazy_regex(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(.*)")
_CLAUSE = lazy_regex(r"\s*(===|==|~=|!=|<=|>=|<|>)\s*v?(\d[\d.]*)(\.\*)?\s*")
KEEPS, CHANGES = "keeps", "changes"  # the installed version


@lru_cache(maxsize=1)
def needed_packages() -> dict[str, str]:
    """Return the names of the packages that Snell needs, with their installed versions."""
    from importlib import metadata  # slow to import, and few commands install packages

    found = dict[str, str]()
    try:
        wanted = [each for each in metadata.requires("snell") or () if "extra ==" not in each]
    except metadata.PackageNotFoundError:
        return found
    for each in wanted:
        name = re.split(r"[^\w.-]", each, maxsplit=1)[0]
        try:
            found[plain_name(name)] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[plain_name(name)] = ""
    return found


def plain_name(name: str) -> str:
    """Return a package's name as indexes compare it: `Ruamel_YAML` and `ruamel.yaml` are the same."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed_package(requirement: str) -> str:
    """Return the name of the package if Snell needs it; else an empty text."""
    found = _NAME.match(requirement)
    name = plain_name(found[1]) if found else ""
    if _is_archive(requirement):
        name = plain_name(requirement.rpartition("/")[2].partition("-")[0])
    return name if name in needed_packages() else ""


def effect_of(requirement: str) -> str:
    """Return whether installing the requirement keeps or changes a package that Snell needs."""
    found = _NAME.match(requirement)
    rest = (found[2] if found else "").partition(";")[0].strip()
    if found is None or _is_archive(requirement) or rest.startswith("@"):
        return CHANGES
    installed = _numbers(needed_packages().get(plain_name(found[1]), ""))
    clauses = [_CLAUSE.fullmatch(clause) for clause in rest.split(",")] if rest else []
    return KEEPS if all(clause and _allows(clause, installed) for clause in clauses) else CHANGES


def _is_archive(requirement: str) -> bool:
    return "@" not in requirement and requirement.endswith((".whl", ".tar.gz", ".zip"))


def _allows(clause: re.Match[str], installed: tuple[int, ...]) -> bool:
    operator, wanted = clause[1], _numbers(clause[2])
    if clause[3]:
        return (installed[: len(wanted)] == wanted) == (operator == "==")
    width = max(len(wanted), len(installed))
    left, right = (each + (0,) * (width - len(each)) for each in (installed, wanted))
    if operator == "~=":
        return left >= right and installed[: len(wanted) - 1] == wanted[:-1]
    equal = {"===": left == right, "==": left == right, "!=": left != right}
    order = {"<=": left <= right, ">=": left >= right, "<": left < right, ">": left > right}
    return (equal | order)[operator]


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else ()
