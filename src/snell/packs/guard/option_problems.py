"""Check the guard's options: unknown rules and unknown levels."""

from collections.abc import Iterator, Mapping
from typing import Any

from snell.model.catalogue import nearest
from snell.packs.guard.presets import LEVELS
from snell.packs.guard.rules import RULES


def option_problems(options: Mapping[str, Any]) -> list[str]:
    return list(_rule_problems(options.get("rules", {})))


def _rule_problems(rules: Mapping[str, Any]) -> Iterator[str]:
    for name, level in rules.items():
        if name not in RULES:
            near = nearest(name, RULES)
            hint = f"did you mean `{near}`?" if near else f"known rules: {', '.join(sorted(RULES))}"
            yield f"`rules`: unknown rule `{name[:80]}`; {hint}"
        elif level not in LEVELS:
            yield f"`rules`: `{name}` must be one of {', '.join(LEVELS)}; the preset applies"
