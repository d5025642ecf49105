"""What is wrong with what a user tells the guard: a switch that is none, a rule that there is not."""

from collections.abc import Iterator, Mapping
from typing import Any

from snell.model.catalogue import nearest
from snell.packs.guard.presets import LEVELS
from snell.packs.guard.rules import RULES


def option_problems(options: Mapping[str, Any]) -> list[str]:
    return list(_of_rules(options.get("rules", {})))


def _of_rules(rules: Mapping[str, Any]) -> Iterator[str]:
    for name, level in rules.items():
        if name not in RULES:
            near = nearest(name, RULES)
            hint = f"did you mean `{near}`?" if near else f"there are {', '.join(sorted(RULES))}"
            yield f"`rules`: there is no rule `{name[:80]}`; {hint}"
        elif level not in LEVELS:
            yield f"`rules`: `{name}` is one of {', '.join(LEVELS)}; the preset holds"
