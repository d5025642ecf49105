"""Count the requirements of the manifest by seed: fates, capabilities, and proofs where users enter."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MANIFEST = Path(__file__).resolve().parent.parent / "tests" / "behaviours"
COLUMNS = ("rows", "covered", "divergence", "no option", "deferred", "capabilities", "at an entry")


def report(*, as_json: bool) -> str:
    counts = counted()
    return json.dumps(counts) if as_json else table(counts)


def counted() -> dict[str, dict[str, int]]:
    import tomllib  # here, so that an older Python gets as far as being told its age

    counts: dict[str, dict[str, int]] = {}
    for path in sorted(MANIFEST.glob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        for row in data.get("behaviour", []):
            seed = counts.setdefault(row["id"].split("-")[0], dict.fromkeys(COLUMNS, 0))
            seed["capabilities"] = len(data.get("capability", []))
            count_row(seed, row)
    return counts


def count_row(seed: dict[str, int], row: Mapping[str, Any]) -> None:
    from scripts.entry_points import entry_points_of

    seed["rows"] += 1
    if fate := fate_of(row):
        seed[fate] += 1
    seed["no option"] += "no_option" in row
    seed["at an entry"] += any(map(entry_points_of, row.get("tests", [])))


def fate_of(row: Mapping[str, Any]) -> str | None:
    """Return the state of a row; None if it is not finished, which test_manifest.py refuses."""
    if row.get("tests") and "divergence" not in row:
        return "covered"
    return next((fate for fate in ("divergence", "deferred") if fate in row), None)


def table(counts: Mapping[str, Mapping[str, int]]) -> str:
    every = {column: sum(seed[column] for seed in counts.values()) for column in COLUMNS}
    seeds = (*counts.items(), ("all", every))
    rows = [["seed", *COLUMNS], *([name, *(str(seed[column]) for column in COLUMNS)] for name, seed in seeds)]
    return "\n".join(row[0].ljust(6) + "".join(cell.rjust(14) for cell in row[1:]) for row in rows)
