"""Measure redaction: one pass for all formats against one search per rule, and its growth with the text."""

import re
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from bench.measure import interleaved
from snell.redact import scan
from snell.redact.format_rules import formats
from snell.redact.normalise import escape_scans
from snell.redact.spans import secrets_in

SIZE = 100_000
ENOUGH, CALLS = 4, 5  # rounds, and calls in each; a search for each rule takes long


def redaction_over_rule_by_rule(rounds: int = 10) -> tuple[float, dict[str, float]]:
    """100 KB without a secret: `redact`, over searching the text once for every rule with `re`."""
    return _over_rules(rounds)


def redaction_without_re2_over_rule_by_rule(rounds: int = 10) -> tuple[float, dict[str, float]]:
    scan.use_re2(False)
    try:
        return _over_rules(rounds)
    finally:
        scan.use_re2(True)


def redaction_growth(rounds: int = 3) -> tuple[float, dict[str, float]]:
    """10 MB, over 100 KB."""
    text = clean_text()
    large = text * 100
    secrets_in(text)
    candidates = {"10 MB": lambda: secrets_in(large), "100 KB": lambda: secrets_in(text)}
    times = interleaved(candidates, rounds=rounds, calls=1, clock=time.process_time)
    return times["10 MB"] / times["100 KB"], times


def clean_text() -> str:
    """Our own source and pages, which hold no secret."""
    root = Path(__file__).resolve().parents[1]
    paths = sorted([*root.glob("src/snell/engine/*.py"), *root.glob("src/snell/runtime/*.py"), *root.glob("docs/*.md")])
    text = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    return (text * (1 + SIZE // len(text)))[:SIZE]


def _over_rules(rounds: int) -> tuple[float, dict[str, float]]:
    text = clean_text()
    secrets_in(text)
    candidates = {"ours": lambda: secrets_in(text), "rule by rule": _rule_by_rule(text)}
    times = interleaved(candidates, rounds=min(rounds, ENOUGH), calls=CALLS, clock=time.process_time)
    return times["ours"] / times["rule by rule"], times


def _rule_by_rule(text: str) -> Callable[[], object]:
    """
    All that has to be looked for to find the same: formats, contexts, and escaped text.

    Without a look-behind, which would keep `re` from looking for the literal that a rule begins with.
    """
    rules = [re.compile(each.pattern.pattern) for each in formats()]
    rules += [re.compile(each, re.IGNORECASE) for each in scan.context_scans("{}{}")]
    rules += [re.compile(each) for each in escape_scans()]
    return lambda: [deque(rule.finditer(text), maxlen=0) for rule in rules]  # the first one may be no secret
