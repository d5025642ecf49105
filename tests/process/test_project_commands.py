"""The commands of projects, by language and job, through the real `snell-hook`."""

import json
from pathlib import Path

import pytest

from tests.process.machine import Machine

pytest_plugins = ("tests.process.machine_fixtures",)
SCRIPTS = json.dumps({"scripts": dict.fromkeys(("test", "build", "lint", "e2e", "smoke"), "true")})
PYTEST_OPTION = "def pytest_addoption(parser):\n    parser.addoption('--smoke')\n"
PROJECTS = {
    "make": {"Makefile": ".PHONY: test build\ntest build lint e2e smoke:\n\ttrue\n", "go.mod": "module x\n"},
    "cargo": {"Cargo.toml": "[package]\n", "tests/api.rs": ""},
    "go": {"go.mod": "module x\n", "e2e/api_test.go": "//go:build e2e\n"},
    "npm": {"package.json": SCRIPTS, "package-lock.json": "{}"},
    "yarn": {"package.json": SCRIPTS, "yarn.lock": ""},
    "pnpm": {"package.json": SCRIPTS, "pnpm-lock.yaml": ""},
    "python": {"pyproject.toml": "[project]\n", "tests/conftest.py": PYTEST_OPTION},
    "uv": {"pyproject.toml": "[project]\n", "uv.lock": "", "tests/conftest.py": PYTEST_OPTION},
}
# What runs in the end: by project and job, the typed commands and the one that they become.
TABLE = {
    "make": {
        "test": ("pytest|cargo test|go test ./...|npm test|yarn test|uv run pytest", "make test"),
        "build": ("cargo build|go build ./...|npm run build|tsc", "make build"),
        "lint": ("ruff check .|cargo clippy|go vet ./...|pnpm lint", "make lint"),
        "e2e": (
            "pytest tests/e2e|pytest -m e2e|pytest tests/integration|cargo test --test e2e|npm run e2e|npx cypress run",
            "make e2e",
        ),
        "e2e in other words": ("go test -tags=e2e ./...|go test ./e2e/...|npx playwright test", "make e2e"),
        "smoke": (
            "pytest --smoke|pytest -m smoke|npm run smoke|cargo test --test smoke|pytest tests/smoke/",
            "make smoke",
        ),
    },
    "cargo": {
        "test": ("cargo test", "cargo test"),
        "build": ("cargo build", "cargo build"),
        "lint": ("cargo clippy", "cargo clippy"),
        "e2e": ("npm run e2e|npx playwright test|cargo test --test '*'", "cargo test --test '*'"),
        "smoke": ("npm run smoke", "npm run smoke"),
    },
    "go": {
        "test": ("go test ./...", "go test ./..."),
        "build": ("go build ./...", "go build ./..."),
        "lint": ("go vet ./...", "go vet ./..."),
        "e2e": ("npm run e2e|npx playwright test|go test -tags=e2e ./...", "go test -tags=e2e ./..."),
        "smoke": ("npm run smoke", "npm run smoke"),
    },
    "npm": {
        "test": ("yarn test|npm test", "npm test"),
        "build": ("pnpm run build|tsc", "npm run build"),
        "lint": ("yarn lint", "npm run lint"),
        "e2e": ("npx playwright test|pnpm e2e", "npm run e2e"),
        "smoke": ("pnpm run smoke", "npm run smoke"),
    },
    "yarn": {
        "test": ("npm test", "yarn test"),
        "build": ("npm run build", "yarn run build"),
        "lint": ("npm run lint", "yarn run lint"),
        "e2e": ("npm run e2e", "yarn run e2e"),
        "smoke": ("npm run smoke", "yarn run smoke"),
    },
    "pnpm": {
        "test": ("npm test", "pnpm test"),
        "build": ("npm run build", "pnpm run build"),
        "lint": ("npm run lint", "pnpm run lint"),
        "e2e": ("npm run e2e", "pnpm run e2e"),
        "smoke": ("npm run smoke", "pnpm run smoke"),
    },
    "python": {
        "test": ("pytest", "pytest"),
        "build": ("npm run build", "npm run build"),
        "lint": ("ruff check .", "ruff check ."),
        "e2e": ("npm run e2e|npx cypress run", "python -m pytest tests/"),
        "smoke": ("npm run smoke", "python -m pytest --smoke"),
    },
    "uv": {
        "test": ("pytest|python -m pytest", "uv run pytest"),
        "build": ("npm run build", "npm run build"),
        "lint": ("ruff check .", "uv run ruff check ."),
        "e2e": ("npm run e2e|pytest tests/", "uv run pytest tests/"),
        "smoke": ("npm run smoke|pytest --smoke", "uv run pytest --smoke"),
    },
}


def run_by(machine: Machine, typed: str) -> str:
    """Return the command that runs in the end."""
    code, out, err = machine.hook({"tool_input": {"command": typed}, "tool_use_id": typed})
    assert (code, err) == (0, "")
    changed = json.loads(out)["hookSpecificOutput"].get("updatedInput") if out else None
    return changed["command"] if changed else typed


@pytest.mark.proves("S0-10", "S0-15", "S0-16", "S0-17", "S0-18", "S0-19")
@pytest.mark.parametrize("project", TABLE)
def test_every_cell_of_the_table_is_reached(machine: Machine, project: str):
    for name, text in PROJECTS[project].items():
        path = Path(machine.project, name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (machine.project / ".git").mkdir()
    rows = {typed: wanted for typed_all, wanted in TABLE[project].values() for typed in typed_all.split("|")}
    assert {typed: run_by(machine, typed) for typed in rows} == rows


@pytest.mark.parametrize("project", ["cargo", "go", "python"])
def test_without_the_folder_of_its_tests_nothing_is_redirected(machine: Machine, project: str):
    name, text = next(iter(PROJECTS[project].items()))
    (machine.project / name).write_text(text, encoding="utf-8")
    (machine.project / ".git").mkdir()
    for typed in ("npm run e2e", "npm run smoke", "npx playwright test"):
        assert run_by(machine, typed) == typed
