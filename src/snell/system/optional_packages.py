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
    package: str  # the distribution that contains it


EXTRAS = {
    "http": Extra("httpcore2", "httpx2"),
    "mcp": Extra("mcp", "mcp"),
    "pg": Extra("psycopg", "psycopg"),
    "embed": Extra("numpy", "numpy"),
    "guard": Extra("jsonschema_rs", "jsonschema-rs"),
    "tui": Extra("rich", "rich"),
    "parquet": Extra("pyarrow", "pyarrow"),
    "ui": Extra("jinja2", "jinja2"),
    "otel": Extra("opentelemetry.proto", "opentelemetry-proto"),
}


def is_installed(extra: str) -> bool:
    """Whether the package can be found, without importing it; also if it was installed after this process started."""
    from importlib import invalidate_caches
    from importlib.util import find_spec

    invalidate_caches()
    parts = EXTRAS[extra].module.split(".")  # to look for a module is an error if the one above it is missing
    return all(find_spec(".".join(parts[:number])) for number in range(1, len(parts) + 1))


def missing_message(extra: str) -> str:
    """Return the sentence that says what is missing."""
    return f"the `{extra}` extra is not installed"


def install_advice(extra: str) -> str:
    """Return the sentence that says how to install it."""
    return f"run `{install_command(extra)}`"


@cache
def install_command(extra: str) -> str:
    """Return the command that installs an extra's packages into the environment of this process."""
    import shlex

    prefix = Path(sys.prefix)
    return shlex.join(_with_tool(prefix, _requirements(extra)) or [*installer(), *_requirements(extra)])


def installed_from() -> str:
    """Return the folder or address that this copy of Snell was installed from; empty if that was not recorded."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlsplit

    try:
        url = str(json.loads(distribution("snell").read_text("direct_url.json") or "{}").get("url") or "")
    except (PackageNotFoundError, ValueError, AttributeError):
        return ""
    return unquote(urlsplit(url).path) if url.startswith("file:") else url


def _requirements(extra: str) -> list[str]:
    """Return the extra's requirements from Snell's own metadata."""
    import re
    from importlib.metadata import PackageNotFoundError, requires

    try:
        rows = requires("snell") or []
    except PackageNotFoundError:
        rows = []
    marker = re.compile(rf"extra\s*==\s*['\"]{extra}['\"]")
    return [row.partition(";")[0].strip() for row in rows if marker.search(row)] or [EXTRAS[extra].package]


def _with_tool(prefix: Path, requirements: Sequence[str]) -> list[str]:
    """Return the command for an environment of pipx or `uv tool`, which drop packages that they do not know of."""
    if (prefix / "pipx_metadata.json").is_file():
        return ["pipx", "inject", prefix.name, *requirements]
    if not (prefix / "uv-receipt.toml").is_file():
        return []
    tool, others = _receipt(prefix / "uv-receipt.toml")
    together = [word for each in (*others, *requirements) for word in ("--with", each)]
    return ["uv", "tool", "install", *together, *tool] if tool else []


def _receipt(path: Path) -> tuple[list[str], list[str]]:
    """Return the arguments by which `uv tool install` installed Snell, and the other requirements it installed."""
    import tomllib

    from snell.system.files import FileError, read_capped

    try:
        rows = tomllib.loads(read_capped(path, LARGEST).decode("utf-8"))["tool"]["requirements"]
        words = [_as_arguments(row) for row in rows]
    except (OSError, FileError, ValueError, LookupError, TypeError):
        return [], []
    if not words or not all(words) or rows[0].get("name") != "snell" or not _source(rows[0]):
        return [], []
    return words[0], [each[-1] for each in words[1:]]


def _as_arguments(row: dict[str, Any]) -> list[str]:
    """Return one requirement of a receipt as arguments; empty for an unknown kind of source."""
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


def installer() -> list[str]:
    """Return the command that installs into this environment: its own pip, uv, or another pip."""
    import shutil
    from importlib.util import find_spec

    if find_spec("pip"):
        return [sys.executable, "-m", "pip", "install"]
    if shutil.which("uv"):
        return ["uv", "pip", "install", "--python", sys.executable]
    return ["python3", "-m", "pip", "--python", sys.executable, "install"]
