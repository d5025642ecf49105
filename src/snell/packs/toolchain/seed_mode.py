"""
The mode `seed`: the behaviour of the program that this pack replaces.

A command that looks like a job is replaced completely by the project's command, and approved.
"""

import re

from snell.packs.toolchain.projects import Project
from snell.system.lazy_regex import lazy_regex

DETECTORS: tuple[tuple[str, str], ...] = (
    (r"(npm|yarn|pnpm)\s+(run\s+)?test\b", "test"),
    (r"pytest\b", "test"),
    (r"go\s+test\b", "test"),
    (r"cargo\s+test\b", "test"),
    (r"python\s+-m\s+pytest\b", "test"),
    (r"uv\s+run\s+pytest\b", "test"),
    (r"(npm|yarn|pnpm)\s+(run\s+)?build\b", "build"),
    (r"go\s+build\b", "build"),
    (r"cargo\s+build\b", "build"),
    (r"tsc\b", "build"),
    (r"(npm|yarn|pnpm)\s+(run\s+)?lint\b", "lint"),
    (r"cargo\s+clippy\b", "lint"),
    (r"go\s+vet\b", "lint"),
    (r"ruff\s+check\b", "lint"),
    (r".*\be2e\b", "e2e"),
    (r".*\bintegration\b", "e2e"),
    (r".*\bplaywright\b", "e2e"),
    (r".*\bcypress\b", "e2e"),
    (r".*\bsmoke\b", "smoke"),
)
_DETECTORS = tuple((lazy_regex(pattern, re.IGNORECASE | re.DOTALL), action) for pattern, action in DETECTORS)

_CARGO = {"test": "cargo test", "build": "cargo build", "lint": "cargo clippy", "e2e": "cargo test --test '*'"}
_GO = {"test": "go test ./...", "build": "go build ./...", "lint": "go vet ./...", "e2e": "go test -tags=e2e ./..."}
_PYTHON = {"test": "pytest", "lint": "ruff check .", "e2e": "pytest tests/", "smoke": "pytest --smoke"}


def action_of(command: str) -> str:
    """Return the job of the first detector that matches; a leading `!` means none."""
    text = command.strip()
    if text.startswith("!"):
        return ""
    return next((action for pattern, action in _DETECTORS if pattern.match(text)), "")


def project_command(action: str, project: Project) -> str:
    """Return the command of the first toolchain that exists; only a Makefile without the target is skipped."""
    makefile = project.text("Makefile") if project.has("Makefile") else ""
    if f"{action}:" in makefile or (".PHONY:" in makefile and action in makefile):
        return f"make {action}"
    if project.has("Cargo.toml"):
        return _CARGO.get(action, "")
    if project.has("go.mod"):
        return _GO.get(action, "")
    if manager := _package_manager(project):
        return f"{manager} test" if action == "test" else f"{manager} run {action}"
    if project.has("pyproject.toml") and action in _PYTHON:
        return f"{'uv run' if project.has('uv.lock') else 'python -m'} {_PYTHON[action]}"
    return ""


def _package_manager(project: Project) -> str:
    locks = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "package-lock.json": "npm", "package.json": "pnpm"}
    return next((manager for lock, manager in locks.items() if project.has(lock)), "")
