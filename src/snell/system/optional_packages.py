"""
Packages that only some features need: whether one is installed, and the command that installs it beside this Snell.

The command names what is missing and never Snell itself, so it holds wherever this copy of Snell came from.
"""

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

LARGEST = 1_000_000


class Extra(Struct, frozen=True):
    module: str  # what Snell imports
    package: str  # what brings it


EXTRAS = {
    "http": Extra("httpcore2", "httpx2"),
    "mcp": Extra("mcp", "mcp"),
    "pg": Extra("psycopg", "psycopg"),
    "embed": Extra("numpy", "numpy"),
    "guard": Extra("jsonschema_rs", "jsonschema-rs"),
    "fast": Extra("re2", "google-re2"),
    "tui": Extra("rich", "rich"),
}


def is_installed(extra: str) -> bool:
    """Look for the package without importing it; one that was installed since this process started counts, too."""
    from importlib import invalidate_caches
    from importlib.util import find_spec

    invalidate_caches()
    return find_spec(EXTRAS[extra].module) is not None


def missing_message(extra: str) -> str:
    """The sentence that says what is wrong."""
    return f"the `{extra}` extra is not installed"


def install_advice(extra: str) -> str:
    """What to do about it."""
    return f"run `{install_command(extra)}`"


@cache
def install_command(extra: str) -> str:
    """The command that installs an extra's packages into the environment that this process runs in."""
    import shlex

    prefix = Path(sys.prefix)
    return shlex.join(_with_tool(prefix, _requirements(extra)) or [*_installer(), *_requirements(extra)])


def installed_from() -> str:
    """The folder or address that this copy of Snell was installed from; empty when the installer did not record it."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlsplit

    try:
        url = str(json.loads(distribution("snell").read_text("direct_url.json") or "{}").get("url") or "")
    except (PackageNotFoundError, ValueError, AttributeError):
        return ""
    return unquote(urlsplit(url).path) if url.startswith("file:") else url


def _requirements(extra: str) -> list[str]:
    """What the extra asks for, by Snell's own metadata."""
    import re
    from importlib.metadata import PackageNotFoundError, requires

    try:
        rows = requires("snell") or []
    except PackageNotFoundError:
        rows = []
    marker = re.compile(rf"extra\s*==\s*['\"]{extra}['\"]")
    return [row.partition(";")[0].strip() for row in rows if marker.search(row)] or [EXTRAS[extra].package]


def _with_tool(prefix: Path, requirements: Sequence[str]) -> list[str]:
    """For an environment that pipx or `uv tool` made, and would make anew without what it does not know of."""
    if (prefix / "pipx_metadata.json").is_file():
        return ["pipx", "inject", prefix.name, *requirements]
    if not (prefix / "uv-receipt.toml").is_file():
        return []
    tool, others = _receipt(prefix / "uv-receipt.toml")
    together = [word for each in (*others, *requirements) for word in ("--with", each)]
    return ["uv", "tool", "install", *together, *tool] if tool else []


def _receipt(path: Path) -> tuple[list[str], list[str]]:
    """The words by which `uv tool install` was told what to install, and what it installed beside that."""
    import tomllib

    from snell.system.files import FileError, read_capped

    try:
        rows = tomllib.loads(read_capped(path, LARGEST).decode("utf-8"))["tool"]["requirements"]
        words = [_as_words(row) for row in rows]
    except (OSError, FileError, ValueError, LookupError, TypeError):
        return [], []
    if not words or not all(words) or rows[0].get("name") != "snell" or not _source(rows[0]):
        return [], []
    return words[0], [each[-1] for each in words[1:]]


def _as_words(row: dict[str, Any]) -> list[str]:
    """One requirement of a receipt; empty for a kind of source that is not known here."""
    extras = f"[{','.join(row['extras'])}]" if row.get("extras") else ""
    if row.get("git"):
        return []
    if "editable" in row:
        return ["--editable", f"{row['editable']}{extras}"]
    if source := _source(row):
        return [f"{source}{extras}"] if "url" not in row else [f"{row['name']}{extras} @ {source}"]
    return [f"{row['name']}{extras}{row.get('specifier', '')}"]


def _source(row: dict[str, Any]) -> str:
    return str(next((row[name] for name in ("editable", "directory", "path", "url") if row.get(name)), ""))


def _installer() -> list[str]:
    """What installs into this environment: its own pip, uv, or a pip from elsewhere."""
    import shutil
    from importlib.util import find_spec

    if find_spec("pip"):
        return [sys.executable, "-m", "pip", "install"]
    if shutil.which("uv"):
        return ["uv", "pip", "install", "--python", sys.executable]
    return ["python3", "-m", "pip", "--python", sys.executable, "install"]
