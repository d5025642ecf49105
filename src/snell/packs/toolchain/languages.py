"""The languages whose tools a text runs: `go test ./...` in a recipe says that the target is about Go."""

import re

from snell.system.lazy_regex import lazy_regex

# Interpreters are no sign: `python dev.py test` may test anything.
_SIGNS = {
    "python": lazy_regex(r"\b(?:pytest|py\.test|unittest|tox|nox|hatch|ruff|mypy|pyright|flake8|pylint|black|twine)\b"),
    "node": lazy_regex(
        r"\b(?:npm|npx|yarn|pnpm|bunx?|deno|vitest|jest|mocha|tsc|eslint|biome|playwright|cypress|webpack|vite|turbo)\b"
    ),
    "rust": lazy_regex(r"\b(?:cargo|rustc)\b", re.IGNORECASE),
    "go": lazy_regex(
        r"\bgo[)}]?\s+(?:test|build|vet|run|tool|install|generate)\b|\b(?:golangci-lint|gotestsum|staticcheck)\b",
        re.IGNORECASE,
    ),
    "java": lazy_regex(r"\b(?:gradlew?|mvnw?)\b"),
    "elixir": lazy_regex(r"\bmix\s+\w"),
    "dotnet": lazy_regex(r"\bdotnet\b"),
    "c": lazy_regex(r"\b(?:ctest|cmake)\b|\$[({](?:CC|CXX)[)}]"),
}


def languages_in(text: str) -> frozenset[str]:
    """The languages that a recipe is about; empty when nothing tells."""
    return frozenset(language for language, sign in _SIGNS.items() if sign.search(text))
