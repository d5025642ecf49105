"""Apply the preset and the level of each rule to the findings of a judgement."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from snell.packs.guard.judge import Judgement, strictest_verdict
from snell.packs.guard.path_classes import ROOT
from snell.packs.guard.rule import ASK, DENY, Finding
from snell.packs.guard.rules import RULES

OFF, OBSERVE, ENFORCE = "off", "observe", "enforce"
LEVELS = (OFF, OBSERVE, ASK, ENFORCE)

_ALWAYS_DENIED = frozenset(("self", "disks", "exfiltration"))  # families that `relaxed` does not relax


def apply_presets(judgement: Judgement, options: Mapping[str, Any]) -> tuple[Judgement, tuple[Finding, ...]]:
    """Return the judgement under the user's options, and the findings that are only observed."""
    if not judgement.findings:
        return judgement, ()
    preset = options.get("preset", "standard")
    chosen = options.get("rules")
    rules: Mapping[str, Any] = chosen if isinstance(chosen, Mapping) else {}
    kept, observed = list[Finding](), list[Finding]()
    for finding in judgement.findings:
        level = rules.get(finding.rule)
        if level == OFF:
            continue
        if level == OBSERVE:
            observed.append(finding)
        else:
            kept.append(replace(finding, verdict=_verdict(finding, preset, level)))
    findings = tuple(kept)
    return replace(judgement, findings=findings, verdict=strictest_verdict(findings)), tuple(observed)


def _verdict(finding: Finding, preset: Any, level: Any) -> str:
    if level == ASK:
        return ASK
    if level == ENFORCE or preset == "strict":
        return DENY
    rule = RULES.get(finding.rule)
    family = rule.family if rule else ""
    if preset == "relaxed" and family not in _ALWAYS_DENIED and ROOT not in finding.why:
        return ASK
    return finding.verdict
