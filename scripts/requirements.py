"""Count the requirements of the manifest by seed and fate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

MANIFEST = Path(__file__).resolve().parent.parent / "tests" / "behaviours"
COLUMNS = ("total", "covered", "divergence", "no option", "deferred")


def report(*, as_json: bool) -> str:
    counts = counted()
    return json.dumps(counts) if as_json else table(counts)


def counted() -> dict[str, dict[str, int]]:
    import tomllib  # here, so that an older Python gets as far as being told its age

    counts: dict[str, dict[str, int]] = {}
    for path in sorted(MANIFEST.glob("*.toml")):
        for row in tomllib.loads(path.read_text(encoding="utf-8")).get("behaviour", []):
            seed = counts.setdefault(row["id"].split("-")[0], dict.fromkeys(COLUMNS, 0))
            seed["total"] += 1
            if fate := fate_of(row):
                seed[fate] += 1
            seed["no option"] += "no_option" in row
    return counts


def fate_of(row: Mapping[str, object]) -> str | None:
    """Return the state of a row; None if it is not finished, which test_manifest.py refuses."""
    if row.get("tests") and "divergence" not in row:
        return "covered"
    return next((fate for fate in ("divergence", "deferred") if fate in row), None)


def table(counts: Mapping[str, Mapping[str, int]]) -> str:
    every = {column: sum(seed[column] for seed in counts.values()) for column in COLUMNS}
    seeds = (*counts.items(), ("all", every))
    rows = [["seed", *COLUMNS], *([name, *(str(seed[column]) for column in COLUMNS)] for name, seed in seeds)]
    return "\n".join(row[0].ljust(6) + "".join(cell.rjust(12) for cell in row[1:]) for row in rows)
