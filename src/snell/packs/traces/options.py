"""The options of the pack, and whether the exporter may run: the user's and policy settings alone say so."""

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from snell.settings.load import load
from snell.settings.packs import builtin_packs, options_in
from snell.system.paths import Places


class Options(Struct, frozen=True, kw_only=True):
    """What `pack.toml` explains."""

    endpoint: str
    headers: dict[str, str]
    service_name: str
    interval: float
    timeout: float
    metrics: bool
    inputs: bool
    all_hooks: bool


def read_options(where: Places) -> tuple[bool, Options]:
    """Return whether the pack is enabled, and its options; a project's settings are not read."""
    packs = load(where, Path("/"), dict(os.environ)).value("pack") or {}
    is_on = packs.get("traces", {}).get("enabled", builtin_packs()["traces"].enabled)
    return is_on, msgspec.convert(options_in("traces", packs, []), Options)
