"""
The mode `seed`: the behaviour of the program that this pack replaces.

A command that looks like a job is replaced completely by the project's command, and approved.
"""

import re

from snell.packs.toolchain.projects import Project
from snell.packs.toolchain.toolchains import PYTHON_JOBS, table


def action_of(command: str) -> str:
    """Return the job of the first detector that matches; a leading `!` means none."""
    text = command.strip()
    if text.startswith("!"):
        return ""
    detectors = table().seed.items()
    return next((action for pattern, action in detectors if re.match(pattern, text, re.IGNORECASE | re.DOTALL)), "")


def project_command(action: str, project: Project) -> str:
    """Return the command of the first toolchain that exists; only a Makefile without the target is skipped."""
    makefile = project.text("Makefile") if project.has("Makefile") else ""
    if f"{action}:" in makefile or (".PHONY:" in makefile and action in makefile):
        return f"make {action}"
    for row in table().toolchain:
        if row.name in ("cargo", "go") and project.has(*row.files):
            return row.commands.get(action, "")
    if manager := _package_manager(project):
        return f"{manager} test" if action == "test" else f"{manager} run {action}"
    if project.has("pyproject.toml") and action in PYTHON_JOBS:
        return f"{'uv run' if project.has('uv.lock') else 'python -m'} {PYTHON_JOBS[action]}"
    return ""


def _package_manager(project: Project) -> str:
    locks = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "package-lock.json": "npm", "package.json": "pnpm"}
    return next((manager for lock, manager in locks.items() if project.has(lock)), "")
